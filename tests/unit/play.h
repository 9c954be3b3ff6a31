/* play.h: a host that plays a notation under a fake clock, and claims about what was recorded.
 *
 * A score is words between blanks:
 *   f(      enter method f, which is registered at its first mention
 *   )       return to the caller: exit with its stack id, or 0 from the outermost frame
 *   12      12 ns pass
 *   ^f      one exit to the innermost open f      .    exit with the top frame's own id
 *   !       exit with an id of no frame           $    exit with id 0
 *   +7      record 7 counts                       @a   continue as virtual thread a
 *   :2      block 2 begins (block time)           #2*5 block 2 was executed 5 times */
#ifndef QP_TESTS_PLAY_H
#define QP_TESTS_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "qprof.h"

enum { PLAY_METHODS = 64, PLAY_THREADS = 16, PLAY_UNKNOWN_ID = 0x7777777 };

typedef struct {
    char name[24];
    uintptr_t *ids; /* stack ids of the open frames, outermost first */
    int *methods;
    size_t depth, room;
} play_thread;

typedef struct {
    char folder[64]; /* temporary; the current directory while the test runs */
    qp_model *m;     /* what was read last */
    char methods[PLAY_METHODS][24];
    int n_methods;
    play_thread threads[PLAY_THREADS];
    int n_threads, current;
    bool is_virtual;
    intptr_t first_id, id_step; /* stack id of depth d: first_id + d * id_step */
} play_ctx;

/* ---- a test's frame ---------------------------------------------------------------------- */

int play_setup(void **state);    /* a new folder, the clock at one second, ids counting up */
int play_teardown(void **state); /* shuts down, removes the folder */

uint64_t play_clock(void); /* the fake clock, for qprof_set_clock() */
void play_clock_set(uint64_t ns);
void play_clock_add(int64_t ns);

/* ---- playing ----------------------------------------------------------------------------- */

/* Initialise with "-output=run.qprof" and these options; must succeed. */
void play_begin(play_ctx *p, const char *options);
void play_begin_vt(play_ctx *p, const char *options);
void play(play_ctx *p, const char *score);
/* Shut down and read run.qprof; every invariant is checked. */
void play_end(play_ctx *p);
/* play_begin() with the state of a test, which it returns; the same with a score, to its
 * end. */
play_ctx *play_start(void **state, const char *options);
play_ctx *play_run(void **state, const char *options, const char *score);
/* Save a snapshot and read it; recording continues. */
void play_peek(play_ctx *p);
/* Read any file into p->m. */
void play_read(play_ctx *p, const char *file);

qprof_MethodID play_method(play_ctx *p, const char *name); /* id; registers it if new */
/* Register a method with these details under the id that scores will use for it. */
void play_register(play_ctx *p, const char *name, int flags, const qprof_LineInfo *table,
                   int n);
VthreadID play_vt(play_ctx *p, const char *name);

/* ---- claims about p->m ------------------------------------------------------------------- */

qp_figures play_figures(play_ctx *p, uint32_t thread, const char *method);
void assert_flat(play_ctx *p, const char *method, uint64_t calls, uint64_t total,
                 uint64_t self);
void assert_flat_on(play_ctx *p, uint32_t thread, const char *method, uint64_t calls,
                    uint64_t total, uint64_t self);
void assert_min_max(play_ctx *p, const char *method, uint64_t min, uint64_t max);
void assert_skips(play_ctx *p, const char *method, uint64_t hits, uint64_t skips);
void assert_counts(play_ctx *p, const char *method, uint64_t own, uint64_t total);
void assert_block(play_ctx *p, const char *method, size_t block, uint64_t count, uint64_t self,
                  uint64_t total);
/* "main>f>g": calls and self time of one path, over all threads. */
void assert_path(play_ctx *p, const char *path, uint64_t calls, uint64_t self);
void assert_absent(play_ctx *p, const char *method);
uint64_t play_file_diagnostic(play_ctx *p, const char *name);

/* ---- files ------------------------------------------------------------------------------- */

bool play_file_exists(const char *path);
int play_count_files(const char *suffix); /* in the folder, not the hidden ones */
/* Wait for a child. @return its exit status; fails the test if a signal ended it */
int play_child_status(int pid);

/* May a forked child start threads? The thread sanitizer ends one that does; in that of the
 * address sanitizer the lock of its allocator stays taken if a thread of the parent had it. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { PLAY_CHILD_MAY_START_THREADS = 0 };
#else
enum { PLAY_CHILD_MAY_START_THREADS = 1 };
#endif

#define PLAY_TEST(f) cmocka_unit_test_setup_teardown(f, play_setup, play_teardown)

#endif
