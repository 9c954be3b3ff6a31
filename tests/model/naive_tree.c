/* naive_tree.c: nodes and blocks as plain linked lists. */
#include "model/naive_tree.h"

#include <stdlib.h>

static naive_node *new_node(naive_node *parent, uint64_t method)
{
    naive_node *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->method = method;
    n->parent = parent;
    n->min = UINT64_MAX;
    return n;
}

naive_node *naive_tree_root(void)
{
    return new_node(NULL, 0);
}

naive_node *naive_tree_child(naive_node *parent, uint64_t method)
{
    naive_node **link = &parent->children;
    for (; *link; link = &(*link)->next)
        if ((*link)->method == method)
            return *link;
    *link = new_node(parent, method);
    return *link;
}

naive_node *naive_tree_next(naive_node *node)
{
    if (node->children)
        return node->children;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

void naive_tree_free(naive_node *node)
{
    while (node) { /* unhook a first child until a node has none */
        naive_node *child = node->children;
        if (child) {
            node->children = child->next;
            child->next = NULL;
            node = child;
        } else {
            naive_node *parent = node->parent;
            free(node);
            node = parent;
        }
    }
}

void naive_tree_clear(naive_node *root)
{
    for (naive_node *node = root; node; node = naive_tree_next(node)) {
        node->n_hits = node->n_skips = node->self = node->max = node->counts = 0;
        node->min = UINT64_MAX;
    }
}

void naive_tree_add(naive_node *sum, const naive_node *root)
{
    const naive_node *from = root;
    for (naive_node *to = sum;;) {
        to->n_hits += from->n_hits;
        to->n_skips += from->n_skips;
        to->self += from->self;
        to->counts += from->counts;
        if (from->children) {
            from = from->children;
            to = naive_tree_child(to, from->method);
            continue;
        }
        while (from != root && !from->next) {
            from = from->parent;
            to = to->parent;
        }
        if (from == root)
            return;
        from = from->next;
        to = naive_tree_child(to->parent, from->method);
    }
}

void naive_tree_derive(naive_node *root)
{
    naive_node *last = root;
    for (naive_node *node = root; node; node = naive_tree_next(node)) {
        node->total = node->self;
        node->is_open = false;
        last = node;
    }
    /* the same walk backwards: a node's total goes to its parent when all its children's are
     * in */
    for (naive_node *node = last; node && node->parent;) {
        node->parent->total += node->total;
        if (node == node->parent->children) {
            node = node->parent;
            continue;
        }
        naive_node *before = node->parent->children;
        while (before->next != node)
            before = before->next;
        for (node = before; node->children;)
            for (node = node->children; node->next;)
                node = node->next;
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

const naive_block *naive_find_block(const naive_thread *th, uint64_t method, int block)
{
    for (naive_block *b = th->blocks; b; b = b->next)
        if (b->method == method && b->block == block)
            return b;
    return NULL;
}

naive_block *naive_block_of(naive_thread *th, uint64_t method, int block)
{
    naive_block *b = (naive_block *)naive_find_block(th, method, block);
    if (!b) {
        b = calloc(1, sizeof *b);
        if (!b)
            abort();
        b->method = method;
        b->block = block;
        b->next = th->blocks;
        th->blocks = b;
    }
    return b;
}

void naive_blocks_free(naive_thread *th)
{
    while (th->blocks) {
        naive_block *next = th->blocks->next;
        free(th->blocks);
        th->blocks = next;
    }
}
