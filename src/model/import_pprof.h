/* import_pprof.h: a profile.proto, listed. */
#ifndef QP_MODEL_IMPORT_PPROF_H
#define QP_MODEL_IMPORT_PPROF_H

#include "model/import_parts.h"
#include "model/wire.h"

enum { QP_PPROF_TYPES = 64 }; /* at most */

typedef struct {
    uint64_t type, unit; /* places of strings */
} qp_pprof_type;

typedef struct {
    uint64_t name, system_name, file;
    uint32_t first_line;
    uint32_t method; /* 0: not used so far */
} qp_pprof_function;

typedef struct {
    uint64_t mapping, address;
    size_t first_line, n_lines; /* in lines, innermost first */
    uint32_t method;            /* of one without lines */
} qp_pprof_location;

typedef struct {
    uint64_t function;
    uint32_t line;
} qp_pprof_line;

typedef struct {
    qp_import *im;
    const unsigned char *begin;
    char *error;
    qp_buf strings; /* qp_wire */
    qp_buf texts;   /* const char *: the strings that were used */
    qp_buf samples; /* qp_wire */
    qp_buf functions, locations, lines;
    qp_buf mappings;                              /* uint64_t, the string of its file */
    qp_dict function_of, location_of, mapping_of; /* id -> number */
    qp_pprof_type types[QP_PPROF_TYPES];
    uint32_t n_types, time_type, calls_type, samples_type, interrupts_type;
    qp_pprof_type period_type;
    uint64_t scale; /* of time_type's values */
    uint64_t default_type;
    uint64_t missing_text; /* the last place of a string that is not there; 0: none */
    uint64_t n_frames_left, n_negative;
    qp_buf path; /* uint64_t, locations of a sample, innermost first */
} qp_pprof;

/* List all that the samples refer to. @return false: see p->error */
bool qp_pprof_list(qp_pprof *p, qp_wire w);

/* The string at a place; "" where there is none, and missing_text says so. */
const char *qp_pprof_text(qp_pprof *p, uint64_t place);

/* What is wrong, and where. @return false */
bool qp_pprof_refuse(qp_pprof *p, const unsigned char *at, const char *what);
bool qp_pprof_refuse_damage(qp_pprof *p, const qp_wire *w);

#endif
