/* pace.c: see pace.h.
 *
 * A path whose calls are few or all timed has no record. Its blocks are all of 2^k calls, k is in
 * the low byte of self_max, and the mean of squared ticks above it; how many calls were
 * timed follows from the number of the next one. */
#include "record/clock/pace.h"

#include "base/atomic.h"
#include "base/text/wide.h"

enum {
    SHIFT_MAX = 8, /* one call in 256 */
    FIRST_SHIFT_MAX = 6,
    GROWTH_AT_ONCE = 4,  /* k of a path that is not new, where timing costs too much */
    N_FIRST = 16,        /* timed calls until blocks grow */
    GROWTH_SHIFT = 3,    /* a block has at most an eighth of the calls that were timed before */
    RATE_SHIFT = 6,      /* means follow the last 2^6 timed calls */
    SHARE_PERCENT = 1,   /* of thread time that timing may take */
    SAVINGS = 2000,      /* calls that can be paid from the balance, or owed */
    REACH_AT_FIRST = 20, /* times the cost, at first ... */
    REACH_MAX = 5000,    /* ... and at most */
    REACH_OF_NEW = 50,
    UNITS_SHIFT = 4, /* if no time is measured, nothing is known of what timing costs */
    FRACTION = 6     /* bits of a mean below 1 */
};
static const uint64_t MEAN_MAX = 1ull << 40;

