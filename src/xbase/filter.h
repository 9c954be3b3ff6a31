/* filter.h: from what both ends of a call report, i I O o, to the entries that are written.
 *
 * Filtered, each call gives one I and one O. What was written of an entry decides what is written
 * of its return: settings that change take effect at the next entry. After a jump out of several
 * calls their returns are missing: readers pop to the level that matches.
 *
 * Pure: threads are told apart by the caller, and memory comes from a function of its. */
#ifndef QP_XBASE_FILTER_H
#define QP_XBASE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xbase/pri.h"

enum { QP_FILTER_BLOCK = 4096, QP_FILTER_VALUES = QP_FILTER_BLOCK - 16 /* bytes of a text */ };

typedef struct qp_filter_block qp_filter_block;

/* An event on one thread. */
typedef struct {
    char op;         /* i I O o */
    uint32_t method; /* any number but 0; of O it does not matter */
    uint32_t line;
    uint64_t time_ms;
} qp_filter_event;

/* One thread. Begins as zeros. */
typedef struct {
    uint32_t ordinal;
    uint32_t n_deep;         /* calls above those that memory was found for */
    qp_filter_block *calls;  /* the chunk on top of its stack of open calls */
    qp_filter_block *params; /* of its next call */
    qp_filter_block *result; /* of its next return */
    qp_filter_block *held_params;
    qp_filter_event held; /* i that waits for the next event; op 0: none */
} qp_filter_thread;

typedef struct {
    uint32_t mode; /* OPERATIONMODE */
    bool has_builtins, has_params;
    /* An entry to be written. params: n_bytes, without NUL */
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

/* An event: i, I, o, or the return (O) of one call. @param line  of i and o the caller's; of I the
 * first of the method; of O it does not matter */
void qp_filter_event_put(qp_filter *f, qp_filter_thread *th, const qp_filter_event *e);

/* n calls that were entered ended without returning. */
void qp_filter_unwind(qp_filter *f, qp_filter_thread *th, uint64_t n);

/* The line that the call on top is at. */
void qp_filter_line(qp_filter_thread *th, uint32_t line);

/* A parameter of the next call (is_result: a result of the next return): bytes. */
void qp_filter_value(qp_filter *f, qp_filter_thread *th, bool is_result, const char *value,
                     size_t n_bytes);

/* Events of the thread were lost, or it has ended: what is held is written, open calls are
 * forgotten, and their returns with them. */
void qp_filter_reset(qp_filter *f, qp_filter_thread *th);

#endif
