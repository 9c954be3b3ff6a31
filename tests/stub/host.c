/* host.c: a runtime with hooks: host HOW. It prints what qprof_vm_open() returned and the error text.
 *   calls     1000 calls in one VM
 *   threads   8 threads begin at once, with 1000 calls each in a VM of their own
 *   fork      a child and then its parent, with 1000 calls each */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qprof/embed.h"

static int run(const char *options)
{
    qprof_vm vm;
    int code = qprof_vm_open(&vm, options), i;
    qprof_MethodID outer = qprof_define("outer", NULL, "a.src", NULL, 0);
    qprof_MethodID inner = qprof_define("inner", NULL, "a.src", NULL, 0);
    qprof_token out = qprof_enter(&vm.main, 0, outer);
    for (i = 0; i < 1000; i++) {
        qprof_token in = qprof_enter(&vm.main, out, inner);
        qprof_leave(&vm.main, in);
    }
    qprof_leave(&vm.main, out);
    qprof_vm_close(&vm);
    return code;
}

static pthread_barrier_t start;
static const char options[] = "-output=host.qprof -time=none";

static void *one_thread(void *code)
{
    qprof_vm first;
    pthread_barrier_wait(&start);
    *(int *)code = qprof_vm_open(&first, options);
    pthread_barrier_wait(
        &start); /* all have begun: none ends the run before the others record */
    run(options);
    pthread_barrier_wait(&start);
    qprof_vm_close(&first);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "calls";
    int code = 0, codes[8], i;
    pthread_t threads[8];
    if (!strcmp(how, "threads")) {
        pthread_barrier_init(&start, NULL, 8);
        for (i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, one_thread, &codes[i]);
        for (i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
        code = codes[0];
        for (i = 1; i < 8; i++)
            code = codes[i] < code ? codes[i] : code;
    } else {
        if (!strcmp(how, "fork")) {
            pid_t child = fork();
            if (!child)
                return run("-output=child.qprof -time=none") != 1;
            waitpid(child, &i, 0);
            if (i)
                return 9;
        }
        code = run(options);
    }
    printf("%d %s\n", code, code == 1 ? "" : qprof_error_text());
    return 0;
}
