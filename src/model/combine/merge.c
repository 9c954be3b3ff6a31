/* merge.c: adds profiles to a sum, one after the other, and writes it. The head of the sum is
 * the same in whatever order they come: sums, extremes, or what all runs agree in. Records:
 * merge_records.c. */
#include "model/combine/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/alloc.h"
#include "base/text/unit.h"
#include "format/builder.h"
#include "format/layout.h"
#include "model/figures/figures.h"

/* ---- what must agree --------------------------------------------------------------------- */

static const char *const property_names[QP_MERGE_N_PROPERTIES] = {
    "its times are",   "its clock is", "its time comes from", "its granularity is",
    "its threads are", "it has",       "its calls are"};

/* The counter of the processor and the clock of the system are nanoseconds in the sum. */
static void list_properties(const qp_model *m, const char *texts[QP_MERGE_N_PROPERTIES])
{
    const qp_run_info *run = &m->run;
    uint32_t source = qp_image_head(&m->own->image)->clock_source;
    const char *const properties[QP_MERGE_N_PROPERTIES] = {
        run->time_mode_text,
        run->clock_text,
        source == QP_SOURCE_HOST    ? "the program"
        : source == QP_SOURCE_UNITS ? "a counter"
                                    : "the machine",
        run->grain_text,
        run->is_virtual ? "virtual" : "those of the system",
        run->is_stack_only ? "PC samples alone"
        : run->is_profile  ? "call paths"
                           : "coverage alone",
        run->has_calls ? "counted" : "not known"};
    memcpy(texts, properties, sizeof properties);
}

static bool agrees_in_texts(const qp_merge *s, const qp_model *m, const char *what,
                            qp_error *error)
{
    for (size_t i = 0; i < m->own->n_texts; i++) {
        const qp_model_text *t = &m->own->texts[i];
        uint64_t hash;
        uint32_t at = qp_merge_text_of(s, t->path, &hash);
        const qp_merge_text *known = at ? QP_MERGE_AT(s->texts, qp_merge_text, at - 1) : NULL;
        if (!known || known->digest == t->digest || !known->digest || !t->digest)
            continue;
        return qp_error_fail(
            error,
            "%.200s: its %.200s is another version than before; with --force-merge, "
            "functions of both are kept apart",
            what, t->path);
    }
    return true;
}

/* A PC sample represents the time since the previous one, and a pattern selects which count.
 * Runs without a PC command have none. */
static bool agrees_in_interrupts(const qp_merge *s, const qp_model *m, const char *what,
                                 qp_error *error)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    const char *pattern = s->texts_kept[QP_MERGE_PATTERN];
    qp_attribution_command(command, &m->run);
    if (!*command || !*s->pc_command ||
        (strcmp(command, s->pc_command) == 0 && strcmp(m->run.pc_pattern, pattern) == 0))
        return true;
    return qp_error_fail(
        error,
        "%.180s: its PC samples are of PC %s%s%.60s, but those before of PC %s%s%.60s: "
        "they do not add up (merge the profiles of each command separately)",
        what, command, *m->run.pc_pattern ? " WHEN " : "", m->run.pc_pattern, s->pc_command,
        *pattern ? " WHEN " : "", pattern);
}

/* Compare with the profiles before. @return false: see error */
static bool agrees(const qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                   qp_error *error)
{
    const qp_head *h = qp_image_head(&m->own->image);
    const char *texts[QP_MERGE_N_PROPERTIES];
    list_properties(m, texts);
    for (unsigned i = 0; s->n_runs && i < QP_MERGE_N_PROPERTIES; i++) {
        if (strcmp(texts[i], s->properties[i]) == 0)
            continue;
        return qp_error_fail(error, "%.180s: %s %s, but %s in %.180s: they do not add up", what,
                             property_names[i], texts[i], s->properties[i], s->first);
    }
    if (s->n_runs &&
        (s->head.user_clock != h->user_clock || s->head.wait_clock != h->wait_clock)) {
        return qp_error_fail(
            error,
            "%.200s: its functions, or those that wait, have other clocks than in "
            "%.200s: they do not add up",
            what, s->first);
    }
    return agrees_in_interrupts(s, m, what, error) &&
           (is_forced || agrees_in_texts(s, m, what, error));
}

/* ---- origins ----------------------------------------------------------------------------- */

enum { MOMENT_BYTES = 40, PARTS_BYTES = 4000 };

