/* runs.h: runs that counted blocks or jumps, written by hand, and the pictures of them. */
#ifndef QP_TESTS_UNIT_RUNS_H
#define QP_TESTS_UNIT_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/cover/cover.h"
#include "unit/profile.h"

typedef struct {
    profile *p;
    qp_cell thread;
} run;

/* @param collect  QP_COLLECT_* */
run run_new(uint32_t collect);

/* Registered with these lines, one a block. */
qp_cell run_method(run *r, const char *name, const char *file, const int *lines, uint32_t n);
/* How its blocks follow each other. */
void run_jumps(run *r, qp_cell method, const qp_jump *jumps, uint32_t n_jumps,
               const char *falls /* '1' or '0' for each block */);
void run_calls(run *r, qp_cell method, uint64_t calls);
void run_counts(run *r, qp_cell method, const uint64_t *values, uint32_t n);
void run_share(run *r, qp_cell context, qp_cell method, uint64_t calls, const int64_t *values,
               uint32_t n);

/* Add a run, which goes; it must be clean and be taken. */
void runs_add(qp_cover_set *s, run r, const char *what);
/* It must be refused with an error that has these words. */
void runs_refuse(qp_cover_set *s, run r, const char *what, const char *words);
void runs_add_with(qp_cover_set *s, run r, const char *what, const qp_cover_add_options *o);
qp_cover_set *runs_set(void);
/* Its picture; the set goes. */
qp_cover *runs_picture(qp_cover_set *s, const qp_cover_options *o);
qp_cover *runs_picture_of(run r);

const qp_cover_file *runs_file(const qp_cover *c, const char *path);
const qp_cover_line *runs_line(const qp_cover_file *f, uint32_t line);
const qp_cover_function *runs_function(const qp_cover_file *f, const char *name);
/* Hits of a line that a context has; 0: none. */
uint64_t runs_touch(const qp_cover *c, const qp_cover_file *f, uint32_t line,
                    const char *context);

#define RUN_LINES(...)                                                                         \
    (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)
#define RUN_VALUES(...)                                                                        \
    (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define RUN_SIGNED(...)                                                                        \
    (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

#define assert_totals(t, all, hit, what)                                                       \
    do {                                                                                       \
        assert_int_equal((t).what, all);                                                       \
        assert_int_equal((t).what##_hit, hit);                                                 \
    } while (0)

#endif
