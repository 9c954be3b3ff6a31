/* cover_set.h: what the files that add profiles up share. */
#ifndef QP_MODEL_COVER_SET_H
#define QP_MODEL_COVER_SET_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/dict.h"
#include "model/cover.h"
#include "model/private.h"

enum { QP_COVER_NONE = UINT32_MAX };

/* What a method of the set has beside what is shown. */
typedef struct {
    uint32_t next_same;  /* a method whose identity has the same hash: index + 1; 0: none */
    uint32_t next_named; /* a method of this file whose names have the same hash: the same */
    uint32_t run;        /* that it came with: index */
} qp_cover_extra;

struct qp_cover_set_private {
    qp_cover_set set; /* what the caller sees */
    qp_arena arena;
    qp_buf methods, extras, contexts, texts, runs, warnings;
    qp_dict same, named; /* hash of identity, of file and names: index of a method + 1 */
    qp_dict paths;       /* hash of a path: index of a text + 1 */
    qp_dict names;       /* hash of a context's name: its index + 1 */
    qp_dict shares;      /* index of a method << 32 | of a context: index of the share + 1 */
    bool is_full;        /* there was no memory: nothing more is taken */
};

/* A method of a profile on its way into the set. */
typedef struct {
    uint32_t method;         /* of the profile */
    uint32_t to;             /* of the set; QP_COVER_NONE: left out */
    const qp_jumps *jumps;   /* what `values` count */
    uint64_t calls, entries; /* see qp_cover_method */
    uint32_t n_values;
    uint64_t *values; /* NULL: nothing was counted */
    bool is_whole; /* not counted, for its areas are of routines: its calls stand for blocks */
} qp_cover_addend;

/* One profile that is being added. */
typedef struct {
    struct qp_cover_set_private *own;
    const qp_model *m;
    const char *what;
    const char *rest; /* the context of what no context has; "": none */
    qp_arena arena;   /* until it is added */
    qp_cover_addend *addends;
    size_t n_addends;
    uint32_t *contexts;    /* [m->own->n_contexts] of the set */
    uint32_t head_context; /* of what no share has; QP_COVER_NONE: nobody's */
    bool *is_other;        /* [m->n_methods] in a file of another version */
    bool has_counters;
} qp_cover_addition;

static inline qp_cover_method *qp_cover_method_at(struct qp_cover_set_private *own, uint32_t i)
{
    return (qp_cover_method *)own->methods.items + i;
}

static inline qp_cover_extra *qp_cover_extra_at(struct qp_cover_set_private *own, uint32_t i)
{
    return (qp_cover_extra *)own->extras.items + i;
}

/* File and names; file, names, lines. */
uint64_t qp_cover_named_hash(const qp_model_method *k);
uint64_t qp_cover_same_hash(const qp_model_method *k);
bool qp_cover_is_named(const qp_cover_method *a, const qp_model_method *b);
bool qp_cover_is_same_lines(const qp_cover_method *a, const qp_model_method *b);
uint64_t qp_cover_text_hash(uint64_t hash, const char *text);

/* The digest that the set has of a file's text. @return index + 1; 0: none */
uint32_t qp_cover_text_of(const struct qp_cover_set_private *own, const char *path);

/* cover_count.c: the addends. @return false: no memory */
bool qp_cover_count(qp_cover_addition *x);

/* cover_place.c: make room in the set for all that the profile has. @return false: no memory */
bool qp_cover_place(qp_cover_addition *x);
/* Does a share count what the method's counters count? */
bool qp_cover_share_fits(const qp_cover_addend *a, const qp_model_share *s);
/* The share that a context has of a method; qp_cover_place() made it. */
qp_cover_share *qp_cover_share_of(struct qp_cover_set_private *own, uint32_t method,
                                  uint32_t context);

/* cover_versions.c: find the files that have another text in the profile than in the set.
 * @param is_other  [m->n_methods] receives: is the method in such a file?
 * @param error     receives the first, in words; "" if there is none
 * @return false: no memory */
bool qp_cover_versions(struct qp_cover_set_private *own, const qp_model *m, const char *what,
                       bool *is_other, char error[QP_ERROR_BYTES]);

#endif