static uint64_t square(uint64_t ticks)
{
    enum { MAX = 1 << 24 }; /* all calls of such a length are timed */
    return ticks < MAX ? ticks * ticks : (uint64_t)MAX * MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void qp_pace_begin(qp_pace *p, const qp_pace_rules *rules, uint64_t seed, uint64_t now)
{
    *p = (qp_pace){.tick = now,
                   .before = {now, now},
                   .random = seed | 1,
                   .paid_at = now,
                   .reach = square(REACH_AT_FIRST * rules->cost)};
}

void qp_pace_tick(qp_pace *p, uint64_t at)
{
    uint64_t before = qp_load(&p->tick);
    if (at <= before)
        return;
    qp_store(&p->before[1], qp_load(&p->before[0]));
    qp_store(&p->before[0], before);
    qp_publish(&p->tick, at);
}

/* ---- the next block ---------------------------------------------------------------------- */

static uint64_t draw(qp_pace *p, unsigned shift)
{
    if (!shift)
        return 0;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random >> (64 - shift);
}

/* The largest k for which 4^k times the squared ticks are within reach: the ratio of the ticks
 * themselves is 2^k. */
static unsigned shift_of(uint64_t reach, uint64_t squares)
{
    if (squares >= reach)
        return 0;
    unsigned twice = (unsigned)(__builtin_clzll(squares | 1) - __builtin_clzll(reach));
    return (unsigned)least((twice - (squares << twice > reach)) / 2, SHIFT_MAX);
}

/* The blocks of a path of which nothing is known: 1 unless timing costs the thread too much. */
static unsigned first_shift(const qp_pace *p, const qp_pace_rules *rules)
{
    unsigned shift = rules->cost ? shift_of(p->reach, square(REACH_OF_NEW * rules->cost)) : 0;
    return shift < FIRST_SHIFT_MAX ? shift : FIRST_SHIFT_MAX;
}

static unsigned next_shift(const qp_pace *p, const qp_pace_rules *rules, uint64_t mean_square,
                           uint64_t n_timed, unsigned shift)
{
    unsigned wanted = rules->cost ? shift_of(p->reach, mean_square >> FRACTION) : UNITS_SHIFT;
    unsigned known = 0, first = first_shift(p, rules);
    if (first > GROWTH_AT_ONCE && first > shift)
        first = GROWTH_AT_ONCE;
    if (n_timed >= N_FIRST)
        known = 63u - GROWTH_SHIFT - (unsigned)__builtin_clzll(n_timed);
    return (unsigned)least(wanted, known > first ? known : first);
}

/* Pay for a call, from the share of the time since the last payment. */
static void pay(qp_pace *p, const qp_pace_rules *rules, uint64_t now)
{
    int64_t most = (int64_t)(SAVINGS * rules->cost);
    uint64_t earned = least(now - p->paid_at, (uint64_t)most * 100) * SHARE_PERCENT / 100;
    p->paid_at = now;
    p->balance += (int64_t)earned - (int64_t)rules->cost;
    p->balance = p->balance > most ? most : p->balance < -most ? -most : p->balance;
    if (p->balance < 0)
        p->reach = least(p->reach + p->reach / 25, square(REACH_MAX * rules->cost));
    else if (p->reach > square(rules->cost))
        p->reach -= p->reach / 100;
}

/* ---- a path without a record ------------------------------------------------------------- */

static unsigned light_shift(const qprof_node *n)
{
    return n->self_max & 0xFF;
}

static uint64_t light_n_timed(const qprof_node *n)
{
    return (n->self_min - 1) >> light_shift(n);
}

static uint64_t light_mean_square(const qprof_node *n)
{
    return n->self_max >> 8;
}

static void light_store(qprof_node *n, unsigned shift, uint64_t mean_square)
{
    QPROF_STORE(n->self_max, mean_square << 8 | shift);
}

void qp_pace_path(qp_pace *p, const qp_pace_rules *rules, qprof_node *n)
{
    unsigned shift = first_shift(p, rules);
    light_store(n, shift, 0);
    QPROF_STORE(n->self_min, 1 + draw(p, shift));
}

/* The mean of one value more than n, all in 64ths. */
static uint64_t mean_with(uint64_t mean, uint64_t n, uint64_t value)
{
    unsigned rate = n >> RATE_SHIFT ? RATE_SHIFT : n ? 64u - (unsigned)__builtin_clzll(n) : 0;
    value <<= FRACTION;
    return value > mean ? mean + ((value - mean) >> rate) : mean - ((mean - value) >> rate);
}

static uint64_t cap_of(const qp_pace_rules *rules, unsigned shift)
{
    uint64_t period = qp_load(&rules->period);
    return period && shift ? period >> shift : UINT64_MAX;
}

bool qp_pace_needs_record(const qp_pace *p, const qp_pace_rules *rules, const qprof_node *n,
                          uint64_t ticks)
{
    unsigned shift = light_shift(n);
    uint64_t n_timed = light_n_timed(n);
    if (ticks > cap_of(rules, shift))
        return true;
    uint64_t mean_square = mean_with(light_mean_square(n), n_timed, square(ticks));
    unsigned wanted = next_shift(p, rules, mean_square, n_timed + 1, shift);
    return wanted < shift || (wanted > shift && n_timed + 1 >= N_FIRST);
}

bool qp_pace_has_untimed(const qprof_node *n)
{
    return light_shift(n);
}

/* In 1024 ticks squared, rounded up: not 0. */
static void add_variance(qp_node_timing *t, qp_product more)
{
    qp_store(&t->variance, qp_product_shifted(more, 10, t->variance));
}

/* What a call that represents 2^shift contributes, if it is so far from the mean. */
static qp_product spread(unsigned shift, uint64_t ticks)
{
    uint64_t weight = 1ull << shift;
    return qp_product_times(qp_product_of(weight * (weight - 1), ticks), ticks);
}

void qp_pace_record(const qprof_node *n, qp_node_timing *t)
{
    unsigned shift = light_shift(n);
    uint64_t n_timed = light_n_timed(n);
    t->covered = n_timed << shift;
    t->next_block = t->covered + 1;
    t->n_timed = n_timed;
    t->mean_square = light_mean_square(n);
    t->mean = n_timed ? (n->self << FRACTION) / t->covered : 0;
    if (shift && n_timed)
        add_variance(t, qp_product_times(qp_product_times(spread(shift, 1), n_timed),
                                         t->mean_square >> FRACTION));
    t->shift = t->next_shift = (uint8_t)shift;
}

static void end_light(qp_pace *p, qprof_node *n, uint64_t ticks)
{
    unsigned shift = light_shift(n);
    uint64_t n_timed = light_n_timed(n), begin = (n_timed + 1) << shift;
    uint64_t mean_square = mean_with(light_mean_square(n), n_timed, square(ticks));
    if (begin < n->n_calls) /* ends of timed calls were not seen */
        begin = n->n_calls;
    QPROF_ADD(n->self, ticks << shift);
    light_store(n, shift, mean_square);
    QPROF_STORE(n->self_min, begin + 1 + draw(p, shift));
}

/* ---- a path with a record ---------------------------------------------------------------- */

static void end_recorded(qp_pace *p, const qp_pace_rules *rules, qprof_node *n,
                         qp_node_timing *t, uint64_t ticks)
{
    unsigned shift = t->next_shift;
    uint64_t cap = cap_of(rules, shift), part = ticks < cap ? ticks : cap;
    uint64_t mean = t->mean >> FRACTION;
    if (shift)
        add_variance(t, spread(shift, part > mean ? part - mean : mean - part));
    QPROF_ADD(n->self, part << shift);
    qp_bump(&t->beyond, ticks - part);
    qp_bump(&t->covered, 1ull << shift);
    t->mean = mean_with(t->mean, t->n_timed, least(part, MEAN_MAX));
    t->mean_square = mean_with(t->mean_square, t->n_timed, square(part));
    qp_bump(&t->n_timed, 1);
    t->shift = (uint8_t)shift;
    t->next_shift = (uint8_t)next_shift(p, rules, t->mean_square, t->n_timed, shift);
    uint64_t begin = t->next_block + (1ull << shift);
    if (begin <= n->n_calls)
        begin = n->n_calls + 1;
    t->next_block = begin;
    QPROF_STORE(n->self_min, begin + draw(p, t->next_shift));
}

void qp_pace_end(qp_pace *p, const qp_pace_rules *rules, qprof_node *n, qp_node_timing *t,
                 uint64_t ticks, uint64_t now)
{
    pay(p, rules, now);
    if (t)
        end_recorded(p, rules, n, t, ticks);
    else
        end_light(p, n, ticks);
}

/* A tick represents the time since the one before it: so ticks represent all time, and a call gets
 * its share in the mean. Its last part, up to the cap, is left to the timed calls. That a call was
 * found by one tick is chance; of one that was found by several, only the ends are not known. */
void qp_pace_crossed(qp_pace *p, const qp_pace_rules *rules, const qprof_node *n,
                     qp_node_timing *t, uint64_t begun, uint64_t now)
{
    uint64_t tick = qp_observe(&p->tick), before = qp_load(&p->before[0]);
    uint64_t period = qp_load(&rules->period), recent = tick - before;
    unsigned shift = n->n_calls < t->next_block ? t->shift : t->next_shift;
    p->balance -= (int64_t)rules->cost;
    if (!shift || !period)
        return;
    if (now < tick + (period >> shift)) {
        tick = before;
        before = qp_load(&p->before[1]);
    }
    if (tick <= begun)
        return;
    uint64_t ticks = tick - begun, end = recent > period ? recent : period;
    uint64_t unknown = before > begun ? end : ticks;
    add_variance(t, qp_product_of(unknown, unknown));
    qp_bump(&t->beyond, ticks);
}

void qp_pace_add(qprof_node *n, qp_node_timing *t, uint64_t ticks)
{
    if (t)
        qp_bump(&t->beyond, ticks);
    else
        QPROF_ADD(n->self, ticks);
}

void qp_pace_clear(qprof_node *n, qp_node_timing *t)
{
    light_store(n, 0, 0);
    QPROF_STORE(n->self_min, 1);
    if (t)
        *t = (qp_node_timing){.next_block = 1};
}
