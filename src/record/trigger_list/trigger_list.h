/* trigger_list.h: the lists of what looks at events: triggers, actions and areas; event
 * triggers.
 *
 * Triggers, actions and areas (below: triggers) name methods by texts or ids. A trigger and an
 * action look at the entries and exits of these methods; an area says what of them is measured.
 * Each method is compared with all triggers when it is registered, and all methods are when
 * triggers change. Triggers change under the control lock; events read them without a lock, so
 * a trigger stays where it is until the run ends, or until no thread can read one that a
 * configuration file made and another has replaced.
 *
 * Levels of calls, bottom first: trigger_list.c; event_trigger_names.c; method_flags.c;
 * event_trigger_list.c. */
#ifndef QP_RECORD_TRIGGER_LIST_TRIGGER_LIST_H
#define QP_RECORD_TRIGGER_LIST_TRIGGER_LIST_H

#include "base/containers/pool.h"
#include "base/containers/trie.h"
#include "config/config.h"
#include "format/layout.h"
#include "record/run/run.h"

/* ---- triggers, actions, areas: trigger_list.c -------------------------------------------- */

typedef enum { QP_KIND_TRIGGER = 1, QP_KIND_ACTION, QP_KIND_AREA } qp_trigger_kind;

/* qprof_trigger, qprof_action, qprof_area. A cell. */
typedef struct {
    uint64_t key;         /* of kind and name */
    uint32_t kind;        /* qp_trigger_kind */
    uint32_t ordinal;     /* place in the list, from 1 */
    uint32_t name;        /* ref in the pool */
    uint32_t first, last; /* qp_member */
    uint32_t next;        /* in the list */
    uint8_t type;         /* QPROF_TRIGGER_*, qp_action_kind, QPROF_AREA_* */
    uint8_t when;         /* action: QPROF_ON_*; area: QPROF_LEVEL_* */
    uint8_t is_checked, is_cycling, is_for_all, is_dead, has_parameters, is_of_file;
    uint32_t edition; /* in whose memory it lies */
    uint64_t pass, work;
    uint64_t n_calls; /* for all threads: calls so far */
} qp_trigger;

/* What a member names, besides the kinds of qp_element_kind. */
enum { QP_MEMBER_ID = QP_ELEMENT_ROUTINE + 1 };

/* One name of a trigger. A cell. */
typedef struct {
    uint64_t id;            /* of QP_MEMBER_ID; else the key: see qp_triggers_key() */
    uint32_t trigger, next; /* the next of its trigger */
    uint32_t same[3];       /* by edition: the next with the same key, or with a match */
    uint32_t text;          /* ref in the pool */
    uint32_t match;         /* cell of a qp_match; 0: literal, or an id */
    uint32_t next_match;    /* the next one with a match of this memory */
    uint8_t kind;           /* qp_element_kind or QP_MEMBER_ID */
    uint8_t is_checked;
    uint8_t has_fitted; /* some method */
    uint8_t reserved;
} qp_member;

/* Settings of the predefined areas and of new threads. */
typedef struct {
    bool is_known, all_lines, all_routines, is_all_lines_set, is_initially_off;
} qp_trigger_defaults;

/* Blocks of tries. */
typedef enum {
    QP_ROOT_NAMES,   /* triggers by name */
    QP_ROOT_KEYS,    /* members by key */
    QP_ROOT_METHODS, /* hooks by method */
    QP_ROOT_THREADS, /* counters by thread and trigger */
    QP_ROOT_NAMED,   /* of edition 0: methods by name */
    QP_N_ROOTS
} qp_trigger_root;

/* Triggers, and where to find them. Edition 0 has what lasts until the run ends, and counters of its
 * triggers. A file that replaces others makes the next one of the two further editions: its triggers,
 * and indices of all triggers; it comes into force at once, when the file is good. Cells of all
 * editions are counted from the same place. */
typedef struct {
    qp_pool pool;
    uint32_t roots[QP_N_ROOTS];
    uint32_t patterns; /* members with a match, linked by same */
    uint32_t matches;  /* the same, of its own triggers, linked by next_match */
    bool is_held;      /* a host has found a trigger of it, and may keep it */
} qp_trigger_edition;

