/* qprof/events.h: event triggers: when an event happens, do this. Guide: docs/events.md.
 *
 * A run has one list of event triggers. While triggering is on, each event is compared with the
 * enabled ones, in the order in which they were added: event, context, object, condition. One
 * that matches is hit: its action is performed, the event trigger it is chained to is enabled,
 * and it is disabled if it is to fire once. Events are raised whether recording is on or
 * off. */
#ifndef QPROF_EVENTS_H
#define QPROF_EVENTS_H

#include <stdio.h>

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qprof_Trg *qprof_TrgID; /* NULL: none */
typedef uint32_t qprof_event_t;
typedef int (*qprof_TrgFunc)(intptr_t arg);

/* Events of the library. Their object is the id of the method or thread; 0 if there is none. */
enum {
    QPROF_EV_FN_ENTRY = 1,        /* a method was entered */
    QPROF_EV_FN_EXIT = 2,         /* a frame ended, but not with its thread; innermost first */
    QPROF_EV_UNWIND = 3,          /* one exit ended several frames; the method that resumes */
    QPROF_EV_BLOCK = 4,           /* qprof_record_bb_counts(), qprof_record_bb_time() */
    QPROF_EV_COUNTS = 5,          /* qprof_record_counts() */
    QPROF_EV_METHOD_REGISTER = 6, /* a method was registered */
    QPROF_EV_THREAD_CREATE = 7,   /* a thread began */
    QPROF_EV_THREAD_DESTROY = 8,  /* a thread ended */
    QPROF_EV_STATUS = 9,          /* a trigger or action changed a thread's status */
    QPROF_EV_SAVE = 10,           /* a dataset was written; no object */
    QPROF_EV_CLEAR = 11,          /* the figures were cleared; no object */
    QPROF_EV_SAMPLE = 12,         /* samples were credited; the method on top */
    QPROF_EV_VT_SWITCH = 13,      /* another virtual thread was mounted */
    QPROF_EV_MEMORY = 14,        /* the profile uses one more percent of its limit; no object */
    QPROF_EV_USER_FIRST = 40000, /* from here on: events of the host */
    QPROF_EV_USER_LAST = 65535,
    QPROF_EV_ANY = 65536 /* in an event trigger: every event */
};

enum { QPROF_TRG_DISABLE = 0, QPROF_TRG_ENABLE = 1 };
enum { QPROF_TRG_COND_NO = 0, QPROF_TRG_COND_YES = 1 };
enum {
    QPROF_TRG_COND_FUNC = 0, /* int (*)(void) */
    QPROF_TRG_COND_VAR = 1,  /* int *, read once */
    QPROF_TRG_COND_LIB = 2   /* int (*)(uintptr_t object) */
};
/* left OP right; OR and AND test whether left | right, left & right is not 0 */
enum {
    QPROF_TRG_EQ,
    QPROF_TRG_NEQ,
    QPROF_TRG_LSS,
    QPROF_TRG_LEQ,
    QPROF_TRG_GRT,
    QPROF_TRG_GEQ,
    QPROF_TRG_OR,
    QPROF_TRG_AND
};
enum {
    QPROF_TRG_CTX_ANY,
    QPROF_TRG_CTX_ANY_TASK, /* neither an interrupt nor the runtime */
    QPROF_TRG_CTX_TASK,     /* the same, on the thread with this id */
    QPROF_TRG_CTX_ANY_ISR,  /* in an interrupt: qprof_trg_isr_enter() */
    QPROF_TRG_CTX_ISR,      /* the same */
    QPROF_TRG_CTX_SYSTEM    /* qprof_trg_system_enter(), collector, compiler, loader */
};
enum {
    QPROF_TRG_ACT_NONE = 0,
    QPROF_TRG_ACT_START,    /* as qprof_start_recording() */
    QPROF_TRG_ACT_STOP,     /* as qprof_stop_recording() */
    QPROF_TRG_ACT_FUNC,     /* actionFunc(actionArg) */
    QPROF_TRG_ACT_LIB,      /* the same, of qprof_trg_library() */
    QPROF_TRG_ACT_SNAPSHOT, /* writes a dataset, labelled with the name of the event trigger */
    QPROF_TRG_ACT_DUMP, /* writes what the rings of a trace hold, next to the next dataset */
    QPROF_TRG_ACT_MARK  /* only the marker that every hit leaves in the profile */
};
enum { QPROF_TRG_MAX_ENABLED = 50, QPROF_TRG_QUEUE_SIZE = 50 };

/* Further limits of an event trigger, for qprof_trg_narrow(). */
enum {
    QPROF_TRG_LONGER = 1, /* FN_EXIT: the call took at least this many ns */
    QPROF_TRG_DEPTH,      /* FN_ENTRY: at least this many frames are open */
    QPROF_TRG_USED,       /* MEMORY: at least this many percent are used */
    QPROF_TRG_RATE        /* at most this many hits a second */
};

