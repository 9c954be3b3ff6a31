/* host.c: mistakes of an integration: those that the recorder found, those that its diagnostics count,
 * and those that figures show. Read qp_model_host first. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"
#include "model/read/read.h"

typedef struct {
    const char *name;
    unsigned step;
    const char *what, *advice;
} mistake;

/* In the order of QP_HOST_MISTAKES. */
static const mistake recorded[QP_HOST_COUNT] = {
#define QP_X(name, step) {#name, step, NULL, NULL},
    QP_HOST_MISTAKES(QP_X)
#undef QP_X
};

/* Functions are those of qprof/embed.h; in brackets, of hosts with stack ids or handles. */
static const struct {
    const char *what, *advice;
} texts[QP_HOST_COUNT] = {
    [QP_HOST_exit_names_leaver] = {"an exit names the frame that leaves",
                                   "give qprof_record_fn_exit() the stack id of the frame that "
                                   "resumes: its caller's"},
    [QP_HOST_missed_unwind] = {"frames are gone without an exit: an error unwound them",
                               "where the error is caught, call qprof_unwind() with the frame "
                               "that catches it (or qprof_token_unwind(), "
                               "qprof_record_fn_exit())"},
    [QP_HOST_missed_tail_call] =
        {"a frame never left: a tail call replaced it, or an error unwound it",
         "report every return, also of natives; and a tail call, by qprof_tail() or a leave "
         "before the enter (or qprof_token_tail(), an exit to the caller)"},
    [QP_HOST_missed_switch] =
        {"a frame of another stack left or called here: a switch of coroutines is missing",
         "call qprof_switch() to a coroutine before it runs, and back when it yields, ends or "
         "fails (or qprof_thread_mount())"},
    [QP_HOST_unmounted_thread] = {"events of a stack that does not run",
                                  "call qprof_switch() to a coroutine before it continues; a "
                                  "call from outside gives qprof_enter() the caller 0 (or "
                                  "qprof_thread_mount() before the first event)"},
    [QP_HOST_other_os_thread] =
        {"events of a stack from an OS thread that does not run it",
         "a VM is on one OS thread at a time; switch to a stack where it continues (or get a "
         "handle for each OS thread)"},
    [QP_HOST_stack_id_twice] =
        {"a stack id names two open frames",
         "use an id that no other open frame has: the depth, the frame's address, a counter"},
    [QP_HOST_method_id_twice] = {"a method id was registered again for another method",
                                 "give each method an id of its own, and no freed address"},
    [QP_HOST_frame_not_open] =
        {"a frame that is not open left or called: its entry is missing, or it left twice",
         "report each frame's entry and its end once, also where a native returns; "
         "qprof_leave() names the frame that leaves, not its caller"},
    [QP_HOST_wrong_depth] = {"qprof_assert_depth() found another depth than the host's",
                             "look for the entry or the end that is missing just before"},
    [QP_HOST_forked_child] =
        {"a forked child runs methods, which nothing records",
         "run with -follow-child-processes=yes, or begin a run in the child"},
    [QP_HOST_earlier_counters] =
        {"counters of an earlier run are still in use: none was asked for in this run",
         "forget qprof_counter_bank()'s pointers at shutdown, and ask again in the next run"},
};

/* Of ordinary runs: diagnostics. */
static const struct {
    qp_diagnostic of;
    mistake m;
} counted[] = {
    {QP_D_wrong_mode,
     {"wrong_mode", 2, "functions of the other thread mode were called",
      "with usingVirtualThreads use the functions that end in _vt, or handles"}},
    {QP_D_inline_version,
     {"inline_version", 2, "the host was compiled with headers of another version",
      "compile the host with the headers of this library"}},
    {QP_D_no_events,
     {"no_events", 4, "nothing was recorded",
      "enter functions in the interpreter's own call path, while the VM is open"}},
    {QP_D_unknown_method,
     {"unregistered_method", 3, "methods were entered and never registered, or unloaded before",
      "define a function before its first call, and again after qprof_unload() (or in the "
      "callback)"}},
    {QP_D_bad_method_id,
     {"bad_method_id", 3, "method id 0 or a reserved id was used",
      "define functions while the VM is open: else qprof_define() returns 0; count ids of your "
      "own from 1"}},
    {QP_D_exit_unknown_id,
     {"exit_unknown_id", 4, "exits named no open frame",
      "leave each frame once, by the token of its entry (or the stack id of the frame that "
      "resumes)"}},
    {QP_D_exit_empty_stack,
     {"exit_empty_stack", 4, "exits came on an empty stack",
      "report each entry; a frame on another stack needs a switch"}},
    {QP_D_entry_zero_stack_id,
     {"zero_stack_id", 4, "frames were entered with stack id 0", "count stack ids from 1"}},
    {QP_D_vt_conflict,
     {"mounted_elsewhere", 7, "a virtual thread was used while another OS thread ran it",
      "switch to it where it continues, after the other OS thread has left it"}},
    {QP_D_unmounted,
     {"unmounted", 7, "calls were recorded on a stack that does not run",
      "call qprof_switch() to a coroutine before it continues (or qprof_thread_mount() before "
      "a thread's first event)"}},
    {QP_D_unknown_thread,
     {"unknown_thread", 7, "calls named no known thread", "mount or create the thread first"}},
    {QP_D_bb_out_of_range,
     {"block_out_of_range", 8, "block numbers are outside of the method's line table",
      "a block is an index of the line table, from 0"}},
    {QP_D_bb_no_frame,
     {"block_without_frame", 8, "blocks were counted on an empty stack",
      "enter the method before its first block"}},
};

