/* slow.c: `qprof store slow`: the requests that the profiles of a store kept whole. */
#include "cli/show/show.h"
#include "cli/store/store.h"

typedef struct {
    qp_choice *choice;
    const qp_store_kept *kept; /* as the requests of the set */
    qp_arena names;
} source;

static bool calls_of(const qp_kept_set *set, size_t i, qp_kept_calls *out, qp_error *error)
{
    source *x = set->from;
    return qp_store_kept_calls(x->choice->store, x->kept[i].number, out, &x->names, error);
}

/* @param requests, origins  [n] */
static int show_set(qp_cli *cli, source *x, qp_kept_request *requests, qp_kept_origin *origins,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const qp_store_kept *k = &x->kept[i];
        requests[i] = k->r;
        origins[i] = (qp_kept_origin){.number = (uint64_t)k->number,
                                      .profile = (uint64_t)k->profile->number,
                                      .service = k->profile->service,
                                      .version = k->profile->version,
                                      .host = k->profile->host};
    }
    const qp_kept_set set = {.requests = requests,
                             .origins = origins,
                             .n = n,
                             .none = "No profile that is chosen has a request that was kept "
                                     "whole: record with -slowest=8/60s, for example.",
                             .calls_of = calls_of,
                             .from = x};
    return qp_kept_show(cli, &set);
}

bool qp_choice_kept(const qp_cli *cli, qp_choice *c, qp_buf *requests)
{
    qp_error error = {0};
    return qp_store_kept_requests(c->store, c->profiles, c->n, requests, &c->arena, &error) ||
           qp_cli_refuse(cli, "%s: %s", cli->path, error.text);
}

static void *kept_bytes; /* [n_kept_bytes] a profile: for load_kept() */
static size_t n_kept_bytes;

static qp_load_status load_kept(qp_cli *cli, const char *path, qp_model **out, qp_error *error)
{
    (void)cli;
    (void)path;
    return qp_model_load_bytes(kept_bytes, n_kept_bytes, NULL, out, error);
}

int qp_choice_show_kept(qp_cli *cli, qp_choice *c, const qp_store_kept *k,
                        const qp_command *how)
{
    qp_error error = {0};
    qp_kept_calls calls;
    int status = QP_EXIT_UNUSABLE;
    if (qp_store_kept_calls(c->store, k->number, &calls, &c->arena, &error) &&
        qp_kept_profile(&k->r, &calls, k->profile->service, &kept_bytes, &n_kept_bytes,
                        &error)) {
        cli->args.fold.endpoints.n = 0; /* they chose it */
        cli->args.page.request = &k->r;
        cli->args.page.calls = &calls;
        cli->load = load_kept;
        status = how->run(cli);
    } else {
        qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    }
    qp_kept_calls_fini(&calls);
    qp_free(kept_bytes);
    return status;
}

static int show(qp_cli *cli, qp_choice *c)
{
    qp_buf kept = QP_BUF(qp_store_kept);
    source x = {.choice = c};
    qp_arena_init(&x.names);
    int status = QP_EXIT_UNUSABLE;
    if (qp_choice_kept(cli, c, &kept)) {
        qp_kept_request *requests = qp_alloc(kept.n + 1, sizeof *requests);
        qp_kept_origin *origins = qp_alloc(kept.n + 1, sizeof *origins);
        x.kept = kept.items;
        status = requests && origins ? show_set(cli, &x, requests, origins, kept.n)
                                     : qp_cli_fail_memory(cli);
        qp_free(requests);
        qp_free(origins);
    }
    qp_free(kept.items);
    qp_arena_fini(&x.names);
    return status;
}

static int run_slow(qp_cli *cli)
{
    return qp_choice_run(cli, QP_STORE_READ, show);
}

const qp_command qp_command_store_slow = {
    .name = "store slow",
    .operands = "STORE",
    .summary = "the slowest requests of all profiles that are chosen, each with its calls",
    .about =
        "Lists the requests that the chosen profiles kept whole (-slowest), the slowest first, "
        "and shows the calls of one of them in their order, with waits, as `qprof requests` "
        "does for one profile. The number of a request stays the same while its profile is in "
        "the store.",
    .flags =
        (const qp_flag[]){
            QP_STORE_FLAGS_CHOICE,
            {"endpoint", 0, QP_FLAG_NAMES, "GLOB", QP_FLAG_AT(fold.endpoints), NULL,
             "requests of these endpoints; may be repeated"},
            QP_COUNT("limit", 'n', limit, NULL,
                     "maximum number of rows; 0: all (default 25; all as json or csv)"),
            QP_FLAGS_KEPT_ONE,
            QP_TEXT("to", 0, "chrome", to,
                    "a timeline of that request, or of all in the list, for Perfetto, Chrome "
                    "and speedscope"),
            QP_TEXT("output", 'o', "FILE", output, "its file; default: standard output"),
            QP_FLAG_FORCE,
            QP_FLAG_UNIT,
            QP_FLAG_FORMAT,
            QP_FLAGS_COMMON},
    .examples = "qprof store slow --service=web --since=24h fleet.db\n"
                "qprof store slow --endpoint='GET /item/*' fleet.db\n"
                "qprof store slow --show=17 fleet.db\n"
                "qprof store slow --show=17 --to=chrome -o slow.json fleet.db",
    .schemas = (const qp_schema[]){{"store-slow", qp_kept_store_list_fields},
                                   {"store-slow-show", qp_kept_store_fields},
                                   {.name = NULL}},
    .run = run_slow};
