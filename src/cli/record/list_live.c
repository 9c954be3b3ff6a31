/* list_live.c: `qprof list-live`: the live files of processes that record, and those that killed ones left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/text/unit.h"
#include "cli/record/record.h"
#include "cli/show/show.h"
#include "model/read/read.h"

typedef struct {
    qp_live_file file;
    qp_head head;
    uint64_t bytes;
    bool is_damaged; /* its head cannot be read: the rest is unknown */
    char program[256], script[512];
} live_profile;

typedef struct {
    live_profile *all; /* [n] */
    size_t n, n_left;
} document;

typedef struct {
    uint64_t pid, started_at, bytes;
    const char *state, *program, *script, *path, *process, *started, *size;
    char id[24], moment[QP_MOMENT_BYTES], number[QP_NUMBER_BYTES];
} live_row;

#define AT(member) QP_FIELD_AT(live_row, member)
static const qp_field fields[] = {
    {"pid", NULL, "process id", QP_FIELD_COUNT, AT(pid)},
    {"process", "Process", NULL, QP_FIELD_WORD, AT(process),
     .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"state", "State",
     "running; left: the process ended without sealing its profile; or damaged: it ended, and "
     "the file cannot be read",
     QP_FIELD_WORD, AT(state), .flags = QP_FIELD_HOT},
    {"program", "Program", "name of the program", QP_FIELD_NAME, AT(program)},
    {"script", "Script", "what the program executed, as it was given; \"\": unknown",
     QP_FIELD_NAME, AT(script), .rank = 1},
    {"started_at", NULL, "UTC, with nanoseconds", QP_FIELD_MOMENT, AT(started_at)},
    {"started", "Started", NULL, QP_FIELD_WORD, AT(started), .flags = QP_FIELD_NO_JSON,
     .rank = 1},
    {"bytes", NULL, "size of the live file", QP_FIELD_COUNT, AT(bytes)},
    {"size", "Size", NULL, QP_FIELD_WORD, AT(size), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"file", "File", "the live file", QP_FIELD_TEXT, AT(path)},
    {.key = NULL}};
#undef AT

static bool next_profile(const void *data, size_t *at, void *to)
{
    const document *d = data;
    live_row *row = to;
    if (*at == d->n)
        return false;
    const live_profile *p = &d->all[(*at)++];
    *row = (live_row){.pid = p->file.pid,
                      .started_at = p->head.started_at,
                      .bytes = p->bytes,
                      .state = p->is_damaged        ? "damaged"
                               : p->file.is_running ? "running"
                                                    : "left",
                      .program = p->program,
                      .script = p->script,
                      .path = p->file.path};
    snprintf(row->id, sizeof row->id, "%" PRIu64, p->file.pid);
    row->process = row->id;
    row->started = p->head.started_at ? qp_header_moment(row->moment, p->head.started_at) : "-";
    row->size = qp_unit_size(row->number, p->bytes);
    return true;
}

static qp_style style_of(const void *row)
{
    return strcmp(((const live_row *)row)->state, "running") == 0 ? QP_STYLE_GOOD
                                                                  : QP_STYLE_BAD;
}

static const qp_rows rows = QP_ROWS(fields, live_row, next_profile, .style = style_of);

static const qp_field document_fields[] = {
    {"profiles", NULL, "every live profile of this user", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

static bool print_text(const qp_cli *cli, const void *data)
{
    const document *d = data;
    const qp_screen *s = &cli->screen;
    if (!d->n) {
        qp_out_text(s->out, "No process is recording, and none has left a profile\n");
        return true;
    }
    bool is_good = qp_rows_text(s, &rows, d, "process state program script started size file",
                                QP_FIELDS_ALL, QP_UNIT_NONE);
    if (d->n_left)
        qp_out_text(s->out, "\nNext: qprof list-live --save    # those that were left, as "
                            "profiles in this folder\n"
                            "      qprof list-live --remove  # or to delete them\n");
    return is_good;
}

static void write_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &rows, data, "pid state program script started_at bytes file",
                QP_FIELDS_ALL, "");
}

/* ---- what was left --------------------------------------------------------------------------- */

static int save(const qp_cli *cli, const live_profile *p)
{
    char path[4096];
    const char *slash = strrchr(p->program, '/'), *name = slash ? slash + 1 : p->program;
    if (p->is_damaged)
        return qp_cli_fail(
            cli, "%s: is damaged, cannot be saved (qprof list-live --remove deletes it)",
            p->file.path);
    snprintf(path, sizeof path, "%s.%" PRIu64 ".qprof", *name ? name : "program", p->file.pid);
    if (!qp_live_save(cli, p->file.path, path, sizeof path))
        return QP_EXIT_UNUSABLE;
    qp_screen_name(&cli->screen, path, 0);
    qp_out_format(cli->screen.out, ": saved\n");
    return QP_EXIT_CLEAN;
}

