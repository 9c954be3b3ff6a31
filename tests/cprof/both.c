/* both.c: a host linked with both libraries: f is libqprof's, called 3 times, g libcprof's,
 * called 5 times; the inline path belongs to libqprof. */
#include "cprof.h"

static int use_inline_path(void)
{
    qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
    for (int i = 0; i < 3; i++) {
        qprof_entry(th, 1, 1);
        qprof_exit(th, 0);
    }
    return qprof_current_method_id() == 0;
}

int main(void)
{
    if (qprof_initialize("-output=both.qprof", NULL) != 0 ||
        cprof_initialize("-output=both.pcv", NULL) != 0)
        return 1;
    qprof_register_method_id(1, "f", NULL, QPROF_METHOD_FLAGS_NONE, "both.x", NULL, 0);
    cprof_register_method_id(1, "g", NULL, QPROF_METHOD_FLAGS_NONE, "both.x", NULL, 0);
    cprof_context("a test");
    for (int i = 0; i < 5; i++) {
        cprof_record_fn_entry(1, 1);
        cprof_record_fn_exit(0);
    }
    if (!use_inline_path() || cprof_live_summary(stdout) != 0)
        return 2;
    cprof_shutdown();
    qprof_shutdown();
    return 0;
}
