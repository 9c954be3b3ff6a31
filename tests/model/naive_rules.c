/* naive_rules.c: see naive_rules.h. Sections are those of spec/triggers.md. */
#include "model/naive_rules.h"

#include <stdlib.h>
#include <string.h>

#include "qprof.h"

static bool has(const naive_trigger *trigger, uint64_t method)
{
    for (size_t i = 0; i < trigger->n_members; i++)
        if (trigger->members[i].method == method && trigger->members[i].is_checked)
            return true;
    return false;
}

static bool is_meant(const naive_trigger *trigger, naive_trigger_kind kind, uint64_t method)
{
    return trigger->kind == kind && trigger->is_checked && !trigger->is_dead &&
           has(trigger, method);
}

/* ---- section 2, activation --------------------------------------------------------------- */

static bool acts(naive *n, naive_thread *th, naive_trigger *trigger)
{
    uint64_t call =
        trigger->is_for_all ? ++trigger->n_calls : ++trigger->calls_of[th - n->threads];
    if (trigger->work == 0)
        return call > trigger->pass;
    if (!trigger->is_cycling)
        return trigger->pass < call && call <= trigger->pass + trigger->work;
    return (call - 1) % (trigger->pass + trigger->work) >= trigger->pass;
}

/* ---- sections 3 and 6, entries and exits ------------------------------------------------- */

static void set_status(naive *n, naive_thread *th, bool is_enabled)
{
    if (th->is_enabled == is_enabled)
        return;
    if (n->current == (int)(th - n->threads))
        naive_pass_current(n);
    th->is_enabled = is_enabled;
    for (size_t k = 0; k < th->depth && !is_enabled; k++)
        th->frames[k].is_complete = false;
}

static void run_actions(naive *n, uint64_t method, int when)
{
    for (size_t i = 0; i < n->n_triggers; i++) {
        const naive_trigger *trigger = &n->triggers[i];
        if (!is_meant(trigger, NAIVE_ACTION, method) || trigger->when != when)
            continue;
        for (size_t k = 0; k < n->n_threads && trigger->type <= QPROF_ACTION_DISABLE; k++)
            if (n->threads[k].is_live)
                set_status(n, &n->threads[k], trigger->type == QPROF_ACTION_ENABLE);
        if (trigger->type == QPROF_ACTION_GET_RESULTS)
            n->get_results(n->owner);
        if (trigger->type == QPROF_ACTION_CLEAR_RESULTS)
            naive_clear(n);
    }
}

void naive_triggers_enter(naive *n, naive_thread *th, uint64_t method, naive_frame *f)
{
    bool status = th->is_enabled;
    for (size_t i = 0; i < n->n_triggers; i++) {
        naive_trigger *trigger = &n->triggers[i];
        if (!is_meant(trigger, NAIVE_TRIGGER, method) || !acts(n, th, trigger))
            continue;
        f->saved[f->n_saved++] = status;
        status = trigger->type == QPROF_TRIGGER_ON;
    }
    set_status(n, th, status);
    run_actions(n, method, QPROF_ON_ENTER);
}

void naive_triggers_restore(naive *n, naive_thread *th, const naive_frame *f)
{
    bool status = th->is_enabled;
    for (size_t i = f->n_saved; i-- > 0;)
        status = f->saved[i];
    set_status(n, th, status);
}

void naive_triggers_exit(naive *n, naive_thread *th, const naive_frame *f)
{
    run_actions(n, f->method, QPROF_ON_EXIT);
    naive_triggers_restore(n, th, f);
}

/* ---- sections 4 and 5, what is in force -------------------------------------------------- */

bool naive_triggers_are_used(const naive *n)
{
    for (size_t i = 0; i < n->n_triggers; i++) {
        const naive_trigger *trigger = &n->triggers[i];
        if (trigger->kind == NAIVE_AREA || trigger->is_dead || !trigger->is_checked)
            continue;
        for (size_t k = 0; k < trigger->n_members; k++)
            if (trigger->members[k].is_checked)
                return true;
    }
    return false;
}

bool naive_is_open(const naive *n, const naive_thread *th)
{
    return n->is_recording && !n->is_gate_closed && th->is_enabled;
}

bool naive_gate(naive *n, bool is_open)
{
    bool before = !n->is_gate_closed;
    naive_pass_current(n);
    n->is_gate_closed = !is_open;
    for (size_t i = 0; i < n->n_threads && !is_open; i++)
        for (size_t k = 0; k < n->threads[i].depth; k++)
            n->threads[i].frames[k].is_complete = false;
    return before;
}

/* ---- section 7, areas -------------------------------------------------------------------- */

naive_level naive_triggers_level(const naive *n, uint64_t method)
{
    naive_level level = n->has_all_lines      ? NAIVE_LINES
                        : n->has_all_routines ? NAIVE_ROUTINES
                                              : NAIVE_NOTHING;
    bool is_excluded = false, is_implied = false;
    for (size_t i = 0; i < n->n_triggers; i++) {
        const naive_trigger *trigger = &n->triggers[i];
        is_implied |=
            is_meant(trigger, NAIVE_TRIGGER, method) || is_meant(trigger, NAIVE_ACTION, method);
        if (!is_meant(trigger, NAIVE_AREA, method))
            continue;
        is_excluded |= trigger->type == QPROF_AREA_EXCLUDE;
        naive_level of_area = trigger->when == QPROF_LEVEL_LINES ? NAIVE_LINES : NAIVE_ROUTINES;
        if (trigger->type == QPROF_AREA_INCLUDE && of_area > level)
            level = of_area;
    }
    if (is_excluded)
        level = NAIVE_NOTHING;
    return level == NAIVE_NOTHING && is_implied ? NAIVE_ROUTINES : level;
}

/* ---- section 9, the interface ------------------------------------------------------------ */

naive_trigger *naive_trigger_create(naive *n, naive_trigger_kind kind, int type, int when)
{
    naive_trigger *trigger = &n->triggers[n->n_triggers++];
    *trigger = (naive_trigger){.kind = kind, .type = type, .when = when, .is_checked = true};
    if (kind == NAIVE_AREA && type == QPROF_AREA_INCLUDE && !n->is_all_lines_set)
        n->has_all_lines = false;
    return trigger;
}

void naive_trigger_add(naive_trigger *trigger, uint64_t method, bool is_checked)
{
    trigger->members[trigger->n_members++] = (naive_member){method, is_checked};
}
