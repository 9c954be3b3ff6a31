/* pace.h: which calls -time=adaptive times, and what is known of the others.
 *
 * The calls of a path are divided into blocks of 2^k. One call of each block, any, is timed and
 * represents its block; k follows from how long the calls are and from what timing may cost the
 * thread. That would miss the few long calls of a function whose calls are short. So a coarse
 * clock ticks once in each period, and a call that was not timed finds at its end that it has
 * ticked: of a call's time, period / 2^k is known by the timed calls, and what exceeds that by the
 * ticks. Both are free of bias, whatever the lengths of calls are.
 *
 * There is no floating point: threads of the host would find its flags changed.
 *
 * These functions know nothing of stacks and files. Thread time goes in; start reading at
 * qp_pace_end(). */
#ifndef QP_RECORD_CLOCK_PACE_H
#define QP_RECORD_CLOCK_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/layout.h"
#include "record/run/run.h"

/* The same for all threads of a run. */
typedef struct {
    uint64_t period; /* of the coarse clock, in ticks; 0: there is none */
    uint64_t cost;   /* ticks that timing a call takes; 0: what the clock shows is no time */
} qp_pace_rules;

/* A thread's coarse clock, and what timing may still cost it. */
typedef struct {
    /* Thread time when the coarse clock ticked last, and before; written by its own thread. */
    uint64_t tick, before[2];
    uint64_t random;
    uint64_t paid_at; /* thread time up to which the balance has its share */
    int64_t balance;  /* ticks that may be spent */
    uint64_t reach;   /* calls whose squared ticks reach it are all timed */
} qp_pace;

/* @param now  thread time, which may begin anywhere: the first tick represents what follows */
void qp_pace_begin(qp_pace *p, const qp_pace_rules *rules, uint64_t seed, uint64_t now);
/* The coarse clock ticks, at that thread time. By any one thread. */
void qp_pace_tick(qp_pace *p, uint64_t at);

/* Choose the first call of a new path that is timed. */
void qp_pace_path(qp_pace *p, const qp_pace_rules *rules, qprof_node *n);
/* A path whose data were cleared. @param t  its record; NULL: none */
void qp_pace_clear(qprof_node *n, qp_node_timing *t);

/* Does the path need a record, to note that a timed call took so long? */
bool qp_pace_needs_record(const qp_pace *p, const qp_pace_rules *rules, const qprof_node *n,
                          uint64_t ticks);
/* May a call that was not timed, and found that the coarse clock has ticked, need one? */
bool qp_pace_has_untimed(const qprof_node *n);
/* Fill t, which is zeroed, for a path without a record. */
void qp_pace_record(const qprof_node *n, qp_node_timing *t);

/* A timed call ends: note it and choose the next one.
 * @param t    the path's record; NULL: none
 * @param now  thread time */
void qp_pace_end(qp_pace *p, const qp_pace_rules *rules, qprof_node *n, qp_node_timing *t,
                 uint64_t ticks, uint64_t now);
/* A call that was not timed ends, and the coarse clock has ticked.
 * @param begun  the tick that was the last one at its entry */
void qp_pace_crossed(qp_pace *p, const qp_pace_rules *rules, const qprof_node *n,
                     qp_node_timing *t, uint64_t begun, uint64_t now);
/* Add time that is known and represents no other call. */
void qp_pace_add(qprof_node *n, qp_node_timing *t, uint64_t ticks);

#endif