/* All triggers of this run; lists are cells of triggers. */
typedef struct {
    qp_trigger_edition editions[3];
    uint32_t n_kept; /* files that replaced others: see qp_triggers_edition() */
    uint32_t making; /* the edition that is changed: that in force, or of the file being read */
    bool is_changing;     /* a new edition is being compared: see qp_triggers_hooks() */
    uint32_t n_readers;   /* threads that read an edition, and are not busy with an event */
    uint32_t first, last; /* triggers, in the order of their making */
    uint32_t all_lines, all_routines; /* the predefined areas */
    uint32_t n_triggers;
    uint64_t n_turns;   /* actions that enabled or disabled all threads */
    uint32_t is_warned; /* that profiling may be off for the whole run */
    bool is_initially_off, is_of_file;
    bool want_values;      /* an area that is checked retrieves values of parameters */
    bool are_named;        /* all methods can be found by their names */
    bool is_all_lines_set; /* all-lines was explicitly checked or unchecked */
    qp_trigger_defaults of_host, before; /* before the first file; before the one being read */
} qp_trigger_set;
extern qp_trigger_set qp_triggers;

static inline qp_pool *qp_triggers_pool(uint32_t edition)
{
    return &qp_triggers.editions[edition].pool;
}

/* The one in force, 1 or 2. */
static inline uint32_t qp_triggers_edition(void)
{
    return 1 + qp_observe(&qp_triggers.n_kept) % 2;
}

static inline qp_trigger *qp_trigger_at(uint32_t cell)
{
    return qp_pool_at(qp_triggers_pool(0), cell);
}

static inline qp_member *qp_member_at(uint32_t cell)
{
    return qp_pool_at(qp_triggers_pool(0), cell);
}

/* The next one of the list, in the order of their making; NULL: the first. @return NULL: no more */
static inline qp_trigger *qp_trigger_next(const qp_trigger *trigger)
{
    uint32_t cell = trigger ? trigger->next : qp_triggers.first;
    return cell ? qp_trigger_at(cell) : NULL;
}

/* Are there triggers, so that all entries and exits must be sent, whatever is collected? */
static inline bool qp_triggers_are_used(void)
{
    return qp_observe(&qp_triggers.all_lines) != 0;
}

/* Forget the previous run. At the end log the names that fitted no method. */
void qp_triggers_begin(void);
void qp_triggers_end(void);

/* A thread begins and ends to read triggers, unless it is busy with an event or has the control lock. */
static inline void qp_triggers_read(bool begins)
{
    qp_announce(&qp_triggers.n_readers, begins ? 1 : -1u);
}

/* @return NULL: the name is empty or taken, no memory, or the run keeps only stacks */
qp_trigger *qp_trigger_create(qp_trigger_kind kind, const char *name, unsigned type,
                              unsigned when);
qp_trigger *qp_trigger_find(qp_trigger_kind kind, const char *name);
/* The host has it now: it stays where it is until the run ends. */
static inline void qp_trigger_hold(const qp_trigger *trigger)
{
    qp_triggers.editions[trigger->edition].is_held = true;
}
/* Is it an existing trigger of the kind? Takes any address. */
bool qp_trigger_is(const void *trigger, qp_trigger_kind kind);
void qp_trigger_destroy(qp_trigger *trigger);

void qp_trigger_set_checked(qp_trigger *trigger, bool is_checked);

/* Name methods. @return 0; QPROF_E_ARG: an empty name; QPROF_E_SYNTAX: a bad expression;
 * QPROF_E_MEMORY */
int qp_trigger_add(qp_trigger *trigger, const qp_config_element *element);
int qp_trigger_add_id(qp_trigger *trigger, uint64_t id, bool is_checked);
/* @return false: the trigger does not name it */
bool qp_trigger_check(qp_trigger *trigger, const char *name, bool is_checked);

/* Triggers made between the two belong to a configuration file; at the end they are kept, or
 * all is as it was. qp_triggers_changed() is left to the caller.
 * @param replaces  the triggers of earlier files are dropped if the new ones are kept
 * @return false: no memory; the end comes all the same */
bool qp_triggers_begin_file(bool replaces);
/* After that: free what was replaced, now if possible, else with the next file. */
void qp_triggers_free(void);
void qp_triggers_end_file(bool is_kept);

/* The status of new threads. @param on  -1: only ask. @return the status before */
bool qp_triggers_initial_status(int on);

enum { QP_WARN_MAY_BE_OFF = 1 }; /* QPROF_WARN_* */
unsigned qp_triggers_validate(void);

/* Is a trigger or an action checked that has a checked method? */
bool qp_triggers_have_active(void);

/* Keys of literal names and ids. */
uint64_t qp_triggers_key(unsigned kind, const char *text);
uint64_t qp_triggers_id_key(uint64_t id);
/* Write "class.name" of a method, or its name alone if it has no class. */
void qp_triggers_display(const qp_method *m, char *to, size_t n_bytes);
/* The tries of a pool, whose leaves are cells that begin with their key: as qp_trie_get(), qp_trie_put().
 * A block of any trie (0: no memory). */
