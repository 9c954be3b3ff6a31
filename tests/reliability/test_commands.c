/* test_commands.c: every command on every kind of file, while allocations, reads and writes fail and
 * while the file is cut. reliability.md 5.3 and 5.4.
 *
 * A command that ends with 0 has printed all that it prints without the fault; else it prints why, in
 * whole lines. It never crashes, and a file that it would have replaced stays whole. FAULTS in the
 * environment is how many places of each kind are tried, spread over all; "all": every one. COMMAND:
 * a part of the commands that are tried. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/containers/alloc.h"
#include "cli/core/cli.h"
#include "unit/kinds.h"
#include "unit/play.h"

enum { WORDS = 16, SECONDS = 60, BYTES = 1 << 22, FAULTS_USUAL = 3 };

/* ---- what fails ------------------------------------------------------------------------------ */

typedef enum { NO_FAULT, ALLOCATION, ALLOCATIONS, READING, WRITING, N_KINDS } fault_kind;

static const char *const kind_names[N_KINDS] = {"no fault", "one allocation", "all allocations",
                                                "reading", "writing"};

/* How many calls of each kind there were, and from which one on they fail. */
static struct {
    fault_kind kind;
    uint64_t at, n_reads, n_writes;
} fault;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_pread64(int fd, void *to, size_t n, off64_t at);
ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __real_pwrite64(int fd, const void *from, size_t n, off64_t at);
ssize_t __real_copy_file_range(int fd, off64_t *from, int to, off64_t *at, size_t n,
                               unsigned flags);
int __real_ftruncate64(int fd, off64_t n);
int __real_rename(const char *from, const char *to);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off64_t at);
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_pwrite64(int fd, const void *from, size_t n, off64_t at);
ssize_t __wrap_copy_file_range(int fd, off64_t *from, int to, off64_t *at, size_t n,
                               unsigned flags);
int __wrap_ftruncate64(int fd, off64_t n);
int __wrap_rename(const char *from, const char *to);

static bool fails(fault_kind kind, uint64_t *n, int error)
{
    if (++*n < fault.at || fault.kind != kind)
        return false;
    errno = error;
    return true;
}

static bool read_fails(void)
{
    return fails(READING, &fault.n_reads, EIO);
}

static bool write_fails(void)
{
    return fails(WRITING, &fault.n_writes, ENOSPC);
}

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    return read_fails() ? -1 : __real_read(fd, to, n);
}

ssize_t __wrap_pread64(int fd, void *to, size_t n, off64_t at)
{
    return read_fails() ? -1 : __real_pread64(fd, to, n, at);
}

ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    bool is_output = fd != 2; /* the message about it can be printed */
    return is_output && write_fails() ? -1 : __real_write(fd, from, n);
}

ssize_t __wrap_pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    return write_fails() ? -1 : __real_pwrite64(fd, from, n, at);
}

ssize_t __wrap_copy_file_range(int fd, off64_t *from, int to, off64_t *at, size_t n,
                               unsigned flags)
{
    return write_fails() ? -1 : __real_copy_file_range(fd, from, to, at, n, flags);
}

int __wrap_ftruncate64(int fd, off64_t n)
{
    return write_fails() ? -1 : __real_ftruncate64(fd, n);
}

int __wrap_rename(const char *from, const char *to)
{
    return write_fails() ? -1 : __real_rename(from, to);
}

/* SQLite is a shared library, whose calls are not wrapped: its interface to the system is. */
static struct {
    sqlite3_vfs vfs;
    int (*open)(sqlite3_vfs *, const char *name, sqlite3_file *, int flags, int *out_flags);
    sqlite3_io_methods whole[4], faulty[4]; /* a pair for each kind of file */
} sqlite;

static const sqlite3_io_methods *whole_methods(const sqlite3_file *file)
{
    return &sqlite.whole[file->pMethods - sqlite.faulty];
}

static int faulty_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    return read_fails() ? SQLITE_IOERR_READ : whole_methods(file)->xRead(file, to, n, at);
}

