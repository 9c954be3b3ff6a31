/* stepped.h: a program that is stepped through one instruction at a time. Wherever its file has
 * changed, the file is read as that of a process that has died there: it must load clean and
 * pass every check, and hold what the program has done. */
#ifndef TESTS_UNIT_STEPPED_H
#define TESTS_UNIT_STEPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "qprof.h"
#include "unit/leavings.h"

/* Methods that it has registered; NEW is one that it has not registered. */
enum { A = 1, B, C, HOOKED, OTHER_HOOKED, EXCLUDED, NEW };

typedef struct {
    const char *options;
    bool is_virtual, keeps_tokens; /* tokens: calls on the OS thread, not deeper than 16 */
    void (*prepare)(void);         /* not stepped through; NULL: nothing */
    void (*play)(void);
    /* What it must hold; `where` is for messages. NULL: the entries and exits of stepped_in()
     * and stepped_back_to() */
    void (*judge)(const qp_model *m, const char *where);
} stepped_program;

/* Once, before all others. @return false: no memory */
bool stepped_prepare(void);

void stepped_everywhere(const char *what, const stepped_program *p);
/* The same with each way of measuring time. @param more  options besides */
void stepped_in_every_mode(const char *what, stepped_program p, const char *more);

/* ---- what the program does --------------------------------------------------------------- */

extern VthreadID stepped_thread; /* whose events they are; 0: the OS thread's */
extern uintptr_t stepped_depth;

void stepped_in(uintptr_t method);
/* Back to the frame at this depth. */
void stepped_back_to(uintptr_t depth);

#endif
