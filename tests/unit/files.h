/* files.h: a folder of a test's own, and profiles that are read from there. */
#ifndef QP_TESTS_UNIT_FILES_H
#define QP_TESTS_UNIT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/combine/combine.h"
#include "model/model.h"
#include "unit/profile.h"

int files_enter(void **state); /* the current folder, until: */
int files_leave(void **state);

/* How many there are in the folder. */
int files_count(void);

/* A sealed profile that is clean and passes all checks. */
qp_model *files_read(const char *path);

/* ---- sums of profiles -------------------------------------------------------------------- */

/* It must be taken. */
void sum_add(qp_merge *s, const qp_model *m, const char *what);
void sum_add_profile(qp_merge *s, const profile *p, const char *what);
/* Write a sum and read it again; it is freed. */
qp_model *sum_finish(qp_merge *s, const char *path);

#define FILES_TEST(f) cmocka_unit_test_setup_teardown(f, files_enter, files_leave)

#endif
