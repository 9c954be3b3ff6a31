/* with_spall.h: Spall's header, version 3. Records go into a buffer of 1 MB that is dropped when it is
 * full, or with TO_FILE is written to run.spall. A begin has a name of four letters: 15 bytes, an end 9. */
#include <stdbool.h>
#include <stdlib.h>

#include "spall.h"
#include "with_clock.h"
#undef ENTER
#undef LEAVE

static SpallProfile profile;
static SpallBuffer buffer;

#ifndef TO_FILE
static bool drop(SpallProfile *self, const void *data, size_t length)
{
    (void)self;
    __asm__ volatile("" : : "r"(data), "r"(length) : "memory");
    return true;
}

static bool flush_nothing(SpallProfile *self)
{
    (void)self;
    return true;
}
#endif

static inline void begin_spall(int is_off)
{
    (void)is_off;
#ifdef TO_FILE
    bool is_open = spall_init_file("run.spall", 1, &profile);
#else
    bool is_open = spall_init_callbacks(1, drop, flush_nothing, NULL, NULL, &profile);
#endif
    buffer.length = 1 << 20;
    buffer.data = calloc(1, buffer.length);
    if (!is_open || !buffer.data || !spall_buffer_init(&profile, &buffer))
        exit(1);
}

static inline void end_spall(void)
{
    spall_buffer_quit(&profile, &buffer);
    spall_quit(&profile);
}
#define BEGIN(is_off) begin_spall(is_off)
#define OUTERMOST     1
#define END()         end_spall()

#define ENTER(method, caller)                                                                  \
    static const char name[4] = {'m', '0' + (method) / 10, '0' + (method) % 10, ' '};          \
    FRAME here = (caller) + 1;                                                                 \
    spall_buffer_begin(&profile, &buffer, name, sizeof name, read_clock())
#define LEAVE(method, caller) spall_buffer_end(&profile, &buffer, read_clock())
