/* pages.c: the pages of a server: the start page and that of dead code, whose program is web/src/store; and those
 * that `qprof html` writes, of the profiles that are chosen. web/src/store/data.ts is the other side of what is
 * written here. */
#include "cli/serve/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/containers/alloc.h"
#include "cli/show/show.h"
#include "cli/store/store.h"
#include "export/page/page.h"

/* ---- the frame of a page ------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_text(qp_out *out, const char *key, const char *text)
{
    qp_out_format(out, ",\"%s\":", key);
    qp_page_text(out, text ? text : "");
}

/* What the request chose, for the fields of the form. */
static void write_choice(qp_out *out, const qp_args *args)
{
    const qp_store_args *a = &args->store;
    write_text(out, "service", a->service);
    write_text(out, "version", a->version);
    write_text(out, "since", a->since);
    write_text(out, "until", a->until);
    write_text(out, "base", a->base);
    write_text(out, "new", a->new);
    qp_page_list(out, "labels", a->labels.items, a->labels.n);
    qp_out_format(out, ",\"isForced\":%s", args->is_forced ? "true" : "false");
}

/* Up to the open brace of the page's data. */
static void begin_page(const qp_cli *cli, const char *title, const char *view, const char *note)
{
    qp_out *out = cli->screen.out;
    const char *home = cli->args.page.home;
    qp_page_begin(out, &qp_page_store, title);
    qp_out_format(out,
                  "<noscript><h1>%s</h1><p>This page needs JavaScript; /series.json, "
                  "/top.json, /tree.json, /diff.json and /dead.json have its figures.</p>\n<p>",
                  title);
    qp_page_name(out, note);
    qp_out_text(out, "</p></noscript>\n<div id=\"app\"></div>\n");
    qp_page_block(out, "index");
    qp_out_format(out, "{\"view\":\"%s\"", view);
    write_text(out, "home", home ? home : "/");
    write_text(out, "store", cli->args.operands ? name_of(cli->args.operands[0]) : "");
    write_text(out, "note", note);
    write_choice(out, &cli->args);
}

static void end_page(const qp_cli *cli)
{
    qp_out *out = cli->screen.out;
    qp_out_char(out, '}');
    qp_page_block_end(out);
    qp_page_script(out, &qp_page_store);
    qp_page_end(out);
}

void qp_serve_trouble(qp_cli *cli, const char *message)
{
    begin_page(cli, "Store", "trouble", message);
    end_page(cli);
}

/* ---- the start page ------------------------------------------------------------------------ */

enum { NAMES_MOST = 500, LINES_MOST = 8 };

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each name once, in order. @param at  offset of the name in a profile @return false: no memory */
static bool write_names(qp_out *out, const char *key, const qp_choice *c, size_t at)
{
    const char **names = qp_alloc(c->n + 1, sizeof *names);
    size_t n = 0;
    if (!names)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const char *name =
            *(const char *const *)(const void *)((const char *)&c->profiles[i] + at);
        if (*name)
            names[n++] = name;
    }
    qsort(names, n, sizeof *names, compare_texts);
    size_t n_kept = 0;
    for (size_t i = 0; i < n && n_kept < NAMES_MOST; i++)
        if (!n_kept || strcmp(names[n_kept - 1], names[i]) != 0)
            names[n_kept++] = names[i];
    qp_page_list(out, key, names, n_kept);
    qp_free(names);
    return true;
}

static void write_known(qp_out *out, uint64_t calls)
{
    if (calls == UINT64_MAX)
        qp_out_text(out, ",null");
    else
        QP_PAGE_NUMBERS(out, true, calls);
}

static void write_series(qp_out *out, const char *key, const qp_series *s)
{
    qp_page_table(out, key);
    for (size_t i = 0; i < s->n; i++) {
        const qp_series_row *row = &s->rows[i];
        qp_page_row(out, i > 0);
        qp_page_text(out, row->key);
        QP_PAGE_NUMBERS(out, true, row->profiles);
        write_known(out, row->calls);
        QP_PAGE_NUMBERS(out, true, row->self);
        write_known(out, row->calls_each);
        QP_PAGE_NUMBERS(out, true, row->self_each);
        qp_page_close(out);
    }
    qp_page_close(out);
}

static int compare_lines(const void *a, const void *b)
{
    const qp_store_profile *x = a, *y = b;
    const int by_service = strcmp(x->service, y->service);
    return by_service ? by_service : strcmp(x->version, y->version);
}

