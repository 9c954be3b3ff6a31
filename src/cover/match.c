/* match.c: comparing methods and sources of two profiles. Read qp_match_method first. */
#include "cover/match.h"

#include <stdio.h>
#include <string.h>

static bool same_lines(const qp_lines *a, const qp_lines *b)
{
    if (!a || !b)
        return !a && !b;
    return a->n_lines == b->n_lines &&
           memcmp(a->lines, b->lines, a->n_lines * sizeof a->lines[0]) == 0;
}

static bool same_jumps(const qp_jumps *a, const qp_jumps *b)
{
    if (!a || !b)
        return !a && !b;
    return a->n_jumps == b->n_jumps && a->n_blocks == b->n_blocks &&
           memcmp(a, b, qp_checked_jumps_bytes(a)) == 0;
}

static uint32_t n_lines(const qp_lines *t)
{
    return t ? t->n_lines : 0;
}

static int32_t first_line(const qp_lines *t)
{
    return t && t->n_lines ? t->lines[0].line : 0;
}

/* How many methods of a profile have the name of this one of its own? */
static unsigned count_namesakes(const qp_checked *im, uint32_t method)
{
    unsigned n = 0;
    for (uint32_t i = qp_checked_find(im, method, im); i; i = im->next_alike[i])
        n += qp_checked_same_name(im, method, im, i);
    return n;
}

/* Two methods of one name are different ones, like nameless functions of one file, unless they
 * begin in the same line or nobody else has the name. */
qp_match qp_match_method(const qp_checked *old, uint32_t method, const qp_checked *now,
                         uint32_t *found)
{
    const qp_lines *lines = qp_checked_lines(old, qp_checked_method(old, method));
    const qp_jumps *jumps = qp_checked_jumps(old, qp_checked_method(old, method));
    unsigned n_namesakes = 0;
    *found = 0;
    for (uint32_t i = qp_checked_find(old, method, now); i; i = now->next_alike[i]) {
        if (!qp_checked_same_name(old, method, now, i))
            continue;
        const qp_lines *its_lines = qp_checked_lines(now, qp_checked_method(now, i));
        if (same_lines(lines, its_lines) &&
            same_jumps(jumps, qp_checked_jumps(now, qp_checked_method(now, i)))) {
            *found = i;
            return QP_MATCH_SAME;
        }
        if (!n_namesakes++ || first_line(lines) == first_line(its_lines))
            *found = i;
    }
    if (!n_namesakes)
        return QP_MATCH_NONE;
    const qp_method *m = qp_checked_method(now, *found);
    if (first_line(lines) != first_line(qp_checked_lines(now, m)) &&
        (n_namesakes > 1 || count_namesakes(old, method) > 1))
        return QP_MATCH_NONE;
    return n_lines(lines) == n_lines(qp_checked_lines(now, m)) &&
                   same_jumps(jumps, qp_checked_jumps(now, m))
               ? QP_MATCH_ALIKE
               : QP_MATCH_CHANGED;
}

/* A name that somebody else gave, for a line of text. */
static const char *shown(const char *name, char *to, size_t n_bytes)
{
    snprintf(to, n_bytes, "%s", name);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c == 0x7F)
            *c = '?';
    return to;
}

bool qp_match_agree(const qp_checked *old, const qp_checked *now, char why[QP_WHY_BYTES])
{
    const qp_source_record *r;
    qp_cell extent = 0;
    char name[100];
    if (old->head->grain != now->head->grain) {
        snprintf(why, QP_WHY_BYTES, "was collected with another -collection-granularity");
        return false;
    }
    if ((old->head->collect ^ now->head->collect) & QP_COLLECT_ONCE) {
        snprintf(why, QP_WHY_BYTES, "was collected with another -cover");
        return false;
    }
    for (uint32_t at = 0; (r = qp_checked_next_source(old, &extent, &at)) != NULL;) {
        const char *path = qp_checked_text(old, r->path);
        const qp_source_record *its = qp_checked_source(now, path);
        if (!its || (its->digest == r->digest && its->n_bytes == r->n_bytes))
            continue;
        snprintf(why, QP_WHY_BYTES, "is of another version of %s",
                 shown(path, name, sizeof name));
        return false;
    }
    return true;
}

bool qp_match_say_changed(const qp_checked *old, uint32_t method, char why[QP_WHY_BYTES])
{
    const qp_method *m = qp_checked_method(old, method);
    char name[100];
    snprintf(why, QP_WHY_BYTES, "is of another version of the program: %s has changed",
             shown(qp_checked_text(old, m->name), name, sizeof name));
    return false;
}
