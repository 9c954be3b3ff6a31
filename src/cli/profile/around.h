/* around.h: which function a source line belongs to, and what is said of it before its first
 * line. */
#ifndef QP_CLI_PROFILE_AROUND_H
#define QP_CLI_PROFILE_AROUND_H

#include "cli/show/show.h"
#include "model/figures/figures.h"

/* Lines of a method. */
typedef struct {
    uint32_t first, last, method;
} qp_range;

/* Going down the lines of a source file. */
typedef struct {
    qp_view view;
    qp_pair *pairs; /* [n_pairs] by callee, most calls first */
    size_t n_pairs;
    qp_range *ranges; /* [n_ranges] as they begin, outer ones first */
    size_t n_ranges;
    size_t n_begun; /* of them: up to the current line */
    size_t *open;   /* [n_open] ranges around the current line, the innermost last */
    size_t n_open;
} qp_around;

/* @param file    as registered
 * @param method  only this one; 0: all of the file
 * @return false: no memory; qp_around_fini() is allowed then */
bool qp_around_init(qp_around *a, const qp_model *m, const char *file, uint32_t method,
                    uint32_t thread);
void qp_around_fini(qp_around *a);

/* Go on to a line, which is below the last. @return functions that begin since then:
 * ranges[n_begun - n .. n_begun) */
size_t qp_around_go(qp_around *a, uint32_t line);

/* The innermost function around the line; QP_ROOT_METHOD: none. */
uint32_t qp_around_method(const qp_around *a);

/* "main: 1 call, self 2.000 us (37.8 %), total 45.000 us (100.0 %)". @return to */
char *qp_around_figures(const qp_around *a, uint32_t method, char *to, size_t n_bytes);
/* "called by main 3 times, by f twice and by 2 others"; "" if nobody called it. @return to */
char *qp_around_callers(const qp_around *a, uint32_t method, char *to, size_t n_bytes);

#endif