static int faulty_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    return write_fails() ? SQLITE_FULL : whole_methods(file)->xWrite(file, from, n, at);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 n)
{
    return write_fails() ? SQLITE_IOERR_TRUNCATE : whole_methods(file)->xTruncate(file, n);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
    return write_fails() ? SQLITE_IOERR_FSYNC : whole_methods(file)->xSync(file, flags);
}

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *out_flags)
{
    int i = 0, code = sqlite.open(vfs, name, file, flags, out_flags);
    if (!file->pMethods)
        return code;
    while (sqlite.whole[i].iVersion &&
           memcmp(&sqlite.whole[i], file->pMethods, sizeof *sqlite.whole) != 0)
        assert_true(++i < 4);
    sqlite.whole[i] = sqlite.faulty[i] = *file->pMethods;
    sqlite.faulty[i].xRead = faulty_read;
    sqlite.faulty[i].xWrite = faulty_write;
    sqlite.faulty[i].xTruncate = faulty_truncate;
    sqlite.faulty[i].xSync = faulty_sync;
    file->pMethods = &sqlite.faulty[i];
    return code;
}

static void wrap_sqlite(void)
{
    sqlite.vfs = *sqlite3_vfs_find(NULL);
    sqlite.open = sqlite.vfs.xOpen;
    sqlite.vfs.zName = "faulty";
    sqlite.vfs.xOpen = faulty_open;
    assert_int_equal(sqlite3_vfs_register(&sqlite.vfs, 1), SQLITE_OK);
}

/* ---- a command in a process of its own ------------------------------------------------------- */

typedef struct {
    int status; /* < 0: it crashed, or took too long */
    uint64_t n_calls[N_KINDS];
    char *text, *message; /* of standard output and error; free */
    size_t n_text, n_message;
    size_t n_output; /* bytes of the file of -o */
} outcome;

static char *read_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = malloc(BYTES);
    assert_non_null(text);
    ssize_t got = fd < 0 ? 0 : __real_read(fd, text, BYTES - 1);
    if (fd >= 0)
        close(fd);
    *n = got > 0 ? (size_t)got : 0;
    text[*n] = '\0';
    return text;
}

/* The first n_most bytes of a file. */
static void write_copy(const char *from, const char *to, size_t n_most)
{
    size_t n;
    char *bytes = read_file(from, &n);
    n = n < n_most ? n : n_most;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && __real_write(fd, bytes, n) == (ssize_t)n);
    close(fd);
    free(bytes);
}

static void open_as(int wanted, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, wanted) < 0)
        _exit(99);
}

/* In the child: run it, and write down how many calls it made. */
static void run_here(char *const *words, int n_words)
{
    char *argv[WORDS + 1] = {NULL};
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(SECONDS);
    for (int i = 0; i < n_words; i++)
        argv[i] = words[i];
    open_as(0, "/dev/null", O_RDONLY);
    open_as(1, "out", O_WRONLY | O_CREAT | O_TRUNC);
    open_as(2, "err", O_WRONLY | O_CREAT | O_TRUNC);
    fault.n_reads = fault.n_writes = 0;
    bool is_memory = fault.kind == ALLOCATION || fault.kind == ALLOCATIONS;
    qp_alloc_fail_after(is_memory ? fault.at : 0, fault.kind == ALLOCATIONS);
    int status = qp_cli_main(n_words, argv);
    uint64_t counts[] = {qp_alloc_count(), fault.n_reads, fault.n_writes};
    int fd = open("counts", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || __real_write(fd, counts, sizeof counts) != sizeof counts)
        _exit(98);
    _exit(status);
}

static outcome run_with(char *const *words, int n_words, fault_kind kind, uint64_t at)
{
    outcome o = {0};
    uint64_t counts[3] = {0};
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fault.kind = kind;
        fault.at = at;
        run_here(words, n_words);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    o.text = read_file("out", &o.n_text);
    o.message = read_file("err", &o.n_message);
    int fd = open("counts", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && __real_read(fd, counts, sizeof counts) != sizeof counts)
        fail_msg("no counts");
    close(fd);
    o.n_calls[ALLOCATION] = o.n_calls[ALLOCATIONS] = counts[0];
    o.n_calls[READING] = counts[1];
    o.n_calls[WRITING] = counts[2];
    return o;
}

