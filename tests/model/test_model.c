/* test_model.c: random programs, run by the recorder and by the naive profiler.
 *
 * A worker process runs one program after another; which one, it writes to a shared page first.
 * If it finds a difference, or dies, the parent makes the program shorter as long as it still
 * fails, and prints what is left.
 *
 *   QPROF_MODEL_EVENTS=N  how many events at least (default: below)
 *   QPROF_MODEL_SEED=S    begin with this seed; printed by every failure
 *   test_model FILE…      run programs from files */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/driver.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { DEFAULT_EVENTS = 1500000 };
#else
enum { DEFAULT_EVENTS = 24000000 };
#endif

enum { MAX_OPS = 30000, MAX_BYTES = DRIVER_HEAD_BYTES + MAX_OPS * DRIVER_OP_BYTES };

/* Seen by the worker and by its parent. */
typedef struct {
    uint64_t seed, n_events, n_compared, n_snapshots, n_programs;
    driver_result result;
    size_t n_bytes;
    uint8_t bytes[MAX_BYTES];
} shared_page;

static shared_page *shared;
static char folder[64];

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The program of a seed. Each leaves some kinds of operations out, so that the others meet. */
static size_t generate(uint64_t seed, uint8_t *bytes)
{
    uint64_t state = seed, absent_from = next_random(&state), absent_to = next_random(&state);
    unsigned from = (unsigned)(absent_from % 512); /* often nothing is absent */
    unsigned to = from + (unsigned)(absent_to % 80);
    size_t n_ops = 1 + next_random(&state) % (next_random(&state) % 4 ? 1500 : MAX_OPS);
    size_t n_bytes = DRIVER_HEAD_BYTES + n_ops * DRIVER_OP_BYTES;
    for (size_t i = 0; i < n_bytes; i += 4) {
        uint32_t word = (uint32_t)(next_random(&state) >> 32);
        if (i >= DRIVER_HEAD_BYTES && from > 176 && (word & 255) >= from && (word & 255) < to)
            word = (word & ~255u) | (word >> 24) % 176; /* an entry or an exit instead */
        memcpy(bytes + i, &word, 4);
    }
    return n_bytes;
}

/* ---- one program in a process of its own ------------------------------------------------- */

static bool is_failing(const uint8_t *bytes, size_t n_bytes)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(driver_run(bytes, n_bytes, &shared->result) ? 0 : 1);
    if (child > 0)
        waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        snprintf(shared->result.difference, DRIVER_TEXT, "ended by signal %d",
                 WTERMSIG(status));
    return status != 0;
}

/* What a difference is about: the words before its first figure, so that one fault is not
 * shrunk into another. */
static void name_fault(char kind[64])
{
    const char *text = strrchr(shared->result.difference, ':');
    text = text ? text : shared->result.difference;
    snprintf(kind, 64, "%.*s", (int)strcspn(text, "0123456789"), text);
}

static bool still_fails(const char *kind, const uint8_t *bytes, size_t n_bytes)
{
    char now[64];
    if (!is_failing(bytes, n_bytes))
        return false;
    name_fault(now);
    return strcmp(kind, now) == 0;
}

/* Delta debugging: leave out ever smaller pieces while it fails. */
static size_t shrink(uint8_t *bytes, size_t n_bytes)
{
    static uint8_t attempt[MAX_BYTES];
    char kind[64];
    name_fault(kind);
    size_t n_ops = (n_bytes - DRIVER_HEAD_BYTES) / DRIVER_OP_BYTES;
    for (size_t piece = (n_ops + 1) / 2; piece;) {
        bool has_shrunk = false;
        for (size_t at = 0; at < n_ops;) {
            size_t n = piece < n_ops - at ? piece : n_ops - at;
            size_t head = DRIVER_HEAD_BYTES + at * DRIVER_OP_BYTES;
            size_t tail = (n_ops - at - n) * DRIVER_OP_BYTES;
            memcpy(attempt, bytes, head);
            memcpy(attempt + head, bytes + head + n * DRIVER_OP_BYTES, tail);
            if (still_fails(kind, attempt, head + tail)) {
                memcpy(bytes, attempt, head + tail);
                n_ops -= n;
                has_shrunk = true;
            } else {
                at += n;
            }
        }
        if (!has_shrunk || piece > n_ops)
            piece /= 2;
    }
    return DRIVER_HEAD_BYTES + n_ops * DRIVER_OP_BYTES;
}