uint32_t qp_triggers_get(const qp_pool *pool, uint32_t root, uint64_t key);
uint32_t qp_triggers_put(qp_pool *pool, uint32_t root, uint32_t cell);
uint32_t qp_triggers_block(void *pool);

/* ---- flags of methods: method_flags.c ---------------------------------------------------- */

/* The members of triggers and actions that name a method, in the order of the list. */
typedef struct {
    uint32_t n;
    uint32_t members[1];
} qp_hooks;

/* @return NULL: nothing names the method */
const qp_hooks *qp_triggers_hooks(qp_cell method);

/* Compare all methods with all triggers again: triggers have changed, or what event triggers
 * look at. Threads apply it at their next event. Under the control lock. */
void qp_triggers_changed(void);
/* The same where one trigger has changed, from this member on: only the methods that those
 * name. */
void qp_triggers_changed_from(const qp_trigger *trigger, uint32_t first);

/* Compare a method that was registered, or entered unregistered. Threads: any. */
void qp_triggers_method(qp_cell method);

/* ---- event triggers: event_trigger_list.c ------------------------------------------------ */

/* qprof_TrgID. Lies in the pool of event triggers, which never moves; others refer to its cell.
 * Few are enabled: those are in a row of slots, which an event looks through without a lock.
 * Adding, deleting and naming is under the control lock; enabling, disabling, hits and the
 * triggering bit are not. */
typedef struct qprof_Trg {
    uint32_t number;     /* from 1; published last; 0: none */
    uint32_t next, prev; /* in the list; those of a deleted one remain valid */
    uint32_t slot;       /* 0: disabled; else in qp_event_triggers.slots, from 1. Atomic */
    uint32_t n_enabled;  /* how often it was enabled: tells a status from the same one later */
    uint32_t event;
    uint32_t name;   /* ref; 0: none */
    uint32_t object; /* qp_event_target: the methods whose calls it looks at */
    uint32_t chain;  /* cell; 0: none, or a deleted one */
    uint8_t context, when_kind, when_operator, action;
    bool is_conditional, is_deferred, is_one_shot, is_initially_enabled;
    bool is_dead, is_doomed; /* deleted; to be deleted after the event in progress */
    uint8_t origin;          /* qp_event_trigger_origin */
    bool is_wanted;          /* is to be enabled once its symbols are registered */
    uint32_t n_missing;      /* symbols that are not */
    int when_value;
    uint64_t context_id, object_id;
    void *when_address;
    int (*function)(intptr_t argument);
    intptr_t argument;
    uint64_t n_hits;
    uint64_t longer_ns, depth;
    uint32_t used, most_a_second;
    uint64_t second; /* when the last one began, and its hits: see within_rate() */
    uint32_t when_symbol, action_symbol; /* qp_event_symbol; 0: none */
    uint32_t chain_name;                 /* ref, while a file is read: its trigger may follow */
    uint32_t chain_line, chain_column;
} qp_event_trigger;

typedef enum { QP_OF_HOST, QP_OF_FILE, QP_OF_NEW_FILE, QP_SET_ASIDE } qp_event_trigger_origin;

enum { QP_TRIGGER_CELLS = (sizeof(qp_event_trigger) + QP_CELL - 1) / QP_CELL };

typedef struct {
    qp_pool triggers, others, symbols;
    uint32_t first, last; /* the list */
    uint32_t n_listed, n_numbers;
    uint32_t n_all_calls;            /* that look at the calls of all methods */
    uint32_t names, targets, places; /* roots of tries */
    uint32_t patterns;               /* qp_event_target with a match */
    uint32_t symbol_root;
    uint32_t n_enabled; /* atomic, as slots and n_slots */
    uint32_t n_slots;   /* that were ever used */
    uint32_t slots[QPROF_TRG_MAX_ENABLED];
    uint32_t percent;             /* of the memory limit, when MEMORY was raised last */
    bool has_deferred;            /* one with a deferred action was added */
    bool is_reading;              /* a file */
    qp_config_setting triggering; /* of the file */
    uint32_t n_wanted;            /* of the file, to be enabled */
} qp_event_trigger_list;
extern qp_event_trigger_list qp_event_triggers;

static inline qp_event_trigger *qp_event_trigger_at(uint32_t cell)
{
    return qp_pool_at(&qp_event_triggers.triggers, cell);
}

static inline uint32_t qp_event_trigger_cell(const qp_event_trigger *t)
{
    return qp_pool_cell(&qp_event_triggers.triggers, t, QP_TRIGGER_CELLS);
}