/* How many profiles from i on are of one service and version. */
static size_t n_alike(const qp_store_profile *all, size_t i, size_t n)
{
    size_t end = i + 1;
    while (end < n && compare_lines(&all[i], &all[end]) == 0)
        end++;
    return end - i;
}

/* By the hour where the moments lie within three days, else by the day. */
static unsigned step_of(const qp_choice *c)
{
    const uint64_t three_days = (uint64_t)3 * 24 * 3600 * 1000000000;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t at = c->profiles[i].ended_at;
        first = at && at < first ? at : first;
        last = at > last ? at : last;
    }
    return last && last - first <= three_days ? QP_SERIES_HOUR : QP_SERIES_DAY;
}

/* The series of each service and version. @return false: a message was printed */
static bool write_lines(const qp_cli *cli, qp_choice *c)
{
    qp_out *out = cli->screen.out;
    const unsigned by = step_of(c);
    bool is_good = true;
    size_t n_lines = 0;
    qsort(c->profiles, c->n, sizeof *c->profiles, compare_lines);
    write_text(out, "step", by == QP_SERIES_HOUR ? "hour" : "day");
    qp_page_table(out, "lines");
    for (size_t i = 0, n; is_good && i < c->n; i += n, n_lines++) {
        qp_choice one = *c;
        qp_series s;
        n = n_alike(c->profiles, i, c->n);
        if (n_lines >= LINES_MOST)
            continue;
        one.profiles = c->profiles + i;
        one.n = n;
        is_good = qp_series_make(cli, &one, by, &s) == QP_EXIT_CLEAN;
        c->arena = one.arena; /* keys are there */
        qp_out_text(out, n_lines ? ",\n{\"service\":" : "{\"service\":");
        qp_page_text(out, one.profiles->service);
        write_text(out, "version", one.profiles->version);
        if (is_good)
            write_series(out, "rows", &s);
        qp_out_char(out, '}');
        qp_free(s.rows);
    }
    qp_page_close(out);
    qp_out_format(out, ",\"nLines\":%zu", n_lines);
    return is_good;
}

/* What can be chosen: names of all profiles. @return false: no memory, or see error */
static bool write_all_names(const qp_cli *cli, const qp_choice *c, qp_error *error)
{
    qp_out *out = cli->screen.out;
    const qp_store_filter everything = {.has_undated = true};
    qp_choice all = {.list = QP_BUF(qp_store_profile)};
    qp_arena_init(&all.arena);
    bool is_good = qp_store_choose(c->store, &everything, &all.list, &all.arena, error);
    all.profiles = all.list.items;
    all.n = all.list.n;
    if (is_good) {
        qp_out_format(out, ",\"all\":%zu", all.n);
        is_good = (write_names(out, "services", &all, offsetof(qp_store_profile, service)) &&
                   write_names(out, "versions", &all, offsetof(qp_store_profile, version)) &&
                   write_names(out, "hosts", &all, offsetof(qp_store_profile, host))) ||
                  qp_error_fail(error, "out of memory");
    }
    qp_free(all.list.items);
    qp_arena_fini(&all.arena);
    return is_good;
}

static int show_start(qp_cli *cli, qp_choice *c)
{
    char why[1024] = "";
    qp_error error;
    qp_series s;
    qp_out *out = cli->screen.out;
    bool has_calls = false;
    for (size_t i = 0; i < c->n; i++)
        has_calls |= c->profiles[i].has_calls;
    const bool is_sum = qp_series_make(cli, c, cli->args.store.by, &s) == QP_EXIT_CLEAN;
    if (!is_sum)
        qp_serve_message(why, sizeof why);
    begin_page(cli, "Store", "start", why);
    bool is_good = write_all_names(cli, c, &error);
    write_text(out, "by", s.by);
    write_text(out, "unit", s.unit);
    qp_out_format(out, ",\"profiles\":%zu,\"hasCalls\":%s", c->n, has_calls ? "true" : "false");
    if (is_sum)
        write_series(out, "series", &s);
    qp_free(s.rows);
    is_good = is_good && (!is_sum || write_lines(cli, c));
    end_page(cli);
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s", error.text);
}

static int run_start(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_start);
}

/* ---- dead code ----------------------------------------------------------------------------- */

