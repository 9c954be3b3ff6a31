/* run_json.h: what JSON documents about a profile have in common. */
#ifndef QP_EXPORT_RUN_JSON_H
#define QP_EXPORT_RUN_JSON_H

#include "base/json.h"
#include "model/model.h"

/* "run", "diagnostics" and "losses", as elements of the object that is open. */
void qp_run_json(qp_json *json, const qp_model *m);

/* An element of "threads". */
void qp_thread_json(qp_json *json, const qp_model *m, uint32_t thread);

/* Fields of a row: calls, times, intervals, samples. */
void qp_figures_json(qp_json *json, const qp_model *m, const qp_figures *f);

/* Fields of a method's row: what it is, and its figures. */
void qp_method_json(qp_json *json, const qp_model *m, uint32_t method, const qp_figures *f);

#endif