static void forget(outcome *o)
{
    free(o->text);
    free(o->message);
}

static int make_files(void **state)
{
    (void)state;
    wrap_sqlite();
    kinds_make();
    kinds_run("qprof store import one.db both.qprof");
    kinds_run("qprof store import two.db both.qprof sum.qprof");
    return mkdir("spool", 0700);
}

/* ---- the claims ------------------------------------------------------------------------------ */

/* Of each, FILE is one of the files of the same line. */
static const struct {
    const char *command, *files;
} cases[] = {
    {"report", "both.qprof adaptive.qprof sum.qprof callgrind.out pprof.pb.gz"},
    {"report --format=json --threads", "both.qprof adaptive.qprof"},
    {"tree", "both.qprof callgrind.out pprof.pb.gz"},
    {"tree --collapse-recursion --format=json", "both.qprof"},
    {"detail g", "both.qprof sum.qprof callgrind.out"},
    {"annotate g", "both.qprof adaptive.qprof"},
    {"info", "both.qprof adaptive.qprof sum.qprof pprof.pb.gz"},
    {"check", "both.qprof adaptive.qprof sum.qprof"},
    {"check --host", "both.qprof"},
    {"list", "both.qprof"},
    {"requests", "both.qprof"},
    {"locks", "both.qprof"},
    {"list --by=statement", "both.qprof"},
    {"cover report", "both.qprof sum.qprof"},
    {"cover report --functions --adjustments=marks.adjust", "both.qprof"},
    {"cover annotate score", "both.qprof"},
    {"cover summary", "both.qprof"},
    {"cover context", "both.qprof"},
    {"cover adjust", "score both.qprof"},
    {"cover merge --force -o kept", "both.qprof"},
    {"cover export --to=lcov", "both.qprof"},
    {"cover export --to=cobertura --force -o kept", "both.qprof"},
    {"cover export --to=json", "both.qprof"},
    {"cover diff both.qprof", "sum.qprof"},
    {"diff both.qprof", "sum.qprof callgrind.out pprof.pb.gz"},
    {"diff --paths --format=json both.qprof", "sum.qprof"},
    {"merge --force -o kept both.qprof", "sum.qprof"},
    {"export --to=pprof --force -o kept", "both.qprof"},
    {"export --to=callgrind", "both.qprof"},
    {"export --to=folded", "both.qprof pprof.pb.gz"},
    {"export --to=speedscope", "both.qprof"},
    {"export --to=firefox", "both.qprof"},
    {"export --to=json", "both.qprof adaptive.qprof"},
    {"export --to=perfetto", "both.qprof"},
    {"export --to=dot", "both.qprof"},
    {"html --force -o kept", "both.qprof adaptive.qprof"},
    {"html --force -o kept both.qprof", "sum.qprof"},
    {"html --force -o kept --trace=run.qtrace", "both.qprof"},
    {"trace dump", "run.qtrace packed.qtrace.zst rings.qprof TABLE.PRF table.txt"},
    {"trace stat", "run.qtrace packed.qtrace.zst rings.qprof TABLE.PRF table.txt"},
    {"trace flow", "run.qtrace rings.qprof TABLE.PRF"},
    {"trace slow g", "run.qtrace rings.qprof TABLE.PRF"},
    {"trace profile --force -o kept", "run.qtrace packed.qtrace.zst TABLE.PRF table.txt"},
    {"trace export --to=chrome", "run.qtrace TABLE.PRF"},
    {"trace export --to=perfetto --force -o kept", "run.qtrace"},
    {"trace export --to=firefox", "run.qtrace"},
    {"trace convert --force -o kept.qtrace.zst", "run.qtrace rings.qprof"},
    {"trace convert --to=csv", "run.qtrace TABLE.PRF table.txt"},
    {"trace convert --to=dbf --force -o KEPT.PRF", "run.qtrace packed.qtrace.zst"},
    {"store top", "fleet.db"},
    {"store tree --format=json", "fleet.db"},
    {"store list", "fleet.db"},
    {"store series --by=service", "fleet.db"},
    {"store dead", "fleet.db"},
    {"store requests", "fleet.db"},
    {"store slow", "fleet.db"},
    {"store check", "fleet.db"},
    {"store export --force -o kept", "fleet.db"},
    {"config check", "good.conf"},
    {"config show", "good.conf"},
};

