/* run_rows.h: the rows of a profile in every form: its run, threads, methods, figures.
 *
 * Each row is a copy of what the model has, with its times in the run's unit. */
#ifndef QP_EXPORT_SHARED_RUN_ROWS_H
#define QP_EXPORT_SHARED_RUN_ROWS_H

#include "base/text/field.h"
#include "model/figures/figures.h"
#include "model/model.h"

/* What a JSON document about a profile is made of; the struct of each document begins with it. */
typedef struct {
    const qp_model *m;
    uint32_t thread; /* QP_ALL_THREADS: all */
} qp_document;

extern const qp_field qp_run_part[];     /* of a document: "run", "diagnostics", "losses" */
extern const qp_field qp_threads_part[]; /* of a document: "threads" */

/* What figures need, as `needs` of a field; a command may use the bits above. */
enum {
    QP_HAS_CALLS = 1,
    QP_HAS_TIMES = 2,
    QP_HAS_HALVES = 4,   /* times are estimates */
    QP_HAS_EXTREMES = 8, /* of single calls */
    QP_HAS_MEMORY = 16,
    QP_HAS_WAITS = 32, /* some part of the time was spent off the processor */
    QP_HAS_INSTRUCTIONS = 64,
    QP_HAS_OTHERS = 128
};
unsigned qp_run_has(const qp_run_info *run);
/* Of forms for programs, which leave out nothing but what few runs record. */
unsigned qp_run_has_any(const qp_run_info *run);

/* ---- rows ---------------------------------------------------------------------------------- */

typedef struct {
    qp_run_info run;
    uint64_t duration, stopped, total, off, overhead, overhead_skipped, collector,
        collector_total, collector_half;
    const char *pc_clock;
} qp_run_row;
extern const qp_field qp_run_fields[];

qp_run_row qp_run_row_of(const qp_model *m);

typedef struct {
    qp_figures f; /* times in the run's unit; min, max QP_FIELD_NONE without a complete call */
    uint64_t average, average_total;
    uint64_t self_run, total_run;
    uint64_t average_half, average_total_half; /* of their intervals; 0: exact */
} qp_figures_row;
extern const qp_field qp_figures_fields[];
extern const qp_field qp_memory_fields[]; /* of a qp_figures; a part of those */

/* Give QP_FIELD_NONE to what the run does not know, for forms that leave it empty. */
void qp_figures_row_blank(qp_figures_row *row, const qp_run_info *run);

typedef struct {
    qp_model_method method;
    qp_figures_row figures;
} qp_method_row;
extern const qp_field qp_method_fields[];
extern const qp_field qp_method_name_fields[]; /* of a qp_model_method: name, file, line */

qp_method_row qp_method_row_of(const qp_model *m, uint32_t method, const qp_figures *f);

typedef struct {
    uint32_t id, method, thread; /* method: the number that the form gives it */
    const char *thread_name;
    qp_model_node node;
    qp_model_method function;
    qp_figures_row figures;
} qp_path_row;
extern const qp_field qp_path_fields[];

qp_path_row qp_path_row_of(const qp_model *m, uint32_t path, uint32_t method);

/* Of a qp_block_figures, whose times are in the run's unit and whose count is QP_FIELD_NONE if the
 * block was not counted. */
extern const qp_field qp_block_fields[];
qp_block_figures qp_block_row_of(const qp_model *m, const qp_block_figures *block);

typedef struct {
    qp_model_thread thread;
    char id[24]; /* the host's, hexadecimal */
    const char *id_text, *state;
    uint64_t total;
    double percent; /* of the run */
} qp_thread_row;
extern const qp_field qp_thread_fields[];

/* Fill a row, which keeps a pointer into itself. */
void qp_thread_row_fill(qp_thread_row *row, const qp_model *m, uint32_t thread);

#endif
