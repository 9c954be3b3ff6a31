/* profile_huge.c FILE: a profile of a million call paths of 1,000 functions, each of which
 * calls up to eight others: paths of a hundred functions, and self times spread over five
 * digits, so that they compress badly. */
#include <inttypes.h>
#include <stdio.h>

#include "format/builder.h"

enum { PATHS = 1000000, FUNCTIONS = 2000, CALLEES = 8, FILES = 100 };

/* Numbers that look like chance and are the same in every run. */
static uint32_t chance(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void add_functions(qp_builder *b)
{
    char name[64], file[64];
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "package%" PRIu32 ".function_%" PRIu32, i % FILES, i);
        snprintf(file, sizeof file, "src/package%" PRIu32 "/file.lua", i % FILES);
        qp_builder_method(
            b, &(qp_builder_code){
                   .id = i + 1, .flags = QP_METHOD_REGISTERED, .name = name, .file = file});
    }
}

/* Most paths are below one of the last few, as a program makes them; one in ten is
 * elsewhere. */
static void add_paths(qp_builder *b)
{
    static uint32_t methods[PATHS + 1];
    qp_thread_record r = {.state = QP_THREAD_ENDED, .n_lives = 1};
    qp_thread_record *thread = qp_builder_thread(b, &r);
    for (uint32_t i = 1; i <= PATHS; i++) {
        uint32_t back = 1 + chance() % (chance() % 10 ? 40 : i);
        uint32_t parent = i > back ? i - back : 0;
        uint32_t callee = (methods[parent] * 37 + i % CALLEES * 251 + 1) % FUNCTIONS;
        methods[i] = callee % 2 ? callee % 64 : callee; /* some are everywhere */
        uint64_t self = chance() % (1u << (4 + chance() % 13));
        qp_node figures = {.n_calls = 1 + chance() % 50, .self = self};
        figures.self_max = self;
        if (thread)
            thread->n_exits += figures.n_calls;
        qp_builder_node(b, parent, methods[i] + 1, &figures);
    }
}

int main(int argc, char **argv)
{
    qp_error error = {.text = "no file named"};
    qp_builder *b = qp_builder_new(0);
    qp_head *h = b ? qp_builder_head(b) : NULL;
    if (!h)
        return 1;
    h->clock_source = QP_SOURCE_NS;
    h->begun_raw = 1;
    h->end_raw = UINT64_C(20000000000);
    h->program = qp_builder_text(b, "huge");
    add_functions(b);
    add_paths(b);
    bool is_good = argc == 2 && qp_builder_finish(b, argv[1], &error);
    if (!is_good)
        fprintf(stderr, "profile_huge: %s\n", error.text);
    qp_builder_free(b);
    return !is_good;
}
