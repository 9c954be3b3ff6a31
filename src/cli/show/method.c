/* method.c: from what a user types to a function of the profile. */
#include "cli/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table_text.h"

bool qp_method_range(const qp_model_method *method, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (uint32_t i = 0; i < method->n_blocks; i++) {
        int32_t line = method->lines[i].line;
        if (line <= 0)
            continue;
        if (*first == 0 || (uint32_t)line < *first)
            *first = (uint32_t)line;
        if ((uint32_t)line > *last)
            *last = (uint32_t)line;
    }
    return *first > 0;
}

/* Does `file` end in the path that was typed? */
static bool fits_file(const char *file, const char *typed, size_t n_typed)
{
    size_t n = strlen(file);
    if (n < n_typed || memcmp(file + n - n_typed, typed, n_typed) != 0)
        return false;
    return n == n_typed || file[n - n_typed - 1] == '/' || file[n - n_typed - 1] == '@';
}

/* The innermost function around a line: the one with the shortest range. */
static uint32_t find_at_line(const qp_model *m, const char *name)
{
    const char *colon = strrchr(name, ':');
    char *end;
    if (!colon)
        return 0;
    unsigned long line = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end)
        return 0;
    uint32_t found = 0, shortest = UINT32_MAX;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        uint32_t first, last;
        if (!fits_file(m->methods[i].file, name, (size_t)(colon - name)) ||
            !qp_method_range(&m->methods[i], &first, &last) || line < first || line > last)
            continue;
        if (last - first < shortest) {
            shortest = last - first;
            found = i;
        }
    }
    return found;
}

/* Names that contain what was typed, the first few. */
static void list_matches(const qp_model *m, const char *name, char *to, size_t n_bytes)
{
    size_t n = 0, shown = 0;
    char place[512];
    to[0] = '\0';
    for (uint32_t i = 1; i < m->n_methods && shown < 6; i++) {
        if (!strstr(m->methods[i].name, name))
            continue;
        int written =
            snprintf(to + n, n_bytes - n, "%s%.80s (%s)", shown++ ? ", " : "",
                     m->methods[i].name, qp_view_place(place, sizeof place, &m->methods[i]));
        n += written > 0 ? (size_t)written : 0;
        if (n >= n_bytes)
            return;
    }
}

bool qp_method_find(const qp_cli *cli, const qp_model *m, const char *name, uint32_t *method)
{
    char matches[1024];
    uint32_t n_found = 0;
    *method = qp_model_method_named(m, name, &n_found);
    if (*method && n_found == 1)
        return true;
    uint32_t at_line = find_at_line(m, name);
    if (at_line) {
        *method = at_line;
        return true;
    }
    if (n_found > 1) {
        list_matches(m, name, matches, sizeof matches);
        qp_cli_fail(cli,
                    "%s: %s is ambiguous: it matches %" PRIu32 " functions (use more of the "
                    "name, or FILE:LINE): %s%s",
                    cli->path, name, n_found, matches, n_found > 6 ? ", ..." : "");
    } else {
        qp_cli_fail(cli, "%s: no function %s (qprof report --limit=0 lists all)", cli->path,
                    name);
    }
    return false;
}

uint32_t qp_method_hottest(const qp_model *m)
{
    uint32_t best = 0, first, last;
    for (uint32_t i = 1; i < m->n_methods; i++) {
        const qp_figures *f = &m->methods[i].all, *b = &m->methods[best].all;
        if ((f->calls == 0 && f->self == 0) || !qp_method_range(&m->methods[i], &first, &last))
            continue;
        if (best == 0 || f->self > b->self || (f->self == b->self && f->calls > b->calls))
            best = i;
    }
    return best;
}

void qp_method_title(const qp_screen *s, const qp_model *m, uint32_t method)
{
    char place[2048];
    const qp_model_method *x = &m->methods[method];
    qp_view_place(place, sizeof place, x);
    qp_screen_style(s, QP_STYLE_HEAD);
    qp_screen_name(s, x->name, QP_NAME_COLUMNS);
    qp_screen_style(s, QP_STYLE_PLAIN);
    if (*place) {
        qp_out_text(s->out, "  ");
        qp_screen_name(s, place, 0);
    }
    qp_out_char(s->out, '\n');
}