static inline const char *qp_event_trigger_text(uint32_t ref)
{
    return qp_pool_text_at(&qp_event_triggers.others, ref);
}

/* The next one of the list; NULL: the first. @return NULL: no more */
static inline qp_event_trigger *qp_event_trigger_next(const qp_event_trigger *t)
{
    uint32_t cell = qp_observe(t ? &t->next : &qp_event_triggers.first);
    return cell ? qp_event_trigger_at(cell) : NULL;
}

/* Are there event triggers, so that all events must be sent, whatever is collected? */
static inline bool qp_event_triggers_is_used(void)
{
    return qp_load(&qp_event_triggers.n_listed);
}

/* Does one look at the calls of all methods? */
static inline bool qp_event_triggers_all_calls(void)
{
    return qp_load(&qp_is_triggering) && qp_load(&qp_event_triggers.n_all_calls);
}

/* The same, and end triggering. */
void qp_event_triggers_begin(void);
void qp_event_triggers_end(void);

/* Is it one that was not deleted? Takes any address. */
bool qp_event_trigger_is(const qp_event_trigger *t);
/* Append a copy. A deferred action needs the worker, which the caller starts.
 * @return NULL: no memory, or too many enabled */
qp_event_trigger *qp_event_trigger_add(const qp_event_trigger *from);
void qp_event_trigger_remove(qp_event_trigger *t);
qp_event_trigger *qp_event_trigger_find(const char *name);
/* @return 0, QPROF_E_ARG: taken; QPROF_E_MEMORY */
int qp_event_trigger_name(qp_event_trigger *t, const char *name);
/* Index its name, or remove it from the index. */
bool qp_event_trigger_put_name(const qp_event_trigger *t);
void qp_event_trigger_drop_name(const qp_event_trigger *t);
/* Log a line about the one of this name, or else of this number. */
void qp_event_trigger_log(const qp_event_trigger *t, const char *what);
qp_event_trigger *qp_event_trigger_chain(const qp_event_trigger *t);

/* @return 0 or QPROF_E_LIMIT */
int qp_event_trigger_enable(qp_event_trigger *t);
void qp_event_trigger_disable(qp_event_trigger *t);
/* Clear the triggering bit; calls cost again what they cost without event triggers. */
void qp_event_triggers_stop(void);
/* Compare methods again, because what event triggers look at has changed. */
void qp_event_triggers_changed(void);
/* A symbol has an address now: enable the event triggers that waited for it. */
void qp_symbol_resolve(uint32_t cell);

/* ---- names of event triggers: event_trigger_names.c -------------------------------------- */

/* Methods that event triggers name. A cell. */
typedef struct {
    uint64_t key;
    uint64_t id;      /* of QP_NAME_ID */
    uint32_t text;    /* ref */
    uint32_t methods; /* trie of the ids that fit; 0: none yet */
    uint32_t n_users; /* event triggers that look at their calls */
    uint32_t match;   /* cell of a qp_match; 0: literal, or an id */
    uint32_t next;    /* of those with a match */
    uint32_t kind;    /* qp_name_kind or QP_NAME_ID */
} qp_event_target;

enum { QP_NAME_ID = QP_NAME_REGEX + 1 };

/* A name to which the host gives an address at any time. A cell of a pool that outlives
 * runs. */
typedef struct {
    uint64_t key;
    void *address; /* NULL: not registered yet */
    uint32_t name;
} qp_event_symbol;

/* @return the cell of a qp_event_target; 0: no memory */
uint32_t qp_event_target_of(unsigned kind, const char *text, uint64_t id);
/* The name, or the pattern; "" for 0. */
const char *qp_event_target_text(uint32_t target, qp_name_kind *kind);
bool qp_event_target_has_methods(uint32_t target);
/* Does the event trigger look at entries or exits? */
bool qp_event_target_is_of_calls(const qp_event_trigger *t);
bool qp_event_target_fits(uint32_t target, uint64_t id);
/* The event trigger begins or ceases to look at the calls of what it names. */
void qp_event_target_use(const qp_event_trigger *t, bool is_used);
/* A method is registered, or compared again: add it to the targets that it fits.
 * @return does an event trigger look at its calls? */
bool qp_event_triggers_names(const qp_method *m);

/* @return the cell of a qp_event_symbol, made if necessary; 0: no memory */
uint32_t qp_symbol_of(unsigned kind, const char *name);
qp_event_symbol *qp_symbol_at(uint32_t cell);
/* Take the addresses that are registered. */
void qp_symbol_look(qp_event_trigger *t);

#endif
