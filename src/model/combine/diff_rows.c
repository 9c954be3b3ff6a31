/* diff_rows.c: the rows of a comparison: the medians of each side, and what of a difference may be chance.
 *
 * Start reading at qp_diff_finish(); statistics are in noise.c and growth.c. */
#include <math.h>
#include <string.h>

#include "model/combine/diff.h"
#include "model/figures/figures.h"

typedef qp_diff_entry entry;

static const entry *entry_at(const qp_diff *d, uint32_t i)
{
    return (const entry *)d->own->entries.items + i;
}

double qp_diff_variance(const qp_diff_sample *s, qp_diff_measure measure)
{
    return measure == QP_DIFF_OF_SELF    ? s->self_variance
           : measure == QP_DIFF_OF_TOTAL ? s->total_variance
                                         : 0;
}

static void fill_figure(qp_diff_figure *to, qp_noise *x, const entry *e, qp_diff_measure which)
{
    for (int side = 0; side < QP_DIFF_SIDES; side++) {
        qp_noise_side *s = &x->sides[side];
        memset(s->values, 0, s->n * sizeof *s->values);
        s->variance = 0;
    }
    for (const qp_diff_sample *one = e->samples; one; one = one->next) {
        x->sides[one->side].values[one->run] = one->figures[which];
        x->sides[one->side].variance = qp_diff_variance(one, which);
    }
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        to->sides[side] = qp_noise_median(&x->sides[side]);
    to->noise = qp_noise_between(x);
}

/* What of a change of calls may be chance, because the collector's calls are among them: all that they
 * are if there are no others. */
static uint64_t chance_of(const qp_diff_figure *calls, const qp_diff_figure *counted)
{
    uint64_t sides[QP_DIFF_SIDES];
    for (int i = 0; i < QP_DIFF_SIDES; i++)
        sides[i] = calls->sides[i] - counted->sides[i];
    uint64_t least = sides[0] < sides[1] ? sides[0] : sides[1],
             most = sides[0] + sides[1] - least;
    return counted->sides[0] || counted->sides[1] ? most - least : most;
}

/* Time that was only waited is a change as well, by which nothing is ranked. */
static qp_diff_state state_of(const qp_diff *d, const qp_diff_row *row,
                              const qp_diff_figure *counted, const entry *e)
{
    bool is_in[QP_DIFF_SIDES] = {false};
    for (const qp_diff_sample *x = e->samples; x; x = x->next)
        is_in[x->side] |= x->figures[QP_DIFF_OF_COUNTED] || x->figures[QP_DIFF_OF_TOTAL];
    if (is_in[QP_DIFF_BASE] != is_in[QP_DIFF_NEW])
        return is_in[QP_DIFF_NEW] ? QP_DIFF_ADDED : QP_DIFF_GONE;
    return qp_diff_is_outside(counted) || qp_diff_is_outside(&row->self) ||
                   qp_diff_is_outside(qp_diff_self(d, row))
               ? QP_DIFF_CHANGED
               : QP_DIFF_ALIKE;
}

static void fill_row(qp_diff *d, qp_noise *x, uint32_t i)
{
    const entry *e = entry_at(d, i);
    const qp_diff_identity *k =
        (const qp_diff_identity *)d->own->identities.items + e->identity;
    qp_diff_row *row = &d->rows[i];
    *row = (qp_diff_row){.name = k->name,
                         .module = k->module,
                         .file = k->file,
                         .line = k->line,
                         .function = e->identity,
                         .parent = e->parent,
                         .depth = i ? d->rows[e->parent].depth + 1 : 0,
                         .has_hidden = e->has_hidden};
    qp_diff_figure counted = {.noise = 0};
    if (d->has_calls) {
        fill_figure(&row->calls, x, e, QP_DIFF_OF_CALLS);
        fill_figure(&counted, x, e, QP_DIFF_OF_COUNTED);
        uint64_t chance = chance_of(&row->calls, &counted);
        row->calls.noise = row->calls.noise > chance ? row->calls.noise : chance;
    }
    if (d->has_times) {
        fill_figure(&row->self, x, e, QP_DIFF_OF_SELF);
        fill_figure(&row->total, x, e, QP_DIFF_OF_TOTAL);
    }
    if (d->has_waits) {
        fill_figure(&row->self_run, x, e, QP_DIFF_OF_SELF_RUN);
        fill_figure(&row->total_run, x, e, QP_DIFF_OF_TOTAL_RUN);
    }
    row->state = state_of(d, row, &counted, e);
    d->n_states[row->state] += i > 0;
}

/* The times of row 0: where much of one side was waiting, elapsed time says little of the program. */
static bool waits_are_shown(const qp_diff *d)
{
    const qp_diff_row *whole = &d->rows[0];
    bool are_shown = false;
    for (int side = 0; d->has_waits && side < QP_DIFF_SIDES; side++) {
        uint64_t total = whole->total.sides[side], run = whole->total_run.sides[side];
        are_shown |= qp_waits_are_shown(total > run ? total - run : 0, total);
    }
    return are_shown;
}

bool qp_diff_finish(qp_diff *d)
{
    qp_noise x;
    bool is_ok = qp_noise_init(&x, d->n_runs[QP_DIFF_BASE], d->n_runs[QP_DIFF_NEW]);
    d->has_noise = d->own->is_estimated || x.n_distances > 0;
    d->n_rows = (uint32_t)d->own->entries.n;
    d->rows = qp_alloc(d->n_rows, sizeof *d->rows);
    for (uint32_t i = 0; is_ok && d->rows && i < d->n_rows; i++) {
        fill_row(d, &x, i);
        d->is_by_run = i ? d->is_by_run : !d->is_elapsed && waits_are_shown(d);
    }
    qp_noise_fini(&x);
    return is_ok && d->rows;
}

int64_t qp_diff_change(const qp_diff_figure *f)
{
    uint64_t base = f->sides[QP_DIFF_BASE], new = f->sides[QP_DIFF_NEW];
    uint64_t size = new > base ? new - base : base - new;
    int64_t change = size < INT64_MAX ? (int64_t)size : INT64_MAX;
    return new < base ? -change : change;
}

bool qp_diff_is_outside(const qp_diff_figure *f)
{
    int64_t change = qp_diff_change(f);
    return (uint64_t)(change < 0 ? -change : change) > f->noise;
}

const qp_diff_figure *qp_diff_self(const qp_diff *d, const qp_diff_row *row)
{
    return d->is_by_run ? &row->self_run : &row->self;
}

const qp_diff_figure *qp_diff_total(const qp_diff *d, const qp_diff_row *row)
{
    return d->is_by_run ? &row->total_run : &row->total;
}

qp_diff_figure qp_diff_wait(const qp_diff_figure *elapsed, const qp_diff_figure *run)
{
    qp_diff_figure wait = {.noise = elapsed->noise > run->noise ? elapsed->noise : run->noise};
    for (int side = 0; side < QP_DIFF_SIDES; side++)
        wait.sides[side] = elapsed->sides[side] > run->sides[side]
                               ? elapsed->sides[side] - run->sides[side]
                               : 0;
    return wait;
}
