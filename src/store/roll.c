/* roll.c: the profiles of an hour become one: see qp_store_roll() in store.h. Read it first, at the end. */
#include <stdlib.h>
#include <string.h>

#include "store/cluster.h"

static const uint64_t HOUR_NS = 3600u * UINT64_C(1000000000);

static int compare_texts(const qp_store_profile *a, const qp_store_profile *b)
{
    const char *const texts[][2] = {{a->labels, b->labels},   {a->service, b->service},
                                    {a->version, b->version}, {a->host, b->host},
                                    {a->clock, b->clock},     {a->unit, b->unit}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const int order = strcmp(texts[i][0], texts[i][1]);
        if (order)
            return order;
    }
    return a->has_calls - b->has_calls;
}

/* Whether they are of one hour and one set of labels; what ended at an unknown time is of none. */
static int compare_groups(const qp_store_profile *a, const qp_store_profile *b)
{
    const uint64_t x = a->ended_at / HOUR_NS, y = b->ended_at / HOUR_NS;
    return x != y ? (x < y ? -1 : 1) : compare_texts(a, b);
}

static int compare(const void *a, const void *b)
{
    const qp_store_profile *x = a, *y = b;
    const int order = compare_groups(x, y);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

/* ---- a group -------------------------------------------------------------------------------- */

/* The rows go, and what they were, or had been made of, leads to the sum. It has a number of its own,
 * which no row had before. */
static bool replace(qp_store_addition *x, const qp_store_profile *profiles, size_t n,
                    qp_error *error)
{
    bool is_good = qp_store_put(x, error);
    const int64_t sum =
        sqlite3_last_insert_rowid(x->s->db); /* that of the profile: see qp_store_put() */
    for (size_t i = 0; is_good && i < n; i++) {
        const int64_t number = profiles[i].number;
        is_good =
            qp_store_run_for(x->s,
                             "INSERT OR REPLACE INTO rolled SELECT nonce, started_at, clears,"
                             " dataset, ended_at, calls, ?2 FROM profile WHERE profile = ?1",
                             number, sum, error) &&
            qp_store_run_for(x->s, "UPDATE rolled SET profile = ?2 WHERE profile = ?1", number,
                             sum, error) &&
            qp_store_run_for(x->s, "UPDATE slow SET profile = ?2 WHERE profile = ?1", number,
                             sum, error) &&
            qp_store_remove_row(x->s, number, error);
    }
    return is_good;
}

/* A sum is no run: its identity is the time of the hour, and the first row that it was made of. */
static void describe(qp_store_row *d, const qp_store_profile *profiles, size_t n)
{
    *d = (qp_store_row){.file = profiles->file,
                        .nonce = (uint64_t)profiles->number,
                        .started_at = profiles->ended_at / HOUR_NS * HOUR_NS,
                        .clears = UINT64_MAX,
                        .labels = profiles->labels,
                        .unit = profiles->unit,
                        .clock = profiles->clock,
                        .has_calls = profiles->has_calls};
    for (size_t i = 0; i < n; i++)
        d->ended_at = d->ended_at > profiles[i].ended_at ? d->ended_at : profiles[i].ended_at;
    qp_text_format(d->service, sizeof d->service, "%s", profiles->service);
    qp_text_format(d->version, sizeof d->version, "%s", profiles->version);
    qp_text_format(d->host, sizeof d->host, "%s", profiles->host);
}

static bool is_sum_right(const qp_store_addition *x, const qp_store_profile *profiles, size_t n)
{
    uint64_t calls = 0, self = 0;
    for (size_t i = 0; i < n; i++) {
        calls += profiles[i].calls;
        self += profiles[i].self;
    }
    return calls == x->calls && self == x->self;
}

/* @return false: see error */
static bool roll_group(qp_store *s, const qp_store_profile *profiles, size_t n,
                       qp_store_rolled *rolled, qp_error *error)
{
    qp_store_row *d = qp_alloc(1, sizeof *d);
    qp_store_addition x = {.s = s,
                           .d = d,
                           .records = QP_BUF(unsigned char),
                           .segment = QP_BUF(unsigned char),
                           .counters = QP_BUF(unsigned char),
                           .one = d ? qp_store_sum(s, profiles, n, false, error) : NULL};
    bool is_good = d || qp_error_fail(error, "out of memory");
    if (x.one)
        qp_store_add_up(&x);
    if (is_good && !qp_alloc_has_failed() &&
        (!x.one ||
         !is_sum_right(&x, profiles, n))) { /* other sources, or damaged: as they were */
        if (!rolled->n_left)
            qp_text_format(rolled->why, sizeof rolled->why, "%s",
                           x.one ? "their sum differs from what was noted" : error->text);
        rolled->n_left += n;
    } else if (is_good) {
        describe(d, profiles, n);
        is_good = x.one && qp_store_pack_records(&x, error) &&
                  (s->cluster ? qp_cluster_replace(&x, d, profiles, n, error)
                              : replace(&x, profiles, n, error));
        rolled->n_profiles += n;
        rolled->n_sums++;
    }
    qp_merge_free(x.one);
    qp_free(x.records.items);
    qp_free(x.segment.items);
    qp_free(x.counters.items);
    qp_free(d);
    return is_good;
}

static bool begin(const qp_store *s, qp_error *error)
{
    return qp_store_execute(s, "BEGIN IMMEDIATE", error) &&
           qp_store_execute(
               s, "DELETE FROM rolled WHERE profile NOT IN (SELECT profile FROM profile)",
               error);
}

bool qp_store_roll(qp_store *s, const qp_store_profile *profiles, size_t n,
                   qp_store_rolled *rolled, qp_error *error)
{
    qp_store_profile *sorted = qp_alloc(n, sizeof *sorted);
    *rolled = (qp_store_rolled){.n_sums = 0};
    if (!sorted)
        return qp_error_fail(error, "out of memory");
    if (n)
        memcpy(sorted, profiles, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    bool is_good = s->cluster || begin(s, error);
    for (size_t i = 0, end; is_good && i < n; i = end) {
        for (end = i + 1; end < n && compare_groups(&sorted[i], &sorted[end]) == 0;)
            end++;
        if (end > i + 1 && sorted[i].ended_at)
            is_good = roll_group(s, &sorted[i], end - i, rolled, error);
    }
    is_good = is_good && (s->cluster ? qp_cluster_clean(s->cluster, error)
                                     : qp_store_execute(s, "COMMIT", error));
    if (!is_good && !s->cluster) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        qp_merge_free(s->known);
        s->known = NULL;
    }
    qp_free(sorted);
    return is_good;
}