static int remove_left(const qp_cli *cli, const live_profile *p)
{
    if (unlink(p->file.path) != 0)
        return qp_cli_fail(cli, "%s: cannot be removed", p->file.path);
    qp_screen_name(&cli->screen, p->file.path, 0);
    qp_out_format(cli->screen.out, ": removed\n");
    return QP_EXIT_CLEAN;
}

static int act(const qp_cli *cli, const document *d)
{
    int status = QP_EXIT_CLEAN;
    for (size_t i = 0; i < d->n; i++) {
        int one = cli->args.has_save ? save(cli, &d->all[i]) : remove_left(cli, &d->all[i]);
        status = one > status ? one : status;
    }
    if (!d->n)
        qp_out_text(cli->screen.out, "No such process has left a profile\n");
    return status;
}

static bool is_wanted(const qp_args *a, uint64_t pid)
{
    bool is_it = !a->n_operands;
    for (int i = 0; i < a->n_operands; i++)
        is_it |= strtoull(a->operands[i], NULL, 10) == pid;
    return is_it;
}

/* Those that run, and the newest, come first. */
static int compare(const void *a, const void *b)
{
    const live_profile *x = a, *y = b;
    if (x->file.is_running != y->file.is_running)
        return x->file.is_running ? -1 : 1;
    return x->head.started_at > y->head.started_at ? -1 : 1;
}

static bool read_all(const qp_args *args, document *d)
{
    qp_live_file *files;
    size_t n;
    *d = (document){0};
    if (!qp_live_list(true, &files, &n))
        return false;
    d->all = qp_alloc(n + 1, sizeof *d->all);
    for (size_t i = 0; d->all && i < n; i++) {
        live_profile *p = &d->all[d->n];
        struct stat st;
        p->file = files[i];
        bool is_kept = files[i].is_running && (args->has_save || args->has_remove);
        if (is_kept || !is_wanted(args, files[i].pid) || stat(files[i].path, &st) != 0)
            continue;
        p->is_damaged = !qp_live_head(files[i].path, &p->head);
        if (p->is_damaged && (files[i].is_running || access(files[i].path, F_OK) != 0))
            continue; /* it has just begun, or just gone */
        p->bytes = (uint64_t)st.st_size;
        if (!p->is_damaged) {
            qp_live_text(files[i].path, p->head.program, p->program, sizeof p->program);
            qp_live_text(files[i].path, p->head.script, p->script, sizeof p->script);
        }
        d->n++;
        d->n_left += !files[i].is_running;
    }
    qp_free(files);
    if (d->all)
        qsort(d->all, d->n, sizeof *d->all, compare);
    return d->all != NULL;
}

static int run_list_live(qp_cli *cli)
{
    static const qp_forms forms = {print_text, document_fields, write_csv};
    document d;
    for (int i = 0; i < cli->args.n_operands; i++) {
        const char *pid = cli->args.operands[i];
        if (!*pid || pid[strspn(pid, "0123456789")])
            return qp_cli_fail(cli, "%s: expected the id of a process", pid);
    }
    if (cli->args.has_save && cli->args.has_remove)
        return qp_cli_fail(cli, "--remove: cannot be combined with --save, which removes the "
                                "live file after its copy is complete");
    int status = !read_all(&cli->args, &d) ? qp_cli_fail_memory(cli)
                 : cli->args.has_save || cli->args.has_remove
                     ? act(cli, &d)
                     : qp_output_print(cli, &forms, &d);
    qp_free(d.all);
    return status;
}

const qp_command qp_command_list_live = {
    .name = "list-live",
    .operands = "[PID...]",
    .summary = "processes that record, and profiles that killed ones left",
    .about = "Lists the live files of this user: the profiles of processes that are recording, "
             "which report, top and others read by their process id, and those that killed "
             "processes left, which occupy memory until they are saved or removed. `qprof run` "
             "saves those of its own processes. Without PID all are meant.",
    .flags = (const qp_flag[]){QP_YES("save", 0, has_save,
                                      "move what was left to PROGRAM.PID.qprof in this folder"),
                               QP_YES("remove", 0, has_remove, "delete what was left"),
                               QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof list-live\n"
                "qprof list-live --save\n"
                "qprof list-live --remove 4242\n"
                "qprof list-live --format=json",
    .schemas = (const qp_schema[]){{"list-live", document_fields}, {.name = NULL}},
    .run = run_list_live};