static void write_dead(qp_out *out, const qp_model *m)
{
    bool is_more = false;
    qp_page_table(out, "dead");
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_model_method *k = &m->methods[i];
        if (!qp_method_is_dead(k))
            continue;
        qp_page_row(out, is_more);
        QP_PAGE_TEXTS(out, false, k->name, k->module, k->file);
        qp_page_number(out, true, k->first_line);
        qp_page_close(out);
        is_more = true;
    }
    qp_page_close(out);
}

static int show_dead(qp_cli *cli, qp_choice *c)
{
    qp_error error;
    qp_model *m;
    qp_out *out = cli->screen.out;
    if (qp_choice_sum(cli, c, c->profiles, c->n, &m, &error) == QP_LOAD_UNUSABLE)
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    begin_page(cli, "Functions never called", "dead", "");
    qp_out_format(out, ",\"profiles\":%zu,\"functions\":%" PRIu64 ",\"isCoverage\":%s", c->n,
                  qp_functions_known(m), m->run.is_coverage ? "true" : "false");
    write_dead(out, m);
    end_page(cli);
    qp_model_free(m);
    return QP_EXIT_CLEAN;
}

static int run_dead(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_dead);
}

/* ---- slow requests ------------------------------------------------------------------------- */

enum { REQUESTS_MOST = 1000 };

static void write_request(qp_out *out, const qp_store_kept *k)
{
    char trace[2 * sizeof k->r.trace + 1] = "";
    if (k->r.has_trace)
        qp_kept_hex(trace, k->r.trace, sizeof k->r.trace);
    QP_PAGE_NUMBERS(out, false, (uint64_t)k->number, k->r.elapsed_ns,
                    k->r.off_ns + k->r.suspended_ns, k->r.n_calls, k->r.begun_at / 1000000);
    QP_PAGE_TEXTS(out, true,
                  k->r.is_cut       ? "cut"
                  : k->r.has_failed ? "failed"
                                    : "ended",
                  k->r.endpoint, k->profile->service, k->profile->version, k->profile->host,
                  trace);
}

static int show_slow(qp_cli *cli, qp_choice *c)
{
    qp_error error = {0};
    qp_buf requests = QP_BUF(qp_store_kept);
    qp_out *out = cli->screen.out;
    size_t n = 0;
    if (!qp_choice_kept(cli, c, &requests)) {
        qp_free(requests.items);
        return QP_EXIT_UNUSABLE;
    }
    begin_page(cli, "Slow requests", "slow", "");
    const bool is_good = write_all_names(cli, c, &error);
    qp_out_format(out, ",\"profiles\":%zu", c->n);
    qp_page_list(out, "endpoints", cli->args.fold.endpoints.items, cli->args.fold.endpoints.n);
    qp_page_table(out, "slow");
    for (size_t i = 0; i < requests.n; i++) {
        const qp_store_kept *k = (const qp_store_kept *)requests.items + i;
        if (!qp_kept_is_chosen(cli, k->r.endpoint) || n++ >= REQUESTS_MOST)
            continue;
        qp_page_row(out, n > 1);
        write_request(out, k);
        qp_page_close(out);
    }
    qp_page_close(out);
    qp_out_format(out, ",\"requests\":%zu", n);
    end_page(cli);
    qp_free(requests.items);
    return is_good ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s", error.text);
}

static int run_slow(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_slow);
}

static bool is_wanted(const qp_cli *cli, const qp_store_kept *k)
{
    char trace[2 * sizeof k->r.trace + 1];
    const char *wanted = cli->args.kept.trace_id;
    qp_kept_hex(trace, k->r.trace, sizeof k->r.trace);
    return wanted ? k->r.has_trace && strcasecmp(trace, wanted) == 0
                  : (uint64_t)k->number == cli->args.kept.shown;
}

/* The page of a profile that has the calls of one request alone. */
static int show_one(qp_cli *cli, qp_choice *c, const qp_store_kept *k)
{
    static char name[512], standard[] = "-";
    const char *version = k->profile->version;
    qp_text_format(name, sizeof name, "%.150s: %.100s%s%.100s, host %.100s", k->r.endpoint,
                   k->profile->service, *version ? " " : "", version, k->profile->host);
    cli->args.has_no_sources = true;
    cli->args.output = standard;
    cli->args.page.name = name;
    return qp_choice_show_kept(cli, c, k, &qp_command_html);
}

