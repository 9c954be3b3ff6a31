/* xbase.h: traces of the Xbase++ profiler: PRF files, and what is written to them.
 *
 * A trace is a table (.PRF with its memo file .PRV) or delimited text, as one file, flushed, or cut
 * into packets. Settings, filter and writer allocate nothing, because the recorder uses them. */
#ifndef QP_XBASE_XBASE_H
#define QP_XBASE_XBASE_H

#include "base/text/error.h"
#include "base/text/out.h"
#include "xbase/dbf.h"

/* One record. Texts need no NUL. What the file does not have is 0 or empty. */
typedef struct {
    uint32_t thread; /* ordinal, from 1 */
    uint32_t line;
    uint64_t time_ms;
    char op; /* i I O o */
    const char *call;
    size_t call_bytes;
    const char *params;
    size_t params_bytes;
} qp_prf_row;

enum { QP_PRF_PATH_BYTES = 4096, QP_PRF_BUFFER_BYTES = 64 * 1024, QP_PRF_FIELDS = 6 };

/* Names of the memo file and of a packet, beside the table. @param to [QP_PRF_PATH_BYTES] */
void qp_prf_memo_path(const char *path, char *to);
void qp_prf_packet_path(const char *path, uint64_t packet, char *to);

/* ---- pri.c: the settings ---------------------------------------------------------------------
 *
 * Lines KEY=VALUE of a text that people edit. The text is the only store: unknown keys and comments
 * keep their places. A later line wins. */

/* X(id, default, lowest, highest); highest 0: a text. */
#define QP_PRI_KEYS(X)                                                                         \
    X(OPERATIONMODE, "1", 0, UINT32_MAX)                                                       \
    X(OUTFLUSHEVERY, "1000", 1, UINT32_MAX)                                                    \
    X(PROGRAM, "", 0, 0)                                                                       \
    X(PARAMETERS, "", 0, 0)                                                                    \
    X(BUILTINS, "1", 0, 1)                                                                     \
    X(HUMANREADABLE, "0", 0, 1)                                                                \
    X(SYMBOLSIZE, "64", 1, 254)                                                                \
    X(PARAMLIST, "0", 0, 1)                                                                    \
    X(TIMELINE, "1", 0, 1)                                                                     \
    X(LINENUMBERS, "1", 0, 1)                                                                  \
    X(EXCLUDETHREAD, "", 0, 0)                                                                 \
    X(EXCLUDESYMBOL, "", 0, 0)                                                                 \
    X(OUTFILE, "%v.PRF", 0, 0)

typedef enum {
#define QP_X(id, initial, low, high) QP_PRI_##id,
    QP_PRI_KEYS(QP_X)
#undef QP_X
        QP_N_PRI
} qp_pri_key;

enum { /* OPERATIONMODE */
       QP_PRI_ON = 1,
       QP_PRI_EXTENDED = 8,      /* i and o are written as such */
       QP_PRI_FLUSH = 1024,      /* every OUTFLUSHEVERY entries; QP_PRI_PACKETS contains it */
       QP_PRI_PACKETS = 2048,    /* each of them is a file */
       QP_PRI_UNFILTERED = 4096, /* both ends of a call report it */
       QP_PRI_MODES =
           QP_PRI_ON | QP_PRI_EXTENDED | QP_PRI_FLUSH | QP_PRI_PACKETS | QP_PRI_UNFILTERED,

       QP_PRI_BYTES = 16 * 1024 /* the whole text */
};

/* 16 KiB: not on the stack. Copyable. */
typedef struct {
    uint32_t number[QP_N_PRI]; /* of keys that are numbers */
    uint32_t n_bytes;
    char text[QP_PRI_BYTES]; /* lines, each with a NUL, without blanks at their ends */
} qp_pri;

/* All keys with their defaults. */
void qp_pri_init(qp_pri *p);

/* @return QP_N_PRI: unknown; case does not matter */
qp_pri_key qp_pri_find(const char *name, size_t n_bytes);
const char *qp_pri_name(qp_pri_key key);

/* Text of a value in force. Valid until p changes. */
const char *qp_pri_value(const qp_pri *p, qp_pri_key key);

/* Is there such a key, and may it have this value? @return false: see error, what was expected */
bool qp_pri_check(const char *key, const char *value, qp_error *error);

/* Set one key; its line is replaced. Texts have no line ends.
 * @return false: see error, nothing has changed */
bool qp_pri_set(qp_pri *p, qp_pri_key key, const char *value, qp_error *error);

/* The settings of a PRI file of n_bytes, with LF or CRLF. What it does not say is as before, which
 * is not p. @return false: see error; p is of no use */
