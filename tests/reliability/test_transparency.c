/* test_transparency.c: no call changes what belongs to the host: errno, signals, floating
 * point, folder, umask, descriptors, cancellation. reliability.md R4, 2.13. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/calls.h"
#include "unit/play.h"

enum { N_SIGNALS = 65, N_LOW = 64 };

typedef struct {
    int error, rounding, fp_flags, cancel_state, cancel_type;
    sigset_t blocked, pending;
    void (*handlers[N_SIGNALS])(int);
    char folder[256], language[64];
    mode_t mask;
    struct rlimit file_size;
    bool is_open[N_LOW]; /* descriptors 0 to 63: the library's are higher */
} host_state;

static host_state look(void)
{
    host_state s;
    memset(&s, 0, sizeof s);
    s.error = errno;
    s.rounding = fegetround();
    s.fp_flags = fetestexcept(FE_ALL_EXCEPT);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &s.cancel_state);
    pthread_setcancelstate(s.cancel_state, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &s.cancel_type);
    pthread_setcanceltype(s.cancel_type, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &s.blocked);
    sigpending(&s.pending);
    for (int i = 1; i < N_SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0)
            s.handlers[i] = action.sa_handler;
    }
    if (!getcwd(s.folder, sizeof s.folder))
        s.folder[0] = '\0';
    snprintf(s.language, sizeof s.language, "%s", setlocale(LC_ALL, NULL));
    s.mask = umask(0);
    umask(s.mask);
    getrlimit(RLIMIT_FSIZE, &s.file_size);
    for (int i = 0; i < N_LOW; i++)
        s.is_open[i] = fcntl(i, F_GETFD) >= 0;
    errno = s.error;
    return s;
}

static void assert_same(const char *call, const host_state *a, const host_state *b)
{
    const char *changed =
        a->error != b->error                                        ? "errno"
        : a->rounding != b->rounding                                ? "the rounding mode"
        : a->fp_flags != b->fp_flags                                ? "floating-point flags"
        : a->cancel_state != b->cancel_state                        ? "the cancel state"
        : a->cancel_type != b->cancel_type                          ? "the cancel type"
        : memcmp(&a->blocked, &b->blocked, sizeof a->blocked)       ? "blocked signals"
        : memcmp(&a->pending, &b->pending, sizeof a->pending)       ? "pending signals"
        : memcmp(a->handlers, b->handlers, sizeof a->handlers)      ? "a signal's handler"
        : strcmp(a->folder, b->folder)                              ? "the folder"
        : strcmp(a->language, b->language)                          ? "the locale"
        : a->mask != b->mask                                        ? "the umask"
        : memcmp(&a->file_size, &b->file_size, sizeof a->file_size) ? "a limit"
        : memcmp(a->is_open, b->is_open, sizeof a->is_open)         ? "a low descriptor"
                                                                    : NULL;
    if (changed)
        fail_msg("%s changed %s", call, changed);
}

static const char *words = "-output=run.qprof";

static void initialise_plain(void)
{
    qprof_initialize(words, NULL);
}

static void initialise_virtual(void)
{
    qprof_InitInfo info = {0, words, NULL, 1};
    qprof_initialize_ex(&info);
}

static void call_and_compare(const char *name, void (*call)(void))
{
    errno = 4711;
    host_state before = look();
    call();
    host_state after = look();
    assert_same(name, &before, &after);
}

static void make_host_unusual(void)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    raise(SIGUSR1); /* stays pending */
    umask(0135);
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
}

static void make_host_usual(void)
{
    sigset_t none;
    int number;
    sigemptyset(&none);
    sigaddset(&none, SIGUSR1);
    sigwait(&none, &number);
    pthread_sigmask(SIG_UNBLOCK, &none, NULL);
    umask(022);
    fesetround(FE_TONEAREST);
}

static void call_everything(void (*initialise)(void))
{
    make_host_unusual();
    call_and_compare("initialise", initialise);
    assert_int_equal(qprof_is_running(), 1);
    for (size_t i = 0; i < n_good_calls; i++)
        call_and_compare(good_calls[i].name, good_calls[i].call);
    for (size_t i = 0; i < n_bad_calls; i++)
        call_and_compare(bad_calls[i].name, bad_calls[i].call);
    call_and_compare("shutdown", qprof_shutdown);
    for (size_t i = 0; i < n_good_calls; i++)
        call_and_compare(good_calls[i].name, good_calls[i].call);
    call_and_compare("shutdown again", qprof_shutdown);
    make_host_usual();
}

static void no_call_changes_the_host_in_system_mode(void **state) /* R4 */
{
    (void)state;
    call_everything(initialise_plain);
}

static void no_call_changes_the_host_in_virtual_mode(void **state) /* R4 */
{
    (void)state;
    call_everything(initialise_virtual);
}

static void no_call_changes_the_host_with_other_clocks(void **state) /* R4 */
{
    static const char *const clocks[] = {
        "-output=run.qprof -time=adaptive",     "-output=run.qprof -time=sampled",
        "-output=run.qprof -clock=user",        "-output=run.qprof -clock=user+kernel",
        "-output=run.qprof -clock=page-faults", "-output=run.qprof -elapsed-source=monotonic"};
    (void)state;
    qprof_set_clock(NULL);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        words = clocks[i];
        call_everything(initialise_plain);
    }
    words = "-output=run.qprof";
}

static void growing_changes_nothing(void) /* many distinct paths: extents are taken */
{
    for (uintptr_t i = 0; i < 60000; i++)
        qprof_record_fn_entry(1 + i % 251, 1 + i);
    qprof_record_fn_exit(0);
}

static void growth_changes_nothing_either(void **state) /* R4, 2.1 */
{
    (void)state;
    qprof_set_clock(NULL);
    initialise_plain();
    call_and_compare("growing", growing_changes_nothing);
}

static void open_descriptors_are_high_and_closed_by_exec(void **state) /* R10, 2.13 */
{
    play_ctx *p = play_start(state, "");
    play(p, "f( 1 )");
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    int n_ours = 0;
    for (struct dirent *e; (e = readdir(d));) {
        int fd = atoi(e->d_name);
        char path[64], target[512];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (*e->d_name == '.' || n <= 0)
            continue;
        target[n] = '\0';
        if (strstr(target, ".qprof")) {
            n_ours++;
            assert_true(fd >= 1000);
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        }
    }
    closedir(d);
    assert_int_equal(n_ours, 1);
}

static void files_are_private_whatever_the_umask(void **state) /* R10 */
{
    play_ctx *p = *state;
    struct stat st;
    mode_t mask = umask(0);
    play_begin(p, "");
    play(p, "f( 1 )");
    assert_int_equal(stat(qprof_live_file(), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    play_peek(p);
    assert_int_equal(stat("peek.qprof", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    play_end(p);
    umask(mask);
    assert_int_equal(stat("run.qprof", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(no_call_changes_the_host_in_system_mode),
        PLAY_TEST(no_call_changes_the_host_in_virtual_mode),
        PLAY_TEST(no_call_changes_the_host_with_other_clocks),
        PLAY_TEST(growth_changes_nothing_either),
        PLAY_TEST(open_descriptors_are_high_and_closed_by_exec),
        PLAY_TEST(files_are_private_whatever_the_umask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
