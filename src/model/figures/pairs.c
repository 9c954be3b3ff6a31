/* pairs.c: finds the functions of one run among those of another by their names, shapes and order.
 *
 * The best pairs that do not cross are those of a longest common subsequence, whose elements
 * have weights. Read qp_pair_functions() first. */
#include <string.h>

#include "base/containers/alloc.h"
#include "base/containers/dict.h"
#include "model/figures/figures.h"

/* ---- names ------------------------------------------------------------------------------- */

/* Take mark and digits off the end of text[0 .. *n). @return the number; 0: there is none */
static uint32_t take_number(const char *text, size_t *n, char mark)
{
    size_t begin = *n;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9')
        begin--;
    if (begin < 2 || begin == *n || *n - begin > 9 || text[begin - 1] != mark)
        return 0;
    uint32_t number = 0;
    for (size_t i = begin; i < *n; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    *n = begin - 1;
    return number;
}

qp_name_stem qp_name_stem_of(const char *name)
{
    qp_name_stem s = {.text = name, .n = strlen(name)};
    s.number = take_number(name, &s.n, '#');
    s.is_bracketed = s.n > 1 && name[s.n - 1] == ']';
    s.n -= s.is_bracketed;
    s.line = take_number(name, &s.n, ':');
    return s;
}

bool qp_name_stem_equals(const qp_name_stem *a, const qp_name_stem *b)
{
    return a->n == b->n && a->is_bracketed == b->is_bracketed &&
           memcmp(a->text, b->text, a->n) == 0;
}

uint64_t qp_pair_shape(const qp_model_method *k)
{
    uint64_t hash = QP_HASH_START;
    for (uint32_t i = 0; i < k->n_blocks; i++) {
        int64_t of_block[] = {k->lines[i].code_offset,
                              (int64_t)k->lines[i].line - (int64_t)k->first_line};
        hash = qp_hash_bytes(hash, of_block, sizeof of_block);
    }
    return k->n_blocks ? hash | 1 : 0;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Equal lines say little once lines have moved. */
enum { BY_SHAPE = 4, BY_CALLS = 2, BY_NAME = 1, CELLS_MAX = 1 << 22, AHEAD_MAX = 1000 };

/* @return 0: they are no pair */
static uint32_t weight_of(const qp_pair_item *a, const qp_pair_item *b)
{
    uint32_t weight = (a->shape && a->shape == b->shape ? BY_SHAPE : 0) |
                      (strcmp(a->name, b->name) == 0 ? BY_NAME : 0);
    return weight ? weight | (a->calls == b->calls ? BY_CALLS : 0) : 0;
}

static bool is_same(const qp_pair_item *a, const qp_pair_item *b)
{
    return strcmp(a->name, b->name) == 0 && a->shape == b->shape && a->calls == b->calls;
}

typedef struct {
    const qp_pair_item *a, *b;
    uint32_t n_a, n_b; /* parts that are matched: from `first` on */
    uint32_t first;
    uint32_t *to;
} matching;

/* Sums of the best pairs of a from i on with b from k on; [n_a + 1][n_b + 1]. */
static void weigh(const matching *x, uint32_t *best)
{
    size_t width = x->n_b + 1;
    for (uint32_t i = x->n_a; i-- > 0;)
        for (uint32_t k = x->n_b; k-- > 0;) {
            uint32_t *here = &best[i * width + k];
            uint32_t weight = weight_of(&x->a[x->first + i], &x->b[x->first + k]);
            uint32_t below = here[width], beside = here[1], both = here[width + 1] + weight;
            *here = below > beside ? below : beside;
            if (weight && both > *here)
                *here = both;
        }
}

static void choose(const matching *x, const uint32_t *best)
{
    size_t width = x->n_b + 1;
    for (uint32_t i = 0, k = 0; i < x->n_a && k < x->n_b;) {
        const uint32_t *here = &best[i * width + k];
        uint32_t weight = weight_of(&x->a[x->first + i], &x->b[x->first + k]);
        if (weight && *here == here[width + 1] + weight)
            x->to[x->first + k++] = x->first + i++;
        else if (*here == here[width])
            i++;
        else
            k++;
    }
}

/* Too many to weigh: by name, among the next ones. */
static void match_names(const matching *x)
{
    uint32_t i = 0;
    for (uint32_t k = 0; k < x->n_b; k++) {
        uint32_t at = i, end = x->n_a - i > AHEAD_MAX ? i + AHEAD_MAX : x->n_a;
        while (at < end && strcmp(x->a[x->first + at].name, x->b[x->first + k].name) != 0)
            at++;
        if (at < end) {
            x->to[x->first + k] = x->first + at;
            i = at + 1;
        }
    }
}

/* Match what is left in order where both lists have equally many between two pairs. */
static void fill_gaps(const matching *x)
{
    uint32_t end_a = x->first + x->n_a, end_b = x->first + x->n_b;
    for (uint32_t i = x->first, k = x->first; k < end_b;) {
        uint32_t next = k;
        while (next < end_b && x->to[next] == QP_PAIR_NONE)
            next++;
        uint32_t pair = next < end_b ? x->to[next] : end_a;
        for (; pair - i == next - k && k < next; i++)
            x->to[k++] = i;
        i = pair + 1;
        k = next + 1;
    }
}

bool qp_pair_functions(const qp_pair_item *a, uint32_t n_a, const qp_pair_item *b, uint32_t n_b,
                       uint32_t *to)
{
    matching x = {a, b, n_a, n_b, 0, to};
    for (uint32_t k = 0; k < n_b; k++)
        to[k] = QP_PAIR_NONE;
    for (; x.n_a && x.n_b && is_same(&a[x.first], &b[x.first]); x.first++) {
        to[x.first] = x.first;
        x.n_a--;
        x.n_b--;
    }
    for (; x.n_a && x.n_b && is_same(&a[x.first + x.n_a - 1], &b[x.first + x.n_b - 1]); x.n_b--)
        to[x.first + x.n_b - 1] = x.first + --x.n_a;
    size_t n_cells = ((size_t)x.n_a + 1) * ((size_t)x.n_b + 1);
    if (n_cells > CELLS_MAX) {
        match_names(&x);
    } else if (x.n_a && x.n_b) {
        uint32_t *best = qp_alloc_zeroed(n_cells, sizeof *best);
        if (!best)
            return false;
        weigh(&x, best);
        choose(&x, best);
        qp_free(best);
    }
    fill_gaps(&x);
    return true;
}
