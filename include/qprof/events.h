/* qprof/events.h: when an event happens, do this: event triggers. Guide: docs/events.md.
 *
 * A run has one list of event triggers. While triggering is on, each event is compared with those
 * that are enabled, in the order in which they were added: event, context, object, condition. One
 * that fits is hit: its action is performed, the one it is chained to is enabled, and it is disabled
 * itself if it is to fire once. Events are raised whether recording is on or not.
 *
 * Every call needs a run. Threads: any, unless it says otherwise; actions and conditions may make
 * any of them. Errors: QPROF_E_STATE (not running, or inside a call that changes the whole run),
 * QPROF_E_NOTFOUND (no such event trigger), QPROF_E_ARG, QPROF_E_LIMIT. */
#ifndef QPROF_EVENTS_H
#define QPROF_EVENTS_H

#include <stdio.h>

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qprof_Trg *qprof_TrgID; /* NULL: none */
typedef uint32_t qprof_event_t;
typedef int (*qprof_TrgFunc)(intptr_t arg);

/* Events of the library. Their object is the id of the method or of the thread; else 0. */
enum {
    QPROF_EV_FN_ENTRY = 1, /* a method was entered */
    QPROF_EV_FN_EXIT = 2,  /* a frame has ended, but not with its thread; innermost first */
    QPROF_EV_UNWIND = 3,   /* one exit ended more than one frame; the method that resumes */
    QPROF_EV_BLOCK = 4,    /* qprof_record_bb_counts(), qprof_record_bb_time() */
    QPROF_EV_COUNTS = 5,   /* qprof_record_counts() */
    QPROF_EV_METHOD_REGISTER = 6, /* a method was registered */
    QPROF_EV_THREAD_CREATE = 7,   /* a thread began */
    QPROF_EV_THREAD_DESTROY = 8,  /* a thread ended */
    QPROF_EV_STATUS = 9,          /* a trigger or an action changed a thread's status */
    QPROF_EV_SAVE = 10,           /* a dataset was written; no object */
    QPROF_EV_CLEAR = 11,          /* the figures were cleared; no object */
    QPROF_EV_SAMPLE = 12,         /* interrupts were credited; the method on top */
    QPROF_EV_VT_SWITCH = 13,      /* a system thread goes on with another virtual thread */
    QPROF_EV_MEMORY = 14, /* the profile uses a further percent of its limit; no object */
    QPROF_EV_USER_FIRST = 40000, /* from here on: the host's */
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
/* left OP right; OR and AND: is any bit set in left | right, left & right? */
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
    QPROF_TRG_CTX_ANY_TASK, /* in neither of those below */
    QPROF_TRG_CTX_TASK,     /* the same, on the thread with this id */
    QPROF_TRG_CTX_ANY_ISR,  /* in an interrupt: qprof_trg_isr_enter() */
    QPROF_TRG_CTX_ISR,      /* the same */
    QPROF_TRG_CTX_SYSTEM /* in the runtime: qprof_trg_system_enter(), collector, compiler, loader */
};
enum {
    QPROF_TRG_ACT_NONE = 0,
    QPROF_TRG_ACT_START,    /* as qprof_start_recording() */
    QPROF_TRG_ACT_STOP,     /* as qprof_stop_recording() */
    QPROF_TRG_ACT_FUNC,     /* actionFunc(actionArg) */
    QPROF_TRG_ACT_LIB,      /* the same, of qprof_trg_library() */
    QPROF_TRG_ACT_SNAPSHOT, /* writes a dataset, labelled with the trigger's name */
    QPROF_TRG_ACT_DUMP,     /* writes what the rings of a trace hold, beside the next dataset */
    QPROF_TRG_ACT_MARK      /* nothing but the mark that every hit leaves in the profile */
};
enum { QPROF_TRG_MAX_ENABLED = 50, QPROF_TRG_QUEUE_SIZE = 50 };

/* What else must be so for a hit. */
enum {
    QPROF_TRG_LONGER = 1, /* FN_EXIT: the call took at least that many ns */
    QPROF_TRG_DEPTH,      /* FN_ENTRY: that many frames are open, or more */
    QPROF_TRG_USED,       /* MEMORY: that many percent are used, or more */
    QPROF_TRG_RATE        /* at most that many hits in a second */
};

/* Kinds of symbols that configuration files name. */
enum { QPROF_TRG_SYM_VAR, QPROF_TRG_SYM_FUNC, QPROF_TRG_SYM_PREDICATE, QPROF_TRG_SYM_ACTION };

/** Everything of one event trigger. Texts are valid until the run ends; "" is none. */
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
    uint64_t longer, depth, used, rate; /* 0: not narrowed */
} qprof_TrgInfo;

/* ---- the list ------------------------------------------------------------------------------ */

/** The list is there with the run; harmless. @return 0; QPROF_E_STATE: not running */
QPROF_API int _EXT_REF qprof_trg_init(void);

/** Append an event trigger.
 *
 * @param event        of the library, QPROF_EV_USER_FIRST to _LAST, or QPROF_EV_ANY
 * @param status       QPROF_TRG_ENABLE, _DISABLE
 * @param contextType  QPROF_TRG_CTX_*; contextId: qprof_ThreadID or VthreadID of QPROF_TRG_CTX_TASK
 * @param objId        0: any
 * @param conditional  QPROF_TRG_COND_NO: the next four are not looked at
 * @param condEx1      what condType says; called and read on the thread of the event
 * @param disable      1: it is disabled when it was hit
 * @param chain        enabled when it was hit; NULL: none
 * @param actionDef    1: a thread of the library performs the action later, in turn; 0: at once,
 *                     on the thread of the event
 * @return NULL: an argument is wrong, or too many are enabled: qprof_error_text()
 * Cost: a microsecond; events of methods that no event trigger asks for cost what they did. */