typedef struct {
    char line[512];
    char text[512];
    char *words[WORDS];
    int n_words;
    const char *file;   /* the last word */
    const char *output; /* of -o; NULL */
} command;

static void make_command(command *c, const char *begin, const char *file, size_t n_file)
{
    *c = (command){0};
    snprintf(c->line, sizeof c->line, "qprof %s %.*s", begin, (int)n_file, file);
    memcpy(c->text, c->line, sizeof c->text);
    for (char *word = strtok(c->text, " "); word; word = strtok(NULL, " ")) {
        if (c->n_words && strcmp(c->words[c->n_words - 1], "-o") == 0)
            c->output = word;
        c->words[c->n_words++] = word;
    }
    c->file = c->words[c->n_words - 1];
}

static bool writes_profile(const command *c)
{
    return strstr(c->line, "merge") || strstr(c->line, "trace profile") ||
           strstr(c->line, "store export");
}

/* Its output replaces a profile or a text. */
static outcome run_command(const command *c, fault_kind kind, uint64_t at)
{
    struct stat st;
    if (c->output)
        write_copy(writes_profile(c) ? "adaptive.qprof" : "kept.text", c->output, BYTES);
    outcome o = run_with(c->words, c->n_words, kind, at);
    if (c->output && stat(c->output, &st) == 0)
        o.n_output = (size_t)st.st_size;
    return o;
}

/* Is it the earlier file, or the whole of what was to replace it? */
static bool is_whole(const command *c, const outcome *good)
{
    size_t n, n_kept;
    char *found = read_file(c->output, &n);
    char *earlier = read_file(writes_profile(c) ? "adaptive.qprof" : "kept.text", &n_kept);
    bool is_kept = n == n_kept && memcmp(found, earlier, n) == 0;
    free(found);
    free(earlier);
    return is_kept || n == good->n_output;
}

static unsigned n_wrong;

static void wrong(const command *c, const char *what, const char *kind, uint64_t at,
                  const outcome *o)
{
    n_wrong++;
    print_error("%s\n    %s %ju: %s (status %d)\n    %.300s", c->line, kind, (uintmax_t)at,
                what, o->status, o->n_message ? o->message : "no message\n");
}

/* What holds of a command with a fault, whatever it was. */
static void check(const command *c, const outcome *good, const outcome *o, const char *kind,
                  uint64_t at)
{
    bool is_alike = o->n_text == good->n_text && memcmp(o->text, good->text, o->n_text) == 0;
    if (o->status < 0 || o->status > 2)
        wrong(c, "it crashed", kind, at, o);
    else if (o->status == good->status && !is_alike && !o->n_message)
        wrong(c, "it printed less, and did not say so", kind, at, o);
    else if (o->status > good->status && !o->n_message)
        wrong(c, "it did not say why", kind, at, o);
    else if (o->n_message && o->message[o->n_message - 1] != '\n')
        wrong(c, "half a line", kind, at, o);
    else if (o->status == 2 && c->output && !is_whole(c, good))
        wrong(c, "the earlier file is lost", kind, at, o);
}

static uint64_t n_places(uint64_t n)
{
    const char *wanted = getenv("FAULTS");
    uint64_t most = !wanted                      ? FAULTS_USUAL
                    : strcmp(wanted, "all") == 0 ? n
                                                 : strtoull(wanted, NULL, 10);
    return most < n ? most : n;
}

