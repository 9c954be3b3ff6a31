/* test_unzstd.c: a few kilobytes of zstd do not become a full disk. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "format/trace.h"
#include "replay/read/trace.h"

enum { PIECE = 1 << 20, PIECES = 400, MOST = 200 << 20 };

static char path[] = "/tmp/qprof-zstd-XXXXXX";

/* PIECES MiB of zeros after a beginning, packed: 38 KB. */
static void make_bomb(const char *begin)
{
    static char zeros[PIECE], bytes[1 << 17];
    int fd = mkstemp(path);
    ZSTD_CStream *stream = ZSTD_createCStream();
    assert_true(fd >= 0 && stream);
    memset(zeros, 0, sizeof zeros);
    memcpy(zeros, begin, strlen(begin));
    for (int i = 0; i <= PIECES; i++) {
        ZSTD_inBuffer in = {zeros, i < PIECES ? sizeof zeros : 0, 0};
        size_t left;
        do {
            ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
            left = ZSTD_compressStream2(stream, &out, &in,
                                        i < PIECES ? ZSTD_e_continue : ZSTD_e_end);
            assert_false(ZSTD_isError(left));
            assert_int_equal(write(fd, bytes, out.pos), out.pos);
        } while (i < PIECES ? in.pos < in.size : left > 0);
        memset(zeros, 0, strlen(begin));
    }
    ZSTD_freeCStream(stream);
    close(fd);
}

static void assert_refused(const char *begin, const char *reason)
{
    qp_error error;
    const struct rlimit limit = {MOST, RLIM_INFINITY};
    make_bomb(begin);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    qp_trace *trace = qp_trace_open(path, &error);
    unlink(path);
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    assert_null(trace);
    if (!strstr(error.text, reason))
        fail_msg("%s", error.text);
}

static void what_is_no_trace_is_not_unpacked(void **state)
{
    (void)state;
    assert_refused("", "no trace in the zstd file");
}

static void a_bomb_that_begins_as_a_trace_has_a_limit(void **state)
{
    (void)state;
    assert_refused(QP_TRACE_MAGIC, "more than a thousand times as large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_trace_is_not_unpacked),
        cmocka_unit_test(a_bomb_that_begins_as_a_trace_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
