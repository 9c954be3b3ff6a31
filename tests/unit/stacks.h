/* stacks.h: profiles of a few call paths with PC samples, in words: "m.f" is procedure f of
 * module m, "?" is foreign code. */
#ifndef QP_TESTS_UNIT_STACKS_H
#define QP_TESTS_UNIT_STACKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/figures/figures.h"
#include "unit/profile.h"

enum { STACKS_NAME_BYTES = 64 };

/* Methods by their words. */
typedef struct {
    profile *p;
    char words[32][STACKS_NAME_BYTES];
    qp_cell cells[32];
    int n;
} stacks;

/* The method of a word, which is made if it is new. */
qp_cell stacks_method(stacks *v, const char *word, int n_bytes);

/* m.a calls m.b, which calls m.a, which calls x.c: 1, 2, 4 and 8 samples, 16 in no procedure,
 * 32 in critical sections; each has 10 ns. */
qp_model *stacks_recursive_run(void);

/* Apply a pattern, which must be a good one. */
void stacks_apply(qp_attributions *c, const qp_model *m, const char *pattern);

/* What a procedure has in a list; 0: it is not there. */
uint64_t stacks_shallow(const qp_attribution_row *rows, size_t n, const char *module,
                        const char *procedure, uint64_t *deep);

#endif
