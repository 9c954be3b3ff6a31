/* calls.h: every call of the interface once, as a table, with good arguments and with bad
 * ones. */
#ifndef QP_TESTS_CALLS_H
#define QP_TESTS_CALLS_H

#include <stddef.h>

typedef struct {
    const char *name;
    void (*call)(void);
} play_call;

/* All but initialise and shutdown. */
extern const play_call good_calls[], bad_calls[];
extern const size_t n_good_calls, n_bad_calls;

#endif
