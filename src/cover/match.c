/* match.c: comparing methods and sources of two profiles. Read qp_match_method first. */
#include "cover/match.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "format/layout.h"

static bool same_lines(const qp_lines *a, const qp_lines *b)
{
    if (!a || !b)
        return !a && !b;
    return qp_lines_agree(a->lines, a->n_lines, b->lines, b->n_lines);
}

static uint32_t n_lines(const qp_lines *t)
{
    return t ? t->n_lines : 0;
}

static int32_t first_line(const qp_lines *t)
{
    return t && t->n_lines ? t->lines[0].line : 0;
}

/* Methods of one name that begin in one line are versions of each other; so are two that alone have
 * the name. Others are different ones, like nameless functions of one file. */
qp_match qp_match_method(const qp_checked *old, uint32_t method, const qp_checked *now,
                         uint32_t *found)
{
    const qp_lines *lines = qp_checked_lines(old, qp_checked_method(old, method));
    const qp_jumps *jumps = qp_checked_jumps(old, qp_checked_method(old, method));
    *found = 0;
    for (uint32_t i = qp_checked_find(old, method, now); i; i = now->next_alike[i]) {
        const qp_method *m = qp_checked_method(now, i);
        if (!qp_checked_same_name(old, method, now, i) ||
            first_line(lines) != first_line(qp_checked_lines(now, m)))
            continue;
        *found = i;
        if (same_lines(lines, qp_checked_lines(now, m)) &&
            qp_jumps_agree(jumps, qp_checked_jumps(now, m)))
            return QP_MATCH_SAME;
    }
    if (!*found) {
        bool is_alone = qp_checked_namesakes(old, method, now, found) == 1 &&
                        qp_checked_namesakes(old, method, old, NULL) == 1;
        if (!is_alone)
            return QP_MATCH_NONE;
    }
    const qp_method *m = qp_checked_method(now, *found);
    return n_lines(lines) == n_lines(qp_checked_lines(now, m)) &&
                   qp_jumps_agree(jumps, qp_checked_jumps(now, m))
               ? QP_MATCH_ALIKE
               : QP_MATCH_CHANGED;
}

bool qp_match_agree(const qp_checked *old, const qp_checked *now, qp_error *error)
{
    const qp_source_record *r;
    qp_cell extent = 0;
    char name[100];
    if (old->head->grain != now->head->grain) {
        qp_error_fail(error, "was collected with another -collection-granularity");
        return false;
    }
    if ((old->head->collect ^ now->head->collect) & QP_COLLECT_ONCE) {
        qp_error_fail(error, "was collected with another -cover");
        return false;
    }
    for (uint32_t at = 0; (r = qp_checked_next_source(old, &extent, &at)) != NULL;) {
        const char *path = qp_checked_text(old, r->path);
        const qp_source_record *its = qp_checked_source(now, path);
        if (!its || (its->digest == r->digest && its->n_bytes == r->n_bytes))
            continue;
        qp_error_fail(error, "is of another version of %s",
                      qp_plain(path, sizeof name, name, sizeof name));
        return false;
    }
    return true;
}

bool qp_match_say_changed(const qp_checked *old, uint32_t method, qp_error *error)
{
    const qp_method *m = qp_checked_method(old, method);
    char name[100];
    qp_error_fail(error, "is of another version of the program: %s has changed",
                  qp_plain(qp_checked_text(old, m->name), sizeof name, name, sizeof name));
    return false;
}
