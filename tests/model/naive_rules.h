/* naive_rules.h: triggers, actions and areas, word for word from spec/triggers.md. */
#ifndef QP_TESTS_NAIVE_RULES_H
#define QP_TESTS_NAIVE_RULES_H

#include "model/naive.h"

/* Effective profiling of a thread, section 5: everything is a veto. */
bool naive_is_open(const naive *n, const naive_thread *th);

/* Is a checked trigger or action there that has a checked method? Section 4. */
bool naive_rules_are_used(const naive *n);

naive_level naive_rules_level(const naive *n, uint64_t method); /* section 7 */

/* Sections 2, 3 and 6. An entry: before its frame is decided upon; an exit: behind its record. */
void naive_rules_enter(naive *n, naive_thread *th, uint64_t method, naive_frame *f);
void naive_rules_exit(naive *n, naive_thread *th, const naive_frame *f);
/* A frame that goes without an exit: it restores, and runs no action. */
void naive_rules_restore(naive *n, naive_thread *th, const naive_frame *f);

/* The calls of include/qprof/triggers.h. */
naive_rule *naive_rule_create(naive *n, naive_rule_kind kind, int type, int when);
void naive_rule_add(naive_rule *rule, uint64_t method, bool is_checked);
bool naive_gate(naive *n, bool is_open); /* @return before */

#endif
