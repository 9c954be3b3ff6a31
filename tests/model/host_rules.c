/* host_rules.c: see host_rules.h. */
#include "model/host_rules.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/naive_rules.h"
#include "qprof.h"

enum { RESULTS_MAX = 6, BEGUN_MAX = 10 };

static uint64_t next(host *d, unsigned n) /* below n */
{
    d->trigger_seed = d->trigger_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (d->trigger_seed >> 33) % n;
}

static void claim(host *d, const char *what, int code)
{
    if (code && !*d->result->difference)
        snprintf(d->result->difference, DRIVER_TEXT, "%s: %s", what, qprof_strerror(code));
}

/* ---- rules ------------------------------------------------------------------------------- */

static void add(host *d, size_t i, unsigned index, bool is_checked)
{
    naive_trigger *trigger = &d->n.triggers[i];
    uint64_t id = host_method(index);
    if (trigger->n_members == NAIVE_MEMBERS)
        return;
    int code = trigger->kind == NAIVE_TRIGGER
                   ? qprof_trigger_add_method(d->triggers[i], id, is_checked)
               : trigger->kind == NAIVE_ACTION
                   ? qprof_action_add_method(d->triggers[i], id, is_checked)
                   : qprof_area_add_method(d->triggers[i], id, is_checked);
    claim(d, "a method is added", code);
    naive_trigger_add(trigger, id, is_checked);
}

static void shape(host *d, size_t i)
{
    naive_trigger *trigger = &d->n.triggers[i];
    trigger->pass = next(d, 4);
    trigger->work = next(d, 4);
    trigger->is_cycling = next(d, 2);
    trigger->is_for_all = next(d, 2);
    claim(d, "pass", qprof_trigger_set_pass(d->triggers[i], trigger->pass));
    claim(d, "work", qprof_trigger_set_work(d->triggers[i], trigger->work));
    claim(d, "cycling", qprof_trigger_set_cycling(d->triggers[i], trigger->is_cycling));
    claim(d, "all threads", qprof_trigger_set_all_threads(d->triggers[i], trigger->is_for_all));
}

/* Triggers most often; what clears or saves is rare. */
static void create(host *d)
{
    char name[16];
    size_t i = d->n.n_triggers;
    unsigned what = (unsigned)next(d, 16), least = 0;
    if (i == NAIVE_TRIGGERS)
        return;
    snprintf(name, sizeof name, "r%zu", i);
    if (what < 8) {
        int type = (int)next(d, 2);
        d->triggers[i] = qprof_trigger_create(name, type);
        naive_trigger_create(&d->n, NAIVE_TRIGGER, type, 0);
        shape(d, i);
    } else if (what < 12) {
        int type = (int)next(d, 2) + (next(d, 4) ? 0 : 2); /* some get, or clear, results */
        int when = (int)next(d, 2);
        least = type < QPROF_ACTION_GET_RESULTS ? 0 : 5; /* of methods that are rare */
        d->was_cleared |= type >= QPROF_ACTION_GET_RESULTS;
        d->triggers[i] = qprof_action_create(name, type, when);
        naive_trigger_create(&d->n, NAIVE_ACTION, type, when);
    } else {
        int mode = (int)next(d, 2);
        int level = (int)next(d, 2);
        d->triggers[i] = qprof_area_create(name, mode, level);
        naive_trigger_create(&d->n, NAIVE_AREA, mode, level);
    }
    if (!d->triggers[i])
        claim(d, "a rule is created", QPROF_E_MEMORY);
    for (uint64_t n = 1 + next(d, 3); n > 0; n--) {
        unsigned range = next(d, 3) ? 5 : HOST_METHODS - 5;
        unsigned index = least + (unsigned)next(d, range);
        add(d, i, index, next(d, 8) != 0);
    }
}

static void check(host *d, size_t i, bool is_checked)
{
    naive_trigger *trigger = &d->n.triggers[i];
    int code =
        trigger->kind == NAIVE_TRIGGER  ? qprof_trigger_set_checked(d->triggers[i], is_checked)
        : trigger->kind == NAIVE_ACTION ? qprof_action_set_checked(d->triggers[i], is_checked)
                                        : qprof_area_set_checked(d->triggers[i], is_checked);
    claim(d, "a rule is checked", code);
    trigger->is_checked = is_checked;
}

static void destroy(host *d, size_t i)
{
    naive_trigger *trigger = &d->n.triggers[i];
    int code = trigger->kind == NAIVE_TRIGGER  ? qprof_trigger_destroy(d->triggers[i])
               : trigger->kind == NAIVE_ACTION ? qprof_action_destroy(d->triggers[i])
                                               : qprof_area_destroy(d->triggers[i]);
    claim(d, "a rule is destroyed", code);
    trigger->is_dead = true;
}

