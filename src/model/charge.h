/* charge.h: whom the call paths of a profile are charged to, by a call pattern.
 *
 * A path is charged as a whole: to itself, to one of its callers, to nobody's procedure
 * (foreignPcs), or not at all. The rules are those of code/pattern.h; applied here to a finished
 * run, a pattern gives what it would have given while recording. Each path is looked at once. */
#ifndef QP_MODEL_CHARGE_H
#define QP_MODEL_CHARGE_H

#include "base/arena.h"
#include "format/options.h" /* qp_parse_error */
#include "model/model.h"

enum { QP_CHARGE_SKIPPED = UINT32_MAX };

typedef struct {
    const qp_model *m;
    /* [n_methods] qp_charge_module_text() */
    const char **modules;
    /* [n_nodes] whose end is charged for this path, and which was active then with its callers: a
     * node, foreign if that has no procedure; QP_CHARGE_SKIPPED: the pattern leaves it out */
    uint32_t *nodes;
    struct qp_charge_texts *texts; /* of modules */
    const bool
        *is_listed;    /* [n_methods] which qp_charges_list() lists, the caller's; NULL: all */
    char unknown[200]; /* a name of the pattern that no procedure has, or ""; as it is typed */
} qp_charges;

typedef enum {
    QP_CHARGE_OK,
    QP_CHARGE_SYNTAX, /* of the pattern: see error */
    QP_CHARGE_NO_MEMORY
} qp_charge_status;

/** Apply a pattern.
 *
 * Memory: 4 bytes a path, and 4 for each frame of the deepest one times the names in all threads
 * that the pattern expands to. Time: a pass over the paths. Patterns that expand to more than 1024
 * names take as much for each path as that is deep.
 * @param pattern     "": every path counts and is charged itself
 * @param only_hit    paths without interrupts need not be looked at: they are skipped perhaps
 * @param c           qp_charges_fini() it whatever is returned */
qp_charge_status qp_charges_init(qp_charges *c, const qp_model *m, const char *pattern,
                                 bool only_hit, qp_parse_error *error);
void qp_charges_fini(qp_charges *c);

/* Is the end of a path a procedure? Roots and pseudo-methods are not. */
bool qp_charge_is_procedure(const qp_model *m, uint32_t node);

typedef struct {
    const char *module, *procedure; /* procedure "": of the whole module */
    uint64_t shallow, deep;         /* interrupts */
} qp_charge_row;

/* counted + skipped = occurred; the rows' shallow + foreign + critical = counted. */
typedef struct {
    uint64_t occurred, counted, skipped, critical, foreign;
} qp_charge_totals;

/** Interrupts of procedures, or of modules: deep while at least one procedure of it was active.
 *
 * @param thread  or QP_ALL_THREADS: critical sections are only known of all
 * @param rows    [*n] those with interrupts, by module and procedure; free with qp_free(); names
 *                live as long as c and its model
 * @param totals  are added to
 * @return false: no memory */
bool qp_charges_list(const qp_charges *c, uint32_t thread, bool by_module, qp_charge_row **rows,
                     size_t *n, qp_charge_totals *totals);

/* The module that call patterns know a method in: its class or, without one, its file's name without
 * folder and suffix. Not what the host calls its module.
 * @param n_bytes  of it; 0: it has neither @return a part of class_name or file */
const char *qp_charge_module(const char *class_name, const char *file, size_t *n_bytes);
/* The same as a text. @return class_name, file, or of the arena; NULL: no memory */
const char *qp_charge_module_text(qp_arena *arena, const char *class_name, const char *file);

enum { QP_CHARGE_COMMAND_BYTES = 40 };

/* "VIRTUAL 1000": kind and microseconds of the run's PC command; "": it has none. Counts of different
 * ones do not add up. @param to  [QP_CHARGE_COMMAND_BYTES] @return to */
char *qp_charge_command(char *to, const qp_run *run);

/* Is it a PC command, behind the word PC? @return false: see error */
bool qp_charge_is_command(const char *text, qp_parse_error *error);

#endif
