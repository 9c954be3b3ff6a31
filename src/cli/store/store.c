/* store.c: `qprof store`: the table of its commands, and `import`. */
#include "cli/store/store.h"

#include <errno.h>
#include <unistd.h>

#include "base/text/unit.h"

static const qp_command *const subs[] = {&qp_command_store_import,   &qp_command_store_list,
                                         &qp_command_store_top,      &qp_command_store_tree,
                                         &qp_command_store_requests, &qp_command_store_slow,
                                         &qp_command_store_diff,     &qp_command_store_series,
                                         &qp_command_store_dead,     &qp_command_store_export,
                                         &qp_command_store_check,    &qp_command_store_remove,
                                         &qp_command_store_roll,     NULL};

const qp_command qp_command_store = {
    .name = "store",
    .operands = "COMMAND ...",
    .summary = "many profiles in one file: of many runs, versions and hosts",
    .about =
        "A store is a SQLite database of profiles. Each profile is in it once, however often "
        "it is imported, and sums over any choice of them equal those of `qprof merge` of "
        "their files. Profiles are chosen by their labels (qprof run --labels=) and by the "
        "time at which they ended.",
    .examples = "qprof store import fleet.db runs/*.qprof\n"
                "qprof store top --service=web --since=24h fleet.db",
    .subs = subs};

/* ---- import --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t n_added, n_replaced, n_known, n_refused, calls;
} tally;

static void print_tally(const qp_cli *cli, const tally *t)
{
    char text[QP_NUMBER_BYTES];
    qp_out *out = cli->screen.out;
    qp_screen_name(&cli->screen, cli->args.operands[0], 0);
    qp_out_text(out, ": ");
    if (t->n_added || !t->n_replaced)
        qp_out_format(out, "%s added", qp_unit_things(text, t->n_added, "profile"));
    if (t->n_added && t->calls)
        qp_out_format(out, " with %s", qp_unit_things(text, t->calls, "call"));
    if (t->n_replaced)
        qp_out_format(out, "%s%s replaced by %s", t->n_added ? ", " : "",
                      qp_unit_things(text, t->n_replaced, "profile"),
                      t->n_replaced == 1 ? "a later state of its run"
                                         : "later states of their runs");
    if (t->n_known)
        qp_out_format(out, ", %s in it already", qp_unit_count(text, t->n_known));
    if (t->n_refused)
        qp_out_format(out, ", %s refused", qp_unit_count(text, t->n_refused));
    qp_out_char(out, '\n');
}

/* @return false: the store cannot be written, and a message was printed */
static bool import(const qp_cli *cli, qp_store *s, const char *file, tally *t)
{
    qp_error error;
    uint64_t calls;
    switch (qp_store_import(s, file, &calls, &error)) {
    case QP_IMPORT_ADDED:
        t->n_added++;
        t->calls += calls;
        break;
    case QP_IMPORT_REPLACED:
        t->n_replaced++;
        break;
    case QP_IMPORT_KNOWN:
        t->n_known++;
        break;
    case QP_IMPORT_REFUSED:
    case QP_IMPORT_UNREAD:
        qp_cli_warn(cli, "%s; it is not in the store", error.text);
        t->n_refused++;
        break;
    case QP_IMPORT_FAILED:
        return qp_cli_refuse(cli, "%s: %s: not imported", cli->args.operands[0], error.text);
    }
    return true;
}

/* Is there something that can be imported? Else no store is made for it. */
static bool has_profile(const qp_cli *cli, tally *t)
{
    for (int i = 1; i < cli->args.n_operands; i++) {
        qp_error error;
        bool is_damaged;
        qp_model *m = qp_store_load(cli->args.operands[i], &is_damaged, &error);
        qp_model_free(m);
        if (m)
            return true;
    }
    for (int i = 1; i < cli->args.n_operands; i++) {
        qp_error error;
        bool is_damaged;
        qp_model_free(qp_store_load(cli->args.operands[i], &is_damaged, &error));
        qp_cli_warn(cli, "%s; it is not in the store", error.text);
        t->n_refused++;
    }
    return false;
}

static int run_import(qp_cli *cli)
{
    qp_error error;
    tally t = {0};
    const int n = cli->args.n_operands;
    if (n < 2)
        return qp_cli_fail(cli, "missing profiles; usage: qprof store import STORE FILE...");
    const char *path = cli->args.operands[0];
    const bool is_file = !qp_store_is_on_servers(path);
    if (!is_file && !qp_store_is_address(path, &error))
        return qp_cli_fail(cli, "%s", error.text);
    if (is_file && *path && access(path, F_OK) != 0 && errno == ENOENT &&
        !has_profile(cli, &t)) {
        print_tally(cli, &t);
        return QP_EXIT_FAILED;
    }
    qp_store *s = qp_store_of(path, QP_STORE_WRITE, &error);
    if (!s)
        return qp_cli_fail(cli, "%s: %s", path, error.text);
    bool is_good = true;
    for (int i = 1; is_good && i < n; i++)
        is_good = import(cli, s, cli->args.operands[i], &t);
    qp_store_close(s);
    print_tally(cli, &t);
    return !is_good ? QP_EXIT_UNUSABLE : t.n_refused ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

const qp_command qp_command_store_import = {
    .name = "store import",
    .operands = "STORE FILE...",
    .summary = "profiles, added to a store",
    .about =
        "Adds each profile in a transaction of its own; the store is made if there is none. "
        "A profile that is in the store already changes nothing, and a later state of the "
        "same run replaces an earlier one, which it contains. Files that are damaged, or "
        "still written, are named and left out; the exit status is 1 then. Several commands "
        "may write to a store at once.",
    .flags = qp_flags_common,
    .examples = "qprof store import fleet.db run.qprof\n"
                "qprof store import fleet.db /var/spool/app/*.qprof",
    .run = run_import};
