/* trg.c: event triggers in few words. */
#include "unit/trg.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/clock.h"

char trg_noted[4096];

qprof_TrgID trg_add(trg t)
{
    return qprof_trg_add(
        t.event, t.is_disabled ? QPROF_TRG_DISABLE : QPROF_TRG_ENABLE, t.context, t.task,
        t.object, t.is_conditional ? QPROF_TRG_COND_YES : QPROF_TRG_COND_NO, t.kind, t.left,
        t.op, t.right, t.is_one_shot, t.chain, t.action, t.function, t.is_deferred, t.argument);
}

qprof_TrgID trg_must(trg t)
{
    qprof_TrgID id = trg_add(t);
    assert_non_null(id);
    return id;
}

uint64_t trg_hits(qprof_TrgID id)
{
    qprof_TrgInfo info;
    assert_int_equal(qprof_trg_get(id, &info), 0);
    return info.hits;
}

int trg_is_enabled(qprof_TrgID id)
{
    qprof_TrgInfo info;
    assert_int_equal(qprof_trg_get(id, &info), 0);
    return info.status == QPROF_TRG_ENABLE;
}

void assert_hits(qprof_TrgID id, uint64_t hits)
{
    assert_int_equal(trg_hits(id), hits);
}

int trg_note(intptr_t argument)
{
    size_t n = strlen(trg_noted);
    snprintf(trg_noted + n, sizeof trg_noted - n, "%s%ld", n ? " " : "", (long)argument);
    return 0;
}

void assert_noted(const char *arguments)
{
    assert_string_equal(trg_noted, arguments);
}

void trg_begin(play_ctx *p, const char *options)
{
    trg_noted[0] = '\0';
    play_begin(p, options);
    trg_must((trg){.event = 65535, .is_disabled = 1});
    assert_int_equal(qprof_trg_on(), 0);
}

void trg_wait(const int *counter, int value)
{
    for (unsigned tries = 0; qp_observe(counter) != value; tries++) {
        assert_true(tries < 10000);
        qp_clock_sleep_until(qp_clock_monotonic() + 1000000);
    }
}

int trg_apply(const char *file, char *text)
{
    int fd = open(qprof_live_file(), O_RDWR);
    assert_true(fd >= 0);
    qp_head *h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(h != MAP_FAILED);
    char whole[PATH_MAX];
    assert_non_null(realpath(file, whole));
    assert_true(strlen(whole) < sizeof h->request_file);
    strcpy(h->request_file, whole);
    uint32_t request = h->request + 1;
    qp_publish(&h->request, request);
    qp_fetch_add(&h->bell, 1);
    syscall(SYS_futex, &h->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    for (unsigned tries = 0; qp_observe(&h->answer) != request; tries++) {
        assert_true(tries < 10000);
        usleep(1000);
    }
    int code = h->answer_code;
    snprintf(text, 256, "%s", h->answer_text);
    munmap(h, 4096);
    return code;
}
