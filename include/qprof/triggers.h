/* qprof/triggers.h: when and where to record: triggers, actions, areas. Guide:
 * docs/triggers.md.
 *
 * A trigger enables or disables recording on one thread while one of its methods runs. An
 * action does something once, at the entry or exit of its methods. An area selects the methods
 * that are measured. Names are compared when methods are registered, so a trigger may come
 * before its methods.
 *
 * Each object, and each of its elements, has a check mark: only checked ones have an effect. */
#ifndef QPROF_TRIGGERS_H
#define QPROF_TRIGGERS_H

#include "qprof/base.h"

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
    QPROF_ACTION_GET_RESULTS,  /* as qprof_save_data() */
    QPROF_ACTION_CLEAR_RESULTS /* as qprof_clear_data() */
};
enum { QPROF_ON_ENTER, QPROF_ON_EXIT };
enum { QPROF_AREA_INCLUDE, QPROF_AREA_EXCLUDE };
enum { QPROF_LEVEL_ROUTINES, QPROF_LEVEL_LINES };
enum { QPROF_ELEM_MODULE, QPROF_ELEM_FILE, QPROF_ELEM_CLASS, QPROF_ELEM_ROUTINE };
enum { QPROF_WARN_MAY_BE_OFF = 1 }; /* recording may be off for the whole run */

/* ---- triggers -------------------------------------------------------------------------------
 *
 * All functions of this header need a run and take effect with the next event. Those that
 * return int return 0 on success, QPROF_E_STATE without a run or inside another control
 * function, and QPROF_E_ARG for an object that does not exist or was destroyed; each names what
 * else it returns.
 *
 * Thread safety: any thread. Source: AQtime, Triggers. */

/** Create a checked trigger without methods. Its counts are 0, it does not cycle and it counts
 * the calls of each thread.
 *
 * @param name  a name that no other trigger has
 * @param type  QPROF_TRIGGER_*
 * @return the trigger, valid until the run ends; NULL if no run is on, the name is NULL, empty
 *         or used, the type is invalid, there is no memory, or a run that keeps stacks only has
 *         begun */
QPROF_FN(qprof_trigger *) qprof_trigger_create(const char *name, int type);

/** Return a trigger by its name.
 *
 * @param name  name of the trigger
 * @return the trigger; NULL if there is none */
QPROF_FN(qprof_trigger *) qprof_trigger_find(const char *name);

/** Destroy a trigger. Its name may be used again; frames that saved a status still restore it.
 *
 * @param t  the trigger
 * @return as above */
QPROF_FN(int) qprof_trigger_destroy(qprof_trigger *t);

/** Set how many calls pass before the first call that acts.
 *
 * @param t  the trigger
 * @param n  the pass count
 * @return as above */
QPROF_FN(int) qprof_trigger_set_pass(qprof_trigger *t, unsigned long n);

/** Set how many calls act.
 *
 * @param t  the trigger
 * @param n  the work count; 0: all calls from there on
 * @return as above */
QPROF_FN(int) qprof_trigger_set_work(qprof_trigger *t, unsigned long n);

/** Set whether a trigger begins again after its pass and work calls.
 *
 * @param t    the trigger
 * @param yes  not 0: it cycles
 * @return as above */
QPROF_FN(int) qprof_trigger_set_cycling(qprof_trigger *t, int yes);

/** Set whether the calls of all threads are counted together. A call that acts still changes
 * the status of its own thread only.
 *
 * @param t    the trigger
 * @param yes  not 0: together
 * @return as above */
QPROF_FN(int) qprof_trigger_set_all_threads(qprof_trigger *t, int yes);

/** Check or uncheck a trigger.
 *
 * @param t    the trigger
 * @param yes  not 0: checked
 * @return as above */
QPROF_FN(int) qprof_trigger_set_checked(qprof_trigger *t, int yes);

/** Add a method by its id.
 *
 * @param t        the trigger
 * @param id       the method
 * @param checked  not 0: checked
 * @return as above; QPROF_E_MEMORY */
QPROF_FN(int) qprof_trigger_add_method(qprof_trigger *t, qprof_MethodID id, int checked);

/** Add methods by their names.
 *
 * @param t        the trigger
 * @param name     "class.name" or "name"; "glob:..." and "regex:..." (POSIX, extended) are
 *                 patterns of either
 * @param checked  not 0: checked
 * @return as above; QPROF_E_MEMORY; QPROF_E_SYNTAX: qprof_error_text() describes the mistake in
 *         the expression */
QPROF_FN(int) qprof_trigger_add_routine(qprof_trigger *t, const char *name, int checked);

