/* cover_write.c: writes a coverage set as a profile without times, whose threads are added up.
 *
 * Calls of a method are counted by its entry counter, where its jumps have one; else a call
 * path right below the thread's root holds them, and as skips the entries that were not
 * recorded. */
#include <string.h>

#include "format/builder.h"
#include "model/combine/merge.h"
#include "model/cover/cover.h"
#include "model/read/read.h"

/* Whether the counters have the number of calls. */
static bool counts_entries(const qp_cover_method *m)
{
    for (uint32_t k = 0; m->values && m->jumps && k < m->jumps->n_jumps; k++)
        if (m->jumps->jumps[k].from_block == QP_JUMP_ENTRY)
            return true;
    return false;
}

/* ---- the run ----------------------------------------------------------------------------- */

static void write_runs(qp_builder *b, const qp_cover_set *s)
{
    char text[QP_ORIGIN_BYTES], labels[QP_LABELS_BYTES] = "", joined[QP_LABELS_BYTES];
    const char *program = NULL, *label = NULL, *script = NULL;
    qp_head *h = qp_builder_head(b);
    for (size_t i = 0; i < s->n_runs; i++) {
        const qp_cover_run *run = &s->runs[i];
        const qp_origin origin = {.what = run->what,
                                  .program = run->program,
                                  .label = run->label,
                                  .started_at = run->started_at,
                                  .pid = run->pid};
        qp_builder_note(b, QP_NOTE_MESSAGE, qp_origin_text(text, &origin));
        program = qp_origin_common(program, run->program, "several programs");
        label = qp_origin_common(label, run->label, "");
        script = qp_origin_common(script, run->script, "");
        memcpy(labels, qp_labels_join(joined, labels, run->labels), sizeof labels);
        if (!h->started_at || run->started_at < h->started_at)
            h->started_at = run->started_at;
        if (run->started_at > h->ended_at)
            h->ended_at = run->started_at;
    }
    for (size_t i = 0; i < s->n_warnings; i++)
        qp_builder_note(b, QP_NOTE_MESSAGE, s->warnings[i]);
    h->program = qp_builder_text(b, program);
    h->label = qp_builder_text(b, label);
    h->script = qp_builder_text(b, script);
    h->labels = qp_builder_text(b, labels);
}

static bool has_calls(const qp_cover_set *s)
{
    bool has_any = s->has_calls;
    for (size_t i = 0; i < s->n_methods && !has_any; i++)
        has_any = s->methods[i].calls > 0;
    return has_any;
}

static void write_head(qp_builder *b, const qp_cover_set *s)
{
    qp_head *h = qp_builder_head(b);
    h->flags = QP_FLAG_MERGED | QP_FLAG_RECORDING | (has_calls(s) ? 0 : QP_FLAG_NO_CALLS);
    h->time_mode = QP_TIME_NONE;
    h->clock_source = QP_SOURCE_NS;
    h->grain = s->grain;
    h->begun_raw = h->end_raw = 1; /* an end is set, and the duration is 0 */
    h->pointer_bytes = sizeof(void *);
    h->collect = s->is_coverage ? QP_COLLECT_COVERAGE : QP_COLLECT_PROFILE;
    h->collect |= s->is_once ? QP_COLLECT_ONCE : 0;
    h->version = qp_builder_text(b, QPROF_VERSION_TEXT);
    write_runs(b, s);
}

/* ---- methods ----------------------------------------------------------------------------- */

/* Methods get the numbers of their order. */
static void write_methods(qp_builder *b, const qp_cover_set *s)
{
    for (size_t i = 0; i < s->n_methods; i++) {
        const qp_cover_method *m = &s->methods[i];
        const qp_builder_code code = {.id = i + 1,
                                      .flags = m->flags,
                                      .name = m->bare_name,
                                      .class_name = m->class_name,
                                      .file = m->file,
                                      .module = m->module,
                                      .lines = m->lines,
                                      .n_lines = m->n_blocks,
                                      .jumps = m->jumps};
        qp_builder_method(b, &code);
    }
}