/* Of ordinary runs: figures. */
static const mistake
    lines_without_calls = {"lines_without_calls", 5,
                           "lines of a method were executed, and no call of it was recorded",
                           "report every way into a method: tail calls, resumes, natives"},
    first_block = {"first_block", 8, "called methods never execute their first block",
                   "block numbers begin at 0: the first entry of the line table"},
    lines_shifted = {"lines_shifted", 8,
                     "lines are off by one: code is where the source has none",
                     "line numbers begin at 1"},
    missed_suspend =
        {"missed_suspend", 7,
         "a call that was resumed is gone without an exit: it yielded, or an error "
         "unwound it",
         "where it yields, call qprof_suspend(); where an error is caught, "
         "qprof_unwind()"},
    stale_counters = {"stale_counters", 8, "counters were incremented after they became stale",
                      "when qprof_changes() has changed, call qprof_counter_bank() again"};

static const char *const chapters[] = {"",
                                       "stub",
                                       "open and close",
                                       "names",
                                       "enter and leave",
                                       "errors and tail calls",
                                       "natives and collector",
                                       "coroutines and several VMs",
                                       "lines and coverage"};

typedef struct {
    const qp_model *m;
    const qp_source_folders *folders;
    qp_host_finding *out;
    size_t n;
    bool has_no_memory;
} search;

enum { N_MAX = QP_HOST_COUNT + sizeof counted / sizeof *counted + 4 };

static qp_host_finding *add(search *s, const mistake *k, uint64_t count)
{
    qp_host_finding *f = &s->out[s->n++];
    *f = (qp_host_finding){.name = k->name,
                           .step = k->step,
                           .chapter = chapters[k->step],
                           .what = k->what,
                           .advice = k->advice,
                           .count = count,
                           .method = "",
                           .file = ""};
    return f;
}

static void set_method(const search *s, qp_host_finding *f, uint32_t method)
{
    const qp_model_method *k = &s->m->methods[method];
    if (!method)
        return;
    f->method = k->name;
    f->file = k->file;
    f->line = k->first_line;
}

/* ---- what the recorder found --------------------------------------------------------------- */

static bool has_uncounted(const search *s);

static void find_recorded(search *s)
{
    const qp_model_private *own = s->m->own;
    const qp_head *h = qp_image_head(&own->image);
    /* an error that unwinds one frame looks like a tail call, and the reverse */
    qp_host_mistake rarer =
        h->findings[QP_HOST_missed_tail_call].count > h->findings[QP_HOST_missed_unwind].count
            ? QP_HOST_missed_unwind
            : QP_HOST_missed_tail_call;
    bool are_both =
        h->findings[QP_HOST_missed_tail_call].count && h->findings[QP_HOST_missed_unwind].count;
    for (unsigned i = 0; i < QP_HOST_COUNT; i++) {
        const qp_finding *r = &h->findings[i];
        uint64_t count = r->count;
        /* leaf calls that name themselves: one may have caught an error of its own */
        if (i == QP_HOST_exit_names_leaver && r->found >= 4 && r->found > r->n_looked / 2)
            count = r->found;
        if (!count || (are_both && i == rarer) ||
            (i == QP_HOST_earlier_counters && !has_uncounted(s)))
            continue;
        uint32_t method = qp_index_at(own, r->method, QP_TAG_METHOD);
        bool is_gone = i == QP_HOST_missed_unwind || i == QP_HOST_missed_tail_call;
        const mistake k = {recorded[i].name, recorded[i].step, texts[i].what, texts[i].advice};
        const bool was_resumed = is_gone && s->m->methods[method].all.resumes;
        qp_host_finding *f = add(s, was_resumed ? &missed_suspend : &k, count);
        set_method(s, f, method);
        f->depth = r->depth;
        f->thread = r->thread;
        f->wanted = i == QP_HOST_wrong_depth ? r->wanted : 0;
    }
}

