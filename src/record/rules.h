/* rules.h: when and where to record: triggers and actions, which look at the entries and exits of
 * some methods, and areas, which say what methods are measured at all.
 *
 * A rule names its methods by texts or ids; each method is compared when it is registered, and all
 * of them when rules change (rule_match.c). What an event does with them: rules.c. Rules are
 * changed under the control lock; events read them without one, so a rule, once made, stays where
 * it is until the run ends. */
#ifndef QP_RECORD_RULES_H
#define QP_RECORD_RULES_H

#include "config/config.h"
#include "record/thread.h"

typedef enum { QP_RULE_TRIGGER = 1, QP_RULE_ACTION, QP_RULE_AREA } qp_rule_kind;

/* A trigger, an action or an area: qprof_trigger, qprof_action, qprof_area. A cell. */
typedef struct {
    uint32_t kind;        /* qp_rule_kind */
    uint32_t ordinal;     /* place in the list, from 1 */
    uint32_t name;        /* ref in the pool */
    uint32_t first, last; /* qp_member */
    uint32_t next;        /* in the list */
    uint8_t type;         /* QPROF_TRIGGER_*, qp_action_kind, QPROF_AREA_* */
    uint8_t when;         /* action: QPROF_ON_*; area: QPROF_LEVEL_* */
    uint8_t is_checked, is_cycling, is_for_all, is_dead, has_parameters, is_of_file;
    uint64_t pass, work;
    uint64_t n_calls; /* for all threads: calls so far */
    uint64_t key;     /* of kind and name */
} qp_rule;

/* None but the predefined areas; the run before is forgotten. */
void qp_rules_begin(void);

/* ---- the list; under the control lock --------------------------------------------------------- */

/* @return NULL: the name is empty or taken, no memory, or the run keeps nothing but stacks */
qp_rule *qp_rule_create(qp_rule_kind kind, const char *name, unsigned type, unsigned when);
/* @return NULL: none of that name */
qp_rule *qp_rule_find(qp_rule_kind kind, const char *name);
/* Is it a living rule of the kind? Takes any address. */
bool qp_rule_is(const void *rule, qp_rule_kind kind);
void qp_rule_destroy(qp_rule *rule);

void qp_rule_set_checked(qp_rule *rule, bool is_checked);

/* Name methods. @return 0; QPROF_E_ARG: an empty name; QPROF_E_SYNTAX: no expression;
 * QPROF_E_MEMORY */
int qp_rule_add(qp_rule *rule, const qp_config_element *element);
int qp_rule_add_id(qp_rule *rule, uint64_t id, bool is_checked);
/* @return false: the rule does not name it */
bool qp_rule_check(qp_rule *rule, const char *name, bool is_checked);

/* Rules made between the two are of a configuration file; at the end they are kept, or all is as
 * it was. @param replaces  what files before said is gone, if the new one is kept */
void qp_rules_begin_file(bool replaces);
void qp_rules_end_file(bool is_kept);

/* The status that threads begin with. @param on  -1: only ask. @return before */
bool qp_rules_initial_status(int on);

/* Does an area that is checked retrieve values of parameters and results? */
bool qp_rules_want_values(void);

enum { QP_WARN_MAY_BE_OFF = 1 }; /* QPROF_WARN_* */
unsigned qp_rules_validate(void);

/* A run ends, and nothing is matched any more: say in the log what names fitted nothing. */
void qp_rules_end(void);

/* ---- rules and methods ------------------------------------------------------------------------ */

/* Compare all methods with all rules again: rules have changed, or what event triggers look at.
 * Threads learn of it at their next event. Under the control lock */
void qp_rules_changed(void);
/* The same where one rule has changed, from this member on: the methods that those name. */
void qp_rules_changed_from(const qp_rule *rule, uint32_t first);

/* A method was registered, or entered unregistered: compare it. Threads: any. */
void qp_rules_method(qp_cell method);

/* ---- events ----------------------------------------------------------------------------------- */

/* Must all entries and exits be sent, whatever is collected? */
bool qp_rules_are_used(void);

/* A thread is made: it begins with the initial status. */
void qp_rules_create(const qprof_thread *th);

/* It has its first event. */
void qp_rules_thread(qprof_thread *th, qprof_frame *top);

/* A hooked method is entered; it has no frame yet. Triggers, then On-Enter actions.
 * @param top  may move; NULL afterwards: the event is off. @return QPROF_FRAME_RESTORE* */
uint32_t qp_rules_entry(qprof_thread *th, qprof_frame **top, qp_cell method);

/* The frame could not be made, or has ended: On-Exit actions of its method (0: none), then the
 * status is what it was. */
void qp_rules_exit(qprof_thread *th, qprof_frame **top, qp_cell method, uint32_t frame_flags);

/* What other threads did: the thread's status, and which of its paths are hooked.
 * @param is_parked  it is not being driven yet: its clock has stood since it was let go */
void qp_rules_sync(qprof_thread *th, qprof_frame *top, bool is_parked);

/* Status of the calling thread. */
bool qp_rules_status(void);

#endif