static int show_request(qp_cli *cli, qp_choice *c)
{
    qp_buf requests = QP_BUF(qp_store_kept);
    const qp_store_kept *found = NULL;
    bool is_good = qp_choice_kept(cli, c, &requests);
    for (size_t i = 0; is_good && !found && i < requests.n; i++)
        if (is_wanted(cli, (const qp_store_kept *)requests.items + i))
            found = (const qp_store_kept *)requests.items + i;
    const int status = found     ? show_one(cli, c, found)
                       : is_good ? qp_cli_fail(cli, "the store has no such request (any more)")
                                 : QP_EXIT_UNUSABLE;
    qp_free(requests.items);
    return status;
}

static int run_request(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show_request);
}

/* ---- the pages of `qprof html` ------------------------------------------------------------- */

enum { NAME_BYTES = 2048 };

/* "fleet.db: service web, version 1.2". @return to */
static const char *name_choice(const qp_cli *cli, const char *side, char to[NAME_BYTES])
{
    const qp_store_args *a = &cli->args.store;
    const char *const parts[][2] = {{"service ", a->service},
                                    {"version ", side ? NULL : a->version},
                                    {"since ", a->since},
                                    {"until ", a->until},
                                    {strchr(side ? side : "=", '=') ? "" : "version ", side}};
    size_t n = (size_t)snprintf(to, NAME_BYTES, "%.200s", name_of(cli->args.operands[0]));
    const char *between = ": ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i][1]) {
            n += (size_t)snprintf(to + n, NAME_BYTES - n, "%s%s%.200s", between, parts[i][0],
                                  parts[i][1]);
            between = ", ";
        }
    for (size_t i = 0; i < a->labels.n && n < NAME_BYTES - 300; i++) {
        n += (size_t)snprintf(to + n, NAME_BYTES - n, "%s%.200s", between, a->labels.items[i]);
        between = ", ";
    }
    return to;
}

static int run_window(qp_cli *cli)
{
    static char name[NAME_BYTES];
    static char standard[] = "-";
    cli->args.has_no_sources = true; /* no file is read for a request */
    cli->args.output = standard;
    cli->args.page.name = name_choice(cli, NULL, name);
    cli->load = qp_choice_load;
    return qp_command_html.run(cli);
}

static int run_compare(qp_cli *cli)
{
    static char name[NAME_BYTES], base_name[NAME_BYTES];
    static char standard[] = "-";
    const qp_store_args *a = &cli->args.store;
    cli->args.has_no_sources = true;
    cli->args.output = standard;
    cli->args.page.name = name_choice(cli, a->new ? a->new : "", name);
    cli->args.page.base_name = name_choice(cli, a->base ? a->base : "", base_name);
    return qp_choice_compare(cli, &qp_command_html);
}

/* ---- the commands -------------------------------------------------------------------------- */

/* The rows of the start page are a part of every choice, for the way back. */
#define FLAGS_OF_PAGES                                                                         \
    QP_WORD("by", 0, QP_SERIES_WORDS, store.by, "day", ""), QP_STORE_FLAGS_CHOICE,             \
        QP_STORE_FLAG_FORCE, QP_FLAGS_COMMON
#define FLAGS_SIDES                                                                            \
    QP_TEXT("base", 0, "VERSION", store.base, "profiles before"),                              \
        QP_TEXT("new", 0, "VERSION", store.new, "profiles after")

#define FLAG_ENDPOINTS                                                                         \
    {                                                                                          \
        "endpoint", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.endpoints), NULL, ""             \
    }

static const qp_flag flags[] = {FLAGS_OF_PAGES};
static const qp_flag flags_of_requests[] = {FLAG_ENDPOINTS, QP_FLAGS_KEPT_ONE, FLAGS_OF_PAGES};
static const qp_flag flags_of_sides[] = {FLAGS_SIDES, FLAGS_OF_PAGES};

const qp_command qp_serve_start = {
    .name = "serve", .operands = "STORE", .flags = flags_of_sides, .run = run_start};
const qp_command qp_serve_window = {
    .name = "serve", .operands = "STORE", .flags = flags, .run = run_window};
const qp_command qp_serve_diff = {
    .name = "serve", .operands = "STORE", .flags = flags_of_sides, .run = run_compare};
const qp_command qp_serve_dead = {
    .name = "serve", .operands = "STORE", .flags = flags, .run = run_dead};
const qp_command qp_serve_slow = {
    .name = "serve", .operands = "STORE", .flags = flags_of_requests, .run = run_slow};
const qp_command qp_serve_request = {
    .name = "serve", .operands = "STORE", .flags = flags_of_requests, .run = run_request};
