/* naive_rules.c: see naive_rules.h. Sections are those of spec/triggers.md. */
#include "model/naive_rules.h"

#include <stdlib.h>
#include <string.h>

#include "qprof/triggers.h"

static bool has(const naive_rule *rule, uint64_t method)
{
    for (size_t i = 0; i < rule->n_members; i++)
        if (rule->members[i].method == method && rule->members[i].is_checked)
            return true;
    return false;
}

static bool is_meant(const naive_rule *rule, naive_rule_kind kind, uint64_t method)
{
    return rule->kind == kind && rule->is_checked && !rule->is_dead && has(rule, method);
}

/* ---- section 2, activation --------------------------------------------------------------------- */

static bool acts(naive *n, naive_thread *th, naive_rule *rule)
{
    uint64_t call = rule->is_for_all ? ++rule->n_calls : ++rule->calls_of[th - n->threads];
    if (rule->work == 0)
        return call > rule->pass;
    if (!rule->is_cycling)
        return rule->pass < call && call <= rule->pass + rule->work;
    return (call - 1) % (rule->pass + rule->work) >= rule->pass;
}

/* ---- sections 3 and 6, entries and exits ------------------------------------------------------- */

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
    for (size_t i = 0; i < n->n_rules; i++) {
        const naive_rule *rule = &n->rules[i];
        if (!is_meant(rule, NAIVE_ACTION, method) || rule->when != when)
            continue;
        for (size_t k = 0; k < n->n_threads && rule->type <= QPROF_ACTION_DISABLE; k++)
            if (n->threads[k].is_live)
                set_status(n, &n->threads[k], rule->type == QPROF_ACTION_ENABLE);
        if (rule->type == QPROF_ACTION_GET_RESULTS)
            n->get_results(n->owner);
        if (rule->type == QPROF_ACTION_CLEAR_RESULTS)
            naive_clear(n);
    }
}

void naive_rules_enter(naive *n, naive_thread *th, uint64_t method, naive_frame *f)
{
    bool status = th->is_enabled;
    for (size_t i = 0; i < n->n_rules; i++) {
        naive_rule *rule = &n->rules[i];
        if (!is_meant(rule, NAIVE_TRIGGER, method) || !acts(n, th, rule))
            continue;
        f->saved[f->n_saved++] = status;
        status = rule->type == QPROF_TRIGGER_ON;
    }
    set_status(n, th, status);
    run_actions(n, method, QPROF_ON_ENTER);
}

void naive_rules_restore(naive *n, naive_thread *th, const naive_frame *f)
{
    bool status = th->is_enabled;
    for (size_t i = f->n_saved; i-- > 0;)
        status = f->saved[i];
    set_status(n, th, status);
}

void naive_rules_exit(naive *n, naive_thread *th, const naive_frame *f)
{
    run_actions(n, f->method, QPROF_ON_EXIT);
    naive_rules_restore(n, th, f);
}

/* ---- sections 4 and 5, what is in force ---------------------------------------------------------- */

bool naive_rules_are_used(const naive *n)
{
    for (size_t i = 0; i < n->n_rules; i++) {
        const naive_rule *rule = &n->rules[i];
        if (rule->kind == NAIVE_AREA || rule->is_dead || !rule->is_checked)
            continue;
        for (size_t k = 0; k < rule->n_members; k++)
            if (rule->members[k].is_checked)
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

/* ---- section 7, areas ------------------------------------------------------------------------------ */

naive_level naive_rules_level(const naive *n, uint64_t method)
{
    naive_level level = n->has_all_lines      ? NAIVE_LINES
                        : n->has_all_routines ? NAIVE_ROUTINES
                                              : NAIVE_NOTHING;
    bool is_excluded = false, is_implied = false;
    for (size_t i = 0; i < n->n_rules; i++) {
        const naive_rule *rule = &n->rules[i];
        is_implied |=
            is_meant(rule, NAIVE_TRIGGER, method) || is_meant(rule, NAIVE_ACTION, method);
        if (!is_meant(rule, NAIVE_AREA, method))
            continue;
        is_excluded |= rule->type == QPROF_AREA_EXCLUDE;
        naive_level of_area = rule->when == QPROF_LEVEL_LINES ? NAIVE_LINES : NAIVE_ROUTINES;
        if (rule->type == QPROF_AREA_INCLUDE && of_area > level)
            level = of_area;
    }
    if (is_excluded)
        level = NAIVE_NOTHING;
    return level == NAIVE_NOTHING && is_implied ? NAIVE_ROUTINES : level;
}

/* ---- section 9, the interface ---------------------------------------------------------------------- */

naive_rule *naive_rule_create(naive *n, naive_rule_kind kind, int type, int when)
{
    naive_rule *rule = &n->rules[n->n_rules++];
    *rule = (naive_rule){.kind = kind, .type = type, .when = when, .is_checked = true};
    if (kind == NAIVE_AREA && type == QPROF_AREA_INCLUDE && !n->is_all_lines_said)
        n->has_all_lines = false;
    return rule;
}

void naive_rule_add(naive_rule *rule, uint64_t method, bool is_checked)
{
    rule->members[rule->n_members++] = (naive_member){method, is_checked};
}
