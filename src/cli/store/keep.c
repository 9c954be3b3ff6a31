/* keep.c: `qprof store list`, `check` and `remove`: the profiles of a store. */
#include <time.h>

#include "base/text/unit.h"
#include "cli/show/show.h"
#include "cli/store/store.h"

/* ---- list ----------------------------------------------------------------------------------- */

typedef struct {
    qp_store_profile p;
    const char *ended, *size;
    uint64_t calls; /* UINT64_MAX: unknown */
    char moment[QP_MOMENT_BYTES], bytes[QP_NUMBER_BYTES];
} profile_row;

#define AT(member) QP_FIELD_AT(profile_row, member)
static const qp_field fields[] = {
    {"number", "No", "number in the store", QP_FIELD_COUNT, AT(p.number), .least = 1},
    {"ended", "Ended (UTC)", NULL, QP_FIELD_WORD, AT(ended), .flags = QP_FIELD_NO_JSON},
    {"ended_at", NULL, "UTC, with nanoseconds; of a killed program its last event",
     QP_FIELD_MOMENT, AT(p.ended_at)},
    {"service", "Service", "the label `service`, or the program", QP_FIELD_NAME, AT(p.service)},
    {"version", "Version", "the label `version`; \"\": none", QP_FIELD_NAME, AT(p.version)},
    {"host", "Host", "the label `host`, or the machine", QP_FIELD_NAME, AT(p.host), .rank = 1},
    {"labels", NULL, "NAME=VALUE, separated by commas", QP_FIELD_TEXT, AT(p.labels)},
    {"calls", "Calls", "calls of all functions; null: they were not counted", QP_FIELD_COUNT,
     AT(calls), .flags = QP_FIELD_NULLABLE},
    {"self", NULL, "what its functions took, in `unit`", QP_FIELD_COUNT, AT(p.self)},
    {"unit", NULL, "ns, or of another clock: counts, ...", QP_FIELD_WORD, AT(p.unit)},
    {"clock", NULL, "elapsed, user+kernel, ...; \"\": unknown", QP_FIELD_WORD, AT(p.clock)},
    {"paths", NULL, "call paths, and roots of threads", QP_FIELD_COUNT, AT(p.n_paths)},
    {"bytes", NULL, "what it takes in the store, without names", QP_FIELD_COUNT, AT(p.n_bytes)},
    {"size", "Size", NULL, QP_FIELD_WORD, AT(size), .flags = QP_FIELD_NO_JSON | QP_FIELD_RIGHT},
    {"file", "File", "from which it was imported", QP_FIELD_PLACE, AT(p.file), .rank = 1},
    {.key = NULL}};
#undef AT

static const char *write_moment(char to[QP_MOMENT_BYTES], uint64_t ns)
{
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (!ns || !gmtime_r(&seconds, &parts))
        return "unknown";
    strftime(to, QP_MOMENT_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    return to;
}

static bool next_profile(const void *data, size_t *at, void *to)
{
    const qp_choice *c = data;
    profile_row *row = to;
    if (*at == c->n)
        return false;
    row->p = c->profiles[(*at)++];
    row->calls = row->p.has_calls ? row->p.calls : UINT64_MAX;
    row->ended = write_moment(row->moment, row->p.ended_at);
    row->size = qp_unit_size(row->bytes, row->p.n_bytes);
    return true;
}

static const qp_rows rows = QP_ROWS(fields, profile_row, next_profile);

static const qp_field document_fields[] = {
    {"profiles", NULL, "in the order in which they came", QP_FIELD_ROWS, .rows = &rows},
    {.key = NULL}};

static bool print_list(const qp_cli *cli, const void *data)
{
    const qp_choice *c = data;
    if (c->n)
        return qp_rows_text(&cli->screen, &rows, c,
                            "number ended service version host calls size file", QP_FIELDS_ALL,
                            QP_UNIT_NONE);
    qp_out_text(cli->screen.out, "No profiles match\n");
    return true;
}

static void write_list_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(
        &cli->out, &rows, data,
        "number ended_at service version host labels calls self unit clock paths bytes file",
        QP_FIELDS_ALL, "");
}

/* ---- the commands --------------------------------------------------------------------------- */

static int list(qp_cli *cli, qp_choice *c)
{
    static const qp_forms forms = {print_list, document_fields, write_list_csv};
    return qp_output_print(cli, &forms, c);
}

static int run_list(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, list);
}

static void show_mistake(void *to, const char *mistake)
{
    const qp_cli *cli = to;
    qp_cli_warn(cli, "%s: %s", cli->path, mistake);
}

/* What was chosen, as "store.db: 12 profiles with 3,000 calls"; without calls where they were not counted. */
static void print_choice(const qp_cli *cli, const qp_choice *c, const char *end)
{
    char profiles[QP_NUMBER_BYTES], calls[QP_NUMBER_BYTES];
    uint64_t n_calls = 0, n_counted = 0;
    for (size_t i = 0; i < c->n; i++) {
        n_calls += c->profiles[i].calls;
        n_counted += c->profiles[i].has_calls;
    }
    qp_screen_name(&cli->screen, cli->path, 0);
    qp_out_format(cli->screen.out, ": %s%s%s%s\n", qp_unit_things(profiles, c->n, "profile"),
                  n_counted ? " with " : "",
                  n_counted ? qp_unit_things(calls, n_calls, "call") : "", end);
}

