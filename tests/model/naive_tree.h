/* naive_tree.h: where the naive profiler keeps its figures. */
#ifndef QP_TESTS_NAIVE_TREE_H
#define QP_TESTS_NAIVE_TREE_H

#include "model/naive.h"

naive_node *naive_tree_root(void);
naive_node *naive_tree_child(naive_node *parent, uint64_t method); /* made if need be */
void naive_tree_free(naive_node *root);
void naive_tree_clear(naive_node *root);  /* all figures 0, all nodes kept */
void naive_tree_derive(naive_node *root); /* totals; is_open: no */

void naive_tree_add(naive_node *sum, const naive_node *root); /* hits, skips, self, counts */
naive_node *
naive_tree_next(naive_node *node); /* in a walk, parents first; NULL: that was the last */

naive_block *naive_block_of(naive_thread *th, uint64_t method, int block); /* made if need be */
void naive_blocks_free(naive_thread *th);

#endif