/* Spread over all places; which ones differs from command to command. */
static uint64_t place(uint64_t i, uint64_t n, uint64_t of, unsigned seed)
{
    uint64_t step = of / n;
    return 1 + i * of / n + (step > 1 ? seed * 2654435761u % step : 0);
}

static void try_faults(const command *c, const outcome *good, unsigned seed)
{
    for (fault_kind kind = ALLOCATION; kind < N_KINDS; kind++) {
        uint64_t of = good->n_calls[kind], n = n_places(of);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = place(i, n, of, seed);
            outcome o = run_command(c, kind, at);
            check(c, good, &o, kind_names[kind], at);
            forget(&o);
        }
    }
}

/* A file of ours that was cut is not taken for a whole one. Text formats may end at any line. */
static void try_cuts(const command *c, const outcome *good, unsigned seed)
{
    struct stat st;
    char whole[64];
    bool is_text = strstr(c->file, ".out") || strstr(c->file, ".txt") ||
                   strstr(c->file, ".conf") || strcmp(c->file, "score") == 0;
    snprintf(whole, sizeof whole, "%s.whole", c->file);
    assert_int_equal(rename(c->file, whole), 0);
    assert_int_equal(stat(whole, &st), 0);
    uint64_t n = n_places((uint64_t)st.st_size);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = place(i, n, (uint64_t)st.st_size, seed) - 1;
        write_copy(whole, c->file, i ? at : 0);
        outcome o = run_command(c, NO_FAULT, 0);
        bool may_be_empty = strstr(c->file, ".conf") || strcmp(c->file, "score") == 0;
        bool may_be_whole = is_text && (i || may_be_empty);
        if (!may_be_whole || o.status != 0)
            check(c, good, &o, "cut at byte", i ? at : 0);
        if (o.status == 0 && !may_be_whole && !o.n_message)
            wrong(c, "a cut file is a clean success", "cut at byte", i ? at : 0, &o);
        forget(&o);
    }
    assert_int_equal(rename(whole, c->file), 0);
}

static void commands_say_what_fails(void **state)
{
    (void)state;
    unsigned seed = 0;
    const char *only = getenv("COMMAND");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (const char *file = cases[i].files; *file; file += strspn(file, " ")) {
            command c;
            make_command(&c, cases[i].command, file, strcspn(file, " "));
            file += strcspn(file, " ");
            if (only && !strstr(c.line, only))
                continue;
            outcome good = run_command(&c, NO_FAULT, 0);
            if (good.status != 0 && good.status != 1)
                wrong(&c, "it does not work", "fault", 0, &good);
            if (!good.n_calls[READING] || !good.n_calls[WRITING])
                wrong(&c, "its reads and writes were not seen", "fault", 0, &good);
            try_faults(&c, &good, ++seed);
            try_cuts(&c, &good, seed);
            forget(&good);
        }
    assert_int_equal(n_wrong, 0);
}

/* ---- commands that change a store -------------------------------------------------------------- */

/* What they begin with: a copy of a store, or none, and a profile, in the folder for a push. */
typedef struct {
    const char *command, *store, *profile;
} change;

static const change changes[] = {
    {"store import changed.db sum.qprof", NULL, "sum.qprof"},
    {"store import changed.db sum.qprof", "one.db", "sum.qprof"},
    {"store roll --before=2100-01-01 changed.db", "two.db", NULL},
    {"store remove --before=2100-01-01 changed.db", "two.db", NULL},
    {"push --spool=spool --to=sqlite:changed.db", NULL, "sum.qprof"},
    {"push --spool=spool --to=sqlite:changed.db", "one.db", "sum.qprof"},
};

static bool is_push(const change *ch)
{
    return *ch->command == 'p';
}