/* "2026-01-02 03:04:05 UTC"; "" for one that is not known. */
static void put_moment(char *to, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    to[0] = '\0';
    if (ns && gmtime_r(&seconds, &parts))
        strftime(to, MOMENT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &parts);
}

/* Append what it is, and the text: nothing if there is no text. */
static void put_part(char *parts, const char *what, const char *text)
{
    size_t n = strlen(parts);
    if (text && *text)
        qp_text_format(parts + n, PARTS_BYTES - n, "%s%s%.1000s", n ? ", " : " (", what, text);
}

char *qp_origin_text(char to[QP_ORIGIN_BYTES], const qp_origin *o)
{
    char parts[PARTS_BYTES] = "", moment[MOMENT_BYTES], pid[24] = "";
    put_moment(moment, o->started_at);
    if (o->pid)
        qp_text_format(pid, sizeof pid, "%" PRIu64, o->pid);
    put_part(parts, "", o->program);
    put_part(parts, "process ", pid);
    put_part(parts, "label ", o->label);
    put_part(parts, "started ", moment);
    put_part(parts, "options ", o->options);
    put_part(parts, "", o->state);
    return qp_text_format(to, QP_ORIGIN_BYTES, "merged from %.4000s%s%s", o->what, parts,
                          *parts ? ")" : "");
}

const char *qp_origin_common(const char *known, const char *text, const char *several)
{
    return !known || strcmp(known, text) == 0 ? text : several;
}

typedef struct {
    const char *name, *value; /* ended by '=', and by '|', ',' or NUL */
} label_value;

enum { LABEL_VALUES_MAX = 512 };

static int compare_texts(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order ? order : (n_a > n_b) - (n_a < n_b);
}

static int compare_names(const label_value *a, const label_value *b)
{
    return compare_texts(a->name, strcspn(a->name, "="), b->name, strcspn(b->name, "="));
}

static int compare_values(const void *a, const void *b)
{
    const label_value *x = a, *y = b;
    int order = compare_names(x, y);
    return order ? order
                 : compare_texts(x->value, strcspn(x->value, "|,"), y->value,
                                 strcspn(y->value, "|,"));
}

static void list_values(const char *labels, label_value list[LABEL_VALUES_MAX], size_t *n)
{
    while (labels && *labels) {
        const char *name = labels, *value = labels + strcspn(labels, "=,");
        while (*value && *value != ',' && *n < LABEL_VALUES_MAX) {
            list[(*n)++] = (label_value){name, ++value};
            value += strcspn(value, "|,");
        }
        labels += strcspn(labels, ",");
        labels += *labels == ',';
    }
}

const char *qp_labels_join(char to[QP_LABELS_BYTES], const char *known, const char *labels)
{
    label_value list[LABEL_VALUES_MAX];
    size_t n = 0, at = 0;
    list_values(known, list, &n);
    list_values(labels, list, &n);
    qsort(list, n, sizeof *list, compare_values);
    to[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        bool is_same = i && compare_names(&list[i - 1], &list[i]) == 0;
        int n_name = (int)strcspn(list[i].name, "="),
            n_value = (int)strcspn(list[i].value, "|,");
        if ((is_same && compare_values(&list[i - 1], &list[i]) == 0) ||
            at + (size_t)n_name + (size_t)n_value + 3 > QP_LABELS_BYTES)
            continue;
        qp_text_format(to + at, QP_LABELS_BYTES - at, "%s%.*s%s%.*s",
                       is_same ? "|"
                       : i     ? ","
                               : "",
                       is_same ? 0 : n_name, list[i].name, is_same ? "" : "=", n_value,
                       list[i].value);
        at += strlen(to + at);
    }
    return to;
}

/* ---- what is kept ------------------------------------------------------------------------ */

static void keep_texts(qp_merge *s, const qp_model *m)
{
    const qp_run_info *run = &m->run;
    const char *const texts[QP_MERGE_PATTERN] = {
        run->program, run->options,   run->host,   run->module,       run->label, run->version,
        run->script,  run->arguments, run->folder, run->host_version, run->labels};
    static const char *const several[QP_MERGE_PATTERN] = {
        "several programs", "", "several machines", "", "", "several versions", "", "", "", ""};
    for (unsigned i = 0; i < QP_MERGE_PATTERN; i++) {
        char joined[QP_LABELS_BYTES];
        const char *common = i == QP_MERGE_LABELS
                                 ? qp_labels_join(joined, s->texts_kept[i], texts[i])
                                 : qp_origin_common(s->texts_kept[i], texts[i], several[i]);
        if (!s->texts_kept[i] || strcmp(common, s->texts_kept[i]) != 0)
            s->texts_kept[i] = qp_arena_text(&s->arena, common);
        s->is_spoilt |= !s->texts_kept[i];
    }
}

