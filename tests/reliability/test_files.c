/* test_files.c: outputs that cannot be had, disks that are full, descriptors that the host
 * closes. reliability.md 2.1, 2.2, 2.11. What changes limits or mounts runs in a child. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/play.h"

enum { CHILD_PASSED = 0, CHILD_FAILED = 1, CHILD_CANNOT = 77 };

/* Run in a child, so that limits, mounts and broken descriptors end with it. */
static int in_child(int (*body)(play_ctx *), play_ctx *p)
{
    fflush(NULL);
    int child = fork();
    if (child == 0)
        _exit(body(p));
    return play_child_status(child);
}

static void assert_in_child(int (*body)(play_ctx *), play_ctx *p)
{
    int status = in_child(body, p);
    if (status == CHILD_CANNOT) {
        print_message("this machine does not allow it: not tested\n");
        skip();
    }
    assert_int_equal(status, CHILD_PASSED);
}

/* As many distinct paths as fill some megabytes. @return entries made */
static uint64_t record_many_paths(unsigned n)
{
    for (uintptr_t i = 0; i < n; i++) {
        if (i % 100 == 0)
            qprof_record_fn_exit(0);
        qprof_record_fn_entry(1 + i * 2654435761u % 997, 1 + i);
    }
    return n;
}

static bool loads(const char *file, uint64_t n_calls)
{
    qp_error error;
    qp_model *m;
    qp_load_status status = qp_model_load(file, NULL, &m, &error);
    bool fits = status != QP_LOAD_UNUSABLE && (!n_calls || m->run.calls == n_calls);
    qp_model_free(m);
    return fits;
}

/* ---- outputs that are something else ----------------------------------------------------- */

static void make_folder(void)
{
    assert_int_equal(mkdir("run.qprof", 0700), 0);
}

static void make_fifo(void)
{
    assert_int_equal(mkfifo("run.qprof", 0600), 0);
}

static void make_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "run.qprof"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void make_file(void)
{
    int fd = open("run.qprof", O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "precious", 8), 8);
    close(fd);
}

static void make_link(void)
{
    int fd = open("target", O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "precious", 8), 8);
    close(fd);
    assert_int_equal(symlink("target", "run.qprof"), 0);
}

static void make_dangling_link(void)
{
    assert_int_equal(symlink("nowhere", "run.qprof"), 0);
}

static void make_link_to_itself(void)
{
    assert_int_equal(symlink("run.qprof", "run.qprof"), 0);
}

static void what_stands_where_the_output_should_be_is_left_alone(void **state) /* 2.1 */
{
    static void (*const makers[])(void) = {make_folder,        make_fifo, make_socket,
                                           make_file,          make_link, make_dangling_link,
                                           make_link_to_itself};
    play_ctx *p = *state;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct stat before, after;
        makers[i]();
        assert_int_equal(lstat("run.qprof", &before), 0);
        int code = qprof_initialize("-output=run.qprof", NULL);
        assert_true(code == 0 || code == QPROF_E_IO || code == QPROF_E_ARG);
        play(p, "f( 3 )");
        p->n_methods = 0;
        qprof_shutdown();
        assert_int_equal(lstat("run.qprof", &after), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_int_equal(before.st_mode, after.st_mode);
        assert_int_equal(before.st_size, after.st_size);
        assert_false(play_file_exists("nowhere"));
        if (code == 0)
            assert_true(loads("run.qprof.1", 1));
        unlink("run.qprof.1");
        if (unlink("run.qprof"))
            rmdir("run.qprof");
        unlink("target");
    }
}

static void an_output_that_cannot_be_written_leaves_the_live_file(void **state) /* 2.1, 2.2 */
{
    static char long_name[600] = "-output=";
    const char *const rows[] = {"-output=no/such/folder/x.qprof", "-output=/proc/x.qprof",
                                "-output=/dev/null/x.qprof", long_name};
    play_ctx *p = *state;
    memset(long_name + 8, 'n', 400);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char live[512];
        int code = qprof_initialize(rows[i], NULL);
        assert_true(code == 0 || code == QPROF_E_IO || code == QPROF_E_ARG);
        if (code)
            continue;
        snprintf(live, sizeof live, "%s", qprof_live_file());
        p->n_methods = 0;
        play(p, "f( 3 )");
        qprof_shutdown();
        assert_true(qprof_diagnostic("e_io") > 0);
        assert_true(loads(live, 1));
        unlink(live);
    }
}

