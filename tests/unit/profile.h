/* profile.h: profiles written by hand, record by record, for tests of the reader. */
#ifndef QP_TESTS_UNIT_PROFILE_H
#define QP_TESTS_UNIT_PROFILE_H

#include "format/layout.h"
#include "model/model.h"

enum { PROFILE_CELLS = 4096, PROFILE_START = 1000 /* raw ticks of the run's beginning */ };

/* Records stay where they are: pointers into it are good until it goes. */
typedef struct {
    _Alignas(64) unsigned char bytes[PROFILE_CELLS * QP_CELL];
    uint32_t n_cells;
} profile;

/* A sealed profile of nanoseconds, exact, elapsed, without threads or methods. */
profile *profile_new(void);
void profile_free(profile *p);

qp_head *profile_head(profile *p);
void *profile_at(profile *p, qp_cell cell);
size_t profile_bytes(const profile *p);

/* An extent with n zeroed cells after its header, all used. @return the first of them */
qp_cell profile_extent(profile *p, qp_extent_kind kind, qp_cell owner, uint32_t n);
qp_ref profile_text(profile *p, const char *text);
qp_ref profile_lines(profile *p, const qp_line *lines, uint32_t n);
qp_ref profile_jumps(profile *p, const qp_jump *jumps, uint32_t n_jumps,
                     const unsigned char *falls, uint32_t n_blocks);
/* Class and file NULL: none. */
qp_cell profile_method(profile *p, uint64_t id, const char *name, const char *class_name,
                       const char *file);
/* With its root node. */
qp_cell profile_thread(profile *p);
/* @param parent  0: the thread's root */
qp_cell profile_node(profile *p, qp_cell thread, qp_cell parent, qp_cell method, uint64_t calls,
                     uint64_t self);
/* The same of a new method that has a name alone. */
qp_cell profile_call(profile *p, qp_cell thread, qp_cell parent, uint64_t method_id,
                     const char *name, uint64_t calls, uint64_t self);
qp_node_more *profile_more(profile *p, qp_cell thread, qp_cell node);
qp_node_metrics *profile_metrics(profile *p, qp_cell thread, qp_node_more *more);
/* The record of a path of -time=adaptive, zeroed. The path has no other figures in `more`. */
qp_node_timing *profile_timing(profile *p, qp_cell thread, qp_cell node);
/* The thread's whole stack: a frame for each node, outermost first, after the root's. */
qp_cell profile_stack(profile *p, qp_cell thread, const qp_cell *nodes, uint32_t n);
qp_counter_block *profile_bank(profile *p, qp_cell thread, qp_cell method,
                               qp_counter_block_kind kind, uint32_t n_values,
                               uint32_t n_blocks);
/* @param name  NULL: the unnamed one */
qp_cell profile_context(profile *p, const char *name);
/* What a context has of a method. */
qp_counter_block *profile_share(profile *p, qp_cell context, qp_cell method, uint64_t calls,
                                uint32_t n_values, uint32_t n_blocks);
qp_cell profile_source(profile *p, const char *path, uint64_t digest);
/* Make the accounting identity true: all calls have ended but those on the stack. */
void profile_balance(profile *p, qp_cell thread, uint64_t entries, uint64_t open);

/* Load; must not be unusable. Free with qp_model_free(). */
qp_model *profile_load(const profile *p, qp_load_status expected);
/* The same, and free the profile. */
qp_model *profile_read(profile *p, qp_load_status expected);
qp_model *profile_load_with(const profile *p, const qp_load_options *o,
                            qp_load_status expected);

/* By name; it must be there. */
const qp_model_method *profile_find(const qp_model *m, const char *name);
uint32_t profile_index(const qp_model *m, const char *name);

void profile_assert_times(const qp_model *m, const char *name, uint64_t self, uint64_t total);

/* Did a check pass? */
bool profile_passes(const qp_model *m, const char *check);

#endif