static void add_note(qp_merge *s, bool is_message, const char *text)
{
    qp_run_note *note = qp_buf_add(&s->notes);
    if (note)
        *note = (qp_run_note){.is_message = is_message, .text = qp_arena_text(&s->arena, text)};
    s->is_spoilt |= !note || !note->text;
}

/* Moments of one run, and counts of events that its host raised, are not added up. */
static void note_marks(qp_merge *s, const qp_run_info *run, const char *what)
{
    char text[QP_ORIGIN_BYTES], marks[QP_NUMBER_BYTES], events[QP_NUMBER_BYTES];
    qp_unit_things(marks, run->n_markers, "mark");
    qp_unit_things(events, run->n_events, "event");
    qp_text_format(text, sizeof text, "not in the sum: %s%s%s%s of %.4000s",
                   run->n_markers ? marks : "", run->n_markers && run->n_events ? " and " : "",
                   run->n_events ? "counts of " : "", run->n_events ? events : "", what);
    if (run->n_markers || run->n_events)
        add_note(s, true, text);
}

/* Metrics for which the sum has no room. */
static void note_metrics(qp_merge *s, const qp_run_info *run, const char *what)
{
    char text[QP_ORIGIN_BYTES];
    for (size_t k = 0; k < run->n_metrics; k++) {
        size_t i = 0;
        while (i < s->n_metrics && strcmp(s->metrics[i].name, run->metrics[k].name) != 0)
            i++;
        qp_text_format(text, sizeof text, "not in the sum: metric %.100s of %.4000s",
                       run->metrics[k].name, what);
        if (i == s->n_metrics)
            add_note(s, true, text);
    }
}

/* A sum's own notes say where it comes from already. */
static void keep_notes(qp_merge *s, const qp_model *m, const char *what)
{
    char text[QP_ORIGIN_BYTES];
    const qp_run_info *run = &m->run;
    const qp_origin origin = {.what = what,
                              .program = run->program,
                              .label = run->label,
                              .options = run->options,
                              .state = run->state == QP_RUN_SEALED ? "" : run->state_text,
                              .started_at = run->started_at,
                              .pid = run->pid};
    if (!run->is_merged)
        add_note(s, true, qp_origin_text(text, &origin));
    note_marks(s, run, what);
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
    const qp_run_info *run = &m->run;
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

/* The cost of recording is the smallest that was measured, which is the most accurate; too
 * little rather than too much is subtracted. */
static void add_costs(qp_merge *s, const qp_model *m)
{
    const qp_head *from = qp_image_head(&m->own->image);
    uint64_t *const to[] = {&s->head.cost_entry, &s->head.cost_exit, &s->head.cost_inside,
                            &s->head.cost_host, &s->head.cost_native};
    const uint64_t costs[] = {from->cost_entry, from->cost_exit, from->cost_inside,
                              from->cost_host, from->cost_native};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        uint64_t cost = qp_model_ns(m, costs[i]);
        *to[i] = s->n_runs ? least(*to[i], cost) : cost;
    }
}

/* What the sum has if each of its runs has it. */
enum { IN_ALL_RUNS = QP_FLAG_MIN_MAX | QP_FLAG_WAITS };

static void begin_head(qp_merge *s, const qp_model *m, const char *what)
{
    const qp_head *from = qp_image_head(&m->own->image);
    list_properties(m, s->properties);
    s->first = qp_arena_text(&s->arena, what);
    s->is_spoilt |= !s->first;
    s->head.flags = QP_FLAG_MERGED | QP_FLAG_RECORDING | (from->flags & QP_FLAG_VIRTUAL) |
                    (from->flags & IN_ALL_RUNS);
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
        qp_attribution_command(s->pc_command, &m->run);
        s->texts_kept[QP_MERGE_PATTERN] = qp_arena_text(&s->arena, m->run.pc_pattern);
        s->is_spoilt |= !s->texts_kept[QP_MERGE_PATTERN];
    }
    s->head.collect |= from->collect & QP_COLLECT_SAMPLES;
    s->head.pc_kind = (uint32_t)most(s->head.pc_kind, from->pc_kind);
    s->head.pc_period = most(s->head.pc_period, from->pc_period);
    s->head.n_critical = qp_sum(s->head.n_critical, from->n_critical);
}

