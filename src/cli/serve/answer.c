/* answer.c: a request as the command line of a command, which answers it. Each request is answered in a process of
 * its own, so a command may end as on the command line; what it prints as a message is shown. */
#include "cli/serve/serve.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "cli/store/store.h"

/* What a choice may have; the rest of a command's flags are for the command line alone. */
static const char choice_words[] = "service|version|label|since|until";

typedef struct {
    const qp_command *command;
    const char *words; /* "a|b": further flags that a request may have */
    bool is_json;
} task;

static const char html[] = "text/html; charset=utf-8", json[] = "application/json";
#define TASK(...) (&(const task){__VA_ARGS__})
const qp_http_route qp_serve_routes[] = {
    {"/", html, true, TASK(&qp_serve_start, "by|base|new|force-merge", false)},
    {"/window", html, false, TASK(&qp_serve_window, "by|force-merge", false)},
    {"/diff", html, false, TASK(&qp_serve_diff, "by|base|new|force-merge", false)},
    {"/dead", html, false, TASK(&qp_serve_dead, "by|force-merge", false)},
    {"/slow", html, true, TASK(&qp_serve_slow, "by|endpoint|force-merge", false)},
    {"/request", html, true,
     TASK(&qp_serve_request, "by|endpoint|show|trace-id|force-merge", false)},
    {"/list.json", json, true, TASK(&qp_command_store_list, "", true)},
    {"/series.json", json, true, TASK(&qp_command_store_series, "by", true)},
    {"/top.json", json, false,
     TASK(&qp_command_store_top, "sort|limit|filter|endpoint|force-merge", true)},
    {"/tree.json", json, false,
     TASK(&qp_command_store_tree, "hottest|min-percent|depth|limit|endpoint|force-merge",
          true)},
    {"/requests.json", json, false, TASK(&qp_command_store_requests, "sort|force-merge", true)},
    {"/slow.json", json, true,
     TASK(&qp_command_store_slow, "endpoint|limit|show|trace-id", true)},
    {"/diff.json", json, false,
     TASK(&qp_command_store_diff, "base|new|paths|sort|limit|filter|endpoint", true)},
    {"/dead.json", json, false, TASK(&qp_command_store_dead, "force-merge", true)},
    {.path = NULL}};
#undef TASK

enum { GOOD = 200, BAD_REQUEST = 400, UNFIT = 422, UNAVAILABLE = 503, MESSAGE_BYTES = 2048 };

/* ---- words --------------------------------------------------------------------------------- */

typedef struct {
    char *items[QP_HTTP_PAIRS_MOST + 4]; /* [n] of the arena */
    int n;
    qp_arena arena;
} word_list;

static bool add_word(word_list *to, const char *prefix, const char *key, const char *value)
{
    const char *word =
        qp_arena_format(&to->arena, "%s%s%s%s", prefix, key, *value ? "=" : "", value);
    if (word)
        to->items[to->n++] = (char *)word;
    return word != NULL;
}

/* @return false: see error, which names those of the page */
static bool fail_unknown(const task *t, const char *key, qp_error *error)
{
    char known[200];
    size_t n = 0;
    snprintf(known, sizeof known, "%s%s%s", choice_words, *t->words ? "|" : "", t->words);
    qp_error_fail(error, "%.60s: no such parameter here; there are ", key);
    for (const char *c = known; *c && (n = strlen(error->text)) < sizeof error->text - 3; c++)
        snprintf(error->text + n, sizeof error->text - n, *c == '|' ? ", " : "%c", *c);
    return false;
}

static bool is_repeated(const qp_http_request *r, const qp_http_pair *pair)
{
    for (const qp_http_pair *other = r->pairs; other < pair; other++)
        if (strcmp(other->key, pair->key) == 0)
            return true;
    return false;
}

/* A field of a form that was left empty is ignored. @return false: see error */
static bool add_pair(word_list *to, const task *t, const qp_http_request *r,
                     const qp_http_pair *pair, qp_error *error)
{
    const qp_flag *flag = qp_flag_named(t->command, pair->key, strlen(pair->key));
    if (!flag ||
        (qp_args_word(choice_words, pair->key) < 0 && qp_args_word(t->words, pair->key) < 0))
        return fail_unknown(t, pair->key, error);
    if (flag->kind != QP_FLAG_NAMES && is_repeated(r, pair))
        return qp_error_fail(error, "%s is given twice: expected one value", pair->key);
    if (flag->kind == QP_FLAG_YES && strcmp(pair->value, "1") != 0)
        return qp_error_fail(error, "%s=%.60s: expected 1, or no %s at all", pair->key,
                             pair->value, pair->key);
    if (!*pair->value)
        return true;
    return add_word(to, "--", pair->key, flag->kind == QP_FLAG_YES ? "" : pair->value) ||
           qp_error_fail(error, "out of memory");
}

static bool make_words(word_list *to, const task *t, const qp_http_request *r,
                       const char *store, qp_error *error)
{
    static char end[] = "--";
    qp_arena_init(&to->arena);
    for (size_t i = 0; i < r->n_pairs; i++)
        if (!add_pair(to, t, r, &r->pairs[i], error))
            return false;
    if (t->is_json && !add_word(to, "--", "format", "json"))
        return qp_error_fail(error, "out of memory");
    to->items[to->n++] = end;
    to->items[to->n++] = (char *)store;
    return true;
}

/* ---- the way back -------------------------------------------------------------------------- */