/* Kinds of symbols that configuration files name. */
enum { QPROF_TRG_SYM_VAR, QPROF_TRG_SYM_FUNC, QPROF_TRG_SYM_PREDICATE, QPROF_TRG_SYM_ACTION };

/* All members of one event trigger. Texts are valid until the run ends; "" means none. */
typedef struct {
    unsigned number; /* from 1, in the order of creation */
    qprof_TrgID next;
    const char *name;
    qprof_event_t event;
    int status, initialStatus, disable;
    int contextType;
    uintptr_t contextId;
    uintptr_t objId;
    const char *objName;
    qprof_TrgID chain;
    int conditional, condType, condOp, condEx2;
    void *condEx1;
    int actionType, actionDef;
    qprof_TrgFunc actionFunc;
    intptr_t actionArg;
    uint64_t hits;
    uint64_t longer, depth, used, rate; /* 0: no such limit */
} qprof_TrgInfo;

/* ---- the list -------------------------------------------------------------------------------
 *
 * All functions of this header need a run, except qprof_trg_symbol() and qprof_trg_library().
 * Those that return int return 0 on success, QPROF_E_STATE (not running, or inside a function
 * that changes the whole run), QPROF_E_NOTFOUND (no such event trigger), and what else each
 * names.
 *
 * Thread safety: any thread; actions and conditions may call any of them. Source: WindView,
 * trgLib. */

/** Check that the list can be used. The run has created it.
 *
 * @return 0; QPROF_E_STATE: not running
 * Source: trgLibInit. */
QPROF_FN(int) qprof_trg_init(void);

/** Append an event trigger.
 *
 * @param event        QPROF_EV_*, or QPROF_EV_USER_FIRST to _LAST
 * @param status       QPROF_TRG_ENABLE, _DISABLE
 * @param contextType  QPROF_TRG_CTX_*
 * @param contextId    qprof_ThreadID or VthreadID of QPROF_TRG_CTX_TASK
 * @param objId        0: any
 * @param conditional  QPROF_TRG_COND_NO: the next four are ignored
 * @param condType     QPROF_TRG_COND_FUNC, _VAR, _LIB
 * @param condEx1      the function or variable; called or read on the thread of the event
 * @param condOp       QPROF_TRG_EQ ... _AND; its left operand is the value of condEx1
 * @param condEx2      its right operand
 * @param disable      1: disabled by its first hit
 * @param chain        enabled by a hit; NULL: none
 * @param actionType   QPROF_TRG_ACT_*
 * @param actionFunc   of QPROF_TRG_ACT_FUNC and _LIB
 * @param actionDef    1: a thread of the library performs the actions later, in order; 0: at
 *                     once, on the thread of the event
 * @param actionArg    argument of actionFunc
 * @return the event trigger; NULL: an argument is invalid, too many are enabled, or no memory:
 *         qprof_error_text()
 * Cost: about 1 us. Events of methods that no event trigger asks for cost nothing more.
 * Source: trgAdd. */
QPROF_FN(qprof_TrgID)
qprof_trg_add(qprof_event_t event, int status, int contextType, uintptr_t contextId,
              uintptr_t objId, int conditional, int condType, void *condEx1, int condOp,
              int condEx2, int disable, qprof_TrgID chain, int actionType,
              qprof_TrgFunc actionFunc, int actionDef, intptr_t actionArg);

/** Remove an event trigger. Chains to it end; triggering ends if no enabled one is left.
 *
 * Called in its own action, it takes effect after the event.
 *
 * @param t  the event trigger
 * @return as above
 * Source: trgDelete. */
QPROF_FN(int) qprof_trg_delete(qprof_TrgID t);

/** Enable or disable an event trigger. When the last one is disabled, triggering ends.
 *
 * @param t  the event trigger; one that has the status already is left alone
 * @return as above; QPROF_E_LIMIT: QPROF_TRG_MAX_ENABLED are enabled
 * Source: trgEnable, trgDisable. */
QPROF_FN(int) qprof_trg_enable(qprof_TrgID t);
QPROF_FN(int) qprof_trg_disable(qprof_TrgID t);

/** Let a hit of one event trigger enable another.
 *
 * @param from  the first
 * @param to    the one that is enabled; NULL: none
 * @return as above; QPROF_E_STATE: `from` has a chain, which must be cleared first
 * Source: trgChainSet. */
QPROF_FN(int) qprof_trg_chain_set(qprof_TrgID from, qprof_TrgID to);

/** Give an event trigger the status with which it was added, and no hits.
 *
 * @param t  the event trigger
 * @return as above */
QPROF_FN(int) qprof_trg_reset(qprof_TrgID t);

/** Limit an event trigger further.
 *
 * @param t      the event trigger
 * @param what   QPROF_TRG_LONGER, _DEPTH, _USED, _RATE
 * @param limit  0: no limit
 * @return as above; QPROF_E_ARG: the limit is invalid, or not one of its event */
