/* trg.h: event triggers in few words. */
#ifndef QP_TESTS_UNIT_TRG_H
#define QP_TESTS_UNIT_TRG_H

#include "unit/play.h"

enum { E = 40001, E2 = 40002 }; /* events of the host */

/* What qprof_trg_add() takes; all 0: enabled, at once, any context, any object, no action. */
typedef struct {
    qprof_event_t event;
    int is_disabled, context;
    uintptr_t task, object;
    int is_conditional, kind;
    void *left;
    int op, right;
    int is_one_shot;
    qprof_TrgID chain;
    int action;
    qprof_TrgFunc function;
    int is_deferred;
    intptr_t argument;
} trg;

qprof_TrgID trg_add(trg t);      /* NULL is handed on */
qprof_TrgID trg_must(trg t);     /* must be added */
uint64_t trg_hits(qprof_TrgID);  /* of one that exists */
int trg_is_enabled(qprof_TrgID); /* the same */
void assert_hits(qprof_TrgID, uint64_t hits);

/* An action: its arguments as they come, separated by blanks. */
int trg_note(intptr_t argument);
extern char trg_noted[4096];
void assert_noted(const char *arguments);

/* Start a run with triggering on; a disabled trigger keeps the list from being empty. */
void trg_begin(play_ctx *p, const char *options);

/* Wait until a counter has a value; fails after ten seconds. */
void trg_wait(const int *counter, int value);

/* What `qprof config apply` does, in a run that takes files. @param text  [256] receives the answer
 * @return its code */
int trg_apply(const char *file, char *text);

#endif
