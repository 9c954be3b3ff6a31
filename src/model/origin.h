/* origin.h: where figures that were added up come from, in the words that their file keeps. */
#ifndef QP_MODEL_ORIGIN_H
#define QP_MODEL_ORIGIN_H

#include <stdint.h>

enum { QP_ORIGIN_BYTES = 8192 };

/* A run. NULL or "": not known. */
typedef struct {
    const char *what; /* file name */
    const char *program, *label, *options;
    const char *state;   /* how it ended, if not properly */
    uint64_t started_at; /* ns since 1970; 0: not known */
    uint64_t pid;        /* 0: not known */
} qp_origin;

/* "merged from a.qprof (program, process 17, started 2026-01-02 03:04:05 UTC)". @return to */
char *qp_origin_text(char to[QP_ORIGIN_BYTES], const qp_origin *o);

/* What the runs have in common: their one text, or the word for several of them.
 * @param known  NULL: this is the first run's */
const char *qp_origin_common(const char *known, const char *text, const char *several);

#endif
