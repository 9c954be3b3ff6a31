/* tally.h: the counts in a profile of libcprof, as the file holds them, and small runs to make
 * one. Both libraries are in these programs: qprof_x is libqprof's, cprof_x libcprof's. */
#ifndef QP_TESTS_TALLY_H
#define QP_TESTS_TALLY_H

#include "cprof.h"
#include "model/cover/cover.h"
#include "model/figures/figures.h"
#include "unit/play.h"

enum { TALLY_F = 1, TALLY_G = 2, TALLY_H = 3 };

/* Read a profile, which must be whole and agree with itself; claims are about it from now
 * on. */
void tally_read(const char *path);
void tally_forget(void);

/* f has so many calls and executions of its two blocks. */
void assert_tally(const char *method, uint64_t calls, uint64_t block_0, uint64_t block_1);
uint64_t tally_calls(const char *method);
/* A context has so much of it; "": what no context has. */
void assert_context(const char *method, const char *context, uint64_t calls, uint64_t block_0,
                    uint64_t block_1);
void assert_no_method(const char *method);
/* A note of the profile holds these words. */
void assert_note(const char *words);

/* Begin a run with options, and register "f" in lines 10 and 11 of a.x. */
void tally_begin(const char *options);
/* Call a method n times; its first block is executed n times, the second one second times. */
void tally_call(qprof_MethodID method, unsigned n, unsigned second);
/* A whole run with options: f is called so. */
void tally_run(const char *options, unsigned n, unsigned second);
/* Register with a table of two entries. */
void tally_register(qprof_MethodID id, const char *name, int line_0, int line_1);

/* ---- files ------------------------------------------------------------------------------- */

unsigned char *tally_bytes(const char *path, size_t *n); /* free() */
void tally_write(const char *path, const void *bytes, size_t n);

#endif
