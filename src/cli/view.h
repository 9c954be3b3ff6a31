/* view.h: the figures that a command shows: of one thread or all, as measured or less the
 * recorder's own cost. */
#ifndef QP_CLI_VIEW_H
#define QP_CLI_VIEW_H

#include "base/unit.h"
#include "model/model.h"

typedef struct {
    const qp_model *m;
    uint32_t thread;                  /* QP_ALL_THREADS: all */
    uint64_t whole;                   /* ticks: 100 % */
    uint64_t whole_self, whole_total; /* the same of a function table's columns */
    qp_figures *flat;                 /* [n_methods] */
    uint64_t *node_self,
        *node_total; /* [n_nodes] ticks, less the cost; NULL: as in the model */
} qp_view;

/* @return false: no memory; qp_view_fini() is allowed then */
bool qp_view_init(qp_view *v, const qp_model *m, uint32_t thread, bool is_subtracted);
void qp_view_fini(qp_view *v);

uint64_t qp_view_self(const qp_view *v, uint32_t node);  /* ticks */
uint64_t qp_view_total(const qp_view *v, uint32_t node); /* ticks */

bool qp_view_is_time(const qp_model *m); /* else units of a counter */

/* "12.345 ms", "1,234 counts". `to` has QP_NUMBER_BYTES. @return to */
char *qp_view_amount(const qp_model *m, char *to, uint64_t ticks);

/* Part of whole in percent; 0 of nothing. */
double qp_view_percent(uint64_t part, uint64_t whole);

/* One unit for a column whose largest figure is `ticks`. @param wanted  of --unit, or NULL */
qp_unit qp_view_unit(const qp_model *m, uint64_t ticks, const char *wanted);

/* Has the thread anything to show? One that only carried virtual threads has not. */
bool qp_view_is_busy(const qp_model_thread *thread);
uint32_t qp_view_threads(const qp_model *m); /* how many have */

/* "fib.lua:3", "" without a file. @return to */
char *qp_view_place(char *to, size_t n_bytes, const qp_model_method *method);

#endif
