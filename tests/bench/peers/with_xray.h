/* with_xray.h: the compiler leaves room for calls of XRay, clang -fxray-instrument; the mode is in
 * $XRAY_MODE, its options in $XRAY_WORDS. Without a mode the places stay as they are. */
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

NOT_RECORDED static void begin_xray(int is_off)
{
    const char *mode = getenv("XRAY_MODE"), *words = getenv("XRAY_WORDS");
    if (is_off)
        return;
    if (!mode || !words || __xray_log_select_mode(mode) != XRAY_REGISTRATION_OK ||
        __xray_log_init_mode(mode, words) != XRAY_LOG_INITIALIZED ||
        __xray_patch() != SUCCESS) {
        fprintf(stderr, "XRay does not start\n");
        exit(1);
    }
}

NOT_RECORDED static void end_xray(void)
{
    __xray_unpatch();
    if (__xray_log_finalize() == XRAY_LOG_FINALIZED)
        __xray_log_flushLog();
}
#define BEGIN(is_off) begin_xray(is_off)
#define OUTERMOST     1
#define END()         end_xray()
