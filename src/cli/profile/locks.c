/* locks.c: `qprof locks`: which functions waited for locks, and which ones held them. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/text.h"
#include "cli/show/show.h"

enum { PATH_BYTES = 1024, PATH_FRAMES = 64 };

typedef struct {
    qp_lock_waits w;
    const char *lock, *waiter, *holder, *total_text, *mean_text, *longest_text;
    char waiter_bytes[PATH_BYTES], holder_bytes[PATH_BYTES], total[QP_NUMBER_BYTES],
        mean[QP_NUMBER_BYTES], longest[QP_NUMBER_BYTES];
    double percent; /* of all waits */
} row;

typedef struct {
    qp_document about;
    bool has_paths;
    qp_lock_waits *all; /* [n] */
    size_t n;
    uint64_t sum_ns;
} document;

#define AT(member) QP_FIELD_AT(row, member)
static const qp_field fields[] = {
    {"lock", "Lock", "name of the lock; null: others, of paths with very many", QP_FIELD_NAME,
     AT(lock), .flags = QP_FIELD_HOT | QP_FIELD_NULLABLE},
    {"waits", "Waits", "waits that are over", QP_FIELD_COUNT, AT(w.n)},
    {"total_ns", NULL, "elapsed time of all of them, in ns", QP_FIELD_COUNT, AT(w.ns)},
    {"total", "Total", NULL, QP_FIELD_WORD, AT(total_text),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"percent", "Total %", "in percent of all waits for locks", QP_FIELD_PERCENT, AT(percent),
     .flags = QP_FIELD_HOT},
    {"mean", "Mean", NULL, QP_FIELD_WORD, AT(mean_text),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"longest_ns", NULL, "the longest of them", QP_FIELD_COUNT, AT(w.longest_ns)},
    {"longest", "Longest", NULL, QP_FIELD_WORD, AT(longest_text),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"waiter", "Waited", "function that waited; with --paths its call path", QP_FIELD_NAME,
     AT(waiter)},
    {"holder", "Held by", "the same of the one that held the lock; null: not known",
     QP_FIELD_NAME, AT(holder), .flags = QP_FIELD_NULLABLE},
    {.key = NULL}};
#undef AT

/* "main > handle > list", at most so many of the innermost. @return to */
static const char *put_path(char to[PATH_BYTES], const qp_model *m, uint32_t node,
                            bool is_whole)
{
    uint32_t frames[PATH_FRAMES], n = 0;
    size_t used = 0;
    if (!is_whole)
        return m->methods[m->nodes[node].method].name;
    for (; m->nodes[node].method != QP_ROOT_METHOD && n < PATH_FRAMES;
         node = m->nodes[node].parent)
        frames[n++] = m->nodes[node].method;
    if (n == PATH_FRAMES)
        used += strlen(qp_text_format(to, PATH_BYTES, "... > "));
    while (n > 0 && used < PATH_BYTES - 1) {
        n--;
        used += strlen(qp_text_format(to + used, PATH_BYTES - used, "%s%s",
                                      m->methods[frames[n]].name, n ? " > " : ""));
    }
    return to;
}

static bool next_row(const void *data, size_t *at, void *to)
{
    const document *d = data;
    if (*at == d->n)
        return false;
    row *r = to;
    r->w = d->all[(*at)++];
    r->lock = r->w.lock;
    r->waiter = put_path(r->waiter_bytes, d->about.m, r->w.waiter, d->has_paths);
    r->holder =
        r->w.holder ? put_path(r->holder_bytes, d->about.m, r->w.holder, d->has_paths) : "";
    r->percent = qp_view_percent(r->w.ns, d->sum_ns);
    r->total_text = qp_unit_time(r->total, r->w.ns);
    r->mean_text = qp_unit_time(r->mean, r->w.ns / r->w.n);
    r->longest_text = qp_unit_time(r->longest, r->w.longest_ns);
    return true;
}

static qp_style style_of(const void *r)
{
    return qp_style_of_percent(((const row *)r)->percent);
}

static const qp_rows rows = QP_ROWS(fields, row, next_row, .style = style_of);

static const qp_field document_fields[] = {
    {"", NULL, NULL, QP_FIELD_PART, .sub = qp_run_part},
    {"locks", NULL, "waits for locks, the most time first", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

/* ---- the command ------------------------------------------------------------------------- */

static bool print_text(const qp_cli *cli, const void *data)
{
    const document *d = data;
    qp_header_text(&cli->screen, d->about.m, cli->path, false);
    if (!d->n) {
        qp_out_text(cli->screen.out,
                    "No wait for a lock was recorded: the host did not tell of any.\n");
        return true;
    }
    return qp_rows_text(&cli->screen, &rows, d,
                        "lock waits total percent mean longest waiter holder", QP_FIELDS_ALL,
                        QP_UNIT_NONE);
}

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &rows, data, "lock waits total_ns percent longest_ns waiter holder",
                QP_FIELDS_ALL, "");
}

static int show(qp_cli *cli, const qp_subject *s)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    document d = {.about = {s->m, s->thread}, .has_paths = cli->args.diff.has_paths};
    bool is_good = qp_model_lock_waits(s->m, d.has_paths, &d.all, &d.n);
    for (size_t i = 0; is_good && i < d.n; i++)
        d.sum_ns += d.all[i].ns;
    int status = is_good ? qp_output_print(cli, &forms, &d) : qp_cli_fail_memory(cli);
    qp_free(d.all);
    return status;
}

const qp_command qp_command_locks = {
    .name = "locks",
    .operands = "[FILE]",
    .summary = "waits for locks: which functions waited, and which ones held them",
    .about =
        "Lists how often and how long functions waited for locks, by the lock and the function "
        "that held it, as the host tells: qprof_wait_end(). Times are elapsed times. Functions "
        "of the "
        "host without a source, which take the lock, are left out.",
    .flags = (const qp_flag[]){QP_YES("paths", 0, diff.has_paths, "call paths, not functions"),
                               QP_FLAG_FORMAT, QP_FLAG_MAX_MEMORY, QP_FLAGS_COMMON},
    .examples =
        "qprof locks run.qprof\n"
        "qprof locks --paths run.qprof\n"
        "qprof locks --format=json run.qprof | jq '.locks[] | select(.lock == \"orders\")'",
    .schemas = (const qp_schema[]){{"locks", document_fields}, {.name = NULL}},
    .run = qp_cli_show,
    .show = show};