enum { HOME_BYTES = 4 * QP_HTTP_TARGET_BYTES }; /* three for a byte, and what is between */

/* @return its end */
static char *add_code(char *to, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
    for (; *text; text++)
        if (strchr(plain, *text))
            *to++ = *text;
        else
            to += snprintf(to, sizeof "%XX", "%%%02X", (unsigned char)*text);
    return to;
}

/* The start page, or of one request the list of them, with what was chosen. @return to */
static const char *home_of(const qp_http_request *r, const task *t, char to[HOME_BYTES])
{
    const bool is_one = t->command == &qp_serve_request;
    char *end = to + sprintf(to, is_one ? "/slow" : "/");
    char between = '?';
    for (size_t i = 0; i < r->n_pairs; i++) {
        if (qp_args_word(is_one ? "show|trace-id" : "endpoint", r->pairs[i].key) >= 0)
            continue;
        *end++ = between;
        between = '&';
        end = add_code(end, r->pairs[i].key);
        *end++ = '=';
        end = add_code(end, r->pairs[i].value);
    }
    *end = '\0';
    return to;
}

/* ---- what went wrong ----------------------------------------------------------------------- */

char *qp_serve_message(char *to, size_t room)
{
    static const char ours[] = "qprof ";
    size_t n = qp_file_read_at(STDERR_FILENO, to, room - 1, 0);
    while (n && to[n - 1] == '\n')
        n--;
    to[n] = '\0';
    const char *line = strrchr(to, '\n');
    line = line ? line + 1 : to;
    if (strncmp(line, ours, sizeof ours - 1) == 0) {
        const char *colon = strstr(line, ": ");
        line = colon ? colon + 2 : line;
    }
    memmove(to, line, strlen(line) + 1);
    return to;
}

/* A message of the command line, for who has none. */
static const char *skip_hyphens(const char *why)
{
    return strncmp(why, "--", 2) == 0 ? why + 2 : why;
}

/* Take back what was written, and write why. Where the store lies is not for everybody. */
static unsigned explain(qp_cli *cli, const task *t, unsigned status, const char *store,
                        const char *why)
{
    const char *slash = strrchr(store, '/');
    const size_t n_folder = slash ? (size_t)(slash - store + 1) : 0;
    if (strncmp(why, store, strlen(store)) == 0)
        why += n_folder;
    qp_out_init(&cli->out, STDOUT_FILENO);
    if (ftruncate(STDOUT_FILENO, 0) != 0 || lseek(STDOUT_FILENO, 0, SEEK_SET) != 0)
        return UNAVAILABLE;
    if (t->is_json) {
        qp_json writer;
        qp_json_init(&writer, &cli->out);
        qp_json_begin(&writer, NULL, '{');
        qp_json_text(&writer, "error", why);
        qp_json_end(&writer, '}');
    } else {
        qp_serve_trouble(cli, why);
    }
    qp_out_close(&cli->out);
    return status;
}

static const char memory_is_short[] =
    "this choice needs more memory than one answer may take (--max-memory); choose less";

/* The request as a command line, checked. @return the status of what is wrong with it; GOOD: nothing */
static unsigned take_request(qp_cli *cli, const task *t, const qp_http_request *r,
                             const char *store, qp_error *error)
{
    static word_list words;
    const qp_store_args *a = &cli->args.store;
    const bool has_sides = t->command == &qp_serve_diff || t->command == &qp_command_store_diff;
    bool is_good = make_words(&words, t, r, store, error) &&
                   qp_args_parse(t->command, words.n, words.items, &cli->args, error) &&
                   qp_choice_is_valid(a, error);
    if (is_good && has_sides && (!a->base || !a->new))
        is_good = qp_error_fail(error,
                                "missing %s: expected base=VERSION and new=VERSION, the "
                                "sides to compare",
                                a->base ? "new" : "base");
    if (is_good)
        return GOOD;
    if (!qp_alloc_has_failed())
        return BAD_REQUEST;
    qp_error_fail(error, "%s", memory_is_short);
    return UNAVAILABLE;
}

/* Is it the store, or what was chosen of it? */
static unsigned status_of_failure(const char *path)
{
    qp_error error;
    const bool is_damaged = qp_store_has_failed();
    qp_store *s = qp_store_of(path, QP_STORE_READ, &error);
    qp_store_close(s);
    return s && !is_damaged ? UNFIT : UNAVAILABLE;
}

unsigned qp_serve_answer(void *to, const qp_http_route *route, const qp_http_request *r)
{
    static char why[MESSAGE_BYTES], home[HOME_BYTES];
    qp_cli *cli = to;
    qp_error error;
    const task *t = route->data;
    const char *store = cli->args.operands[0];
    cli->command = t->command;
    const unsigned taken = take_request(cli, t, r, store, &error);
    if (taken != GOOD)
        return explain(cli, t, taken, store, skip_hyphens(error.text));
    cli->args.page.home = home_of(r, t, home);
    const int status = t->command->run(cli);
    const int failed = qp_out_close(&cli->out);
    if (qp_alloc_has_failed())
        return explain(cli, t, UNAVAILABLE, store, memory_is_short);
    if (failed)
        return explain(cli, t, UNAVAILABLE, store, strerror(failed));
    if (status == QP_EXIT_UNUSABLE)
        return explain(cli, t, status_of_failure(store), store,
                       qp_serve_message(why, sizeof why));
    return GOOD;
}
