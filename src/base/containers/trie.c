/* trie.c: the lock-free index. A slot holds nothing, a leaf, or (high bit set) a further block. */
#include "base/containers/trie.h"

#include "base/atomic.h"

#define BLOCK_BIT 0x80000000u

enum { SLOT_BITS = 4, SLOTS = 1 << SLOT_BITS };

/* A bijection: two keys differ in one of the 16 steps at the latest. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53u;
    x ^= x >> 33;
    return x;
}

static uint32_t *slot_at(const qp_trie *t, uint32_t block, uint64_t path)
{
    return (uint32_t *)(void *)(t->base + ((uint64_t)(block & ~BLOCK_BIT) << 6)) +
           (path & (SLOTS - 1));
}

/* The slot where the key's leaf is or would be; what it holds goes to *held. */
static uint32_t *find_slot(const qp_trie *t, uint32_t block, uint64_t *path, uint32_t *held)
{
    for (;;) {
        uint32_t *slot = slot_at(t, block, *path);
        *held = qp_observe(slot);
        if (!(*held & BLOCK_BIT))
            return slot;
        block = *held;
        *path >>= SLOT_BITS;
    }
}

uint32_t qp_trie_get(qp_trie t, uint32_t root, uint64_t key)
{
    uint64_t path = mix(key);
    uint32_t held;
    find_slot(&t, root, &path, &held);
    return held && t.key(t.owner, held) == key ? held : 0;
}

/* Put a block between the slot, which lies `used` bits down, and the leaf in it. */
static int split(const qp_trie *t, uint32_t *slot, uint32_t held, unsigned used)
{
    uint32_t block = t->block(t->owner);
    if (!block)
        return 0;
    qp_store(slot_at(t, block, mix(t->key(t->owner, held)) >> (used + SLOT_BITS)), held);
    qp_swap_if(slot, &held, block | BLOCK_BIT); /* lost the race: the block stays unused */
    return 1;
}

uint32_t qp_trie_put(qp_trie t, uint32_t root, uint64_t key, uint32_t leaf)
{
    for (;;) {
        uint64_t whole = mix(key);
        uint32_t block = root, held;
        uint32_t *slot;
        unsigned used = 0;
        while ((held = qp_observe(slot = slot_at(&t, block, whole >> used))) & BLOCK_BIT) {
            block = held;
            used += SLOT_BITS;
        }
        if (!held) {
            if (qp_swap_if(slot, &held, leaf))
                return leaf;
        } else {
            uint64_t its = t.key(t.owner, held);
            if (its == key)
                return held;
            if (!its && qp_swap_if(slot, &held, leaf))
                return leaf;
            if (its && !split(&t, slot, held, used))
                return 0;
        }
    }
}

int qp_trie_swap(qp_trie t, uint32_t root, uint64_t key, uint32_t leaf, uint32_t by)
{
    for (;;) { /* again when a split has moved it meanwhile */
        uint64_t path = mix(key);
        uint32_t held;
        uint32_t *slot = find_slot(&t, root, &path, &held);
        if (held != leaf || qp_swap_if(slot, &held, by))
            return held == leaf;
    }
}