QPROF_API qprof_TrgID _EXT_REF qprof_trg_add(qprof_event_t event, int status, int contextType,
                                             uintptr_t contextId, uintptr_t objId,
                                             int conditional, int condType, void *condEx1,
                                             int condOp, int condEx2, int disable,
                                             qprof_TrgID chain, int actionType,
                                             qprof_TrgFunc actionFunc, int actionDef,
                                             intptr_t actionArg);

/** Remove it; chains to it end, and triggering if none that is enabled is left. In its own action:
 * when the event has been dealt with. @return 0 */
QPROF_API int _EXT_REF qprof_trg_delete(qprof_TrgID);

/** Enable, disable; harmless if it is so already. When the last one is disabled, triggering ends.
 * @return 0; QPROF_E_LIMIT: QPROF_TRG_MAX_ENABLED are enabled */
QPROF_API int _EXT_REF qprof_trg_enable(qprof_TrgID);
QPROF_API int _EXT_REF qprof_trg_disable(qprof_TrgID);

/** A hit of `from` enables `to`. @param to  NULL: no longer
 * @return 0; QPROF_E_STATE: `from` has a chain, which must be cleared first */
QPROF_API int _EXT_REF qprof_trg_chain_set(qprof_TrgID from, qprof_TrgID to);

/** Back to the status it was added with, and no hits. @return 0 */
QPROF_API int _EXT_REF qprof_trg_reset(qprof_TrgID);

/** Narrow it. @param what  QPROF_TRG_LONGER … @param limit  0: not any more
 * @return 0; QPROF_E_ARG: not for its event, or no such limit */
QPROF_API int _EXT_REF qprof_trg_narrow(qprof_TrgID, int what, uint64_t limit);

/** Methods of this name are its object: "class.name", "name", "glob:PATTERN" or
 * "regex:EXPRESSION", whenever they are registered.
 * @return 0; QPROF_E_ARG: NULL, no name, or its event has no method; QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_trg_set_object(qprof_TrgID, const char *name);

/** A name, to be found by and to be shown. Copied; NULL or "": none.
 * @return 0; QPROF_E_ARG: another one has it; QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_trg_set_name(qprof_TrgID, const char *name);
/** @return NULL: none has the name */
QPROF_API qprof_TrgID _EXT_REF qprof_trg_find(const char *name);

/** @return 0, and *info filled */
QPROF_API int _EXT_REF qprof_trg_get(qprof_TrgID, qprof_TrgInfo *info);
QPROF_API unsigned _EXT_REF qprof_trg_enabled_count(void);

/** Print to standard output. @param id  NULL: a line for each; else that one
 * @param options  0: a line; 1: all of its members */
QPROF_API int _EXT_REF qprof_trg_show(qprof_TrgID id, int options);
QPROF_API int _EXT_REF qprof_trg_show_to(FILE *, qprof_TrgID id, int options);

/* ---- triggering ---------------------------------------------------------------------------- */

/** Compare events with the list from now on. @return 0; QPROF_E_STATE: the list is empty */
QPROF_API int _EXT_REF qprof_trg_on(void);
QPROF_API void _EXT_REF qprof_trg_off(void);
QPROF_API int _EXT_REF qprof_trg_is_on(void); /* 1 / 0 */

/** Raise an event of the host's. Ids that are none of its are ignored.
 * Threads: any. Cost: a load and a branch while triggering is off. */
QPROF_API void _EXT_REF qprof_trg_event(qprof_event_t id);
/** The same, and count it in the dataset if the calling thread is recording.
 * @return 0; QPROF_E_ARG: no event of the host's */
QPROF_API int _EXT_REF qprof_user_event(qprof_event_t id);

/** What the calling system thread does between the two is an interrupt, or belongs to the runtime.
 * They nest; an interrupt inside the runtime is an interrupt. */
QPROF_API void _EXT_REF qprof_trg_isr_enter(void);
QPROF_API void _EXT_REF qprof_trg_isr_leave(void);
QPROF_API void _EXT_REF qprof_trg_system_enter(void);
QPROF_API void _EXT_REF qprof_trg_system_leave(void);

/* ---- actions ------------------------------------------------------------------------------- */

/** Triggering ends, actions that wait are forgotten. @return 0 */
QPROF_API int _EXT_REF qprof_trg_work_queue_reset(void);
/** Actions that found QPROF_TRG_QUEUE_SIZE others waiting, and were not performed. */
QPROF_API unsigned long _EXT_REF qprof_trg_dropped(void);

/** What configuration files may name. Those that wait for the name are enabled if they are to be.
 * @param kind  QPROF_TRG_SYM_*. @param address  stays valid; registered again: the new one counts
 * @return 0; QPROF_E_ARG; QPROF_E_MEMORY. Before a run, too */
QPROF_API int _EXT_REF qprof_trg_symbol(const char *name, int kind, void *address);

/** An action of the library: "save", "clear", "new-phase", "enable-profiling",
 * "disable-profiling", "disable-recording". @return NULL: none of that name */
QPROF_API qprof_TrgFunc _EXT_REF qprof_trg_library(const char *name);

#ifdef __cplusplus
}
#endif
#endif
