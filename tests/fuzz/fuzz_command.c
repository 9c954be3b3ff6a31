/* fuzz_command.c: whole commands of the tool, in process, about a damaged file of each kind.
 *
 * The first bytes of the input choose a command with its file and up to two more options; then come changes to
 * that file, or all of its bytes. A changed profile gets its checksums again, unless the input says no: else
 * readers would leave out what was changed. The files are made when the program begins, and so is an
 * unchanged input for each command. Output goes nowhere. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/core/cli.h"
#include "format/layout.h"
#include "format/space.h"
#include "format/trace.h"
#include "unit/kinds.h"

enum { FILE_BYTES = 1 << 20, WORDS = 24, LINE_BYTES = 512, FILES_MOST = 64 };

/* The last word is the file that is changed. */
static const char *const lines[] = {
    "report both.qprof",
    "report adaptive.qprof",
    "report --threads sum.qprof",
    "report callgrind.out",
    "report pprof.pb",
    "report pprof.pb.gz",
    "summary both.qprof",
    "summary callgrind.out",
    "tree both.qprof",
    "tree --hottest rings.qprof",
    "tree callgrind.out",
    "tree pprof.pb",
    "detail g both.qprof",
    "detail g adaptive.qprof",
    "detail g callgrind.out",
    "annotate g both.qprof",
    "annotate g adaptive.qprof",
    "info both.qprof",
    "info adaptive.qprof",
    "info pprof.pb",
    "info rings.qprof",
    "check both.qprof",
    "check --host both.qprof",
    "check pprof.pb",
    "list both.qprof",
    "list --by=statement both.qprof",
    "cover report both.qprof",
    "cover report sum.qprof",
    "cover report --functions --adjustments=marks.adjust both.qprof",
    "cover report both.qprof --adjustments=marks.adjust",
    "cover report --view=module --uncovered both.qprof",
    "cover annotate score both.qprof",
    "cover annotate both.qprof score",
    "cover summary both.qprof",
    "cover context both.qprof",
    "cover adjust score",
    "cover adjust both.qprof score",
    "cover merge -o kept both.qprof",
    "cover merge --layered -o kept sum.qprof both.qprof",
    "cover export --to=lcov both.qprof",
    "cover export --to=cobertura both.qprof",
    "cover export --to=json both.qprof",
    "cover export --to=gcovr both.qprof",
    "cover export --to=html -o kept both.qprof",
    "cover report luacov.stats.out",
    "cover annotate script.lua luacov.stats.out",
    "cover report purecov.txt",
    "cover diff both.qprof sum.qprof",
    "cover diff luacov.stats.out purecov.txt",
    "diff both.qprof sum.qprof",
    "diff both.qprof callgrind.out",
    "diff both.qprof pprof.pb",
    "diff --paths --format=json sum.qprof both.qprof",
    "merge -o kept both.qprof sum.qprof",
    "merge -o kept sum.qprof both.qprof",
    "merge -o kept callgrind.out pprof.pb",
    "export --to=pprof -o kept both.qprof",
    "export --to=callgrind both.qprof",
    "export --to=callgrind pprof.pb",
    "export --to=folded both.qprof",
    "export --to=folded pprof.pb",
    "export --to=speedscope both.qprof",
    "export --to=firefox both.qprof",
    "export --to=json both.qprof",
    "export --to=json adaptive.qprof",
    "export --to=perfetto both.qprof",
    "export --to=dot both.qprof",
    "html -o kept both.qprof",
    "html -o kept adaptive.qprof",
    "html -o kept both.qprof sum.qprof",
    "html -o kept --trace=run.qtrace both.qprof",
    "html -o kept both.qprof --trace=run.qtrace",
    "trace dump run.qtrace",
    "trace dump packed.qtrace.zst",
    "trace dump rings.qprof",
    "trace dump TABLE.PRF",
    "trace dump table.txt",
    "trace stat run.qtrace",
    "trace stat rings.qprof",
    "trace stat TABLE.PRF",
    "trace stat table.txt",
    "trace flow run.qtrace",
    "trace flow TABLE.PRF",
    "trace slow g run.qtrace",
    "trace slow g table.txt",
    "trace profile -o kept run.qtrace",
    "trace profile -o kept TABLE.PRF",
    "trace profile -o kept table.txt",
    "trace export --to=chrome run.qtrace",
    "trace export --to=chrome TABLE.PRF",
    "trace export --to=perfetto run.qtrace",
    "trace export --to=firefox run.qtrace",
    "trace convert -o kept.qtrace.zst run.qtrace",
    "trace convert -o kept.qtrace rings.qprof",
    "trace convert --to=csv run.qtrace",
    "trace convert --to=csv table.txt",
    "trace convert --to=dbf -o KEPT.PRF run.qtrace",
    "trace convert --to=dbf -o KEPT.PRF packed.qtrace.zst",
    "trace convert --to=delimited -o kept TABLE.PRF",
    "store import new.db both.qprof",
    "store import new.db pprof.pb",
    "store top fleet.db",
    "store tree fleet.db",
    "store list fleet.db",
    "store diff --base=1 --new=1 fleet.db",
    "store check fleet.db",
    "store export -o kept fleet.db",
    "config check good.conf",
    "config show good.conf",
    "list --config=good.conf both.qprof",
    "list both.qprof --config=good.conf",
};
enum { N_LINES = sizeof lines / sizeof *lines };

