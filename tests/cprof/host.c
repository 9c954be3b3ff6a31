/* host.c: a host that knows neither library: it binds every call of the interpreter interface
 * by name from the one that its first argument names, and records with whatever it found.
 *
 * usage: host LIBRARY OPTIONS NAME... : NAMEs must exist as well */
#include <dlfcn.h>
#include <stdio.h>

#define QPROF_NO_INLINE
#include "qprof.h"

/* The 14 calls of the interface and their 9 forms for virtual threads. */
#define CALLS(X)                                                                               \
    X(initialize)                                                                              \
    X(initialize_ex)                                                                           \
    X(shutdown)                                                                                \
    X(get_option)                                                                              \
    X(thread_create)                                                                           \
    X(set_thread_name)                                                                         \
    X(thread_destroy)                                                                          \
    X(current_method_id)                                                                       \
    X(register_method_id)                                                                      \
    X(record_fn_entry)                                                                         \
    X(record_fn_exit)                                                                          \
    X(record_counts)                                                                           \
    X(record_bb_counts)                                                                        \
    X(record_bb_time)                                                                          \
    X(shutdown_vt)                                                                             \
    X(thread_create_vt)                                                                        \
    X(thread_destroy_vt)                                                                       \
    X(current_method_id_vt)                                                                    \
    X(register_method_id_vt)                                                                   \
    X(record_fn_entry_vt)                                                                      \
    X(record_fn_exit_vt)                                                                       \
    X(record_counts_vt)                                                                        \
    X(record_bb_time_vt)

typedef struct {
#define FIELD(call) __typeof__(&qprof_##call) call;
    CALLS(FIELD)
#undef FIELD
} interface;

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fprintf(stderr, "host: no %s\n", name);
    return found;
}

static int bind_all(void *library, interface *q)
{
#define BIND(call)                                                                             \
    q->call = (__typeof__(q->call))find(library, "qprof_" #call);                              \
    if (!q->call)                                                                              \
        return 0;
    CALLS(BIND)
#undef BIND
    return 1;
}

/* main calls f five times; each call executes line 11 once and every other one line 12. */
static void run(const interface *q)
{
    static const qprof_LineInfo lines[] = {{0, 11}, {4, 12}};
    q->thread_create(1);
    q->set_thread_name("worker");
    q->register_method_id(1, "main", NULL, QPROF_METHOD_FLAGS_NONE, "host.x", lines, 1);
    q->register_method_id(2, "f", NULL, QPROF_METHOD_FLAGS_NONE, "host.x", lines, 2);
    q->register_method_id(3, "never", NULL, QPROF_METHOD_FLAGS_NONE, "host.x", lines, 2);
    q->record_fn_entry(1, 100);
    for (int i = 0; i < 5; i++) {
        q->record_fn_entry(2, 101);
        q->record_bb_time(0);
        q->record_counts(3);
        q->record_bb_counts(0, 1);
        q->record_bb_counts(1, (qprof_Counts)(i % 2 == 0));
        q->record_fn_exit(100);
    }
    q->record_fn_exit(0);
    q->thread_destroy(1);
}

int main(int n_words, char **words)
{
    interface q;
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 2;
    }
    for (int i = 3; i < n_words; i++)
        if (!find(library, words[i]))
            return 3;
    if (!bind_all(library, &q))
        return 3;
    if (q.initialize(words[2], NULL) != 0)
        return 4;
    run(&q);
    q.shutdown();
    return 0;
}