static void add_head(qp_merge *s, const qp_model *m, const char *what)
{
    const qp_head *from = qp_image_head(&m->own->image);
    qp_head *to = &s->head;
    if (!s->n_runs)
        begin_head(s, m, what);
    to->flags |= from->flags & (QP_FLAG_IMPORTED | QP_FLAG_NO_CALLS | QP_FLAG_FROM_EDGES);
    if (!m->run.is_coverage)
        to->collect &= ~(uint32_t)QP_COLLECT_COVERAGE;
    to->collect |= m->run.is_once ? QP_COLLECT_ONCE : 0;
    to->collect |= from->collect & QP_COLLECT_MEMORY;
    to->flags &= from->flags | ~(uint32_t)IN_ALL_RUNS;
    if (from->clock_source == QP_SOURCE_NS && to->clock_source == QP_SOURCE_TSC)
        to->clock_source = QP_SOURCE_NS; /* some were measured by the coarser one */
    to->pointer_bytes = (uint32_t)most(to->pointer_bytes, from->pointer_bytes);
    to->memory_limit = most(to->memory_limit, from->memory_limit);
    to->sample_period = most(to->sample_period, from->sample_period);
    to->n_passes = qp_sum(to->n_passes, from->n_passes);
    to->watch_ns = qp_sum(to->watch_ns, from->watch_ns);
    to->coarse_period = most(to->coarse_period, qp_model_ns(m, from->coarse_period));
    to->sample_ns = qp_sum(to->sample_ns, from->sample_ns);
    add_moments(s, m);
    add_costs(s, m);
    add_interrupts(s, m);
    add_diagnostics(s, m);
    keep_texts(s, m);
    keep_notes(s, m, what);
}

qp_merge *qp_merge_new(void)
{
    qp_merge *s = qp_alloc(1, sizeof *s);
    if (s)
        *s = (qp_merge){.methods = QP_BUF(qp_merge_method),
                        .threads = QP_BUF(qp_merge_thread),
                        .nodes = QP_BUF(qp_merge_node),
                        .counter_blocks = QP_BUF(qp_merge_counter_block),
                        .contexts = QP_BUF(const char *),
                        .shares = QP_BUF(qp_merge_share),
                        .texts = QP_BUF(qp_merge_text),
                        .notes = QP_BUF(qp_run_note)};
    return s;
}

void qp_merge_free(qp_merge *s)
{
    if (!s)
        return;
    qp_buf *const bufs[] = {&s->methods,  &s->threads, &s->nodes, &s->counter_blocks,
                            &s->contexts, &s->shares,  &s->texts, &s->notes};
    qp_dict *const dicts[] = {&s->method_of, &s->thread_of, &s->context_of,
                              &s->text_of,   &s->child_of,  &s->share_of};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
        qp_dict_fini(dicts[i]);
    for (unsigned i = 0; i < QP_MERGE_KINDS; i++)
        qp_dict_fini(&s->block_of[i]);
    qp_arena_fini(&s->arena);
    qp_free(s);
}

/* ---- adding ------------------------------------------------------------------------------ */

bool qp_merge_add(qp_merge *s, const qp_model *m, const char *what, bool is_forced,
                  qp_error *error)
{
    error->text[0] = '\0';
    if (!s->is_spoilt && !agrees(s, m, what, is_forced, error))
        return false;
    qp_merge_addition x = {s,
                           m,
                           qp_alloc(m->n_methods, sizeof *x.methods),
                           qp_alloc(m->n_threads, sizeof *x.threads),
                           qp_alloc(m->n_nodes, sizeof *x.nodes),
                           qp_alloc(m->own->n_contexts, sizeof *x.contexts)};
    s->is_spoilt |= !x.methods || !x.threads || !x.nodes || !x.contexts;
    if (!s->is_spoilt)
        add_head(s, m, what);
    s->is_spoilt = s->is_spoilt || !qp_merge_add_methods(&x) || !qp_merge_add_threads(&x) ||
                   !qp_merge_add_requests(&x) || !qp_merge_add_metrics(&x) ||
                   !qp_merge_add_lock_waits(&x) || !qp_merge_add_counter_blocks(&x) ||
                   !qp_merge_add_contexts(&x) || !qp_merge_add_texts(&x);
    if (!s->is_spoilt)
        note_metrics(s, &m->run, what);
    s->n_runs++;
    qp_free(x.methods);
    qp_free(x.threads);
    qp_free(x.nodes);
    qp_free(x.contexts);
    if (s->is_spoilt)
        qp_error_fail(error, "%.300s: there is not enough memory to add it", what);
    return !s->is_spoilt;
}

