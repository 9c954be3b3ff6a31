/* firefox.h: what all processed profiles of the Firefox Profiler have in common, in the shape of its
 * version 47, which later ones upgrade when they load it.
 *
 * Every thread has tables of its own: of strings (first a function's name, then its file), functions,
 * frames (one for each function) and stacks. */
#ifndef QP_EXPORT_FIREFOX_H
#define QP_EXPORT_FIREFOX_H

#include "base/json.h"

typedef struct {
    const char *name, *file;
    uint32_t line; /* 0: not known */
} qp_firefox_function;

typedef struct {
    uint32_t function; /* from 0 */
    uint32_t caller;   /* stack + 1; 0: none */
} qp_firefox_stack;

typedef struct {
    const void *of;
    size_t n_functions, n_stacks;
    qp_firefox_function (*function)(const void *of, size_t i);
    qp_firefox_stack (*stack)(const void *of, size_t i); /* callers before callees */
} qp_firefox_tables;

/* What comes before the threads. */
void qp_firefox_meta(qp_json *json, const char *program, uint64_t started_at);

/* A thread: who it is; its samples are the caller's; its tables. */
void qp_firefox_thread(qp_json *json, uint64_t pid, uint32_t ordinal, const char *name,
                       bool is_main);
void qp_firefox_write(qp_json *json, const qp_firefox_tables *t);

/* The column first, first + step, ... */
void qp_firefox_series(qp_json *json, const char *key, size_t n, size_t first, size_t step);

#endif