bool qp_pri_read(qp_pri *p, const qp_pri *before, const char *text, size_t n_bytes,
                 qp_error *error);

/* The file: every line and CRLF. @return bytes that it takes; more than room: nothing is written */
size_t qp_pri_write(const qp_pri *p, char *to, size_t room);

/* Is it one of a list separated by commas or blanks? The name in n_bytes; a number. */
bool qp_pri_list_has(const char *list, const char *name, size_t n_bytes);
bool qp_pri_list_has_number(const char *list, uint32_t number);

/* ---- filter.c: from events to entries --------------------------------------------------------
 *
 * Both ends of a call report it, i I O o; filtered, each call gives one I and one O. What was
 * written of an entry decides what is written of its return: settings that change take effect at
 * the next entry. After a jump out of several calls their returns are missing: readers pop to the
 * level that matches. The caller tells threads apart and provides the memory. */

enum { QP_FILTER_BLOCK = 4096, QP_FILTER_VALUES = QP_FILTER_BLOCK - 16 /* bytes of a text */ };

typedef struct qp_filter_block qp_filter_block;

/* An event on one thread. */
typedef struct {
    char op;         /* i I O o */
    uint32_t method; /* any number but 0; O: ignored */
    uint32_t line;   /* i, o: the caller's; I: the first of the method; O: ignored */
    uint64_t time_ms;
} qp_filter_event;

/* One thread. Begins as zeros. */
typedef struct {
    uint32_t ordinal;
    uint32_t n_deep;         /* calls above those that memory was found for */
    uint32_t path;           /* on top, a cell; 0: unknown. The filter does not use it */
    qp_filter_block *calls;  /* the chunk on top of its stack of open calls */
    qp_filter_block *params; /* of its next call */
    qp_filter_block *result; /* of its next return */
    qp_filter_block *held_params;
    qp_filter_event held; /* i that waits for the next event; op 0: none */
} qp_filter_thread;

typedef struct {
    uint32_t mode; /* OPERATIONMODE */
    bool has_builtins, has_params;
    /* Write an entry. params: n_bytes, without NUL */
    void (*write)(void *to, const qp_filter_thread *th, const qp_filter_event *e,
                  const char *params, size_t n_bytes);
    /* Is it left out? NULL: nothing is */
    bool (*is_excluded)(void *to, const qp_filter_thread *th, uint32_t method);
    /* QP_FILTER_BLOCK bytes, aligned to 16, that are never given back; NULL: none */
    void *(*take)(void *to);
    void *to;
    qp_filter_block *idle;
    uint64_t n_cut; /* calls and values that memory was missing for */
} qp_filter;

/* Handle i, I, o, or the return (O) of one call. */
void qp_filter_event_put(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e);

/* n calls that were entered ended without returning. */
void qp_filter_unwind(qp_filter *f, qp_filter_thread *th, uint64_t n);

/* Set the line that the call on top is at. */
void qp_filter_line(qp_filter_thread *th, uint32_t line);

/* Add a parameter of the next call (is_result: a result of the next return). */
void qp_filter_value(qp_filter *f, qp_filter_thread *th, bool is_result, const char *value,
                     size_t n_bytes);

/* Events of the thread were lost, or it has ended: write what is held, and forget open calls, so
 * that their returns are ignored. */
void qp_filter_reset(qp_filter *f, qp_filter_thread *th);

/* ---- prf.c: writing --------------------------------------------------------------------------
 *
 * An error of the system ends a trace: what is on the disk stays readable, and further rows are
 * counted and dropped. */

typedef struct {
    bool is_text; /* delimited */
    bool has_time, has_line, has_params;
    uint8_t symbol_bytes;
    bool is_flushed, is_packets;
    uint32_t flush_every; /* rows; >= 1 */
    qp_dbf_day day;       /* for the header */
} qp_prf_options;

/* What the settings specify, except for the day. */
qp_prf_options qp_prf_options_of(const qp_pri *p);

/* A file that is being written. */
typedef struct {
    char path[QP_PRF_PATH_BYTES];
    int fd;         /* -1: none is open */
    uint64_t at;    /* bytes that reached the system */
    size_t n_bytes; /* that wait */
    char bytes[QP_PRF_BUFFER_BYTES];
} qp_prf_file;

/* 136 KiB: not on the stack. */
typedef struct {
    qp_prf_options options; /* is_flushed and flush_every may be changed */
    char path[QP_PRF_PATH_BYTES];
    qp_prf_file data, memo;
    qp_dbf_field fields[QP_PRF_FIELDS];
    unsigned n_fields;
    uint32_t record_bytes;
    uint64_t n_rows;        /* taken */
    uint64_t n_lost;        /* dropped after the error */
    uint64_t n_earlier;     /* rows in the packets before this one */
    uint32_t n_since_flush; /* rows */
    uint32_t packet;        /* number of the last one */
    uint32_t memo_block;    /* the next free one */
    bool is_clamped;        /* a number did not fit its field: the largest one is written */
    int error;              /* errno of what ended it; 0: none did */
    const char *wrong;      /* the file that it is about */
} qp_prf;

