/* cluster_keep.c: profiles of a store on servers are removed, or become the sum of an hour: they are hidden at once, and
 * their rows deleted when no command can need them. See cluster.h. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "store/cluster.h"

enum { MEMBER_WORDS = QP_RUN_WORDS + QP_STATE_WORDS };

static int compare_runs(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    for (unsigned i = 0; i < QP_RUN_WORDS; i++)
        if (x[i] != y[i])
            return QP_ORDER(x[i], y[i]);
    return 0;
}

/* ---- deleting ------------------------------------------------------------------------------- */

/* @return false: see error */
static bool delete_keys(qp_shard *sh, const char *table, const qp_buf *keys, qp_error *error)
{
    qp_buf body = QP_BUF(char);
    qp_body_format(&body, "ALTER TABLE %s.%s DELETE WHERE profile IN (", sh->database, table);
    qp_body_bytes(&body, keys->items, keys->n);
    qp_body_format(&body, ")");
    body.failed |= keys->failed;
    const bool is_good = qp_shard_ask(sh, &body, NULL, error);
    qp_free(body.items);
    return is_good;
}

/* Rows that are hidden for good. What another sum hides may become visible while a second command that rolls is
 * at work, and has rows for the time that such a command may take. */
bool qp_cluster_clean(qp_cluster *c, qp_error *error)
{
    enum { PATIENCE_S = 3600 };
    const qp_cluster_row *rows = c->rows.items;
    bool is_good = true;
    for (unsigned shard = 0; is_good && shard < c->n_shards; shard++) {
        qp_buf keys = QP_BUF(char);
        for (size_t i = 0; i < c->rows.n; i++)
            if (rows[i].shard == shard &&
                (rows[i].is_gone || (rows[i].is_hidden && rows[i].hidden_s >= PATIENCE_S)))
                qp_body_format(&keys, keys.n ? ",%llu" : "%llu",
                               (unsigned long long)rows[i].key);
        if (keys.n)
            is_good = delete_keys(&c->shards[shard], "qprof_sample", &keys, error) &&
                      delete_keys(&c->shards[shard], "qprof_profile", &keys, error);
        qp_free(keys.items);
    }
    return is_good;
}

/* ---- removing ------------------------------------------------------------------------------- */

/* Runs of what is removed, with all that went into sums. @param runs  of uint64_t[QP_RUN_WORDS] */
static bool list_runs(const qp_cluster *c, const qp_store_profile *profiles, size_t n,
                      qp_buf *runs)
{
    for (size_t i = 0; i < n; i++) {
        const qp_cluster_row *row = qp_cluster_row_of(c, profiles[i].number);
        const size_t n_members = row ? row->n_members : 0;
        uint64_t *to = row ? qp_buf_add_many(runs, n_members + 1) : NULL;
        if (!to)
            return !row;
        memcpy(to, row->run, sizeof row->run);
        for (size_t k = 0; k < n_members; k++)
            memcpy(to + (k + 1) * QP_RUN_WORDS, row->members + k * MEMBER_WORDS,
                   sizeof row->run);
    }
    if (runs->n)
        qsort(runs->items, runs->n, runs->item_bytes, compare_runs);
    return true;
}

static bool has_run(const qp_buf *runs, const uint64_t *run)
{
    return bsearch(run, runs->items, runs->n, runs->item_bytes, compare_runs);
}

/* All states of these runs; and a sum that does not count, but has one of them, and would count without the others. */
static bool is_removed(const qp_cluster_row *row, const qp_buf *runs)
{
    bool is_among = has_run(runs, row->run);
    for (size_t i = 0; !is_among && row->is_hidden && i < row->n_members; i++)
        is_among = has_run(runs, row->members + i * MEMBER_WORDS);
    return is_among;
}

/* One statement, and so all or none: the keys of all shards are on one. */
static bool hide(qp_cluster *c, const qp_buf *runs, qp_error *error)
{
    qp_shard *sh = &c->shards[0];
    qp_cluster_row *rows = c->rows.items;
    qp_buf body = QP_BUF(char);
    bool is_any = false;
    qp_body_format(&body, "INSERT INTO %s.qprof_gone FORMAT RowBinary\n", sh->database);
    for (size_t i = 0; i < c->rows.n; i++) {
        if (rows[i].is_gone || !is_removed(&rows[i], runs))
            continue;
        is_any = rows[i].is_gone = true;
        qp_body_number(&body, rows[i].key, sizeof(uint64_t));
        qp_body_number(&body, (uint64_t)rows[i].p.number, sizeof(uint64_t));
    }
    const bool is_good = !is_any || qp_shard_ask(sh, &body, NULL, error);
    qp_free(body.items);
    return is_good;
}

bool qp_cluster_remove(qp_cluster *c, const qp_store_profile *profiles, size_t n,
                       qp_error *error)
{
    qp_buf runs = {.item_bytes = QP_RUN_WORDS * sizeof(uint64_t)};
    const bool is_good = list_runs(c, profiles, n, &runs)
                             ? (!runs.n || hide(c, &runs, error)) && qp_cluster_clean(c, error)
                             : qp_error_fail(error, "out of memory");
    qp_free(runs.items);
    return is_good;
}

/* ---- sums of an hour ------------------------------------------------------------------------ */

/* The members of the sum, and of the sums among them. */
static bool list_members(const qp_cluster *c, const qp_store_profile *profiles, size_t n,
                         qp_buf *members)
{
    *members = QP_BUF(uint64_t);
    for (size_t i = 0; i < n; i++) {
        const qp_cluster_row *row = qp_cluster_row_of(c, profiles[i].number);
        if (!row)
            return false;
        uint64_t *to = qp_buf_add_many(members, MEMBER_WORDS * (row->n_members + 1));
        if (!to)
            return false;
        memcpy(to, row->run, sizeof row->run);
        memcpy(to + QP_RUN_WORDS, row->state, sizeof row->state);
        if (row->n_members)
            memcpy(to + MEMBER_WORDS, row->members, MEMBER_WORDS * row->n_members * sizeof *to);
    }
    return true;
}

bool qp_cluster_replace(qp_store_addition *x, qp_store_row *d, const qp_store_profile *profiles,
                        size_t n, qp_error *error)
{
    qp_cluster *c = x->s->cluster;
    if (!list_members(c, profiles, n, &x->members)) {
        qp_free(x->members.items);
        return qp_error_fail(error, "out of memory");
    }
    d->nonce = qp_hash_bytes(QP_HASH_START, x->members.items, x->members.n * sizeof(uint64_t));
    qp_cluster_kept kept;
    qp_cluster_kept_init(&kept);
    x->kept = &kept;
    const qp_import_result result = qp_cluster_kept_read(c, profiles, n, &kept, error)
                                        ? qp_cluster_add(x, error)
                                        : QP_IMPORT_FAILED;
    qp_cluster_kept_fini(&kept);
    qp_free(x->members.items);
    return result == QP_IMPORT_ADDED || result == QP_IMPORT_KNOWN;
}