/* Most commands refuse most of them, at once. */
static const char *const more[] = {
    "--format=json",
    "--format=csv",
    "--format=markdown",
    "--threads",
    "--thread=1",
    "--thread=main",
    "--merge-threads",
    "--collapse-recursion",
    "--focus=g",
    "--hide=f",
    "--hide-module=prog",
    "--gc=caller",
    "--when=f",
    "--sort=calls",
    "--sort=name",
    "--limit=1",
    "--by=module",
    "--by=file",
    "--by=line",
    "--by=class",
    "--long",
    "--percent=rows",
    "--show-skips",
    "--unit=cycles",
    "--unit=us",
    "--subtract-overhead",
    "--min-percent=1",
    "--min-total=5",
    "--filter=g",
    "--depth=2",
    "--routes=3",
    "--sample-index=objects",
    "--sample-index=cpu",
    "--max-memory=1M",
    "--no-sources",
    "--source-path=.",
    "--with-arguments",
    "--bytes",
    "--objects",
    "--callgrind-jumps",
    "--samples",
    "--calls",
    "--counts",
    "--not-executed",
    "--functions",
    "--contexts",
    "--context=a test",
    "--blocks",
    "--sum",
    "--no-adjust",
    "--only-missed",
    "--include=*",
    "--exclude=f",
    "--root=.",
    "--relative",
    "--force-merge",
    "--layered",
    "--mark-partial-lines=yes",
    "--annotations=all",
    "--fail-under=50",
    "--fail-if-slower=1",
    "--fail-if-lower",
    "--qxdiff",
    "--legend",
    "--elapsed",
    "--ignore-system",
    "--since=both.qprof",
    "--name=g",
    "--histogram",
    "--until=1ms",
    "--host",
    "--undated",
    "--service=prog",
    "--color=always",
    "--since=1us",
    "--hottest",
    "--paths",
    "--fail-if-more=gc:1",
};
enum { N_MORE = sizeof more / sizeof *more };

enum { RAW = 1, UNSUMMED = 2 };
typedef struct {
    uint8_t line, more[2], how; /* more: 0: none */
} choice;

/* One change: what a place of the file becomes. */
typedef struct {
    uint8_t at[3], what;
    uint8_t bytes[4];
} change;

static struct {
    char name[64];
    unsigned char *bytes; /* whole, as it was made */
    size_t n_bytes;
} files[FILES_MOST];
static size_t n_files;

static void must(bool is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "fuzz_command: %s\n", what);
        abort();
    }
}

/* ---- the files -------------------------------------------------------------------------------- */

static void write_file(const char *path, const void *bytes, size_t n_bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes, path);
    close(fd);
}

static void keep_file(const char *name)
{
    must(n_files < FILES_MOST, "too many files");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    files[n_files].bytes = malloc(FILE_BYTES);
    must(fd >= 0 && files[n_files].bytes, name);
    ssize_t n = read(fd, files[n_files].bytes, FILE_BYTES);
    must(n > 0 && n < FILE_BYTES, name);
    close(fd);
    snprintf(files[n_files].name, sizeof files->name, "%s", name);
    files[n_files++].n_bytes = (size_t)n;
}

static void keep_all(void)
{
    DIR *folder = opendir(".");
    must(folder != NULL, "no folder");
    for (struct dirent *e; (e = readdir(folder));)
        if (e->d_type == DT_REG)
            keep_file(e->d_name);
    closedir(folder);
}

