/* qprof/triggers.h: when and where to record: triggers, actions, areas.
 *
 * A trigger enables or disables recording on one thread while one of its methods runs; an action
 * does something once at an entry or exit; an area says which methods are measured at all. Names
 * are compared when methods are registered, so that rules may come first. What is true of every
 * call here: it needs a run, may be made at any time by any thread, takes effect with the next
 * event, and refuses (QPROF_E_ARG) an object that is none, or was destroyed.
 * Guide: docs/triggers.md. */
#ifndef QPROF_TRIGGERS_H
#define QPROF_TRIGGERS_H

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qprof_trigger qprof_trigger;
typedef struct qprof_action qprof_action;
typedef struct qprof_area qprof_area;

enum { QPROF_TRIGGER_ON, QPROF_TRIGGER_OFF };
enum {
    QPROF_ACTION_ENABLE,
    QPROF_ACTION_DISABLE,
    QPROF_ACTION_GET_RESULTS, /* as qprof_save_data() */
    QPROF_ACTION_CLEAR_RESULTS
};
enum { QPROF_ON_ENTER, QPROF_ON_EXIT };
enum { QPROF_AREA_INCLUDE, QPROF_AREA_EXCLUDE };
enum { QPROF_LEVEL_ROUTINES, QPROF_LEVEL_LINES };
enum { QPROF_ELEM_MODULE, QPROF_ELEM_FILE, QPROF_ELEM_CLASS, QPROF_ELEM_ROUTINE };
enum { QPROF_WARN_MAY_BE_OFF = 1 };

/* ---- triggers ------------------------------------------------------------------------------ */

/** A trigger without methods; pass and work count 0, not cycling, counting for each thread, checked.
 * @param name  new among triggers. @param type  QPROF_TRIGGER_*
 * @return borrowed until the run ends; NULL: no run, NULL, empty or used name, bad type, no memory,
 *         or a run that keeps nothing but stacks and has begun */
QPROF_API qprof_trigger *_EXT_REF qprof_trigger_create(const char *name, int type);
/** @return NULL: no trigger of that name */
QPROF_API qprof_trigger *_EXT_REF qprof_trigger_find(const char *name);
/** The name is free again. Frames that saved a status still restore it.
 * @return this and all that follow: 0; QPROF_E_ARG; QPROF_E_STATE: no run */
QPROF_API int _EXT_REF qprof_trigger_destroy(qprof_trigger *);

/** Calls that do not act before the first that does. */
QPROF_API int _EXT_REF qprof_trigger_set_pass(qprof_trigger *, unsigned long n);
/** Calls that act; 0: all from there on. */
QPROF_API int _EXT_REF qprof_trigger_set_work(qprof_trigger *, unsigned long n);
/** Behind pass and work calls it begins anew. */
QPROF_API int _EXT_REF qprof_trigger_set_cycling(qprof_trigger *, int yes);
/** Calls of all threads are counted together; each still changes its own thread only. */
QPROF_API int _EXT_REF qprof_trigger_set_all_threads(qprof_trigger *, int yes);
QPROF_API int _EXT_REF qprof_trigger_set_checked(qprof_trigger *, int yes);

/** Name a method by its id. @return also QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_trigger_add_method(qprof_trigger *, qprof_MethodID, int checked);
/** Name methods by "class.name" or the bare name; "glob:..." and "regex:..." (POSIX, extended) are
 * patterns of either. @return also QPROF_E_SYNTAX: what qprof_error_text() says is wrong with the
 * expression; QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_trigger_add_routine(qprof_trigger *, const char *name,
                                                 int checked);
/** @return also QPROF_E_NOTFOUND: the trigger does not have that name */
QPROF_API int _EXT_REF qprof_trigger_check_routine(qprof_trigger *, const char *name,
                                                   int checked);

/** The status that threads begin with while a trigger or an action is in use.
 * @param on  -1: only ask. @return what it was, 1 or 0; QPROF_E_STATE */
QPROF_API int _EXT_REF qprof_trigger_initial_status(int on);
/** Status of the calling thread (virtual-thread mode: of the one it drives). @return 1, 0;
 * QPROF_E_STATE */
QPROF_API int _EXT_REF qprof_trigger_thread_status(void);
/** What is doubtful about the rules. @return QPROF_WARN_* bits; 0: nothing */
QPROF_API unsigned _EXT_REF qprof_trigger_validate(void);

/** The global gate: while it is closed nothing is recorded on any thread, and calls are skips.
 * @param on  -1: only ask. @return what it was, 1 open or 0; QPROF_E_STATE: no run, or inside
 *            another control call */
QPROF_API int _EXT_REF qprof_enable_profiling(int on);

/* ---- actions ------------------------------------------------------------------------------- */

/** An action, run at every call of its methods. @param type QPROF_ACTION_*. @param when QPROF_ON_* */
QPROF_API qprof_action *_EXT_REF qprof_action_create(const char *name, int type, int when);
QPROF_API qprof_action *_EXT_REF qprof_action_find(const char *name);
QPROF_API int _EXT_REF qprof_action_destroy(qprof_action *);
QPROF_API int _EXT_REF qprof_action_set_checked(qprof_action *, int yes);
QPROF_API int _EXT_REF qprof_action_add_method(qprof_action *, qprof_MethodID, int checked);
QPROF_API int _EXT_REF qprof_action_add_routine(qprof_action *, const char *name, int checked);

/* ---- areas --------------------------------------------------------------------------------- */

/** An area. The first including one unchecks "all-lines", unless somebody checked it.
 * @param mode QPROF_AREA_*. @param level QPROF_LEVEL_*; of no matter to an excluding one */
QPROF_API qprof_area *_EXT_REF qprof_area_create(const char *name, int mode, int level);
/** Also "all-lines", checked at first, and "all-routines": every method. They stay. */
QPROF_API qprof_area *_EXT_REF qprof_area_find(const char *name);
QPROF_API int _EXT_REF qprof_area_destroy(qprof_area *);
QPROF_API int _EXT_REF qprof_area_set_checked(qprof_area *, int yes);
/** Values of arguments and results are wanted of its methods, where a trace keeps them. */
QPROF_API int _EXT_REF qprof_area_set_parameters(qprof_area *, int yes);
/** @param kind QPROF_ELEM_*. A file is named whole or by its last component. Patterns as for
 * qprof_trigger_add_routine(). @return also QPROF_E_SYNTAX, QPROF_E_MEMORY */
QPROF_API int _EXT_REF qprof_area_add(qprof_area *, int kind, const char *name, int checked);
QPROF_API int _EXT_REF qprof_area_add_method(qprof_area *, qprof_MethodID, int checked);

#ifdef __cplusplus
}
#endif
#endif