static void set_initial_status(host *d, bool is_on)
{
    int before = qprof_trigger_initial_status(is_on);
    if (before != !d->n.is_initially_off)
        claim(d, "the initial status was another", QPROF_E_STATE);
    d->n.is_initially_off = !is_on;
}

static void check_predefined(host *d, operation op)
{
    bool is_lines = op.a & 1, is_checked = op.a & 2;
    qprof_area *area = qprof_area_find(is_lines ? "all-lines" : "all-routines");
    claim(d, "a predefined area is checked", qprof_area_set_checked(area, is_checked));
    *(is_lines ? &d->n.has_all_lines : &d->n.has_all_routines) = is_checked;
    d->n.is_all_lines_set |= is_lines;
}

void host_triggers_begin(host *d, const uint8_t bytes[3])
{
    if (!(bytes[0] & 1))
        return;
    d->has_triggers = d->was_stopped = true;
    d->trigger_seed = (uint64_t)bytes[0] << 16 | (uint64_t)bytes[1] << 8 | bytes[2];
    for (uint64_t n = next(d, BEGUN_MAX); n > 0; n--)
        create(d);
    if (next(d, 4) == 0)
        set_initial_status(d, false);
}

/* ---- operations -------------------------------------------------------------------------- */

void host_triggers_change(host *d, operation op)
{
    if (!d->has_triggers)
        return;
    size_t i = d->n.n_triggers ? op.a % d->n.n_triggers : 0;
    bool is_trigger = d->n.n_triggers && !d->n.triggers[i].is_dead;
    if (op.b < 60)
        create(d);
    else if (op.b < 80)
        set_initial_status(d, op.c & 1);
    else if (op.b < 90)
        check_predefined(d, op);
    else if (is_trigger && op.b < 180)
        check(d, i, op.c & 1);
    else if (is_trigger && op.b < 210)
        add(d, i, op.c, op.c < 230);
    else if (is_trigger && op.b < 240 && d->n.triggers[i].kind == NAIVE_TRIGGER)
        shape(d, i);
    else if (is_trigger)
        destroy(d, i);
}

void host_triggers_gate(host *d, operation op)
{
    bool is_open = op.a & 1;
    host_clock_land(d);
    d->n.now++; /* a stop that takes no time is none */
    host_clock_show(d);
    bool expected = naive_gate(&d->n, is_open);
    if (qprof_enable_profiling(is_open) != expected && !*d->result->difference)
        snprintf(d->result->difference, DRIVER_TEXT, "the gate was not %d", expected);
    d->n.now++;
    host_clock_show(d);
    d->was_stopped = true;
}

void host_triggers_ask(host *d)
{
    if (!d->has_triggers || d->n.current < 0)
        return;
    int expected = d->n.threads[d->n.current].is_enabled, got = qprof_trigger_thread_status();
    if (got != expected && !*d->result->difference)
        snprintf(d->result->difference, DRIVER_TEXT, "the status is %d, expected %d", got,
                 expected);
}

/* ---- results ----------------------------------------------------------------------------- */

bool host_triggers_dataset(char *name, size_t n_bytes)
{
    glob_t found;
    long least = -1;
    if (glob("run*.qprof", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *own = found.gl_pathv[i] + 3, *cut = own + sizeof ".0123456789abcdef";
            long number = strtol(*own == '.' ? cut : own, NULL, 10);
            if (least >= 0 && number >= least)
                continue;
            least = number;
            snprintf(name, n_bytes, "%s", found.gl_pathv[i]);
        }
        globfree(&found);
    }
    return least >= 0;
}

void host_triggers_results(void *host_of_it)
{
    host *d = host_of_it;
    char name[64];
    bool is_written = host_triggers_dataset(name, sizeof name);
    if (*d->result->difference)
        return;
    d->n_results++;
    naive_pass_current(&d->n);
    if (is_written ? !d->n.has_data && !d->n.may_have_data && !d->is_spool : d->n.has_data)
        snprintf(d->result->difference, DRIVER_TEXT,
                 "Get Results left %s file, but there %s data", is_written ? "a" : "no",
                 d->n.has_data ? "was" : "was no");
    else if (is_written)
        host_compare(d, name);
    if (is_written && d->n.o.clears_on_save)
        naive_clear(&d->n);
}

void host_triggers_settle(host *d)
{
    if (d->n_results < RESULTS_MAX)
        return;
    for (size_t i = 0; i < d->n.n_triggers; i++)
        if (d->n.triggers[i].kind == NAIVE_ACTION && !d->n.triggers[i].is_dead &&
            d->n.triggers[i].type == QPROF_ACTION_GET_RESULTS && d->n.triggers[i].is_checked)
            check(d, i, false);
}