static size_t file_named(const char *name)
{
    size_t i = 0;
    while (i < n_files && strcmp(files[i].name, name) != 0)
        i++;
    must(i < n_files, name);
    return i;
}

/* Is it one of those that were made? */
static bool is_kept(const char *name)
{
    for (size_t i = 0; i < n_files; i++)
        if (strcmp(files[i].name, name) == 0)
            return true;
    return false;
}

/* Remove what a command wrote. */
static void remove_rest(void)
{
    DIR *folder = opendir(".");
    must(folder != NULL, "no folder");
    for (struct dirent *e; (e = readdir(folder));)
        if (e->d_type == DT_REG && !is_kept(e->d_name))
            unlink(e->d_name);
    closedir(folder);
}

/* ---- changes ---------------------------------------------------------------------------------- */

static void sum_profile(unsigned char *bytes, size_t n_bytes)
{
    qp_head *h = (qp_head *)(void *)bytes;
    qp_sealer s;
    if (n_bytes < sizeof *h || memcmp(bytes, QP_MAGIC, sizeof h->magic) != 0 ||
        !qp_head_has_checksums(h))
        return;
    qp_seal_begin(&s, h, -1);
    s.n_cells = n_bytes / QP_CELL;
    qp_seal(&s, bytes + (size_t)QP_HEAD_CELLS * QP_CELL, QP_HEAD_CELLS,
            s.n_cells - QP_HEAD_CELLS);
    qp_seal_end(&s, h);
}

static void sum_packets(unsigned char *bytes, size_t n_bytes)
{
    size_t at = sizeof(qp_trace_file);
    if (n_bytes < at || memcmp(bytes, QP_TRACE_MAGIC, 8) != 0)
        return;
    while (n_bytes - at >= sizeof(qp_packet)) {
        qp_packet *p = (qp_packet *)(void *)(bytes + at);
        size_t n = ((size_t)p->n_bytes + 7) & ~(size_t)7;
        if (p->magic != QP_PACKET_MAGIC || n > n_bytes - at - sizeof *p)
            return;
        p->sum = qp_packet_sum(p, p + 1);
        at += sizeof *p + n;
    }
}

/* @return bytes of the file that is left */
static size_t apply(unsigned char *bytes, size_t n_bytes, const uint8_t *data, size_t n_data)
{
    for (; n_data >= sizeof(change) && n_bytes; data += sizeof(change)) {
        change c;
        memcpy(&c, data, sizeof c);
        size_t at = (c.at[0] | (size_t)c.at[1] << 8 | (size_t)c.at[2] << 16) % n_bytes;
        size_t n = 1 + c.what % 4;
        n = n < n_bytes - at ? n : n_bytes - at;
        if (c.what >= 0xF8) /* it ends here */
            n_bytes = at;
        else if (c.what >= 0xE0) /* four bytes less */
            memmove(bytes + at, bytes + at + n, (n_bytes -= n) - at);
        else if (c.what >= 0xC0) /* a piece of it once more */
            memmove(bytes + at, bytes + c.bytes[0] % (at + 1),
                    n_bytes - at < c.bytes[1] ? n_bytes - at : c.bytes[1]);
        else
            memcpy(bytes + at, c.bytes, n);
        n_data -= sizeof c;
    }
    return n_bytes;
}

