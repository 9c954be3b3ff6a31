/* import_callgrind.h: where reading a callgrind file is. */
#ifndef QP_MODEL_IMPORT_CALLGRIND_H
#define QP_MODEL_IMPORT_CALLGRIND_H

#include "model/import_graph.h"
#include "model/import_words.h"

enum { QP_CALLGRIND_COLUMNS = 8 };

typedef struct {
    qp_import *im;
    qp_import_graph g;
    char *error;
    size_t n_line;
    qp_buf texts;      /* const char * */
    qp_dict text_of;   /* hash -> text */
    qp_dict name_of;   /* space, id -> text */
    qp_dict method_of; /* hash of what names it -> method */
    qp_dict vertex_of; /* hash of an identity -> vertex */
    qp_dict edge_of;   /* caller, callee -> edge */
    qp_dict cost_of;   /* vertex, line -> cost */
    qp_buf identities; /* [n vertices] */
    /* head */
    uint32_t n_columns, line_column;
    uint32_t event; /* the place of the one that is read */
    bool has_events, is_time, is_calls_only, is_ours;
    bool has_calls_event, has_samples_event; /* of ours: what was counted */
    char event_name[QP_WORD_BYTES];
    uint64_t scale;
    uint32_t thread; /* of this part */
    /* where reading is; numbers of texts */
    uint32_t object, function_file, file;
    uint32_t called_object, called_file;
    uint32_t vertex, callee; /* callee: the next costs are those of calls */
    uint64_t n_calls;
    bool has_calls; /* some were counted */
    bool is_jump;   /* the next line is only a place */
    uint64_t columns[QP_CALLGRIND_COLUMNS];
    uint64_t n_elsewhere; /* costs of lines in other files */
    /* is it whole? in units of the event */
    uint64_t own, promised; /* own costs so far; what the parts said in advance */
    uint64_t n_rounded;     /* lines of own costs that are times */
    bool is_body;           /* of a part: costs came */
} qp_callgrind;

/* What is wrong, and on which line. @return false */
bool qp_callgrind_refuse(qp_callgrind *c, const char *what);

/* Lines of the head, behind their keywords. @return false: see c->error */
bool qp_callgrind_events(qp_callgrind *c, qp_words w);
bool qp_callgrind_positions(qp_callgrind *c, qp_words w);
bool qp_callgrind_command(qp_callgrind *c, qp_words w);
bool qp_callgrind_creator(qp_callgrind *c, qp_words w);
bool qp_callgrind_pid(qp_callgrind *c, qp_words w);
bool qp_callgrind_thread(qp_callgrind *c, qp_words w);
bool qp_callgrind_part(qp_callgrind *c, qp_words w);
bool qp_callgrind_summary(qp_callgrind *c, qp_words w);
bool qp_callgrind_totals(qp_callgrind *c, qp_words w);

/* At the end: is all there? @return false: see c->error */
bool qp_callgrind_is_whole(qp_callgrind *c);

#endif