static void report_failure(void)
{
    fprintf(stderr, "seed %" PRIu64 ": %s\n", shared->seed, shared->result.difference);
    if (!is_failing(shared->bytes, shared->n_bytes)) {
        fprintf(stderr, "alone it does not fail: it depends on the programs before it\n");
        return;
    }
    shared->n_bytes = shrink(shared->bytes, shared->n_bytes);
    is_failing(shared->bytes, shared->n_bytes);
    char name[128];
    snprintf(name, sizeof name, "/tmp/qprof-model-%" PRIu64 ".bin", shared->seed);
    FILE *out = fopen(name, "wb");
    if (out) {
        fwrite(shared->bytes, 1, shared->n_bytes, out);
        fclose(out);
    }
    printf("shortest program that still fails, also in %s:\n", name);
    driver_print(shared->bytes, shared->n_bytes);
    printf("  %s\n", shared->result.difference);
}

/* ---- many programs ----------------------------------------------------------------------- */

static void work(uint64_t n_events)
{
    while (shared->n_events < n_events) {
        shared->n_bytes = generate(shared->seed, shared->bytes);
        if (!driver_run(shared->bytes, shared->n_bytes, &shared->result))
            _exit(1);
        shared->n_events += shared->result.n_events;
        shared->n_compared += shared->result.n_compared;
        shared->n_snapshots += shared->result.n_snapshots;
        shared->n_programs++;
        shared->seed++;
    }
    _exit(0);
}

static uint64_t number_from(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

static void random_programs_give_the_naive_profilers_results(void **state)
{
    uint64_t n_events = number_from("QPROF_MODEL_EVENTS", DEFAULT_EVENTS);
    int status = 0;
    (void)state;
    memset(shared, 0, sizeof *shared);
    shared->seed = number_from("QPROF_MODEL_SEED", 1);
    fflush(NULL);
    pid_t worker = fork();
    if (worker == 0)
        work(n_events);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    if (WIFSIGNALED(status))
        snprintf(shared->result.difference, DRIVER_TEXT, "ended by signal %d",
                 WTERMSIG(status));
    if (status) {
        report_failure();
        fail();
    }
    print_message("%" PRIu64 " events in %" PRIu64 " programs, %" PRIu64
                  " nodes compared in %" PRIu64 " files: no difference\n",
                  shared->n_events, shared->n_programs, shared->n_compared,
                  shared->n_snapshots);
}

static int run_file(const char *name)
{
    FILE *in = fopen(name, "rb");
    if (!in) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return 2;
    }
    shared->n_bytes = fread(shared->bytes, 1, sizeof shared->bytes, in);
    fclose(in);
    bool fails = is_failing(shared->bytes, shared->n_bytes);
    printf("%s: %s\n", name, fails ? shared->result.difference : "no difference");
    return fails;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_give_the_naive_profilers_results),
    };
    int result = 0;
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/qprof-model-XXXXXX", base ? base : "/tmp");
    unsetenv("QPROF");
    if (shared == MAP_FAILED || !mkdtemp(folder))
        return 99;
    for (int i = 1; i < argc; i++) {
        char *name = realpath(argv[i], NULL);
        if (chdir(folder) || run_file(name ? name : argv[i]))
            result = 1;
        free(name);
    }
    if (argc == 1)
        result = chdir(folder) ? 99 : cmocka_run_group_tests(tests, NULL, NULL);
    if (chdir("/") == 0)
        rmdir(folder);
    return result;
}
