/* with_remotery.h: Remotery, which adds up the samples of one name below one caller; a batch is a tree. */
#include <unistd.h>

#include "Remotery.h"

static Remotery *remotery;
static rmtU32 hashes[24];
static unsigned long n_kept;

static unsigned long calls_below(rmtSample *sample)
{
    unsigned long sum = 0;
    rmtSampleIterator at;
    for (_rmt_IterateChildren(&at, sample); _rmt_IterateNext(&at);) {
        unsigned long n = _rmt_SampleGetCallCount(at.sample);
        sum += n + calls_below(at.sample);
    }
    return sum;
}

static void on_tree(void *context, rmtSampleTree *tree)
{
    (void)context;
    if (strcmp(_rmt_SampleTreeGetThreadName(tree), "programs") != 0)
        return; /* its own threads */
    __atomic_fetch_add(&n_kept, calls_below(_rmt_SampleTreeGetRootSample(tree)),
                       __ATOMIC_RELAXED);
}

static inline void begin_remotery(int is_off)
{
    (void)is_off;
    rmtSettings *settings = _rmt_Settings();
    settings->sampletree_handler = on_tree;
    settings->limit_connections_to_localhost = RMT_TRUE;
    if (_rmt_CreateGlobalInstance(&remotery) != RMT_ERROR_NONE)
        exit(1);
    _rmt_SetCurrentThreadName("programs");
}

static inline void end_remotery(void)
{
    usleep(300000); /* its own thread takes the last tree */
    printf("kept %lu\n", __atomic_load_n(&n_kept, __ATOMIC_RELAXED));
}
#define BEGIN(is_off) begin_remotery(is_off)
#define OUTERMOST     1
#define END()         end_remotery()
#define BATCH_BEGIN() _rmt_BeginCPUSample("batch", 0, NULL)
#define BATCH()       _rmt_EndCPUSample()

#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    _rmt_BeginCPUSample("m" #method, RMTSF_Aggregate | RMTSF_Recursive, &hashes[method])
#define LEAVE(method, caller) _rmt_EndCPUSample()