static void find_counted(search *s)
{
    const qp_head *h = qp_image_head(&s->m->own->image);
    bool is_named =
        h->findings[QP_HOST_frame_not_open].count || h->findings[QP_HOST_missed_switch].count;
    bool is_driven = h->findings[QP_HOST_unmounted_thread].count ||
                     h->findings[QP_HOST_other_os_thread].count;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        qp_diagnostic of = counted[i].of;
        uint64_t count = qp_load_diagnostic(s->m->own, of);
        if (!count ||
            (is_named && (of == QP_D_exit_unknown_id || of == QP_D_exit_empty_stack)) ||
            (is_driven && of == QP_D_unmounted))
            continue;
        qp_host_finding *f = add(s, &counted[i].m, count);
        uint32_t missed = QP_METHOD_MISSED;
        for (uint32_t k = 1; of == QP_D_unknown_method && k < s->m->n_methods; k++)
            if ((s->m->methods[k].flags & missed) &&
                !(s->m->methods[k].flags & QP_METHOD_REGISTERED) && !f->method[0])
                set_method(s, f, k);
    }
}

/* ---- what figures show --------------------------------------------------------------------- */

/* Are calls and blocks of the whole run there? */
static bool is_whole(const qp_model *m)
{
    const qp_head *h = qp_image_head(&m->own->image);
    bool had_pause = h->stopped_total || h->stopped_since || h->clear_count || h->cut ||
                     (h->flags & (QP_FLAG_TURNED | QP_FLAG_CLOSED));
    return m->run.is_profile && m->run.has_calls && !m->run.is_merged && !m->run.is_imported &&
           !m->run.is_stack_only && m->run.is_recording && !had_pause;
}

static bool is_counted(const search *s, uint32_t method)
{
    const qp_model_private *own = s->m->own;
    for (size_t i = 0; i < own->n_counter_blocks; i++)
        if (own->counter_blocks[i].method == method)
            return true;
    return false;
}

/* Is a method with lines called whose lines are not counted, and none of any other? */
static bool has_uncounted(const search *s)
{
    for (uint32_t i = 1; i < s->m->n_methods; i++)
        if (s->m->methods[i].all.calls && s->m->methods[i].n_blocks)
            return !s->m->own->n_counter_blocks && s->m->run.grain != QP_GRAIN_FUNCTION;
    return false;
}

/* Methods whose blocks are counted: called at all, and from their first block on? */
static void find_blocks(search *s)
{
    const qp_model *m = s->m;
    uint64_t n_uncalled = 0, n_looked = 0, n_without_first = 0;
    uint32_t uncalled = 0, without_first = 0;
    for (uint32_t i = 1; i < m->n_methods && !s->has_no_memory; i++) {
        const qp_model_method *k = &m->methods[i];
        qp_block_figures *blocks;
        size_t n;
        uint64_t sum = 0;
        if (!k->n_blocks || (k->flags & QP_METHOD_EXCLUDED) || !is_counted(s, i))
            continue;
        if (!qp_model_blocks(m, i, QP_ALL_THREADS, &blocks, &n)) {
            s->has_no_memory = true;
            return;
        }
        for (size_t b = 0; b < n; b++)
            sum = qp_sum(sum, blocks[b].count);
        bool has_first = n && (blocks[0].count || blocks[0].code_offset < 0);
        qp_free(blocks);
        if (!sum)
            continue;
        n_uncalled += !k->all.calls;
        uncalled = uncalled || k->all.calls ? uncalled : i;
        n_looked += k->all.calls != 0;
        n_without_first += k->all.calls && !has_first;
        without_first = without_first || !k->all.calls || has_first ? without_first : i;
    }
    if (n_uncalled)
        set_method(s, add(s, &lines_without_calls, n_uncalled), uncalled);
    if (n_without_first > n_looked / 2)
        set_method(s, add(s, &first_block, n_without_first), without_first);
}

