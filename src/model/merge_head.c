/* merge_head.c: may a profile be added, and what the head of the sum says. Every rule gives the same
 * whatever the order: sums, extremes, or what all runs agree in. */
#include <string.h>

#include "base/unit.h"
#include "format/diagnostics.h"
#include "model/charge.h"
#include "model/merge_parts.h"
#include "model/origin.h"

/* ---- what must agree ------------------------------------------------------------------------- */

static const char *times_of(const qp_model *m)
{
    return m->run.time_mode_text;
}

static const char *clock_of(const qp_model *m)
{
    return m->run.clock_text;
}

/* The counter of the processor and the clock of the system are nanoseconds in the sum. */
static const char *source_of(const qp_model *m)
{
    uint32_t source = qp_image_head(&m->own->image)->clock_source;
    return source == QP_SOURCE_HOST    ? "the program"
           : source == QP_SOURCE_UNITS ? "a counter"
                                       : "the machine";
}

static const char *grain_of(const qp_model *m)
{
    return m->run.grain_text;
}

static const char *threads_of(const qp_model *m)
{
    return m->run.is_virtual ? "virtual" : "those of the system";
}

static const char *collection_of(const qp_model *m)
{
    return m->run.is_stack_only ? "interrupts alone"
           : m->run.is_profile  ? "call paths"
                                : "coverage alone";
}

static const char *calls_of(const qp_model *m)
{
    return m->run.has_calls ? "counted" : "not known";
}

static const struct {
    const char *what;
    const char *(*text)(const qp_model *m); /* lives for ever */
} properties[QP_MERGE_N_PROPERTIES] = {
    {"its times are", times_of},        {"its clock is", clock_of},
    {"its time comes from", source_of}, {"its granularity is", grain_of},
    {"its threads are", threads_of},    {"it has", collection_of},
    {"its calls are", calls_of},
};

static bool has_same_clocks(const qp_head *a, const qp_head *b)
{
    return a->user_clock == b->user_clock && a->wait_clock == b->wait_clock;
}

static bool agrees_in_texts(const qp_merge *s, const qp_model *m, const char *what, char *error)
{
    for (size_t i = 0; i < m->own->n_texts; i++) {
        const qp_model_text *t = &m->own->texts[i];
        uint32_t at =
            qp_merge_named(&s->text_of, &s->texts, offsetof(qp_merge_text, path), t->path);
        const qp_merge_text *known =
            at != QP_MERGE_NONE ? QP_MERGE_AT(s->texts, qp_merge_text, at) : NULL;
        if (!known || known->digest == t->digest || !known->digest || !t->digest)
            continue;
        qp_text_format(error, QP_ERROR_BYTES,
                       "%.200s: its %.200s is another version than before; with --force, "
                       "functions of both are kept apart",
                       what, t->path);
        return false;
    }
    return true;
}

/* Interrupts stand for the time between two of them, and a pattern says which count. Runs without a PC
 * command have none. */
static bool agrees_in_interrupts(const qp_merge *s, const qp_model *m, const char *what,
                                 char *error)
{
    char command[QP_CHARGE_COMMAND_BYTES];
    const char *pattern = s->texts_kept[QP_MERGE_PATTERN];
    qp_charge_command(command, &m->run);
    if (!*command || !*s->pc_command ||
        (strcmp(command, s->pc_command) == 0 && strcmp(m->run.pc_pattern, pattern) == 0))
        return true;
    qp_text_format(
        error, QP_ERROR_BYTES,
        "%.180s: its interrupts are of PC %s%s%.60s, but those before of PC %s%s%.60s: "
        "no sum is true; merge the profiles of each command apart",
        what, command, *m->run.pc_pattern ? " WHEN " : "", m->run.pc_pattern, s->pc_command,
        *pattern ? " WHEN " : "", pattern);
    return false;
}

