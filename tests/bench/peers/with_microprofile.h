/* with_microprofile.h: microprofile, one frame a batch; the frame's sums are made in the batch. */
#include "microprofile.h"

enum { N_METHODS = 24 };
static MicroProfileToken tokens[N_METHODS];

static inline void begin_microprofile(int is_off)
{
    (void)is_off;
    MicroProfileOnThreadCreate("main");
    for (int i = 0; i < N_METHODS; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        tokens[i] = MicroProfileGetToken("native", name, 0, MicroProfileTokenTypeCpu, 0);
    }
    MicroProfileSetEnableAllGroups(true);
    MicroProfileFlip(nullptr);
    MicroProfileFlip(nullptr);
}
#define BEGIN(is_off) begin_microprofile(is_off)
#define OUTERMOST     1
#define END()         ((void)0)
#define BATCH_BEGIN() ((void)0)
#define BATCH()       MicroProfileFlip(nullptr)

#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    MicroProfileEnter(tokens[method])
#define LEAVE(method, caller) MicroProfileLeave()
