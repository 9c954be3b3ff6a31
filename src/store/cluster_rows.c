/* cluster_rows.c: the rows of profiles of all servers, and which of them are visible. See cluster.h; read
 * settle first. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/search.h"
#include "store/cluster.h"

enum { MEMBER_WORDS = QP_RUN_WORDS + QP_STATE_WORDS };

/* ---- reading -------------------------------------------------------------------------------- */

static const char columns[] =
    "profile, number, nonce, started_at, clears, dataset, ended_at, calls, self,"
    " paths, bytes, most, columns, mode, has_calls, toUInt32(now() - came),"
    " service, version, host, labels, file, unit, clock, members";

/* @return false: no memory, or a->is_bad */
static bool read_row(qp_answer *a, qp_cluster_row *row, qp_arena *arena)
{
    uint64_t *const numbers[] = {&row->key,       (uint64_t *)&row->p.number,
                                 &row->run[0],    &row->run[1],
                                 &row->run[2],    &row->state[0],
                                 &row->state[1],  &row->p.calls,
                                 &row->p.self,    &row->p.n_paths,
                                 &row->p.n_bytes, &row->most};
    const char **const texts[] = {&row->p.service, &row->p.version, &row->p.host,
                                  &row->p.labels,  &row->p.file,    &row->p.unit,
                                  &row->p.clock};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = qp_answer_number(a, sizeof(uint64_t));
    row->came = (uint64_t)row->p.number;
    row->state[2] = row->p.calls;
    row->p.ended_at = row->state[1];
    row->columns = (uint32_t)qp_answer_number(a, sizeof(uint32_t));
    row->mode = (qp_time_mode)qp_answer_number(a, 1);
    row->p.has_calls = qp_answer_number(a, 1);
    row->age_s = (uint32_t)qp_answer_number(a, sizeof(uint32_t));
    bool is_good = true;
    for (size_t i = 0; is_good && i < sizeof texts / sizeof *texts; i++)
        is_good = (*texts[i] = qp_answer_text(a, arena));
    row->members = qp_answer_numbers(a, arena, &row->n_members);
    a->is_bad |= row->columns >> QP_PATH_COLUMNS || row->mode > QP_TIME_NONE ||
                 row->n_members % MEMBER_WORDS || row->p.number <= 0;
    row->n_members /= MEMBER_WORDS;
    return is_good && row->members && !a->is_bad;
}

static bool read_rows(qp_cluster *c, unsigned shard, qp_error *error)
{
    qp_shard *sh = &c->shards[shard];
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body, "SELECT %s FROM %s.qprof_profile FORMAT RowBinary", columns,
                   sh->database);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        qp_cluster_row *row = qp_buf_add(&c->rows);
        if (row)
            row->shard = shard;
        is_good = (row && read_row(&a, row, &c->arena)) || qp_shard_fail_answer(sh, error);
    }
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

static int compare_numbers(const void *a, const void *b)
{
    return QP_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

bool qp_shard_read_gone(qp_cluster *c, qp_shard *sh, qp_error *error)
{
    qp_buf body = QP_BUF(char), answer = QP_BUF(char);
    qp_body_format(&body, "SELECT profile FROM %s.qprof_gone FORMAT RowBinary", sh->database);
    bool is_good = qp_shard_ask(sh, &body, &answer, error);
    qp_answer a = qp_answer_of(&answer);
    while (is_good && !qp_answer_is_over(&a)) {
        uint64_t *key = qp_buf_add(&c->gone);
        if (key)
            *key = qp_answer_number(&a, sizeof *key);
        is_good = (key && !a.is_bad) || qp_shard_fail_answer(sh, error);
    }
    if (c->gone.n)
        qsort(c->gone.items, c->gone.n, sizeof(uint64_t), compare_numbers);
    qp_free(body.items);
    qp_free(answer.items);
    return is_good;
}

bool qp_cluster_is_gone(const qp_cluster *c, uint64_t key)
{
    return c->gone.n && bsearch(&key, c->gone.items, c->gone.n, sizeof key, compare_numbers);
}

/* ---- what is visible ------------------------------------------------------------------------ */

static int compare_words(const uint64_t *a, const uint64_t *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] != b[i])
            return QP_ORDER(a[i], b[i]);
    return 0;
}

/* In the order in which they came. */
static int compare_rows(const void *a, const void *b)
{
    const qp_cluster_row *x = a, *y = b;
    return x->p.number != y->p.number ? QP_ORDER(x->p.number, y->p.number)
           : x->key != y->key         ? QP_ORDER(x->key, y->key)
                                      : QP_ORDER(x->shard, y->shard);
}

/* A run, and a row of it; or a member, and the row of the sum that has it. */
typedef struct {
    const uint64_t *run;
    size_t row;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = compare_words(x->run, y->run, QP_RUN_WORDS);
    return order ? order : QP_ORDER(x->row, y->row);
}

static bool is_same_run(const entry *a, const entry *b)
{
    return compare_words(a->run, b->run, QP_RUN_WORDS) == 0;
}

