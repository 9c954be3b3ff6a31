/* answers.c: `qprof store series`, `dead` and `diff`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/unit.h"
#include "cli/show/show.h"
#include "cli/store/store.h"

/* ---- series --------------------------------------------------------------------------------- */

enum { BY_DAY, BY_HOUR, BY_VERSION, BY_SERVICE, BY_HOST };

#define AT(member) QP_FIELD_AT(qp_series_row, member)
static const qp_field series_fields[] = {
    {"key", NULL, "the day or the hour in UTC, or \"unknown\"; or the version, service or host",
     QP_FIELD_NAME, AT(key)},
    {"profiles", "Profiles", "that ended then, or have it", QP_FIELD_COUNT, AT(profiles),
     .least = 1},
    {"calls", "Calls", "of all functions in those that counted them; null: none did",
     QP_FIELD_COUNT, AT(calls), .flags = QP_FIELD_NULLABLE},
    {"self", "Time", "of all functions in all of them, in `unit`", QP_FIELD_TIME, AT(self)},
    {"calls_each", "Calls/profile", "average of a profile that counted them, rounded down",
     QP_FIELD_COUNT, AT(calls_each), .flags = QP_FIELD_NULLABLE},
    {"self_each", "Time/profile", "average of a profile, rounded down", QP_FIELD_TIME,
     AT(self_each)},
    {.key = NULL}};
#undef AT

static bool next_key(const void *data, size_t *at, void *row)
{
    const qp_series *s = data;
    if (*at == s->n)
        return false;
    *(qp_series_row *)row = s->rows[(*at)++];
    return true;
}

static const qp_rows series_rows = QP_ROWS(series_fields, qp_series_row, next_key);

static const qp_field series_document[] = {
    {"by", NULL, "what a row is of", QP_FIELD_WORD, QP_FIELD_AT(qp_series, by),
     .words = QP_SERIES_WORDS},
    {"unit", NULL, "ns, or of another clock: counts, ...", QP_FIELD_WORD,
     QP_FIELD_AT(qp_series, unit)},
    {"series", NULL, "in the order of their keys", QP_FIELD_ROWS, .rows = &series_rows},
    {.key = NULL}};

static bool print_series(const qp_cli *cli, const void *data)
{
    static const char *const titles[] = {"Day (UTC)", "Hour (UTC)", "Version", "Service",
                                         "Host"};
    const qp_series *s = data;
    qp_listing l;
    uint64_t most = 0;
    for (size_t i = 0; i < s->n; i++)
        most = s->rows[i].self > most ? s->rows[i].self : most;
    if (!s->n) {
        qp_out_text(cli->screen.out, "No profiles match\n");
        return true;
    }
    qp_listing_begin(&l, &cli->screen, series_fields, NULL, QP_FIELDS_ALL,
                     qp_unit_for(most, strcmp(s->unit, "ns") == 0, NULL));
    qp_listing_title(&l, "key", titles[cli->args.store.by]);
    qp_listing_rows(&l, &series_rows, s);
    return qp_listing_end(&l, 0);
}

static void write_series_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &series_rows, data, "key profiles calls self calls_each self_each",
                QP_FIELDS_ALL, ((const qp_series *)data)->unit);
}

/* @return NULL: no memory */
static const char *key_of(unsigned by, const qp_store_profile *p, qp_arena *arena)
{
    const time_t seconds = (time_t)(p->ended_at / 1000000000);
    struct tm parts;
    char text[32];
    switch (by) {
    case BY_VERSION:
        return p->version;
    case BY_SERVICE:
        return p->service;
    case BY_HOST:
        return p->host;
    default:
        snprintf(text, sizeof text, "unknown");
        if (p->ended_at && gmtime_r(&seconds, &parts))
            strftime(text, sizeof text, by == BY_DAY ? "%Y-%m-%d" : "%Y-%m-%d %H:00", &parts);
        return qp_arena_text(arena, text);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const qp_series_row *)a)->key, ((const qp_series_row *)b)->key);
}

/* Rows of one key become one. */
static void join_rows(qp_series *s)
{
    size_t n = 0;
    qsort(s->rows, s->n, sizeof *s->rows, compare_keys);
    for (size_t i = 0; i < s->n; i++) {
        qp_series_row *to = n ? &s->rows[n - 1] : NULL;
        if (!to || strcmp(to->key, s->rows[i].key) != 0) {
            s->rows[n++] = s->rows[i];
            continue;
        }
        to->profiles++;
        to->n_counted += s->rows[i].n_counted;
        to->calls += s->rows[i].calls;
        to->self += s->rows[i].self;
    }
    for (size_t i = 0; i < n; i++) {
        qp_series_row *row = &s->rows[i];
        row->calls_each = row->n_counted ? row->calls / row->n_counted : UINT64_MAX;
        row->calls = row->n_counted ? row->calls : UINT64_MAX;
        row->self_each = row->self / row->profiles;
    }
    s->n = n;
}