QPROF_FN(int) qprof_trg_narrow(qprof_TrgID t, int what, uint64_t limit);

/** Let the methods of a name be the object, whenever they are registered.
 *
 * @param t     the event trigger
 * @param name  "class.name", "name", "glob:PATTERN" or "regex:EXPRESSION"
 * @return as above; QPROF_E_ARG: no name, an invalid expression, or its event has no method;
 *         QPROF_E_MEMORY */
QPROF_FN(int) qprof_trg_set_object(qprof_TrgID t, const char *name);

/** Name an event trigger, for qprof_trg_find() and qprof_trg_show().
 *
 * @param t     the event trigger
 * @param name  copied; NULL or "": none
 * @return as above; QPROF_E_ARG: another one has the name; QPROF_E_MEMORY */
QPROF_FN(int) qprof_trg_set_name(qprof_TrgID t, const char *name);

/** Return an event trigger by its name.
 *
 * @param name  the name
 * @return the event trigger; NULL if there is none */
QPROF_FN(qprof_TrgID) qprof_trg_find(const char *name);

/** Return the members of an event trigger.
 *
 * @param t     the event trigger
 * @param info  filled
 * @return as above; QPROF_E_ARG: info is NULL */
QPROF_FN(int) qprof_trg_get(qprof_TrgID t, qprof_TrgInfo *info);

/** Return how many event triggers are enabled.
 *
 * @return the number; 0 if not running
 * Source: trgCnt. */
QPROF_FN(unsigned) qprof_trg_enabled_count(void);

/** Print event triggers to standard output, or to a stream.
 *
 * @param file     the stream
 * @param t        the event trigger; NULL: one line for each
 * @param options  0: one line; 1: all members of t
 * @return as above; QPROF_E_ARG: file is NULL
 * Source: trgShow. */
QPROF_FN(int) qprof_trg_show(qprof_TrgID t, int options);
QPROF_FN(int) qprof_trg_show_to(FILE *file, qprof_TrgID t, int options);

/* ---- triggering -----------------------------------------------------------------------------
 *
 * Thread safety: any thread. Source: WindView, trgLib. */

/** Switch triggering on: compare events with the list from now on.
 *
 * @return 0; QPROF_E_STATE: not running, or the list is empty
 * Source: trgOn. */
QPROF_FN(int) qprof_trg_on(void);

/** Switch triggering off. Source: trgOff. */
QPROF_FN(void) qprof_trg_off(void);

/** Return whether triggering is on.
 *
 * @return 1 or 0 */
QPROF_FN(int) qprof_trg_is_on(void);

/** Raise an event of the host.
 *
 * @param id  QPROF_EV_USER_FIRST to _LAST; others are ignored
 * Cost: one load and one branch while triggering is off. Source: trgEvent. */
QPROF_FN(void) qprof_trg_event(qprof_event_t id);

/** Raise an event of the host, and count it in the dataset if the calling thread is recording.
 *
 * @param id  QPROF_EV_USER_FIRST to _LAST
 * @return 0; QPROF_E_ARG: not an event of the host; QPROF_E_STATE: not running
 * Source: e. */
QPROF_FN(int) qprof_user_event(qprof_event_t id);

/** Begin or end an interrupt, or a part of the runtime, on the calling OS thread.
 *
 * They nest; an interrupt inside the runtime is an interrupt. */
QPROF_FN(void) qprof_trg_isr_enter(void);
QPROF_FN(void) qprof_trg_isr_leave(void);
QPROF_FN(void) qprof_trg_system_enter(void);
QPROF_FN(void) qprof_trg_system_leave(void);

/* ---- actions --------------------------------------------------------------------------------
 *
 * Thread safety: any thread. */

/** Switch triggering off and discard the actions that wait.
 *
 * @return 0; QPROF_E_STATE: not running
 * Source: trgWorkQReset. */
QPROF_FN(int) qprof_trg_work_queue_reset(void);

/** Return how many actions were not performed because QPROF_TRG_QUEUE_SIZE others were waiting.
 *
 * @return the number; 0 if not running */
QPROF_FN(unsigned long) qprof_trg_dropped(void);

/** Register a symbol for configuration files, also before a run.
 *
 * Event triggers that wait for the name are enabled if that is their status. A later call
 * replaces the address.
 *
 * @param name     the name
 * @param kind     QPROF_TRG_SYM_*
 * @param address  must stay valid
 * @return 0; QPROF_E_ARG; QPROF_E_STATE: inside another control function; QPROF_E_MEMORY */
QPROF_FN(int) qprof_trg_symbol(const char *name, int kind, void *address);

/** Return an action of the library.
 *
 * @param name  "save", "clear", "new-phase", "enable-profiling", "disable-profiling" or
 *              "disable-recording"
 * @return the action; NULL if there is none of that name */
QPROF_FN(qprof_TrgFunc) qprof_trg_library(const char *name);

#ifdef __cplusplus
}
#endif
#endif
