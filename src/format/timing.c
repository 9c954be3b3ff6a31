/* timing.c: the estimate of a path's time from the calls that -time=adaptive timed. */
#include "format/layout.h"

/* Without a record all blocks are of 2^k calls. */
static qp_path_time light_time(const qp_node *n)
{
    uint32_t shift = n->self_max & 0xFF;
    if (!shift || shift > 8) /* all are timed, unless there was no memory for the first */
        return (qp_path_time){(double)n->self, n->self_min > n->n_calls + 1};
    double weight = (double)(1u << shift), mean_square = (double)(n->self_max >> 8) / 64;
    double n_timed = n->self_min ? (double)((n->self_min - 1) >> shift) : 0;
    double variance = weight * (weight - 1) * n_timed * mean_square;
    return (qp_path_time){(double)n->self, variance > 1 ? variance : 1};
}

qp_path_time qp_path_time_of(const qp_node *n, const qp_node_timing *t, uint64_t n_calls)
{
    if (!t)
        return light_time(n);
    double scale = 1, covered = (double)t->covered;
    if (t->n_timed >= QP_TIMING_KNOWN && t->covered)
        scale = (double)n_calls / covered; /* the last block may not be over, or not begun */
    double variance = 1 + 1024 * (double)t->variance;
    return (qp_path_time){(double)n->self * scale + (double)t->beyond,
                          n_calls == t->n_timed ? 0 : variance};
}

uint64_t qp_time_off(uint64_t interval, uint64_t elapsed, uint64_t cpu)
{
    enum {
        DRIFT_PART = 64, /* of the time before the interval: more than interrupts take ... */
        DRIFT_MAX_NS =
            1000000,    /* ... and not more than this, which no long wait is missed for */
        LEAST_NS = 2000 /* no switch of threads is shorter */
    };
    uint64_t before = elapsed > interval ? elapsed - interval : 0, drift = before / DRIFT_PART;
    uint64_t running = cpu + (drift < DRIFT_MAX_NS ? drift : DRIFT_MAX_NS);
    uint64_t off = elapsed > running ? elapsed - running : 0;
    if (off < LEAST_NS)
        return 0;
    return off < interval ? off : interval;
}