/* Do the times of all add up? What has no times adds none.
 * @param unit  receives that of the sum @return false: a message was printed */
static bool is_of_one_clock(const qp_cli *cli, const qp_choice *c, const char **unit)
{
    const qp_store_profile *first = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const qp_store_profile *p = &c->profiles[i];
        if (!p->self)
            continue;
        first = first ? first : p;
        if (strcmp(p->unit, first->unit) != 0)
            return qp_cli_refuse(cli, "%s: profile %lld has %s, others %s: they do not add up",
                                 cli->path, (long long)p->number, p->unit, first->unit);
        if (*p->clock && *first->clock && strcmp(p->clock, first->clock) != 0)
            return qp_cli_refuse(cli,
                                 "%s: the clock of profile %lld is %s, of others %s: they do "
                                 "not add up",
                                 cli->path, (long long)p->number, p->clock, first->clock);
    }
    *unit = first ? first->unit : "ns";
    return true;
}

int qp_series_make(const qp_cli *cli, qp_choice *c, unsigned by, qp_series *to)
{
    static const char *const words[] = {"day", "hour", "version", "service", "host"};
    *to = (qp_series){.n = c->n, .by = words[by], .unit = "ns"};
    if (!is_of_one_clock(cli, c, &to->unit))
        return QP_EXIT_UNUSABLE;
    to->rows = qp_alloc(c->n, sizeof *to->rows);
    int status = to->rows ? QP_EXIT_CLEAN : qp_cli_fail_memory(cli);
    for (size_t i = 0; status == QP_EXIT_CLEAN && i < c->n; i++) {
        const qp_store_profile *p = &c->profiles[i];
        to->rows[i] = (qp_series_row){.key = key_of(by, p, &c->arena),
                                      .profiles = 1,
                                      .n_counted = p->has_calls,
                                      .calls = p->calls,
                                      .self = p->self};
        if (!to->rows[i].key)
            status = qp_cli_fail_memory(cli);
    }
    if (status == QP_EXIT_CLEAN)
        join_rows(to);
    return status;
}

static int show_series(qp_cli *cli, qp_choice *c)
{
    static const qp_forms forms = {print_series, series_document, write_series_csv};
    qp_series s;
    int status = qp_series_make(cli, c, cli->args.store.by, &s);
    if (status == QP_EXIT_CLEAN)
        status = qp_output_print(cli, &forms, &s);
    qp_free(s.rows);
    return status;
}

static int run_series(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_series);
}

/* ---- dead ----------------------------------------------------------------------------------- */

typedef struct {
    const qp_model *m;
    uint64_t n_profiles, n_functions, n_dead;
} dead_list;

typedef struct {
    const char *name, *module, *file, *place;
    uint64_t line;
    char text[600];
} dead_row;

#define AT(member) QP_FIELD_AT(dead_row, member)
static const qp_field dead_fields[] = {
    {"name", "Function", "display name", QP_FIELD_NAME, AT(name)},
    {"module", NULL, "of the program; \"\": none", QP_FIELD_TEXT, AT(module)},
    {"file", NULL, "source file; \"\": none", QP_FIELD_TEXT, AT(file)},
    {"line", NULL, "first line; 0: none is known", QP_FIELD_COUNT, AT(line)},
    {"place", "File:Line", NULL, QP_FIELD_PLACE, AT(place), .flags = QP_FIELD_NO_JSON},
    {.key = NULL}};
#undef AT

static bool is_function(const qp_model_method *k)
{
    return (k->flags & (QP_METHOD_REGISTERED | QP_METHOD_PSEUDO)) == QP_METHOD_REGISTERED;
}

bool qp_method_is_dead(const qp_model_method *k)
{
    return is_function(k) && !qp_figures_is_seen(&k->all);
}

uint64_t qp_functions_known(const qp_model *m)
{
    uint64_t n = 0;
    for (uint32_t i = 1; i < m->n_methods; i++)
        n += is_function(&m->methods[i]);
    return n;
}