/** Check or uncheck the methods of a name.
 *
 * @param t        the trigger
 * @param name     as it was added
 * @param checked  not 0: checked
 * @return as above; QPROF_E_NOTFOUND: the trigger does not have that name */
QPROF_FN(int) qprof_trigger_check_routine(qprof_trigger *t, const char *name, int checked);

/** Set the status with which threads begin while a trigger or an action is in use.
 *
 * @param on  1: enabled; 0: disabled; -1: no change
 * @return the former value, 1 or 0; QPROF_E_STATE */
QPROF_FN(int) qprof_trigger_initial_status(int on);

/** Return the status of the calling thread, or of the virtual thread that is mounted there.
 *
 * @return 1 or 0; QPROF_E_STATE */
QPROF_FN(int) qprof_trigger_thread_status(void);

/** Return what is doubtful about the triggers and actions.
 *
 * @return QPROF_WARN_* bits; 0: nothing */
QPROF_FN(unsigned) qprof_trigger_validate(void);

/** Open or close the global gate. While it is closed nothing is recorded on any thread, and
 * calls count as skips.
 *
 * @param on  1: open; 0: closed; -1: no change
 * @return the former value, 1 or 0; QPROF_E_STATE
 * Source: AQtime, EnableProfiling. */
QPROF_FN(int) qprof_enable_profiling(int on);

/* ---- actions --------------------------------------------------------------------------------
 *
 * Results as for triggers. Thread safety: any thread. Source: AQtime, Actions. */

/** Create a checked action without methods. It runs at every call of its methods.
 *
 * @param name  a name that no other action has
 * @param type  QPROF_ACTION_*
 * @param when  QPROF_ON_*
 * @return as qprof_trigger_create() */
QPROF_FN(qprof_action *) qprof_action_create(const char *name, int type, int when);

/** Return an action by its name.
 *
 * @param name  name of the action
 * @return the action; NULL if there is none */
QPROF_FN(qprof_action *) qprof_action_find(const char *name);

/** Change an action: the same as the functions of triggers with these names.
 *
 * @param a        the action
 * @param yes      not 0: checked
 * @param id       a method
 * @param name     names of methods, as for qprof_trigger_add_routine()
 * @param checked  not 0: checked
 * @return as for triggers */
QPROF_FN(int) qprof_action_destroy(qprof_action *a);
QPROF_FN(int) qprof_action_set_checked(qprof_action *a, int yes);
QPROF_FN(int) qprof_action_add_method(qprof_action *a, qprof_MethodID id, int checked);
QPROF_FN(int) qprof_action_add_routine(qprof_action *a, const char *name, int checked);

/* ---- areas ----------------------------------------------------------------------------------
 *
 * Results as for triggers. Thread safety: any thread. Source: AQtime, Areas. */

/** Create a checked area without elements.
 *
 * The first including area unchecks the area "all-lines", unless "all-lines" was checked
 * explicitly.
 *
 * @param name   a name that no other area has
 * @param mode   QPROF_AREA_*
 * @param level  QPROF_LEVEL_*; ignored if the area excludes
 * @return as qprof_trigger_create() */
QPROF_FN(qprof_area *) qprof_area_create(const char *name, int mode, int level);

/** Return an area by its name.
 *
 * @param name  name of the area, or of one of the two that always exist and hold every method:
 *              "all-lines", checked at first, and "all-routines"
 * @return the area; NULL if there is none */
QPROF_FN(qprof_area *) qprof_area_find(const char *name);

/** Change an area: the same as the functions of triggers with these names.
 *
 * @param a    the area
 * @param yes  not 0: checked
 * @return as for triggers */
QPROF_FN(int) qprof_area_destroy(qprof_area *a);
QPROF_FN(int) qprof_area_set_checked(qprof_area *a, int yes);

/** Set whether the values of arguments and results of its methods are wanted, where a trace
 * keeps them.
 *
 * @param a    the area
 * @param yes  not 0: wanted
 * @return as for triggers */
QPROF_FN(int) qprof_area_set_parameters(qprof_area *a, int yes);

/** Add an element.
 *
 * @param a        the area
 * @param kind     QPROF_ELEM_*
 * @param name     a file's whole name or last component; patterns as for
 *                 qprof_trigger_add_routine()
 * @param checked  not 0: checked
 * @return as for triggers; QPROF_E_SYNTAX, QPROF_E_MEMORY */
QPROF_FN(int) qprof_area_add(qprof_area *a, int kind, const char *name, int checked);

/** Add a method by its id.
 *
 * @param a        the area
 * @param id       the method
 * @param checked  not 0: checked
 * @return as for triggers; QPROF_E_MEMORY */
QPROF_FN(int) qprof_area_add_method(qprof_area *a, qprof_MethodID id, int checked);

#ifdef __cplusplus
}
#endif
#endif