/* Counters that were cleared, not asked for since, and incremented in calls that began since. */
static void find_stale(search *s)
{
    const qp_model_private *own = s->m->own;
    uint64_t clear_count = qp_image_head(&own->image)->clear_count, n_stale = 0;
    uint32_t first = 0;
    for (size_t i = 0; i < own->n_counter_blocks; i++) {
        const qp_model_counter_block *b = &own->counter_blocks[i];
        bool is_alone = (!i || b[-1].method != b->method) &&
                        (i + 1 == own->n_counter_blocks || b[1].method != b->method);
        if (b->counters->kind != QP_COUNTER_BLOCK_COUNTS || !b->counters->clear_count ||
            b->counters->clear_count > clear_count || !is_alone ||
            s->m->methods[b->method].all.calls < 2)
            continue;
        uint64_t sum = 0;
        for (uint32_t k = 0; k < b->counters->n_values; k++)
            sum = qp_sum(sum, b->counters->values[k] - (b->base ? b->base[k] : 0));
        if (!sum)
            continue;
        n_stale++;
        first = first ? first : b->method;
    }
    if (n_stale && !s->m->run.is_merged)
        set_method(s, add(s, &stale_counters, n_stale), first);
}

/* ---- lines and their sources --------------------------------------------------------------- */

/* Is there text on this line? */
static bool has_text(const qp_source *source, int64_t line)
{
    if (line < 1 || line > source->n_lines)
        return false;
    const char *text = source->lines[line - 1];
    for (uint32_t i = 0; i < source->line_bytes[line - 1]; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return true;
    return false;
}

/* Entries of the tables of a file for whose line, moved by `shift`, the source has no text.
 * @param first  receives the first method with one; 0: none */
static uint64_t count_bare(const qp_model *m, const char *file, const qp_source *source,
                           int shift, uint32_t *first)
{
    uint64_t n = 0;
    *first = 0;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        if (strcmp(k->file, file) != 0)
            continue;
        for (uint32_t b = 0; b < k->n_blocks; b++) {
            bool is_bare = k->lines[b].code_offset >= 0 &&
                           !has_text(source, (int64_t)k->lines[b].line + shift);
            n += is_bare;
            *first = is_bare && !*first ? i : *first;
        }
    }
    return n;
}

/* The tables of a file are wrong if they fit the source when moved by one line, and not as they
 * are. */
static void find_shift(search *s, const char *file, qp_host_finding **found)
{
    qp_source source;
    qp_error error = {0};
    uint32_t first, other;
    uint64_t digest = qp_model_digest(s->m, file);
    if (!qp_source_read(file, digest, s->folders, &source, &error))
        return;
    uint64_t n = count_bare(s->m, file, &source, 0, &first);
    bool fits = digest == 0 || digest == source.digest;
    if (fits && n > 1 &&
        (!count_bare(s->m, file, &source, 1, &other) ||
         !count_bare(s->m, file, &source, -1, &other))) {
        if (!*found) {
            *found = add(s, &lines_shifted, 0);
            set_method(s, *found, first);
        }
        (*found)->count += n;
    }
    qp_source_fini(&source);
}

static void find_shifts(search *s)
{
    enum { FILES_MAX = 200 }; /* each is a pass over all methods */
    const qp_model *m = s->m;
    qp_host_finding *found = NULL;
    const char *seen[FILES_MAX];
    size_t n_seen = 0;
    for (uint32_t i = 1; i < m->n_methods && n_seen < FILES_MAX; i++) {
        const char *file = m->methods[i].file;
        size_t k = 0;
        while (k < n_seen && seen[k] != file)
            k++;
        if (k < n_seen || !*file || !m->methods[i].n_blocks)
            continue;
        seen[n_seen++] = file;
        find_shift(s, file, &found);
    }
}

/* ---- all ----------------------------------------------------------------------------------- */

/* A mistake of one step leads to findings of later ones: it comes first. */
static void sort_by_step(qp_host_finding *all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const qp_host_finding f = all[i];
        size_t at = i;
        for (; at > 0 && all[at - 1].step > f.step; at--)
            all[at] = all[at - 1];
        all[at] = f;
    }
}

bool qp_model_host(const qp_model *m, const qp_source_folders *folders, qp_host_finding **out,
                   size_t *n)
{
    search s = {.m = m, .folders = folders};
    s.out = qp_alloc_zeroed(N_MAX, sizeof *s.out);
    *out = NULL;
    *n = 0;
    if (!s.out)
        return false;
    find_recorded(&s);
    find_counted(&s);
    if (is_whole(m))
        find_blocks(&s);
    find_stale(&s);
    find_shifts(&s);
    if (s.has_no_memory) {
        qp_free(s.out);
        return false;
    }
    sort_by_step(s.out, s.n);
    *out = s.out;
    *n = s.n;
    return true;
}

size_t qp_model_host_recorded(const qp_model *m)
{
    search s = {.m = m, .out = qp_alloc_zeroed(N_MAX, sizeof *s.out)};
    if (s.out && m->own->image.bytes)
        find_recorded(&s);
    qp_free(s.out);
    return s.n;
}

bool qp_model_host_was_checked(const qp_model *m)
{
    return strstr(m->run.options, "-check-host") != NULL;
}