qp_merge_size qp_merge_measure(const qp_merge *s)
{
    qp_merge_size size = {.n_runs = s->n_runs,
                          .parts = qp_run_parts_of(s->notes.items, s->notes.n)};
    for (size_t i = 0; i < s->threads.n; i++) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, i);
        size.n_threads += th->last_node != th->root;
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        const qp_merge_node *n = QP_MERGE_AT(s->nodes, const qp_merge_node, i);
        size.calls = qp_sum(size.calls, qp_sum(n->hits, n->skips));
    }
    return size;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_head(qp_builder *b, const qp_merge *s)
{
    qp_head *h = qp_builder_head(b);
    qp_ref *const texts[QP_MERGE_N_TEXTS] = {
        &h->program, &h->options,   &h->host,   &h->module,       &h->label,  &h->version,
        &h->script,  &h->arguments, &h->folder, &h->host_version, &h->labels, &h->pc_pattern};
    *h = s->head;
    h->tick_1 = h->ns_1 = 1; /* ticks are nanoseconds */
    h->begun_raw = 1;
    h->end_raw = qp_sum(1, s->wall);
    h->stopped_total = s->stopped;
    for (unsigned i = 0; i < QP_MERGE_N_TEXTS; i++)
        *texts[i] = qp_builder_text(b, s->texts_kept[i]);
    for (size_t i = 0; i < s->notes.n; i++) {
        const qp_run_note *note = QP_MERGE_AT(s->notes, const qp_run_note, i);
        qp_builder_note(b, note->is_message ? QP_NOTE_MESSAGE : QP_NOTE_ANNOTATION, note->text);
    }
    for (unsigned i = 0; i < s->n_metrics; i++)
        qp_builder_metric(b, s->metrics[i].name, s->metrics[i].unit);
}

static void write_methods(qp_builder *b, const qp_merge *s)
{
    for (size_t i = 0; i < s->methods.n; i++) {
        qp_merge_method *method = QP_MERGE_AT(s->methods, qp_merge_method, i);
        qp_builder_code code = method->code;
        if (code.flags & QP_METHOD_REGISTERED)
            code.id = i + 1;
        if (method->number)
            method->number = qp_builder_method(b, &code);
    }
}

static uint32_t number_of(const qp_merge *s, uint32_t method)
{
    return QP_MERGE_AT(s->methods, const qp_merge_method, method)->number;
}

static void write_wait(qp_builder *b, const qp_merge *s, const qp_merge_wait *w)
{
    const qp_merge_node *holder =
        w->holder ? QP_MERGE_AT(s->nodes, const qp_merge_node, w->holder - 1) : NULL;
    const qp_lock_wait wait = {.n = w->n, .ns = w->ns, .longest_ns = w->longest_ns};
    qp_builder_node_wait(b, w->lock, &wait, holder ? holder->thread + 1 : 0,
                         holder ? holder->number : 0);
}

/* Of the newest call path, or of the root. @param has_figures  false: what the host added, and requests alone */
static void write_metrics(qp_builder *b, const qp_merge *s, const qp_merge_node *node,
                          bool has_figures)
{
    static const qp_memory none;
    const qp_memory *m = has_figures ? &node->memory : &none;
    const qp_node_metrics metrics = {
        .bytes = m->bytes,
        .objects = m->objects,
        .freed_bytes = m->freed_bytes,
        .freed_objects = m->freed_objects,
        .off = has_figures && s->head.flags & QP_FLAG_WAITS ? node->off : 0};
    if (m->bytes || m->objects || m->freed_bytes || m->freed_objects || metrics.off ||
        node->values || node->waits)
        qp_builder_node_metrics(b, &metrics);
    if (node->values)
        qp_builder_node_values(b, node->values);
    for (const qp_merge_wait *w = node->waits; w; w = w->next)
        write_wait(b, s, w);
    if (node->requests)
        qp_builder_node_requests(b, node->requests);
}

