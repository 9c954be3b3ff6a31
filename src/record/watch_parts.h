/* watch_parts.h: what the files of the event triggers share. */
#ifndef QP_RECORD_WATCH_PARTS_H
#define QP_RECORD_WATCH_PARTS_H

#include "base/atomic.h"
#include "base/pool.h"
#include "base/trie.h"
#include "config/match.h"
#include "record/watch.h"

/* An event trigger: qprof_TrgID. Lies in the pool of triggers; others refer to its cell. */
typedef struct qprof_Trg {
    uint32_t number;     /* from 1; published last; 0: none */
    uint32_t next, prev; /* in the list; those of a deleted one still lead on */
    uint32_t slot;       /* 0: disabled; else in qp_watch.slots, from 1. Atomic */
    uint32_t n_enabled;  /* how often it was enabled: tells a status from the same one later */
    uint32_t event;
    uint32_t name;   /* ref; 0: none */
    uint32_t object; /* qp_watched: the methods that are its object, whose calls it looks at */
    uint32_t chain;  /* cell; 0: none. Of a deleted one: none, too */
    uint8_t context, when_kind, when_operator, action;
    bool is_conditional, is_deferred, is_one_shot, is_initially_enabled;
    bool is_dead, is_doomed; /* deleted; to be deleted when the event is dealt with */
    uint8_t origin;          /* qp_watch_origin */
    bool is_wanted;          /* is to be enabled once its symbols are there */
    uint32_t n_missing;      /* symbols that are not */
    int when_value;
    uint64_t context_id, object_id;
    void *when_address;
    int (*function)(intptr_t argument);
    intptr_t argument;
    uint64_t n_hits;
    uint64_t longer_ns, depth;
    uint32_t used, most_a_second;
    uint64_t second; /* when the last one began, and its hits: see within_rate */
    uint32_t when_symbol, action_symbol; /* qp_watch_symbol; 0: none */
    uint32_t chain_name;                 /* ref, while a file is read: its trigger may follow */
    uint32_t chain_line, chain_column;
} qp_trg;

typedef enum { QP_OF_HOST, QP_OF_FILE, QP_OF_NEW_FILE, QP_SET_ASIDE } qp_watch_origin;

enum { QP_TRIGGER_CELLS = (sizeof(qp_trg) + QP_CELL - 1) / QP_CELL };

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
} qp_watched;

enum { QP_NAME_ID = QP_NAME_REGEX + 1 };

/* A name that the host gives an address, at any time. A cell of a pool that outlives runs. */
typedef struct {
    uint64_t key;
    void *address; /* NULL: not registered yet */
    uint32_t name;
} qp_watch_symbol;

typedef struct {
    qp_pool triggers, others, symbols;
    uint32_t first, last; /* the list */
    uint32_t n_listed, n_numbers;
    uint32_t n_all_calls;            /* that look at the calls of all methods */
    uint32_t names, watched, places; /* roots of tries */
    uint32_t patterns;               /* qp_watched with a match */
    uint32_t symbol_root;
    uint32_t n_enabled; /* atomic, as slots and n_slots */
    uint32_t n_slots;   /* that were ever used */
    uint32_t slots[QPROF_TRG_MAX_ENABLED];
    uint32_t percent;          /* of the memory limit, when MEMORY was raised last */
    bool is_reading;           /* a file */
    qp_config_said triggering; /* what the file says */
    uint32_t n_wanted;         /* of the file, to be enabled */
} qp_watch_list;
extern qp_watch_list qp_watch;

static inline qp_trg *qp_trg_at(uint32_t cell)
{
    return qp_pool_at(&qp_watch.triggers, cell);
}

static inline uint32_t qp_trg_cell(const qp_trg *t)
{
    return qp_pool_cell(&qp_watch.triggers, t);
}

static inline const char *qp_watch_text(uint32_t ref)
{
    return qp_pool_text_at(&qp_watch.others, ref);
}

/* ---- watch.c ------------------------------------------------------------------------------- */

/* @return 0 or QPROF_E_LIMIT */
int qp_trg_enable(qp_trg *t);
void qp_trg_disable(qp_trg *t);
/* A function with this frame of the C stack was called: what was below it was left by a jump. */
void qp_watch_note_stack(const void *here);
/* The triggering bit is cleared; calls cost what they did. */
void qp_watch_stop(void);

/* ---- watch_list.c -------------------------------------------------------------------------- */

/* Is it one that was not deleted? Takes any address. */
bool qp_trg_is(const qp_trg *t);
/* Append a copy. The texts of `name` are copied. @return NULL: no memory, or too many enabled */
qp_trg *qp_trg_add(const qp_trg *from);
/* Under the control lock, but for what `hooks` says of calls. */
void qp_trg_remove(qp_trg *t);
qp_trg *qp_trg_find(const char *name);
/* @return 0, QPROF_E_ARG: taken; QPROF_E_MEMORY */
int qp_trg_name(qp_trg *t, const char *name);
/* Its name can be found, or no longer. */
bool qp_trg_put_name(const qp_trg *t);
void qp_trg_drop_name(const qp_trg *t);
/* A line of the log, about the one of this name, or else of this number. */
void qp_trg_log(const qp_trg *t, const char *what);
/* NULL: none. */
qp_trg *qp_trg_chain(const qp_trg *t);
/* What event triggers look at has changed: compare what must be. */
void qp_watch_changed(void);

/* ---- watch_names.c ------------------------------------------------------------------------- */

uint64_t qp_watch_key(unsigned kind, const char *text);
uint32_t qp_watch_block(void *pool);
/* @return the cell of a qp_watched; 0: no memory */
uint32_t qp_watched_of(unsigned kind, const char *text, uint64_t id);
/* The name, or the pattern; "" for 0. */
const char *qp_watched_text(uint32_t watched, qp_name_kind *kind);
bool qp_watched_has_methods(uint32_t watched);
/* Does the trigger look at entries or exits? */
bool qp_watched_is_of_calls(const qp_trg *t);
bool qp_watched_fits(uint32_t watched, uint64_t id);
/* The trigger looks at the calls of what it names from now on, or no longer. */
void qp_watched_use(const qp_trg *t, bool is_used);

/* @return the cell of a qp_watch_symbol, made if need be; 0: no memory */
uint32_t qp_symbol_of(unsigned kind, const char *name);
qp_watch_symbol *qp_symbol_at(uint32_t cell);
/* It has an address now: whoever waited for it. */
void qp_symbol_resolve(uint32_t cell);
/* Take the addresses that are there. */
void qp_symbol_look(qp_trg *t);

/* ---- watch_act.c --------------------------------------------------------------------------- */

/* What an action needs; deferred ones wait in the queue like this. */
typedef struct {
    uint32_t action; /* QPROF_TRG_ACT_* */
    uint32_t name;
    int (*function)(intptr_t argument);
    intptr_t argument;
} qp_deed;
void qp_watch_act(const qp_deed *deed);
int (*qp_watch_library(const char *name))(intptr_t argument);
/* @return "function": none of the library; NULL: none at all */
const char *qp_watch_library_name(int (*function)(intptr_t argument));

#endif