static int write_to_a_read_only_folder(play_ctx *p)
{
    char live[512];
    if (mkdir("closed", 0500) || (geteuid() == 0 && (chmod(".", 0755) || setuid(65534))))
        return CHILD_CANNOT;
    int code = qprof_initialize("-output=closed/x.qprof", NULL);
    if (code)
        return code == QPROF_E_IO ? CHILD_PASSED : CHILD_FAILED;
    snprintf(live, sizeof live, "%s", qprof_live_file());
    play(p, "f( 3 )");
    qprof_shutdown();
    bool is_kept = loads(live, 1);
    unlink(live);
    return is_kept && qprof_diagnostic("e_io") ? CHILD_PASSED : CHILD_FAILED;
}

static void a_read_only_folder_is_an_error_and_loses_nothing(void **state) /* 2.1 */
{
    assert_in_child(write_to_a_read_only_folder, *state);
}

static void a_thousandth_file_of_one_name_is_refused_not_written_over(void **state) /* 2.1 */
{
    play_ctx *p = *state;
    char name[32], live[512];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, i ? "run.qprof.%d" : "run.qprof", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, "p", 1), 1);
        close(fd);
    }
    int code = qprof_initialize("-output=run.qprof", NULL);
    snprintf(live, sizeof live, "%s", qprof_live_file());
    play(p, "f( 3 )");
    qprof_shutdown();
    for (int i = 0; i < 1000; i++) {
        struct stat st;
        snprintf(name, sizeof name, i ? "run.qprof.%d" : "run.qprof", i);
        assert_int_equal(stat(name, &st), 0);
        assert_int_equal(st.st_size, 1);
    }
    assert_true(code == QPROF_E_IO || loads(live, 1));
    unlink(live);
}

/* ---- where the host goes ----------------------------------------------------------------- */

static void a_relative_output_stays_where_the_program_began(void **state) /* 2.1 */
{
    play_ctx *p = play_start(state, "");
    play(p, "f( 3 )");
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    assert_int_equal(chdir("elsewhere"), 0);
    qprof_shutdown();
    assert_int_equal(chdir(".."), 0);
    play_read(p, "run.qprof");
    assert_flat(p, "f", 1, 3, 3);
}

static void a_removed_live_file_is_written_from_memory(void **state) /* 2.11 */
{
    play_ctx *p = play_start(state, "");
    play(p, "f( 3 )");
    assert_int_equal(unlink(qprof_live_file()), 0);
    play(p, "f( 4 )");
    play_end(p);
    assert_flat(p, "f", 2, 7, 7);
}

static int close_all_descriptors(play_ctx *p)
{
    play_begin(p, "");
    for (int fd = 3; fd < 5000; fd++)
        close(fd);
    uint64_t n = record_many_paths(200000);
    qprof_shutdown();
    return loads("run.qprof", n) ? CHILD_PASSED : CHILD_FAILED;
}

static void a_host_that_closes_all_descriptors_loses_nothing(void **state) /* 2.11 */
{
    assert_in_child(close_all_descriptors, *state);
}