static bool next_dead(const void *data, size_t *at, void *to)
{
    const qp_model *m = ((const dead_list *)data)->m;
    dead_row *row = to;
    for (size_t i = *at + 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        if (!qp_method_is_dead(k))
            continue;
        *row = (dead_row){
            .name = k->name, .module = k->module, .file = k->file, .line = k->first_line};
        row->place = qp_view_place(row->text, sizeof row->text, k);
        *at = i;
        return true;
    }
    return false;
}

static const qp_rows dead_rows = QP_ROWS(dead_fields, dead_row, next_dead);

static const qp_field dead_document[] = {
    {"profiles", NULL, "that were chosen", QP_FIELD_COUNT, QP_FIELD_AT(dead_list, n_profiles)},
    {"functions", NULL, "that some of them knows", QP_FIELD_COUNT,
     QP_FIELD_AT(dead_list, n_functions)},
    {"dead", NULL, "functions that none of them called", QP_FIELD_ROWS, .rows = &dead_rows},
    {.key = NULL}};

static bool print_dead(const qp_cli *cli, const void *data)
{
    const dead_list *d = data;
    char dead[QP_NUMBER_BYTES], all[QP_NUMBER_BYTES], profiles[QP_NUMBER_BYTES];
    const qp_screen *s = &cli->screen;
    if (d->n_dead && !qp_rows_text(s, &dead_rows, d, "name place", QP_FIELDS_ALL, QP_UNIT_NONE))
        return false;
    qp_out_format(s->out, "%s%s of %s in %s never called\n", d->n_dead ? "\n" : "",
                  qp_unit_count(dead, d->n_dead),
                  qp_unit_things(all, d->n_functions, "function"),
                  qp_unit_things(profiles, d->n_profiles, "profile"));
    if (!d->m->run.is_coverage)
        qp_out_text(s->out, "Not all profiles list functions that were not called: record with "
                            "-collect=profile,coverage\n");
    return true;
}

static void write_dead_csv(qp_cli *cli, const void *data)
{
    qp_rows_csv(&cli->out, &dead_rows, data, "name module file line", QP_FIELDS_ALL, "");
}

static int show_dead(qp_cli *cli, qp_choice *c)
{
    static const qp_forms forms = {print_dead, dead_document, write_dead_csv};
    qp_error error;
    qp_model *m;
    if (qp_choice_sum(cli, c, c->profiles, c->n, &m, &error) == QP_LOAD_UNUSABLE)
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    dead_list d = {.m = m, .n_profiles = c->n, .n_functions = qp_functions_known(m)};
    for (uint32_t i = 1; i < m->n_methods; i++)
        d.n_dead += qp_method_is_dead(&m->methods[i]);
    const int status = qp_output_print(cli, &forms, &d);
    qp_model_free(m);
    return status;
}

static int run_dead(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_dead);
}

/* ---- diff ----------------------------------------------------------------------------------- */

static const char item_mark[] = "profile ";

/* The profiles of one side. @return false: see error */
static bool choose_side(qp_cli *cli, const char *side, qp_choice *c, qp_list *list,
                        qp_error *error)
{
    qp_store_args *a = &cli->args.store;
    const qp_store_args given = *a;
    if (!strchr(side, '='))
        a->version = side;
    else if (a->labels.n < QP_LIST_MOST)
        a->labels.items[a->labels.n++] = side;
    bool is_good = qp_choice_open(c, cli, QP_STORE_READ, error);
    *a = given;
    if (!is_good)
        return false;
    const char *what = strchr(side, '=') ? "label" : "version";
    if (!c->n)
        is_good = qp_error_fail(error, "no profile of it has the %s %.200s", what, side);
    else if (c->n > QP_LIST_MOST)
        is_good = qp_error_fail(error,
                                "%zu profiles have the %s %.200s, and at most %d can be "
                                "compared: choose fewer, as by service, label or since",
                                c->n, what, side, (int)QP_LIST_MOST);
    for (size_t i = 0; is_good && i < c->n; i++) {
        const qp_store_profile *p = &c->profiles[i];
        list->items[i] =
            qp_arena_format(&c->arena, "%s%lld (%s)", item_mark, (long long)p->number, p->file);
        is_good = list->items[i] || qp_error_fail(error, "out of memory");
    }
    list->n = c->n;
    return is_good;
}

/* @param what  an item of a side */
static qp_load_status load_item(qp_cli *cli, const char *what, qp_model **out, qp_error *error)
{
    const qp_choice *sides = cli->load_data;
    const long long number = strtoll(what + sizeof item_mark - 1, NULL, 10);
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        for (size_t i = 0; i < sides[side].n; i++)
            if (sides[side].profiles[i].number == number)
                return qp_choice_sum(cli, &sides[side], &sides[side].profiles[i], 1, out,
                                     error);
    qp_error_fail(error, "not in the store");
    return QP_LOAD_UNUSABLE;
}