/* The nodes of a thread that are written, the newest first. @return their number */
static size_t list_nodes(const qp_merge_node *nodes, const qp_merge_thread *th, uint32_t *order)
{
    size_t n = 0;
    for (uint32_t i = th->last_node; i != th->root; i = nodes[i].before)
        if (nodes[i].number)
            order[n++] = i;
    return n;
}

/* Number the nodes of all threads: one that is written may name one of a later thread. */
static void number_nodes(qp_merge *s, uint32_t *order)
{
    qp_merge_node *nodes = s->nodes.items;
    for (size_t i = 0; i < s->threads.n; i++) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, i);
        const size_t n = list_nodes(nodes, th, order);
        nodes[th->root].number = 0;
        for (size_t k = 0; k < n; k++)
            nodes[order[k]].number = (uint32_t)(n - k);
    }
}

/* The thread's call paths, callers first: the chain goes from the newest to the oldest. Where the paths are
 * left out, those of creators, of endpoints, with metrics of the host and of locks are written without other
 * figures. */
static void write_nodes(qp_builder *b, qp_merge *s, const qp_merge_thread *th, bool has_paths,
                        uint32_t *order)
{
    const qp_node none = {.self_min = s->head.time_mode == QP_TIME_ADAPTIVE ? 0 : UINT64_MAX};
    qp_merge_node *nodes = s->nodes.items;
    size_t n = list_nodes(nodes, th, order);
    if (nodes[th->root].pc_samples)
        qp_builder_node_more(b, 0, 0, nodes[th->root].pc_samples, 0);
    write_metrics(b, s, &nodes[th->root], true);
    while (n > 0) {
        qp_merge_node *node = &nodes[order[--n]];
        const qp_node figures = {.n_calls = qp_sum(node->hits, node->resumes),
                                 .self = node->self,
                                 .self_min = node->min,
                                 .self_max = node->max};
        qp_builder_node(b, nodes[node->parent].number, number_of(s, node->method),
                        has_paths ? &figures : &none);
        if (has_paths && (node->skips || node->counts || node->pc_samples || node->resumes))
            qp_builder_node_more(b, node->skips, node->counts, node->pc_samples, node->resumes);
        write_metrics(b, s, node, has_paths);
    }
}

static void write_counters(qp_builder *b, const qp_merge *s, const qp_merge_thread *th)
{
    for (uint32_t i = th->last_block; i != QP_MERGE_NONE;) {
        const qp_merge_counter_block *counters =
            QP_MERGE_AT(s->counter_blocks, const qp_merge_counter_block, i);
        const qp_counter_block_kind kinds[QP_MERGE_KINDS] = {
            [QP_MERGE_BLOCKS] = QP_COUNTER_BLOCK_COUNTS,
            [QP_MERGE_JUMPS] = QP_COUNTER_BLOCK_COUNTS,
            [QP_MERGE_TIMES] = QP_COUNTER_BLOCK_TIMES,
            [QP_MERGE_SAMPLES] = QP_COUNTER_BLOCK_SAMPLES,
            [QP_MERGE_MEMORY] = QP_COUNTER_BLOCK_MEMORY};
        uint64_t *values = qp_builder_counter_block(
            b, kinds[counters->kind], number_of(s, counters->method),
            QP_MERGE_AT(s->methods, const qp_merge_method, counters->method)->code.n_lines,
            counters->n_values);
        if (values)
            memcpy(values, counters->values, counters->n_values * sizeof *values);
        i = counters->before;
    }
}

/* Entries that the call paths count, on a thread. */
static uint64_t entries_of(const qp_merge *s, const qp_merge_thread *th)
{
    const qp_merge_node *nodes = s->nodes.items;
    uint64_t n = 0;
    for (uint32_t i = th->last_node; i != th->root; i = nodes[i].before)
        n = qp_sum(n, qp_sum(nodes[i].hits, nodes[i].resumes));
    return n;
}

/* Entries whose paths are left out count as too many: qp_merge_path_add() takes them back. */
static void write_threads(qp_builder *b, qp_merge *s, bool has_paths, uint32_t *order)
{
    number_nodes(s, order);
    for (size_t i = 0; i < s->threads.n; i++) {
        const qp_merge_thread *th = QP_MERGE_AT(s->threads, const qp_merge_thread, i);
        qp_thread_record r = th->sums;
        r.name = qp_builder_text(b, th->name);
        r.state = QP_THREAD_ENDED;
        if (!has_paths)
            r.n_overflowed = qp_sum(r.n_overflowed, entries_of(s, th));
        qp_builder_thread(b, &r);
        if (th->creator)
            qp_builder_creator(b, th->creator_thread + 1,
                               QP_MERGE_AT(s->nodes, qp_merge_node, th->creator - 1)->number);
        write_nodes(b, s, th, has_paths, order);
        if (has_paths)
            write_counters(b, s, th);
    }
}