static int recycle_descriptors(play_ctx *p)
{
    struct stat st;
    int mine = open("mine", O_CREAT | O_RDWR, 0600);
    play_begin(p, "");
    for (int fd = mine + 1; fd < 5000; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            dup2(mine, fd);
    uint64_t n = record_many_paths(200000);
    qprof_shutdown();
    if (fstat(mine, &st) || st.st_size != 0)
        return CHILD_FAILED;
    return loads("run.qprof", n) ? CHILD_PASSED : CHILD_FAILED;
}

static void a_recycled_descriptor_is_never_written_to(void **state) /* 2.11, [71] */
{
    assert_in_child(recycle_descriptors, *state);
}

/* ---- limits ------------------------------------------------------------------------------ */

/* The profile is somewhere and says what was lost. */
static int end_under_a_limit(uint64_t n_entries)
{
    char live[512];
    snprintf(live, sizeof live, "%s", qprof_live_file());
    uint64_t lost = qprof_diagnostic("lost_full") + qprof_diagnostic("tree_overflow") +
                    qprof_diagnostic("no_crash_safety");
    qprof_shutdown();
    bool is_there = loads("run.qprof", 0) || (*live && loads(live, 0));
    bool is_whole = loads("run.qprof", n_entries) || (*live && loads(live, n_entries));
    unlink(live);
    return is_there && (is_whole || lost) ? CHILD_PASSED : CHILD_FAILED;
}

static int run_with_small_files(play_ctx *p)
{
    struct rlimit limit = {1536 * 1024, 1536 * 1024};
    (void)p;
    if (setrlimit(RLIMIT_FSIZE, &limit))
        return CHILD_CANNOT;
    int code = qprof_initialize("-output=run.qprof", NULL);
    if (code)
        return code == QPROF_E_IO || code == QPROF_E_MEMORY ? CHILD_PASSED : CHILD_FAILED;
    return end_under_a_limit(record_many_paths(300000)); /* SIGXFSZ would end the child */
}

static void a_limit_on_file_sizes_is_a_loss_and_no_signal(void **state) /* 2.1 */
{
    assert_in_child(run_with_small_files, *state);
}

static int run_without_descriptors(play_ctx *p)
{
    struct rlimit limit = {3, 3};
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return CHILD_CANNOT;
    int code = qprof_initialize("-output=run.qprof", NULL);
    if (code)
        return code == QPROF_E_IO ? CHILD_PASSED : CHILD_FAILED;
    bool is_declared = qprof_diagnostic("no_crash_safety") == 1 && !*qprof_live_file();
    play(p, "f( 3 g( 4 ) )");
    qprof_shutdown();
    return is_declared ? CHILD_PASSED : CHILD_FAILED;
}

static void without_descriptors_recording_works_in_plain_memory(void **state) /* 2.1 */
{
    assert_in_child(run_without_descriptors, *state);
}

static int run_in_little_address_space(play_ctx *p)
{
    struct rlimit limit = {0, 0};
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    (void)p;
    if (!in || fscanf(in, "%lu", &pages) != 1)
        return CHILD_CANNOT;
    fclose(in);
    limit.rlim_cur = limit.rlim_max = pages * 4096 + (40ul << 20);
    if (pages > 1ul << 28 || setrlimit(RLIMIT_AS, &limit)) /* a sanitizer's address space */
        return CHILD_CANNOT;
    int code = qprof_initialize("-output=run.qprof", NULL);
    if (code)
        return code == QPROF_E_MEMORY ? CHILD_PASSED : CHILD_FAILED;
    record_many_paths(300000);
    qprof_shutdown();
    return CHILD_PASSED;
}

static void little_address_space_means_a_smaller_budget(void **state) /* 2.1 */
{
    assert_in_child(run_in_little_address_space, *state);
}

/* ---- disks ------------------------------------------------------------------------------- */

static bool mount_small(const char *where, const char *size)
{
    char options[64];
    snprintf(options, sizeof options, "size=%s", size);
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", where, "tmpfs", 0, options) == 0;
}

static bool own_mounts(void)
{
    return unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0;
}

static int fill_the_shared_memory(play_ctx *p)
{
    (void)p;
    if (!own_mounts() || !mount_small("/dev/shm", "2m"))
        return CHILD_CANNOT;
    unsetenv("XDG_RUNTIME_DIR");
    if (qprof_initialize("-output=run.qprof", NULL))
        return CHILD_FAILED;
    return end_under_a_limit(record_many_paths(300000)); /* SIGBUS would end the child */
}

static void a_full_disk_is_a_loss_and_no_signal(void **state) /* 2.11, [57] */
{
    assert_in_child(fill_the_shared_memory, *state);
}

static int begin_on_full_disks(play_ctx *p)
{
    if (!own_mounts() || mkdir("tiny", 0700) || !mount_small("tiny", "4k") ||
        !mount_small("/dev/shm", "4k"))
        return CHILD_CANNOT;
    setenv("XDG_RUNTIME_DIR", "tiny", 1);
    if (qprof_initialize("-output=run.qprof", NULL))
        return CHILD_FAILED;
    bool is_in_the_output_folder = *qprof_live_file() != '\0';
    play(p, "f( 3 )");
    qprof_shutdown();
    return is_in_the_output_folder && loads("run.qprof", 1) ? CHILD_PASSED : CHILD_FAILED;
}

static void the_next_place_is_taken_when_one_is_full(void **state) /* 2.1, [57] */
{
    assert_in_child(begin_on_full_disks, *state);
}

static int seal_to_a_full_disk(play_ctx *p)
{
    char live[512];
    (void)p;
    if (!own_mounts() || mkdir("tiny", 0700) || !mount_small("tiny", "64k"))
        return CHILD_CANNOT;
    if (qprof_initialize("-output=tiny/run.qprof", NULL))
        return CHILD_FAILED;
    snprintf(live, sizeof live, "%s", qprof_live_file());
    uint64_t n = record_many_paths(100000);
    qprof_shutdown();
    bool is_right =
        loads(live, n) && !play_file_exists("tiny/run.qprof") && qprof_diagnostic("e_io") > 0;
    unlink(live);
    return is_right ? CHILD_PASSED : CHILD_FAILED;
}

static void an_output_on_a_full_disk_leaves_the_live_file(void **state) /* 2.2 */
{
    assert_in_child(seal_to_a_full_disk, *state);
}

static int seal_to_another_disk(play_ctx *p)
{
    if (!own_mounts() || mkdir("other", 0700) || !mount_small("other", "16m"))
        return CHILD_CANNOT;
    if (qprof_initialize("-output=other/run.qprof", NULL))
        return CHILD_FAILED;
    char live[512];
    snprintf(live, sizeof live, "%s", qprof_live_file());
    play(p, "f( 3 )");
    qprof_shutdown();
    return loads("other/run.qprof", 1) && !play_file_exists(live) ? CHILD_PASSED : CHILD_FAILED;
}

static void an_output_on_another_disk_is_copied_there(void **state) /* 2.2 */
{
    assert_in_child(seal_to_another_disk, *state);
}

static void a_live_folder_that_cannot_be_used_is_passed_over(void **state) /* 2.1 */
{
    static const char *const folders[] = {"/no/such/folder", "/proc", "/dev/null", "",
                                          "relative"};
    play_ctx *p = *state;
    const char *was = getenv("XDG_RUNTIME_DIR");
    char *saved = was ? strdup(was) : NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        setenv("XDG_RUNTIME_DIR", folders[i], 1);
        unlink("run.qprof");
        play_begin(p, "");
        assert_int_equal(qprof_diagnostic("no_crash_safety"), 0);
        play(p, "f( 3 )");
        play_end(p);
    }
    if (saved)
        setenv("XDG_RUNTIME_DIR", saved, 1);
    else
        unsetenv("XDG_RUNTIME_DIR");
    free(saved);
}