/* The last state of a run is visible; of the same one the row that came first. */
static void hide_earlier_states(qp_cluster_row *rows, const entry *runs, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        size_t last = i;
        for (end = i + 1; end < n && is_same_run(&runs[i], &runs[end]); end++)
            if (compare_words(rows[runs[end].row].state, rows[runs[last].row].state,
                              QP_STATE_WORDS) > 0)
                last = end;
        for (size_t k = i; k < end; k++)
            if (k != last || rows[runs[last].row].is_gone) {
                rows[runs[k].row].is_hidden = true;
                rows[runs[k].row].hidden_s = UINT32_MAX;
            }
    }
}

/* @return the first of this run; n: there is none */
static size_t find_run(const entry *all, size_t n, const uint64_t *run)
{
    size_t from = 0, to = n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (compare_words(all[middle].run, run, QP_RUN_WORDS) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < n && compare_words(all[from].run, run, QP_RUN_WORDS) == 0 ? from : n;
}

static bool has_member(const qp_cluster_row *sum, const uint64_t *run)
{
    for (size_t i = 0; i < sum->n_members; i++)
        if (compare_words(sum->members + i * MEMBER_WORDS, run, QP_RUN_WORDS) == 0)
            return true;
    return false;
}

/* Two commands that roll at once may make sums that share members. A later one counts only if each member
 * that an earlier one has comes with that earlier one. */
static bool is_sum_apart(const qp_cluster_row *rows, const entry *members, size_t n, size_t row)
{
    const qp_cluster_row *sum = &rows[row];
    for (size_t i = 0; i < sum->n_members; i++) {
        const uint64_t *run = sum->members + i * MEMBER_WORDS;
        for (size_t at = find_run(members, n, run);
             at < n && compare_words(members[at].run, run, QP_RUN_WORDS) == 0; at++) {
            const qp_cluster_row *other = &rows[members[at].row];
            if (members[at].row < row && !other->is_hidden && !other->is_gone &&
                !has_member(sum, other->run))
                return false;
        }
    }
    return true;
}

/* Sums hide what they were made of. */
static void hide_members(qp_cluster_row *rows, size_t n, const entry *runs,
                         const entry *members, size_t n_members)
{
    for (size_t i = 0; i < n; i++) {
        qp_cluster_row *sum = &rows[i];
        if (!sum->n_members || sum->is_hidden || sum->is_gone)
            continue;
        if (!is_sum_apart(rows, members, n_members, i)) {
            sum->is_hidden = true;
            continue;
        }
        for (size_t m = 0; m < sum->n_members; m++) {
            const uint64_t *run = sum->members + m * MEMBER_WORDS;
            for (size_t at = find_run(runs, n, run);
                 at < n && compare_words(runs[at].run, run, QP_RUN_WORDS) == 0; at++) {
                qp_cluster_row *row = &rows[runs[at].row];
                row->hidden_s = row->is_hidden ? row->hidden_s : sum->age_s;
                row->is_hidden = true;
            }
        }
    }
}

/* @return false: no memory */
static bool settle(qp_cluster *c)
{
    size_t n_members = 0, at = 0;
    qp_cluster_row *rows = c->rows.items;
    const size_t n = c->rows.n;
    if (n)
        qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0; i < n; i++)
        n_members += rows[i].n_members;
    entry *runs = qp_alloc(n, sizeof *runs), *members = qp_alloc(n_members, sizeof *members);
    if (runs && members) {
        for (size_t i = 0; i < n; i++) {
            rows[i].is_gone = qp_cluster_is_gone(c, rows[i].key);
            runs[i] = (entry){rows[i].run, i};
            for (size_t m = 0; m < rows[i].n_members; m++)
                members[at++] = (entry){rows[i].members + m * MEMBER_WORDS, i};
        }
        qsort(runs, n, sizeof *runs, compare_entries);
        qsort(members, n_members, sizeof *members, compare_entries);
        hide_earlier_states(rows, runs, n);
        hide_members(rows, n, runs, members, n_members);
    }
    qp_free(runs);
    qp_free(members);
    return runs && members;
}

/* Commands that import at once may have given the same number to several. @return false: no memory */
static bool number_visible(qp_cluster *c)
{
    const qp_cluster_row *rows = c->rows.items;
    int64_t last = 0;
    c->visible.n = 0;
    for (size_t i = 0; i < c->rows.n; i++) {
        if (rows[i].is_hidden || rows[i].is_gone)
            continue;
        qp_cluster_row *to = qp_buf_add(&c->visible);
        if (!to)
            return false;
        *to = rows[i];
        to->p.number = to->p.number > last ? to->p.number : last + 1;
        last = to->p.number;
    }
    return true;
}

bool qp_cluster_rows_read(qp_cluster *c, qp_error *error)
{
    bool is_good = true;
    qp_arena_fini(&c->arena);
    qp_arena_init(&c->arena);
    c->rows.n = 0;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = read_rows(c, i, error);
    /* keys that are gone are read last: what came in between is not among the rows */
    c->gone.n = 0;
    for (unsigned i = 0; is_good && i < c->n_shards; i++)
        is_good = qp_shard_read_gone(c, &c->shards[i], error);
    if (!is_good)
        return false;
    return (settle(c) && number_visible(c)) || qp_error_fail(error, "out of memory");
}

const qp_cluster_row *qp_cluster_row_of(const qp_cluster *c, int64_t number)
{
    const qp_cluster_row *rows = c->visible.items;
    const size_t i = QP_SEARCH(rows, c->visible.n, p.number, (uint64_t)number);
    return i < c->visible.n && rows[i].p.number == number ? &rows[i] : NULL;
}