/* What is in no share has no context: head.context stays 0. */
static void write_contexts(qp_builder *b, const qp_merge *s)
{
    for (size_t i = 0; i < s->contexts.n; i++)
        qp_builder_context(b, *QP_MERGE_AT(s->contexts, const char *const, i), 0);
    for (size_t i = 0; i < s->shares.n; i++) {
        const qp_merge_share *share = QP_MERGE_AT(s->shares, const qp_merge_share, i);
        int64_t *values = qp_builder_share(
            b, share->context + 1, number_of(s, share->method), share->calls,
            QP_MERGE_AT(s->methods, const qp_merge_method, share->method)->code.n_lines,
            share->n_values);
        if (values && share->n_values)
            memcpy(values, share->values, share->n_values * sizeof *values);
    }
    for (size_t i = 0; i < s->texts.n; i++) {
        const qp_merge_text *t = QP_MERGE_AT(s->texts, const qp_merge_text, i);
        qp_builder_source(b, t->path, t->digest, t->n_bytes);
    }
}

/* A call path is written, without figures, and with it those that lead to it. */
static void choose_path(qp_merge *s, uint32_t at)
{
    qp_merge_method *methods = s->methods.items;
    qp_merge_node *nodes = s->nodes.items;
    for (; nodes[at].parent != at && !nodes[at].number; at = nodes[at].parent)
        nodes[at].number = methods[nodes[at].method].number = 1;
}

/* Mark what is written. */
static void choose(qp_merge *s, bool has_paths)
{
    qp_merge_method *methods = s->methods.items;
    qp_merge_node *nodes = s->nodes.items;
    for (size_t i = 0; i < s->methods.n; i++)
        methods[i].number = has_paths;
    for (size_t i = 0; i < s->nodes.n; i++)
        nodes[i].number = has_paths;
    for (size_t i = 0; !has_paths && i < s->shares.n; i++)
        methods[QP_MERGE_AT(s->shares, qp_merge_share, i)->method].number = 1;
    for (size_t i = 0; !has_paths && i < s->threads.n; i++) {
        const uint32_t creator = QP_MERGE_AT(s->threads, qp_merge_thread, i)->creator;
        choose_path(s, creator ? creator - 1 : 0);
    }
    for (uint32_t i = 0; !has_paths && i < s->nodes.n; i++) {
        if (nodes[i].requests || nodes[i].values || nodes[i].waits)
            choose_path(s, i);
        for (const qp_merge_wait *w = nodes[i].waits; w; w = w->next)
            choose_path(s, w->holder ? w->holder - 1 : 0);
    }
}

/* @return free with qp_builder_free(); NULL: no memory */
static qp_builder *build(qp_merge *s, bool has_paths)
{
    qp_builder *b = s->is_spoilt ? NULL : qp_builder_new(0);
    uint32_t *order = b ? qp_alloc(s->nodes.n, sizeof *order) : NULL;
    if (order) {
        choose(s, has_paths);
        write_head(b, s);
        write_methods(b, s);
        write_threads(b, s, has_paths, order);
        write_contexts(b, s);
    } else {
        qp_builder_free(b);
        b = NULL;
    }
    qp_free(order);
    return b;
}

bool qp_merge_write(qp_merge *s, const char *path, qp_error *error)
{
    qp_builder *b = build(s, true);
    bool is_good =
        b ? qp_builder_finish(b, path, error)
          : qp_error_fail(error, "%.300s: there is not enough memory to write it", path);
    qp_builder_free(b);
    return is_good;
}

bool qp_merge_bytes(qp_merge *s, bool has_paths, void **bytes, size_t *n_bytes, qp_error *error)
{
    const char *why = "there is not enough memory to write it";
    qp_builder *b = build(s, has_paths);
    *bytes = NULL;
    bool is_good = b && qp_builder_bytes(b, bytes, n_bytes, &why);
    qp_builder_free(b);
    return is_good || qp_error_fail(error, "%s", why);
}
