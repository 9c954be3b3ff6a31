/* doctor.h: facts about this build and this machine, for `qprof version` and `qprof doctor`. */
#ifndef QP_CLI_DOCTOR_DOCTOR_H
#define QP_CLI_DOCTOR_DOCTOR_H

#include "cli/core/cli.h"

typedef enum {
    QP_FACT_OK,
    QP_FACT_NOTE,   /* recordings work, with a limit */
    QP_FACT_PROBLEM /* recordings do not work */
} qp_fact_state;

typedef struct {
    const char *topic;
    qp_fact_state state;
    char text[640];   /* what is so */
    char advice[320]; /* what to do; "": nothing */
} qp_fact;

enum { QP_FACTS_MOST = 32 };

typedef struct {
    qp_fact all[QP_FACTS_MOST];
    size_t n, n_notes, n_problems;
} qp_facts;

/* Add a fact; later calls of qp_fact_advise() are about it. */
void qp_fact_add(qp_facts *f, const char *topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The last fact limits recordings, or prevents them: what to do. */
void qp_fact_advise(qp_facts *f, qp_fact_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void qp_facts_of_build(qp_facts *f);   /* version.c */
void qp_facts_of_machine(qp_facts *f); /* machine.c */

#endif