/* Begin a trace. An existing file is replaced, and existing packets are removed, up to a gap of a
 * thousand numbers.
 * @return 0 or an errno value: nothing is open then, and f->wrong is the file */
int qp_prf_open(qp_prf *f, const char *path, const qp_prf_options *options);

/* Add a row. @return false: the output has ended, see f->error */
bool qp_prf_put(qp_prf *f, const qp_prf_row *row);

/* Hand everything to the system; a packet is not ended by it. @return false: see f->error */
bool qp_prf_flush(qp_prf *f);

/* Write what is left, the counts and the end. @return f->error */
int qp_prf_close(qp_prf *f);

/* Forget it in a forked child: nothing is written. */
void qp_prf_forget(qp_prf *f);

/* Write a whole file. @param is_new  false: only its beginning. @return 0 or an errno value */
int qp_prf_file_write(const char *path, bool is_new, const void *bytes, size_t n_bytes);

/* ---- prf_read.c: reading ---------------------------------------------------------------------
 *
 * Any variant: a table of three versions with or without its memo file, delimited text, one file
 * or packets. The file may be damaged, foreign or growing. Nothing is allocated, and memory does
 * not grow with the file. */

enum {
    QP_PRF_ROW_BYTES = 64 * 1024, /* longer rows count as damaged, longer parameters are cut */
    QP_PRF_PACKETS_AHEAD = 8192
};

/* Packets of a trace by ascending numbers; missing ones are skipped. Begins as zeros. 64 KiB. */
typedef struct {
    unsigned n, next;
    uint64_t last; /* number of the one handed out before */
    uint64_t numbers[QP_PRF_PACKETS_AHEAD];
} qp_prf_packets;

/* 270 KiB: not on the stack. */
typedef struct {
    bool is_text, has_time, has_line, has_params;
    uint64_t n_bytes;                          /* of the files that were opened so far */
    uint64_t n_read;                           /* bytes of them that were read */
    uint64_t n_rows;                           /* handed out */
    uint64_t n_damaged;                        /* rows that make no sense; left out */
    uint64_t n_deleted;                        /* rows that are marked as deleted; left out */
    uint64_t n_unread_packets, n_unread_texts; /* that are there, and could not be read */
    size_t n_rest;                             /* bytes at the end that are no whole row yet */
    /* its own: */
    bool is_packets, has_shape, is_skipping;
    uint64_t pending; /* number of the packet that comes next; 0: none is known */
    int fd, memo_fd;  /* -1: none */
    uint64_t at;      /* in the file: the end of what is in `bytes` */
    uint32_t memo_block_bytes;
    qp_dbf table;
    const qp_dbf_field *thread, *time, *op, *call, *line, *params;
    size_t begin, n; /* what is left in `bytes` */
    char bytes[QP_PRF_ROW_BYTES];
    char texts[QP_PRF_ROW_BYTES];
    char path[QP_PRF_PATH_BYTES];
    qp_prf_packets packets;
} qp_prf_reader;

/* Open a PRF file. A header packet is read with the packets beside it.
 * @param why  receives what is wrong, static text
 * @return false: nothing is open */
bool qp_prf_reader_open(qp_prf_reader *r, const char *path, const char **why);

/* The next row; its texts are valid until the next call. @return false: no more, for now: a file
 * that is being written may have more later */
bool qp_prf_reader_next(qp_prf_reader *r, qp_prf_row *row);

/* Bytes that are missing at the end by the count of the table's head, or that are no whole row. */
uint64_t qp_prf_reader_cut(const qp_prf_reader *r);

void qp_prf_reader_close(qp_prf_reader *r);

typedef struct {
    uint64_t n_packets;  /* joined */
    uint64_t n_unread;   /* packets that are there, and could not be read */
    uint64_t n_rows;     /* records of a table; 0 with delimited text */
    uint64_t n_declared; /* by the header packet */
    uint64_t n_damaged;  /* bytes at the end of packets that are no whole record: left out */
} qp_prf_joined;

/* Write the trace at `path`, whose packets lie beside it, as one file: the count is corrected, and
 * the end is marked. A file that is no header packet is copied as a whole one.
 * @param out  errors of writing stay in it
 * @param why  receives what is wrong, static text
 * @return false: it cannot be read */
bool qp_prf_join(const char *path, qp_out *out, qp_prf_joined *joined, const char **why);

#endif
