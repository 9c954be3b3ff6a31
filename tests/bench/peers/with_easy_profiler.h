/* with_easy_profiler.h: easy_profiler; its blocks are counted when it writes them to run.prof. */
#include <easy/profiler.h>

#define BEGIN(is_off) ::profiler::setEnabled(!(is_off))
#define OUTERMOST     1
#define END()         printf("kept %lu\n", (unsigned long)::profiler::dumpBlocksToFile("run.prof"))

#define ENTER(method, caller)                                                                  \
    FRAME here = (caller) + 1;                                                                 \
    EASY_BLOCK("m")
#define LEAVE(method, caller) ((void)0)
