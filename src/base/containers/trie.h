/* trie.h: an index from 64-bit keys to numbers that any thread may extend without a lock.
 *
 * 16-way blocks of one cell each, reached by four bits of the mixed key at a time; they lie in
 * memory that the owner supplies and never move. A leaf is any number from 1 to 2^31 - 1; the owner
 * returns its key, so that it is stored once, in the record that the leaf refers to. A leaf that has lost
 * its key gives way to the next one. */
#ifndef QP_BASE_CONTAINERS_TRIE_H
#define QP_BASE_CONTAINERS_TRIE_H

#include <stdint.h>

typedef struct {
    char *base; /* block b is at base + 64 * b */
    uint64_t (*key)(void *owner,
                    uint32_t leaf); /* of a leaf that was put; 0: it lost its key */
    uint32_t (*block)(void *owner); /* a zeroed block; 0: no memory */
    void *owner;
} qp_trie;

/* @param root  a block
 * @return the leaf; 0: none with that key */
uint32_t qp_trie_get(qp_trie t, uint32_t root, uint64_t key);

/* @return the leaf that the key has now, this one or an earlier one; 0: no memory, nothing
 * changed */
uint32_t qp_trie_put(qp_trie t, uint32_t root, uint64_t key, uint32_t leaf);

/* Replace the leaf of a key, or with 0 remove it. @return 0: the key does not have it */
int qp_trie_swap(qp_trie t, uint32_t root, uint64_t key, uint32_t leaf, uint32_t by);

#endif
