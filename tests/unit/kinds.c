/* kinds.c: see kinds.h. */
#include "unit/kinds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/core/cli.h"
#include "unit/play.h"

void kinds_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

void kinds_run(const char *line)
{
    enum { WORDS = 16 };
    char copy[512], *words[WORDS + 1] = {NULL};
    int n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && n < WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(qp_cli_main(n, words));
    if (play_child_status(child) != 0)
        fail_msg("%s: it failed", line);
}

/* Record a bit of everything, in a process of its own. */
static void record(const char *folder, const char *options)
{
    static const char score[] =
        "@a main( #0*1 1 f( #0*2 #1*2 2 g( #0*5 :0 3 ) ) @b h( 4 g( 5 @a f( g( 6 ) ^main 7 ) "
        "@b ) f( 8 ) )";
    static const qprof_LineInfo lines[] = {{0, 1}, {4, 2}, {8, 3}};
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char all[512];
        play_ctx p = {0};
        void *state = &p;
        if (play_setup(&state) || chdir(folder))
            _exit(1);
        play_ctx *own = state;
        snprintf(all, sizeof all, "-program-name=prog %s", options);
        play_begin_vt(own, all);
        for (const char *const *f = (const char *const[]){"main", "f", "g", "h", NULL}; *f; f++)
            play_register(own, *f, 0, lines, 3);
        play(own, score);
        qprof_context("a test");
        play(own, "@a main( #0*1 2 )");
        qprof_shutdown();
        _exit(0);
    }
    assert_int_equal(play_child_status(child), 0);
}

void kinds_make(void)
{
    char here[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    record(here, "-collect=profile,coverage -trace-output=run.qtrace -trace-buffer=64K");
    rename("run.qprof", "both.qprof");
    record(here, "-time=adaptive -output=run.qprof");
    rename("run.qprof", "adaptive.qprof");
    record(here, "-collect=profile,trace -trace-buffer=64K -output=run.qprof");
    rename("run.qprof", "rings.qprof");
    kinds_run("qprof merge -o sum.qprof both.qprof both.qprof");
    kinds_run("qprof store import fleet.db both.qprof sum.qprof");
    kinds_run("qprof export --to=callgrind -o callgrind.out both.qprof");
    kinds_run("qprof export --to=pprof -o pprof.pb.gz both.qprof");
    kinds_run("qprof trace convert -o packed.qtrace.zst run.qtrace both.qprof");
    kinds_run("qprof trace convert --to=dbf -o TABLE.PRF run.qtrace both.qprof");
    kinds_run("qprof trace convert --to=delimited -o table.txt run.qtrace both.qprof");
    kinds_write("score", "one\ntwo -- purecov: tested\nthree\n");
    kinds_run("qprof cover adjust -o marks.adjust score");
    kinds_write("kept.text", "an earlier text\n");
    kinds_write("good.conf",
                "initial-status off\ntrigger t on pass=1 : f\narea a include : g\n");
}
