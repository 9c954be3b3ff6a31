/* dict.h: a hash table from 64-bit keys to 32-bit numbers. */
#ifndef QP_BASE_CONTAINERS_DICT_H
#define QP_BASE_CONTAINERS_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    struct qp_dict_slot *slots;
    size_t n_slots; /* a power of 2; 0: empty */
    size_t n;
} qp_dict;

void qp_dict_init(qp_dict *t);
void qp_dict_fini(qp_dict *t);

/* @return 0: no such key */
uint32_t qp_dict_get(const qp_dict *t, uint64_t key);

/* @param value  not 0; replaces an earlier one @return false: no memory, nothing changed */
bool qp_dict_put(qp_dict *t, uint64_t key, uint32_t value);

/* FNV-1a, to be continued from an earlier hash; QP_HASH_START begins. */
#define QP_HASH_START 0xCBF29CE484222325u
uint64_t qp_hash_bytes(uint64_t hash, const void *bytes, size_t n_bytes);

#endif
