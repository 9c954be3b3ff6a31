/* naive_rules.h: triggers, actions and areas, word for word from spec/triggers.md. */
#ifndef QP_TESTS_NAIVE_TRIGGERS_H
#define QP_TESTS_NAIVE_TRIGGERS_H

#include "model/naive.h"

/* Effective profiling of a thread, section 5: everything is a veto. */
bool naive_is_open(const naive *n, const naive_thread *th);

/* Is a checked trigger or action there that has a checked method? Section 4. */
bool naive_triggers_are_used(const naive *n);

naive_level naive_triggers_level(const naive *n, uint64_t method); /* section 7 */

/* Sections 2, 3 and 6. An entry: before its frame is decided upon; an exit: after its
 * record. */
void naive_triggers_enter(naive *n, naive_thread *th, uint64_t method, naive_frame *f);
void naive_triggers_exit(naive *n, naive_thread *th, const naive_frame *f);
/* A frame that goes without an exit: it restores, and runs no action. */
void naive_triggers_restore(naive *n, naive_thread *th, const naive_frame *f);

/* The calls of include/qprof/triggers.h. */
naive_trigger *naive_trigger_create(naive *n, naive_trigger_kind kind, int type, int when);
void naive_trigger_add(naive_trigger *trigger, uint64_t method, bool is_checked);
bool naive_gate(naive *n, bool is_open); /* @return before */

#endif