bool qp_merge_agrees(const qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                     char error[QP_ERROR_BYTES])
{
    for (unsigned i = 0; s->n_runs && i < QP_MERGE_N_PROPERTIES; i++) {
        const char *text = properties[i].text(m);
        if (strcmp(text, s->properties[i]) == 0)
            continue;
        qp_text_format(error, QP_ERROR_BYTES, "%.180s: %s %s, but %s in %.180s: no sum is true",
                       what, properties[i].what, text, s->properties[i], s->first);
        return false;
    }
    if (s->n_runs && !has_same_clocks(&s->head, qp_image_head(&m->own->image))) {
        qp_text_format(error, QP_ERROR_BYTES,
                       "%.200s: its functions, or those that wait, have other clocks than in "
                       "%.200s: no sum is true",
                       what, s->first);
        return false;
    }
    return agrees_in_interrupts(s, m, what, error) &&
           (is_forced || agrees_in_texts(s, m, what, error));
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void keep_texts(qp_merge *s, const qp_model *m)
{
    const qp_run *run = &m->run;
    const char *const texts[QP_MERGE_PATTERN] = {run->program, run->options, run->host,
                                                 run->module,  run->label,   run->version};
    static const char *const several[QP_MERGE_PATTERN] = {
        "several programs", "", "several machines", "", "", "several versions"};
    for (unsigned i = 0; i < QP_MERGE_PATTERN; i++) {
        const char *common = qp_origin_common(s->texts_kept[i], texts[i], several[i]);
        if (!s->texts_kept[i] || strcmp(common, s->texts_kept[i]) != 0)
            s->texts_kept[i] = qp_arena_text(&s->arena, common);
        s->is_spoilt |= !s->texts_kept[i];
    }
}

static void add_note(qp_merge *s, bool is_message, const char *text)
{
    qp_run_note *note = qp_buf_add(&s->notes);
    if (note)
        *note = (qp_run_note){is_message, qp_arena_text(&s->arena, text)};
    s->is_spoilt |= !note || !note->text;
}

/* Moments of one run, and how often its host raised an event, are nothing to add up. */
static void tell_marks(qp_merge *s, const qp_run *run, const char *what)
{
    char text[QP_ORIGIN_BYTES], marks[QP_NUMBER_BYTES], events[QP_NUMBER_BYTES];
    qp_unit_things(marks, run->n_marks, "mark");
    qp_unit_things(events, run->n_events, "event");
    qp_text_format(text, sizeof text, "not in the sum: %s%s%s%s of %.4000s",
                   run->n_marks ? marks : "", run->n_marks && run->n_events ? " and " : "",
                   run->n_events ? "counts of " : "", run->n_events ? events : "", what);
    if (run->n_marks || run->n_events)
        add_note(s, true, text);
}

/* A sum's own notes say where it comes from already. */
static void keep_notes(qp_merge *s, const qp_model *m, const char *what)
{
    char text[QP_ORIGIN_BYTES];
    const qp_run *run = &m->run;
    const qp_origin origin = {.what = what,
                              .program = run->program,
                              .label = run->label,
                              .options = run->options,
                              .state = run->state == QP_RUN_SEALED ? "" : run->state_text,
                              .started_at = run->started_at,
                              .pid = run->pid};
    if (!run->is_merged)
        add_note(s, true, qp_origin_text(text, &origin));
    tell_marks(s, run, what);
    for (size_t i = 0; i < run->n_notes; i++)
        add_note(s, run->notes[i].is_message, run->notes[i].text);
    for (size_t i = 0; i < m->n_losses; i++) {
        qp_text_format(text, sizeof text, "%.4000s was damaged: %.200s", what, m->losses[i]);
        add_note(s, true, text);
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A run that was killed has no end: it took no time that is known. */
static void add_moments(qp_merge *s, const qp_model *m)
{
    const qp_run *run = &m->run;
    qp_head *to = &s->head;
    to->started_at = s->n_runs ? least(to->started_at, run->started_at) : run->started_at;
    to->ended_at = most(to->ended_at, most(run->ended_at, run->started_at));
    s->wall = qp_sum(s->wall, qp_model_ns(m, run->wall));
    s->stopped = qp_sum(s->stopped, qp_model_ns(m, least(run->stopped, run->wall)));
}

static void add_diagnostics(qp_merge *s, const qp_model *m)
{
    const uint64_t *from = qp_image_head(&m->own->image)->diagnostics;
    uint64_t *to = s->head.diagnostics;
    for (unsigned i = 0; i < QP_N_DIAGNOSTICS; i++)
        to[i] = i == QP_D_clock_backwards_max ? most(to[i], qp_model_ns(m, from[i]))
                                              : qp_sum(to[i], from[i]);
}

/* The recorder's own cost is the smallest that was measured: it is nearest to the truth, and too
 * little rather than too much is taken off. */
static void add_costs(qp_merge *s, const qp_model *m)
{
    const qp_head *from = qp_image_head(&m->own->image);
    uint64_t *const to[] = {&s->head.cost_entry, &s->head.cost_exit, &s->head.cost_inside};
    const uint64_t costs[] = {from->cost_entry, from->cost_exit, from->cost_inside};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        uint64_t cost = qp_model_ns(m, costs[i]);
        *to[i] = s->n_runs ? least(*to[i], cost) : cost;
    }
}

static void begin_head(qp_merge *s, const qp_model *m, const char *what)
{
    const qp_head *from = qp_image_head(&m->own->image);
    for (unsigned i = 0; i < QP_MERGE_N_PROPERTIES; i++)
        s->properties[i] = properties[i].text(m);
    s->first = qp_arena_text(&s->arena, what);
    s->is_spoilt |= !s->first;
    s->head.flags = QP_FLAG_MERGED | QP_FLAG_RECORDING | (from->flags & QP_FLAG_VIRTUAL) |
                    (from->flags & QP_FLAG_MIN_MAX);
    s->head.time_mode = m->run.time_mode;
    s->head.clock_kind = from->clock_kind;
    s->head.user_clock = from->user_clock;
    s->head.wait_clock = from->wait_clock;
    s->head.clock_source = from->clock_source;
    s->head.grain = from->grain;
    s->head.collect = from->collect ? from->collect : QP_COLLECT_PROFILE;
}

/* Of the runs that have a PC command, which is the same in all. */
static void add_interrupts(qp_merge *s, const qp_model *m)
{
    const qp_head *from = qp_image_head(&m->own->image);
    if (!s->texts_kept[QP_MERGE_PATTERN] || !*s->pc_command) {
        qp_charge_command(s->pc_command, &m->run);
        s->texts_kept[QP_MERGE_PATTERN] = qp_arena_text(&s->arena, m->run.pc_pattern);
        s->is_spoilt |= !s->texts_kept[QP_MERGE_PATTERN];
    }
    s->head.collect |= from->collect & QP_COLLECT_SAMPLES;
    s->head.pc_kind = (uint32_t)most(s->head.pc_kind, from->pc_kind);
    s->head.pc_period = most(s->head.pc_period, from->pc_period);
    s->head.n_critical = qp_sum(s->head.n_critical, from->n_critical);
}

void qp_merge_add_head(qp_merge *s, const qp_model *m, const char *what)
{
    const qp_head *from = qp_image_head(&m->own->image);
    qp_head *to = &s->head;
    if (!s->n_runs)
        begin_head(s, m, what);
    to->flags |= from->flags & (QP_FLAG_IMPORTED | QP_FLAG_NO_CALLS | QP_FLAG_FROM_EDGES);
    if (!m->run.is_coverage)
        to->collect &= ~(uint32_t)QP_COLLECT_COVERAGE;
    to->collect |= m->run.is_once ? QP_COLLECT_ONCE : 0;
    to->flags &= from->flags | ~(uint32_t)QP_FLAG_MIN_MAX;
    if (from->clock_source == QP_SOURCE_NS && to->clock_source == QP_SOURCE_TSC)
        to->clock_source = QP_SOURCE_NS; /* not all were measured by the better one */
    to->pointer_bytes = (uint32_t)most(to->pointer_bytes, from->pointer_bytes);
    to->memory_limit = most(to->memory_limit, from->memory_limit);
    to->sample_period = most(to->sample_period, from->sample_period);
    to->n_passes = qp_sum(to->n_passes, from->n_passes);
    to->sample_ns = qp_sum(to->sample_ns, from->sample_ns);
    add_moments(s, m);
    add_costs(s, m);
    add_interrupts(s, m);
    add_diagnostics(s, m);
    keep_texts(s, m);
    keep_notes(s, m, what);
}
