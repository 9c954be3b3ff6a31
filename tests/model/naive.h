/* naive.h: the slowest obviously right profiler, written from include/qprof.h and spec/qii.md.
 *
 * Lists that are searched from their beginning, a tree of pointers, a clock that is set.
 * Nothing here is shared with the recorder, and nothing is clever: what the two agree on is
 * believed. */
#ifndef QP_TESTS_NAIVE_H
#define QP_TESTS_NAIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    bool is_virtual, has_times, is_counts_clock, ignores_unknown_exits, records, clears_on_save;
    bool is_estimated; /* some times are not known: they may be a dataset by themselves */
    int answer_blocks; /* the callback registers a method of so many blocks; -1: it does not */
} naive_options;

/* ---- triggers, actions and areas: naive_rules.h ---- */

enum { NAIVE_TRIGGERS = 24, NAIVE_MEMBERS = 8, NAIVE_THREADS = 128 };

typedef enum { NAIVE_TRIGGER, NAIVE_ACTION, NAIVE_AREA } naive_trigger_kind;
typedef enum { NAIVE_NOTHING, NAIVE_ROUTINES, NAIVE_LINES } naive_level;

typedef struct {
    uint64_t method;
    bool is_checked;
} naive_member;

typedef struct {
    naive_trigger_kind kind;
    int type, when; /* as for create(); an area's level is `when` */
    bool is_checked, is_cycling, is_for_all, is_dead;
    uint64_t pass, work;
    naive_member members[NAIVE_MEMBERS];
    size_t n_members;
    uint64_t n_calls, calls_of[NAIVE_THREADS]; /* of all threads; of each, by its ordinal */
} naive_trigger;

/* ---- what is recorded ---- */

typedef struct naive_node {
    uint64_t method; /* 0: anonymous, and the root of a thread */
    uint64_t n_hits, n_skips, self, min, max, counts; /* min > max: no complete call */
    uint64_t total;                                   /* set by naive_derive() */
    bool is_open;                                     /* the same */
    struct {
        uint64_t n_hits, n_skips, self, counts;
    } recorded; /* of a sum of threads: what a profile has */
    struct naive_node *parent, *children, *next;
} naive_node;

typedef struct {
    uint64_t method, id, own, inclusive;
    naive_node *node;
    bool is_hit, is_complete;   /* complete: recorded without a stop or clear in between */
    bool is_excluded;           /* in no area: a part of the frame below */
    bool saved[NAIVE_TRIGGERS]; /* statuses, by triggers that acted */
    size_t n_saved;
    int block;                           /* of the last mark; -1: none yet */
    uint64_t before_own, before_callees; /* of the time before the first mark */
} naive_frame;

typedef struct naive_block {
    uint64_t method;
    int block;
    uint64_t count, self, total;
    uint64_t open_callees; /* set by naive_derive(): to be added to total */
    bool is_marked;
    struct naive_block *next;
} naive_block;

typedef struct {
    uint64_t key; /* virtual thread, or id of qprof_thread_create */
    bool is_live, is_bound;
    uint64_t seen; /* the clock at its last charge, or its beginning */
    bool has_read; /* the clock since it runs here, so that it may not go back */
    naive_node *root;
    naive_frame *frames;
    size_t depth, room;
    naive_block *blocks;
    uint64_t n_popping_exits, n_popped, n_destroyed_live, n_entries, n_excluded;
    bool is_enabled; /* its status */
} naive_thread;

typedef struct {
    uint64_t id;
    bool is_registered;
    int n_blocks;
} naive_method;

enum {
    NAIVE_WRONG_MODE,
    NAIVE_EXIT_UNKNOWN_ID,
    NAIVE_EXIT_EMPTY_STACK,
    NAIVE_ENTRY_ZERO_STACK_ID,
    NAIVE_UNKNOWN_METHOD,
    NAIVE_METHOD_REREGISTERED,
    NAIVE_BAD_METHOD_ID,
    NAIVE_BB_OUT_OF_RANGE,
    NAIVE_BB_NO_FRAME,
    NAIVE_COUNTS_NO_FRAME,
    NAIVE_UNKNOWN_THREAD,
    NAIVE_UNSORTED_LINE_TABLE,
    NAIVE_N_DIAGNOSTICS
};
extern const char *const naive_diagnostic_names[NAIVE_N_DIAGNOSTICS];

typedef struct {
    naive_options o;
    uint64_t now; /* the machine's clock */
    bool is_recording, is_disabled, is_gate_closed;
    naive_trigger triggers[NAIVE_TRIGGERS];
    size_t n_triggers;
    bool is_initially_off, has_all_lines, has_all_routines;
    bool is_all_lines_set; /* it was checked or unchecked */
    void (*get_results)(void *owner);
    void *owner;
    bool has_data;         /* a dataset is to be written */
    bool may_have_data;    /* it may be: the specification leaves counts and marks alone open */
    naive_thread *threads; /* [n_threads] in the order of their ordinals */
    size_t n_threads, thread_room;
    int current; /* thread that the OS thread runs; -1: none */
    naive_method methods[256];
    size_t n_methods;
    uint64_t diagnostics[NAIVE_N_DIAGNOSTICS];
    /* clock readings before the last one: those that the accounting needs, and those that a
     * recorder may make besides */
    uint64_t n_backwards, n_backwards_at_most, backwards_max, backwards_max_at_most;
} naive;

void naive_init(naive *n, const naive_options *o, uint64_t now);
void naive_fini(naive *n);

/* The calls of the library. In system-thread mode `vt` does not matter. */
void naive_create(naive *n, uint64_t key);
void naive_destroy(naive *n, uint64_t key);
void naive_mount(naive *n, uint64_t vt); /* creates it if need be */
void naive_entry(naive *n, uint64_t vt, uint64_t method, uint64_t id);
void naive_exit(naive *n, uint64_t vt, uint64_t id);
void naive_counts(naive *n, uint64_t vt, uint64_t count);
void naive_bb_counts(naive *n, uint64_t vt, int block, uint64_t count);
void naive_bb_time(naive *n, uint64_t vt, int block);
void naive_register(naive *n, uint64_t method, int n_blocks, bool is_sorted);
bool naive_start(naive *n);
bool naive_stop(naive *n);
void naive_disable(naive *n);
void naive_clear(naive *n);
uint64_t naive_current_method(const naive *n, uint64_t vt);

/* The live thread that a call with this vt would act on; NULL: there is none yet. */
naive_thread *naive_live(const naive *n, uint64_t vt);

/* Time passes up to now on the thread that runs. */
void naive_pass_current(naive *n);

/* Charge everybody up to now, set totals and is_open: what a snapshot shows. */
void naive_derive(naive *n);

/* Counts and times of a block; NULL: nothing happened there. */
const naive_block *naive_find_block(const naive_thread *th, uint64_t method, int block);

#endif