static void a_live_folder_of_another_user_is_not_used(void **state) /* 2.1, [75] */
{
    play_ctx *p = *state;
    char mine[512], name[64];
    snprintf(name, sizeof name, "runtime/qprof-%d", (int)getuid());
    assert_int_equal(mkdir("runtime", 0700), 0);
    assert_int_equal(mkdir("trap", 0777), 0);
    assert_int_equal(symlink("../trap", name), 0); /* a link where our folder should be */
    snprintf(mine, sizeof mine, "%s/runtime", p->folder);
    setenv("XDG_RUNTIME_DIR", mine, 1);
    play_begin(p, "");
    play(p, "f( 3 )");
    assert_null(strstr(qprof_live_file(), "/runtime/"));
    play_end(p);
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(rmdir("trap"), 0); /* nothing was put there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY_TEST(what_stands_where_the_output_should_be_is_left_alone),
        PLAY_TEST(an_output_that_cannot_be_written_leaves_the_live_file),
        PLAY_TEST(a_read_only_folder_is_an_error_and_loses_nothing),
        PLAY_TEST(a_thousandth_file_of_one_name_is_refused_not_written_over),
        PLAY_TEST(a_relative_output_stays_where_the_program_began),
        PLAY_TEST(a_removed_live_file_is_written_from_memory),
        PLAY_TEST(a_host_that_closes_all_descriptors_loses_nothing),
        PLAY_TEST(a_recycled_descriptor_is_never_written_to),
        PLAY_TEST(a_limit_on_file_sizes_is_a_loss_and_no_signal),
        PLAY_TEST(without_descriptors_recording_works_in_plain_memory),
        PLAY_TEST(little_address_space_means_a_smaller_budget),
        PLAY_TEST(a_full_disk_is_a_loss_and_no_signal),
        PLAY_TEST(the_next_place_is_taken_when_one_is_full),
        PLAY_TEST(an_output_on_a_full_disk_leaves_the_live_file),
        PLAY_TEST(an_output_on_another_disk_is_copied_there),
        PLAY_TEST(a_live_folder_that_cannot_be_used_is_passed_over),
        PLAY_TEST(a_live_folder_of_another_user_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