static int check(qp_cli *cli, qp_choice *c)
{
    const size_t n_wrong = qp_store_check(c->store, c->profiles, c->n, show_mistake, cli);
    if (!n_wrong)
        print_choice(cli, c, ": no mistake found");
    return n_wrong ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

static int run_check(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, check);
}

static int remove_chosen(qp_cli *cli, qp_choice *c)
{
    qp_error error;
    if (!qp_store_remove(c->store, c->profiles, c->n, &error))
        return qp_cli_fail(cli, "%s: %s: nothing was removed", cli->path, error.text);
    print_choice(cli, c, " removed");
    return QP_EXIT_CLEAN;
}

static int run_remove(qp_cli *cli)
{
    if (!cli->args.store.before)
        return qp_cli_fail(cli, "missing --before=TIME; usage: qprof store remove "
                                "--before=TIME STORE");
    return qp_choice_run(cli, QP_STORE_WRITE, remove_chosen);
}

static int roll(qp_cli *cli, qp_choice *c)
{
    char profiles[QP_NUMBER_BYTES], sums[QP_NUMBER_BYTES];
    qp_store_rolled rolled;
    qp_error error;
    if (!qp_store_roll(c->store, c->profiles, c->n, &rolled, &error))
        return qp_cli_fail(cli, "%s: %s: nothing was rolled", cli->path, error.text);
    qp_screen_name(&cli->screen, cli->path, 0);
    qp_out_format(cli->screen.out, ": %s rolled into %s\n",
                  qp_unit_things(profiles, rolled.n_profiles, "profile"),
                  qp_unit_count(sums, rolled.n_sums));
    if (rolled.n_left)
        qp_cli_warn(cli, "%s: %s left as they are: %s", cli->path,
                    qp_unit_things(profiles, rolled.n_left, "profile"), rolled.why);
    return rolled.n_left ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

static int run_roll(qp_cli *cli)
{
    if (!cli->args.store.before)
        return qp_cli_fail(cli, "missing --before=TIME; usage: qprof store roll "
                                "--before=TIME STORE");
    return qp_choice_run(cli, QP_STORE_WRITE, roll);
}

const qp_command qp_command_store_list = {
    .name = "store list",
    .operands = "STORE",
    .summary = "the profiles of a store",
    .about = "Lists profiles with their labels, in the order in which they came.",
    .flags = (const qp_flag[]){QP_STORE_FLAGS_CHOICE, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof store list fleet.db\n"
                "qprof store list --since=1h --format=csv fleet.db",
    .schemas = (const qp_schema[]){{"store-list", document_fields}, {.name = NULL}},
    .run = run_list};

const qp_command qp_command_store_check = {
    .name = "store check",
    .operands = "STORE",
    .summary = "mistakes in a store",
    .about =
        "Checks the database, the checksums of functions and call paths, and of each profile "
        "that is chosen whether it can be read and has the calls and the time that it had when "
        "it came. Labels, moments and file names of profiles have no checksum. Exit status 1: "
        "a mistake was found.",
    .flags = (const qp_flag[]){QP_STORE_FLAGS_CHOICE, QP_FLAGS_COMMON},
    .examples = "qprof store check fleet.db",
    .run = run_check};

const qp_command qp_command_store_remove = {
    .name = "store remove",
    .operands = "--before=TIME STORE",
    .summary = "old profiles, removed from a store",
    .about =
        "Removes the profiles that ended before a moment, all or, if it fails, none. Those "
        "whose end is not known, as of some other tools, stay without --undated. The names of "
        "their functions and call paths stay, and the file keeps its size: later "
        "profiles use the space.",
    .flags =
        (const qp_flag[]){
            QP_TEXT("before", 0, "TIME", store.before,
                    "moment, 2026-11-26T10:30 in UTC or 30d ago, before which they ended"),
            QP_YES("undated", 0, store.has_undated, "also those whose end is not known"),
            QP_TEXT("service", 0, "NAME", store.service, "those of this service alone"),
            QP_TEXT("version", 0, "NAME", store.version, "those of this version alone"),
            {"label", 0, QP_FLAG_NAMES, "NAME=VALUE", QP_FLAG_AT(store.labels), NULL,
             "those with this label alone; may be repeated"},
            QP_FLAGS_COMMON},
    .examples = "qprof store remove --before=30d fleet.db",
    .run = run_remove};

const qp_command qp_command_store_roll = {
    .name = "store roll",
    .operands = "--before=TIME STORE",
    .summary = "old profiles of a store, one for each hour",
    .about =
        "Replaces the profiles that ended before a moment, in the same hour and with the same "
        "labels, by their sum, all or, if it fails, none. Sums of calls and times stay as "
        "they are, and importing one of these profiles again changes nothing. What cannot "
        "be added up is named and stays; the exit status is 1 then.",
    .flags =
        (const qp_flag[]){
            QP_TEXT("before", 0, "TIME", store.before,
                    "moment, 2026-11-26T10:30 in UTC or 7d ago, before "
                    "which they ended"),
            QP_TEXT("service", 0, "NAME", store.service, "those of this service alone"),
            QP_TEXT("version", 0, "NAME", store.version, "those of this version alone"),
            QP_FLAGS_COMMON},
    .examples = "qprof store roll --before=7d fleet.db",
    .run = run_roll};
