/* with_qprof.h: the programs record themselves by qprof; its options are in $QPROF.
 *
 * WAY is INLINE (a handle and the inline path), EXPORTED (the functions of the library) or TOKEN (a
 * host that keeps one word in its own frame). */
#include "qprof.h"

#define INLINE   1
#define EXPORTED 2
#define TOKEN    3

#if WAY == TOKEN && QPROF_INLINE_VERSION < 3
#error "tokens begin with version 3"
#endif

static qprof_thread *handle;

#if WAY == INLINE
#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    qprof_entry(handle, (method), here)
#define LEAVE(method, caller) qprof_exit(handle, (caller))
#elif WAY == EXPORTED
#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    qprof_record_fn_entry((method), here)
#define LEAVE(method, caller) qprof_record_fn_exit(caller)
#else
#define FRAME                 qprof_token
#define ENTER(method, caller) FRAME here = qprof_token_enter(handle, (caller), (method))
#define LEAVE(method, caller) qprof_token_leave(handle, here)
#endif

enum { MAIN = 24, N_METHODS = 24 };
#if WAY == TOKEN
static FRAME outermost;
#define OUTERMOST outermost
#else
#define OUTERMOST 1
#endif

/* @param is_off  nothing is recorded, and no run begins */
static inline void begin_qprof(int is_off)
{
    if (!is_off) {
        if (qprof_initialize("", NULL) != 0) {
            fprintf(stderr, "%s\n", qprof_error_text());
            exit(1);
        }
        for (uintptr_t i = 1; i <= N_METHODS; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%u", (unsigned)i);
            qprof_register_method_id(i, name, NULL, 0, "native", NULL, 0);
        }
    }
    handle = qprof_thread_handle(QPROF_INLINE_VERSION);
#if WAY == TOKEN
    outermost = qprof_token_enter(handle, QPROF_NO_TOKEN, MAIN);
#else
    qprof_record_fn_entry(MAIN, OUTERMOST);
#endif
}
#define BEGIN(is_off) begin_qprof(is_off)

static inline void end_qprof(void)
{
#if WAY == TOKEN
    qprof_token_leave(handle, outermost);
#else
    qprof_record_fn_exit(0);
#endif
    qprof_shutdown();
}
#define END() end_qprof()
