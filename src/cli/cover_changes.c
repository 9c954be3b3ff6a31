/* cover_changes.c: coverage of the lines that a patch changes: half of `qprof cover diff`. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/search.h"
#include "base/table_text.h"
#include "base/unit.h"
#include "cli/cover_diff.h"
#include "cli/cover_notes.h"
#include "cli/cover_patch.h"

/* The files of a patch. */
typedef struct {
    const qp_cover *c;
    const qp_cover_changed *const *of_file; /* [c->n_files] NULL: not in the patch */
    const qp_cover_changed *files;          /* [n] */
    size_t n;
    qp_cover_totals totals; /* lines alone */
    size_t n_unknown;       /* files that are not in the picture */
} changes;

static void add_up(changes *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->totals.lines += x->files[i].n_lines;
        x->totals.lines_hit += x->files[i].n_hit;
        x->totals.lines_partial += x->files[i].n_partial;
        x->n_unknown += !x->files[i].file;
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_figures(qp_table *t, uint64_t n_hit, uint64_t n)
{
    char text[2 * QP_NUMBER_BYTES], a[QP_NUMBER_BYTES], b[QP_NUMBER_BYTES];
    snprintf(text, sizeof text, "%s/%s", qp_unit_count(a, n_hit), qp_unit_count(b, n));
    qp_table_plain(t, QP_STYLE_PLAIN, text);
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_count(a, n - n_hit));
    qp_table_plain(t, qp_cover_percent_style(n_hit, n), qp_unit_share(a, n_hit, n, 1));
}

static bool print_table(const qp_screen *s, const changes *x)
{
    qp_table t;
    qp_table_init(&t);
    qp_table_column(&t, "File", QP_KEEP_END, 0);
    qp_table_column(&t, "Changed lines", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Missed", QP_ALIGN_RIGHT, 1);
    qp_table_column(&t, "%", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < x->n; i++) {
        const qp_cover_changed *f = &x->files[i];
        if (!f->n_lines)
            continue;
        qp_table_name(&t, QP_STYLE_PLAIN, f->patch->path);
        add_figures(&t, f->n_hit, f->n_lines);
    }
    qp_table_plain(&t, QP_STYLE_HEAD, "Total");
    add_figures(&t, x->totals.lines_hit, x->totals.lines);
    bool is_good = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    return is_good;
}

static void print_missed(const qp_screen *s, const changes *x)
{
    if (x->totals.lines_hit < x->totals.lines)
        qp_out_text(s->out, "\nNever executed\n");
    for (size_t i = 0; i < x->n; i++) {
        const qp_cover_changed *f = &x->files[i];
        qp_cover_list list = {.s = s, .indent = 4, .title = f->patch->path};
        for (size_t k = 0; k < f->n_missed; k++)
            qp_cover_show_range(&list, f->file, f->missed[k].first, f->missed[k].last);
        qp_out_text(s->out, list.column ? "\n" : "");
    }
}

static bool print_text(const qp_cli *cli, const changes *x)
{
    const qp_screen *s = &cli->screen;
    char text[QP_NUMBER_BYTES];
    qp_cover_header(cli, x->c);
    if (x->totals.lines == 0)
        qp_out_text(s->out, "No changed line has code that the profile knows.\n");
    else if (!print_table(s, x))
        return false;
    print_missed(s, x);
    if (x->n_unknown)
        qp_out_format(s->out, "\n%s of the patch not in the profile.\n",
                      qp_unit_things(text, x->n_unknown, "file"));
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_json(qp_out *out, const changes *x)
{
    qp_json json;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_begin(&json, "files", '[');
    for (size_t i = 0; i < x->n; i++) {
        const qp_cover_changed *f = &x->files[i];
        qp_json_begin(&json, NULL, '{');
        qp_json_text(&json, "path", f->patch->path);
        qp_json_bool(&json, "known", f->file != NULL);
        qp_json_count(&json, "changed", f->n_changed);
        qp_json_count(&json, "lines", f->n_lines);
        qp_json_count(&json, "lines_hit", f->n_hit);
        qp_json_begin(&json, "missed", '[');
        for (size_t k = 0; k < f->n_missed; k++) {
            qp_json_begin(&json, NULL, '{');
            qp_json_count(&json, "first", f->missed[k].first);
            qp_json_count(&json, "last", f->missed[k].last);
            qp_json_end(&json, '}');
        }
        qp_json_end(&json, ']');
        qp_json_end(&json, '}');
    }
    qp_json_end(&json, ']');
    qp_json_begin(&json, "totals", '{');
    qp_json_count(&json, "lines", x->totals.lines);
    qp_json_count(&json, "lines_hit", x->totals.lines_hit);
    qp_json_end(&json, '}');
    qp_json_end(&json, '}');
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Does the patch change the line? */
static bool is_changed(const void *data, const qp_cover_file *f, size_t line)
{
    const changes *x = data;
    const qp_cover_changed *row = x->of_file[f - x->c->files];
    uint32_t number = f->lines[line].line;
    size_t n = row ? row->patch->n_spans : 0;
    size_t at = n ? QP_SEARCH(row->patch->spans, n, last, number) : 0;
    return at < n && row->patch->spans[at].first <= number;
}

/* @return false: no memory */
static bool write_notes(qp_cli *cli, changes *x)
{
    const qp_cover_changed **rows = qp_alloc_zeroed(x->c->n_files, sizeof *rows);
    for (size_t i = 0; rows && i < x->n; i++)
        if (x->files[i].file)
            rows[x->files[i].file - x->c->files] = &x->files[i];
    x->of_file = rows;
    if (rows)
        qp_cover_notes(&cli->out, (qp_notes_form)cli->args.cover.annotations, x->c, is_changed,
                       x);
    qp_free(rows);
    return rows != NULL;
}

static int show(qp_cli *cli, changes *x)
{
    bool is_good = true;
    if (cli->args.cover.annotations)
        is_good = write_notes(cli, x);
    else if (cli->args.format == QP_FORMAT_JSON)
        write_json(&cli->out, x);
    else
        is_good = print_text(cli, x);
    if (!is_good)
        return qp_cli_fail_memory(cli);
    qp_out_flush(&cli->out); /* the verdict stands behind it */
    return x->totals.lines ? qp_cover_judge(cli, &x->totals, QP_EXIT_CLEAN) : QP_EXIT_CLEAN;
}

int qp_cover_show_changes(qp_cli *cli)
{
    qp_cover *c = NULL;
    changes x = {0};
    qp_cover_changed *files;
    if (!qp_cover_notes_are_alone(cli))
        return QP_EXIT_UNUSABLE;
    if (!cli->args.cover.root) /* the patch's paths are relative to it */
        cli->args.cover.root = cli->args.cover.git ? cli->args.cover.repo : NULL;
    qp_patch *patch = qp_cover_patch(cli);
    int status = patch ? qp_cover_open(cli, cli->args.operands, cli->args.n_operands, &c)
                       : QP_EXIT_UNUSABLE;
    if (status != QP_EXIT_UNUSABLE && !qp_cover_changes(c, patch, &files, &x.n)) {
        status = qp_cli_fail_memory(cli);
    } else if (status != QP_EXIT_UNUSABLE) {
        x.c = c;
        x.files = files;
        add_up(&x);
        int shown = show(cli, &x);
        status = shown > status ? shown : status;
        qp_free(files);
    }
    qp_cover_free(c);
    qp_patch_free(patch);
    return status;
}