/* Calls that no counter has: of threads on which nothing was counted. */
static uint64_t uncounted_calls(const qp_cover_method *m)
{
    bool needs_entries = m->values && m->jumps && !counts_entries(m);
    return needs_entries && m->calls > m->entries ? m->calls - m->entries : 0;
}

static void write_call(qp_builder *b, size_t method, uint64_t n_calls, uint64_t n_skips,
                       qp_thread_record *th)
{
    const qp_node figures = {.n_calls = n_calls, .self_min = UINT64_MAX};
    if (!n_calls && !n_skips)
        return;
    qp_builder_node(b, 0, (uint32_t)method + 1, &figures);
    if (n_skips)
        qp_builder_node_more(b, n_skips, 0, 0, 0);
    th->n_exits = qp_sum(th->n_exits, qp_sum(n_calls, n_skips)); /* every call has ended */
}

static qp_thread_record *begin_thread(qp_builder *b, const char *name)
{
    return qp_builder_thread(b, &(qp_thread_record){.name = qp_builder_text(b, name),
                                                    .state = QP_THREAD_ENDED,
                                                    .n_lives = 1});
}

static void write_counters(qp_builder *b, const qp_cover_set *s)
{
    uint64_t n_uncounted = 0;
    qp_thread_record *th = begin_thread(b, "all threads");
    for (size_t i = 0; th && i < s->n_methods; i++) {
        const qp_cover_method *m = &s->methods[i];
        uint32_t n_values = m->values ? m->n_values : 0;
        uint64_t *values =
            n_values ? qp_builder_counter_block(b, QP_COUNTER_BLOCK_COUNTS, (uint32_t)i + 1,
                                                m->n_blocks, n_values)
                     : NULL;
        if (values)
            memcpy(values, m->values, n_values * sizeof *values);
        n_uncounted |= uncounted_calls(m);
        if (!counts_entries(m))
            write_call(b, i, m->calls - uncounted_calls(m),
                       m->entries > m->calls ? m->entries - m->calls : m->skips, th);
    }
    th = n_uncounted ? begin_thread(b, "threads without counters") : NULL;
    for (size_t i = 0; th && i < s->n_methods; i++)
        write_call(b, i, uncounted_calls(&s->methods[i]), 0, th);
}

/* What is in no share has no context: head.context stays 0. */
static void write_shares(qp_builder *b, const qp_cover_set *s)
{
    for (size_t i = 0; i < s->n_contexts; i++)
        qp_builder_context(b, s->contexts[i], 0);
    for (size_t i = 0; i < s->n_methods; i++) {
        const qp_cover_method *m = &s->methods[i];
        for (size_t k = 0; k < m->n_shares; k++) {
            const qp_cover_share *share = &m->shares[k];
            uint32_t n_values = share->values ? m->n_values : 0;
            int64_t *values = qp_builder_share(b, share->context + 1, (uint32_t)i + 1,
                                               share->calls, m->n_blocks, n_values);
            if (values && n_values)
                memcpy(values, share->values, n_values * sizeof *values);
        }
    }
}

bool qp_cover_set_write(const qp_cover_set *s, const char *path, qp_error *error)
{
    qp_builder *b = qp_builder_new(0);
    if (!b) {
        return qp_error_fail(error, "%.300s: there is not enough memory to write it", path);
    }
    write_head(b, s);
    write_methods(b, s);
    write_counters(b, s);
    write_shares(b, s);
    for (size_t i = 0; i < s->n_texts; i++)
        qp_builder_source(b, s->texts[i].path, s->texts[i].digest, s->texts[i].n_bytes);
    bool is_good = qp_builder_finish(b, path, error);
    qp_builder_free(b);
    return is_good;
}
