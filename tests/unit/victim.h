/* victim.h: a program that records calls and is killed at a random moment.
 *
 * It counts its events in a page that it shares with the test, before and after each one: what
 * it leaves must lie between the two. The moment is a number of events, not a time: the test
 * watches the page and kills when the number is reached. */
#ifndef TESTS_UNIT_VICTIM_H
#define TESTS_UNIT_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

enum { VICTIM_THREADS = 3, VICTIM_HOST_ID = 1000 /* of the first thread */ };

typedef struct {
    uint64_t entries_begun, entries_done, exits_begun, exits_done;
} victim_tally;

typedef struct {
    char live_file[300];
    uint32_t is_ready, has_failed;
    uint64_t n_events;
    victim_tally threads[VICTIM_THREADS];
} victim_page;

extern victim_page *victim; /* of the last one */

typedef struct {
    uint64_t max_depth;
    uint64_t n_events;       /* of one thread, however late the kill comes; 0: without end */
    void (*meanwhile)(void); /* what else the program does, without end; NULL: it waits */
} victim_plan;

/* Once, before all others. @return false: no memory */
bool victim_prepare(void);

/* Run the plan with these options until n_events of all threads are done, and kill it. */
void victim_kill_after(uint64_t n_events, const char *options, const victim_plan *plan);

/* The i-th random moment; each eighth is near the beginning. */
uint64_t victim_moment(unsigned i, uint64_t *seed);

/* @param n_lost  events that the recording itself says it could not store */
void victim_assert_between(const char *what, uint64_t done, uint64_t recorded, uint64_t begun,
                           uint64_t n_lost);

#endif