static void prepare_change(const change *ch)
{
    static const char *const made[] = {"changed.db", "changed.db-wal", "changed.db-shm",
                                       "changed.db-journal", "spool/quarantine/a.qprof"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    if (ch->store)
        write_copy(ch->store, "changed.db", BYTES);
    if (is_push(ch))
        write_copy(ch->profile, "spool/a.qprof", BYTES);
}

/* What the store holds, as text; free. */
static char *holds(void)
{
    char words[][16] = {"qprof", "store", "list", "changed.db"};
    char *const argv[] = {words[0], words[1], words[2], words[3]};
    outcome o = run_with(argv, 4, NO_FAULT, 0);
    free(o.message);
    return o.text;
}

static bool is_at(const char *path, const char *as)
{
    size_t n, n_wanted;
    char *found = read_file(path, &n), *wanted = read_file(as, &n_wanted);
    bool is_alike = n == n_wanted && memcmp(found, wanted, n) == 0;
    free(found);
    free(wanted);
    return is_alike;
}

/* All or nothing, and success says all; what was pushed is in the store or in the folder. */
static void check_change(const change *ch, const command *c, const char *before,
                         const char *after, const outcome *o, const char *kind, uint64_t at)
{
    char *text = holds();
    bool is_empty = !ch->store && strstr(text, "No profiles");
    bool is_before = strcmp(text, before) == 0 || is_empty, is_after = strcmp(text, after) == 0;
    if (!is_before && !is_after)
        wrong(c, "the store holds neither what it did nor what it should", kind, at, o);
    else if (o->status == 0 && !is_after)
        wrong(c, "it changed nothing, and says that it did", kind, at, o);
    else if (is_push(ch) && is_before && !is_at("spool/a.qprof", ch->profile) &&
             !is_at("spool/quarantine/a.qprof", ch->profile))
        wrong(c, "the profile is lost", kind, at, o);
    free(text);
}

static void try_change_faults(const change *ch, const command *c, const char *before,
                              const char *after, const outcome *good, unsigned seed)
{
    for (fault_kind kind = ALLOCATION; kind < N_KINDS; kind++) {
        uint64_t of = good->n_calls[kind], n = n_places(of);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = place(i, n, of, seed);
            prepare_change(ch);
            outcome o = run_with(c->words, c->n_words, kind, at);
            check(c, good, &o, kind_names[kind], at);
            check_change(ch, c, before, after, &o, kind_names[kind], at);
            forget(&o);
        }
    }
}

/* A profile that was cut does not get in, and a store that was cut takes nothing. */
static void try_change_cuts(const change *ch, const command *c, const char *file,
                            const char *before, const outcome *good, unsigned seed)
{
    struct stat st;
    bool is_store = file == ch->store;
    assert_int_equal(rename(file, "whole"), 0);
    assert_int_equal(stat("whole", &st), 0);
    uint64_t n = n_places((uint64_t)st.st_size);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i ? place(i, n, (uint64_t)st.st_size, seed) - 1 : is_store;
        write_copy("whole", file, at);
        prepare_change(ch);
        outcome o = run_with(c->words, c->n_words, NO_FAULT, 0);
        check(c, good, &o, "cut at byte", at);
        if (o.status == 0)
            wrong(c, "a cut file is a success", "cut at byte", at, &o);
        if (!is_store)
            check_change(ch, c, before, before, &o, "cut at byte", at);
        forget(&o);
    }
    assert_int_equal(rename("whole", file), 0);
}

static void a_store_is_changed_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    const char *only = getenv("COMMAND");
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *ch = &changes[i];
        command c;
        make_command(&c, ch->command, "", 0);
        if (only && !strstr(c.line, only))
            continue;
        prepare_change(ch);
        char *before = holds();
        outcome good = run_with(c.words, c.n_words, NO_FAULT, 0);
        char *after = holds();
        if (good.status != 0 || strcmp(before, after) == 0)
            wrong(&c, "it does not work", "fault", 0, &good);
        try_change_faults(ch, &c, before, after, &good, i);
        if (ch->store)
            try_change_cuts(ch, &c, ch->store, before, &good, i);
        if (ch->profile)
            try_change_cuts(ch, &c, ch->profile, before, &good, i);
        forget(&good);
        free(before);
        free(after);
    }
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_say_what_fails),
        cmocka_unit_test(a_store_is_changed_as_a_whole_or_not_at_all)};
    return cmocka_run_group_tests(tests, make_files, NULL);
}