static void change_file(size_t i, uint8_t how, const uint8_t *data, size_t n_data)
{
    static _Alignas(64) unsigned char bytes[FILE_BYTES];
    size_t n_bytes = files[i].n_bytes;
    if (how & RAW) {
        write_file(files[i].name, data, n_data);
        return;
    }
    memcpy(bytes, files[i].bytes, n_bytes);
    n_bytes = apply(bytes, n_bytes, data, n_data);
    if (!(how & UNSUMMED)) {
        sum_profile(bytes, n_bytes);
        sum_packets(bytes, n_bytes);
    }
    write_file(files[i].name, bytes, n_bytes);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* An input for each command: nothing is changed; and a text file as it is. */
static void write_seeds(const char *folder)
{
    char path[64];
    mkdir(folder, 0700);
    for (unsigned i = 0; i < N_LINES; i++) {
        choice c = {.line = (uint8_t)i};
        snprintf(path, sizeof path, "%s/%u", folder, i);
        write_file(path, &c, sizeof c);
        const char *name = strrchr(lines[i], ' ') + 1;
        name += strcspn(name, "=") < strlen(name) ? strcspn(name, "=") + 1 : 0;
        size_t f = file_named(name);
        unsigned char raw[sizeof c + 4096];
        if (files[f].n_bytes > 4000 || memchr(files[f].bytes, 0, files[f].n_bytes))
            continue;
        c.how = RAW;
        memcpy(raw, &c, sizeof c);
        memcpy(raw + sizeof c, files[f].bytes, files[f].n_bytes);
        snprintf(path, sizeof path, "%s/%u.raw", folder, i);
        write_file(path, raw, sizeof c + files[f].n_bytes);
    }
}

static uint8_t line_of(const char *text)
{
    uint8_t i = 0;
    while (i < N_LINES && strcmp(lines[i], text) != 0)
        i++;
    must(i < N_LINES, text);
    return i;
}

/* What was found once: a packet of records that has no bytes. */
static void write_found(const char *folder)
{
    struct {
        choice c;
        unsigned char bytes[sizeof(qp_trace_file) + sizeof(qp_packet)];
    } input = {.c = {.line = line_of("trace stat run.qtrace"), .how = RAW}};
    char path[64];
    qp_trace_file head;
    qp_packet packet = {.kind = QP_PACKET_EVENTS, .n_records = 1};
    memcpy(&head, files[file_named("run.qtrace")].bytes, sizeof head);
    qp_packet_seal(&packet, input.bytes, head.nonce, 1);
    memcpy(input.bytes, &head, sizeof head);
    memcpy(input.bytes + sizeof head, &packet, sizeof packet);
    snprintf(path, sizeof path, "%s/found", folder);
    write_file(path, &input, sizeof input);
}

/* The file that a line's last word names. @param words  receives the line, with up to two more options */
static size_t compose(const choice *c, char text[LINE_BYTES], char *words[WORDS], int *n)
{
    int n_more = 0;
    snprintf(text, LINE_BYTES, "qprof %s", lines[c->line % N_LINES]);
    *n = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[(*n)++] = word;
    char *last = words[*n - 1], *value = strchr(last, '=');
    for (int i = 0; i < 2; i++)
        if (c->more[i] && c->more[i] <= N_MORE)
            words[*n + n_more++] = (char *)(uintptr_t)more[c->more[i] - 1];
    *n += n_more;
    words[*n] = NULL;
    return file_named(value ? value + 1 : last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    choice c;
    char text[LINE_BYTES], *words[WORDS];
    int n;
    if (n_bytes < sizeof c)
        return -1;
    memcpy(&c, data, sizeof c);
    size_t file = compose(&c, text, words, &n);
    change_file(file, c.how, data + sizeof c, n_bytes - sizeof c);
    int status = qp_cli_main(n, words);
    if (status < QP_EXIT_CLEAN || status > QP_EXIT_UNSURE)
        abort();
    write_file(files[file].name, files[file].bytes, files[file].n_bytes);
    remove_rest();
    return 0;
}

static void unpack(const char *from, const char *to)
{
    static unsigned char bytes[FILE_BYTES];
    gzFile file = gzopen(from, "rb");
    must(file != NULL, from);
    int n = gzread(file, bytes, sizeof bytes);
    must(n > 0, from);
    gzclose(file);
    write_file(to, bytes, (size_t)n);
}

static bool is_folder(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

/* Make the files in the current folder, and add the seeds to the program's words. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char seeds[] = "seeds", silent[] = "-close_fd_mask=3";
    static char *words[64];
    unsetenv("QPROF");
    setenv("HOME", ".", 1);
    setenv("TMPDIR", ".", 1);
    kinds_make();
    kinds_write("luacov.stats.out", "3:script.lua\n1 0 2 \n");
    kinds_write("purecov.txt",
                "di\t.\t0\t0\t0\t0\t0\t0\t0\nfi\ta.c\t1\t1\t1\t1\t1\t1\n"
                "fu\tmain\t1\t1\t1\t1\t7\nbl\t10\t12\t5\nli\t10\t5\nefu\nefi\nedi\n");
    unpack("pprof.pb.gz", "pprof.pb");
    keep_all();
    write_seeds(seeds);
    write_found(seeds);
    int n = 0;
    for (; n < *argc && n < 60; n++)
        words[n] = (*argv)[n];
    words[n++] = silent;
    const char *last = words[*argc - 1];
    if (*argc < 2 || last[0] == '-' ||
        is_folder(last)) /* else it is about inputs that are given */
        words[n++] = seeds;
    *argc = n;
    *argv = words;
    return 0;
}
