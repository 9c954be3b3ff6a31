/* choose.c: the store of a command, and which profiles of it the flags choose. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os/clock.h"
#include "cli/store/store.h"

/* ---- moments ------------------------------------------------------------------------------- */

static const uint64_t second_ns = 1000000000;

/* "2h", "2h ago": how long ago. */
static bool read_age(const char *text, uint64_t now_ns, uint64_t *ns)
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const uint64_t seconds_now = now_ns / second_ns;
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || !*end || (end[1] && strcmp(end + 1, " ago") != 0))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*end == units[i].letter) {
            const bool is_known = n <= seconds_now / units[i].seconds;
            *ns = is_known ? now_ns - n * units[i].seconds * second_ns : 0;
            return true;
        }
    return false;
}

/* ".5Z": what follows the seconds. */
static bool read_rest(const char *text, uint64_t *ns)
{
    *ns = 0;
    if (*text == '.') {
        uint64_t digit_ns = second_ns;
        for (text++; *text >= '0' && *text <= '9' && digit_ns > 1; text++) {
            digit_ns /= 10;
            *ns += (uint64_t)(*text - '0') * digit_ns;
        }
    }
    return strcmp(text + (*text == 'Z'), "") == 0;
}

/* "1767225600000000000": as in CSV. */
static bool read_ns(const char *text, uint64_t *ns)
{
    enum { DIGITS_LEAST = 16 };
    const size_t n = strspn(text, "0123456789");
    errno = 0;
    *ns = strtoull(text, NULL, 10);
    return n >= DIGITS_LEAST && !text[n] && !errno;
}

bool qp_moment_read(const char *text, uint64_t now_ns, uint64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
                                        "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"};
    if (read_age(text, now_ns, ns) || read_ns(text, ns))
        return true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm parts = {.tm_isdst = 0};
        uint64_t rest_ns;
        const char *end = strptime(text, forms[i], &parts);
        if (!end || !read_rest(end, &rest_ns))
            continue;
        const int day = parts.tm_mday;
        const time_t seconds =
            timegm(&parts); /* the 31st of a short month becomes another day */
        *ns = (uint64_t)seconds * second_ns + rest_ns;
        return seconds >= 0 && (uint64_t)seconds < UINT64_MAX / second_ns &&
               parts.tm_mday == day;
    }
    return false;
}

static bool take_moment(const char *flag, const char *text, uint64_t *ns, qp_error *error)
{
    if (!text || qp_moment_read(text, qp_clock_wall(), ns))
        return true;
    return qp_error_fail(error,
                         "--%s=%.60s: expected a moment in UTC, as 2026-11-26 or "
                         "2026-11-26T10:30, or how long ago, as 15m, 2h or 30d",
                         flag, text);
}

/* ---- choosing ------------------------------------------------------------------------------- */

static bool make_filter(const qp_store_args *a, qp_store_filter *f, qp_error *error)
{
    *f = (qp_store_filter){.service = a->service,
                           .version = a->version,
                           .labels = a->labels.items,
                           .n_labels = a->labels.n,
                           .has_undated = a->has_undated};
    for (size_t i = 0; i < a->labels.n; i++)
        if (!strchr(a->labels.items[i], '='))
            return qp_error_fail(error, "--label=%.200s: expected NAME=VALUE",
                                 a->labels.items[i]);
    return take_moment("since", a->since, &f->since, error) &&
           take_moment("until", a->until, &f->until, error) &&
           take_moment("before", a->before, &f->until, error);
}

bool qp_choice_is_valid(const qp_store_args *a, qp_error *error)
{
    qp_store_filter unused;
    return make_filter(a, &unused, error);
}

bool qp_choice_is_usage(const qp_cli *cli)
{
    qp_error error;
    if (cli->args.n_operands != 1)
        return qp_cli_refuse(cli, "expected one store; usage: qprof %s %s", cli->command->name,
                             cli->command->operands);
    const char *path = cli->args.operands[0];
    return !qp_store_is_on_servers(path) || qp_store_is_address(path, &error) ||
           qp_cli_refuse(cli, "%s", error.text);
}

bool qp_choice_open(qp_choice *c, const qp_cli *cli, qp_store_access access, qp_error *error)
{
    qp_store_filter filter;
    *c = (qp_choice){.list = QP_BUF(qp_store_profile)};
    qp_arena_init(&c->arena);
    if (make_filter(&cli->args.store, &filter, error))
        c->store = qp_store_of(cli->args.operands[0], access, error);
    if (c->store && qp_store_choose(c->store, &filter, &c->list, &c->arena, error)) {
        c->profiles = c->list.items;
        c->n = c->list.n;
        return true;
    }
    qp_choice_close(c);
    return false;
}

void qp_choice_close(qp_choice *c)
{
    qp_store_close(c->store);
    qp_free(c->list.items);
    qp_arena_fini(&c->arena);
    *c = (qp_choice){.n = 0}; /* may be closed again */
}

int qp_choice_run(qp_cli *cli, qp_store_access access, int (*run)(qp_cli *cli, qp_choice *c))
{
    qp_choice c;
    qp_error error;
    if (!qp_choice_is_usage(cli))
        return QP_EXIT_UNUSABLE;
    snprintf(cli->path, sizeof cli->path, "%s", cli->args.operands[0]);
    if (!qp_choice_open(&c, cli, access, &error))
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    const int status = run(cli, &c);
    qp_choice_close(&c);
    return status;
}