int qp_choice_compare(qp_cli *cli, const qp_command *how)
{
    qp_error error = {.text = ""};
    qp_choice sides[QP_DIFF_SIDES] = {{.n = 0}};
    const char *const texts[] = {cli->args.store.base, cli->args.store.new};
    qp_list *const lists[] = {&cli->args.diff.base, &cli->args.diff.new};
    if (!qp_choice_is_usage(cli))
        return QP_EXIT_UNUSABLE;
    if (!texts[0] || !texts[1])
        return qp_cli_fail(cli,
                           "missing %s; usage: qprof store diff --base=VERSION "
                           "--new=VERSION STORE",
                           texts[0] ? "--new" : "--base");
    bool is_good = true;
    for (int side = 0; is_good && side < QP_DIFF_SIDES; side++)
        is_good = choose_side(cli, texts[side], &sides[side], lists[side], &error);
    int status = QP_EXIT_UNUSABLE;
    if (is_good) {
        cli->load = load_item;
        cli->load_data = sides;
        cli->args.n_operands = 0;
        status = how->run(cli);
    } else {
        qp_cli_fail(cli, "%s: %s", cli->args.operands[0], error.text);
    }
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        qp_choice_close(&sides[side]);
    return status;
}

static int run_diff(qp_cli *cli)
{
    return qp_choice_compare(cli, &qp_command_diff);
}

/* ---- the commands --------------------------------------------------------------------------- */

const qp_command qp_command_store_series = {
    .name = "store series",
    .operands = "STORE",
    .summary = "calls and time by day, hour, version, service or host",
    .about =
        "Adds up the calls and the time of all functions, a row for each day or hour in which "
        "profiles ended, or for each version, service or host.",
    .flags = (const qp_flag[]){QP_WORD("by", 0, QP_SERIES_WORDS, store.by, "day",
                                       "what a row is of"),
                               QP_STORE_FLAGS_CHOICE, QP_FLAG_FORMAT, QP_FLAGS_COMMON},
    .examples = "qprof store series --service=web fleet.db\n"
                "qprof store series --by=version --format=csv fleet.db",
    .schemas = (const qp_schema[]){{"store-series", series_document}, {.name = NULL}},
    .run = run_series};

const qp_command qp_command_store_dead = {
    .name = "store dead",
    .operands = "STORE",
    .summary = "functions that no profile called",
    .about =
        "Lists functions that appear in a chosen profile but were called in none. Functions "
        "that were not called appear in profiles that were recorded with "
        "-collect=profile,coverage.",
    .flags = (const qp_flag[]){QP_STORE_FLAGS_CHOICE, QP_STORE_FLAG_FORCE, QP_FLAG_FORMAT,
                               QP_FLAGS_COMMON},
    .examples = "qprof store dead --service=web --since=30d fleet.db",
    .schemas = (const qp_schema[]){{"store-dead", dead_document}, {.name = NULL}},
    .run = run_dead};

const qp_command qp_command_store_diff = {
    .name = "store diff",
    .operands = "--base=VERSION --new=VERSION STORE",
    .summary = "what changed between two versions, or other labels",
    .about =
        "Compares the profiles of two sides as `qprof diff` does: each profile is a run, "
        "medians "
        "are compared, and what may be chance is not listed. At most 64 profiles a side. JSON "
        "is that of `qprof diff`.",
    .flags =
        (const qp_flag[]){
            QP_TEXT(
                "base", 0, "VERSION", store.base,
                "profiles before: with this label `version`, or NAME=VALUE of another label"),
            QP_TEXT("new", 0, "VERSION", store.new, "profiles after"), QP_STORE_FLAGS_CHOICE,
            QP_YES("paths", 0, diff.has_paths,
                   "comparison of call paths, instead of functions"),
            QP_WORD("sort", 's', "self|total|calls|name", sort, "self",
                    "figure whose changes are listed, largest first"),
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 25; all as json or csv)"),
            QP_FLAG_METRIC, QP_FLAG_ENDPOINT, QP_FLAG_FILTER, QP_FLAG_UNIT,
            QP_WORD("format", 0, "text|json|csv|markdown", format, NULL, "form of the output"),
            QP_FLAGS_COMMON},
    .examples = "qprof store diff --base=1.1 --new=1.2 fleet.db\n"
                "qprof store diff --service=web --base=region=eu --new=region=us fleet.db",
    .threads = QP_THREADS_JOINED,
    .run = run_diff};
