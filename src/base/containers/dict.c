/* dict.c: open addressing with linear probes, at most two thirds full. */
#include "base/containers/dict.h"

#include "base/containers/alloc.h"

enum { FIRST_SLOTS = 64 };

typedef struct qp_dict_slot {
    uint64_t key;
    uint32_t value; /* 0: free */
} slot;

static slot *slot_of(const qp_dict *t, uint64_t key)
{
    uint64_t mixed = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(mixed >> 20) & (t->n_slots - 1);
    while (t->slots[i].value && t->slots[i].key != key)
        i = (i + 1) & (t->n_slots - 1);
    return &t->slots[i];
}

static bool grow(qp_dict *t)
{
    qp_dict wider = {.n_slots = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS, .n = t->n};
    wider.slots = qp_alloc_zeroed(wider.n_slots, sizeof(slot));
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slots[i].value)
            *slot_of(&wider, t->slots[i].key) = t->slots[i];
    qp_free(t->slots);
    *t = wider;
    return true;
}

void qp_dict_init(qp_dict *t)
{
    *t = (qp_dict){0};
}

void qp_dict_fini(qp_dict *t)
{
    qp_free(t->slots);
    qp_dict_init(t);
}

uint32_t qp_dict_get(const qp_dict *t, uint64_t key)
{
    return t->n_slots ? slot_of(t, key)->value : 0;
}

bool qp_dict_put(qp_dict *t, uint64_t key, uint32_t value)
{
    if ((t->n + 1) * 3 > t->n_slots * 2 && !grow(t))
        return false;
    slot *s = slot_of(t, key);
    t->n += s->value == 0;
    *s = (slot){key, value};
    return true;
}

uint64_t qp_hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001B3u;
    return hash;
}
