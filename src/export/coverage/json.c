/* json.c: everything, as docs/schema/cover.json describes it. */
#include "base/text/json.h"
#include "export/shared/coverage.h"

static void write_totals(qp_json *json, const qp_cover_totals *t)
{
    qp_json_begin(json, "totals", '{');
    qp_json_count(json, "functions", t->functions);
    qp_json_count(json, "functions_hit", t->functions_hit);
    qp_json_count(json, "lines", t->lines);
    qp_json_count(json, "lines_hit", t->lines_hit);
    qp_json_count(json, "lines_partial", t->lines_partial);
    qp_json_count(json, "blocks", t->blocks);
    qp_json_count(json, "blocks_hit", t->blocks_hit);
    qp_json_count(json, "branches", t->branches);
    qp_json_count(json, "branches_hit", t->branches_hit);
    qp_json_count(json, "calls", t->calls);
    qp_json_end(json, '}');
}

static void write_texts(qp_json *json, const char *key, const char *const *texts, size_t n)
{
    qp_json_begin(json, key, '[');
    for (size_t i = 0; i < n; i++)
        qp_json_text(json, NULL, texts[i]);
    qp_json_end(json, ']');
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void write_lines(qp_json *json, const qp_cover_file *f)
{
    static const char *const marks[] = {[QP_ANNOTATION_NONE] = NULL,
                                        [QP_ANNOTATION_DEADCODE] = "deadcode",
                                        [QP_ANNOTATION_TESTED] = "tested",
                                        [QP_ANNOTATION_INSPECTED] = "inspected"};
    qp_json_begin(json, "lines", '[');
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        bool is_excused =
            l->annotation == QP_ANNOTATION_TESTED || l->annotation == QP_ANNOTATION_INSPECTED;
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "line", l->line);
        qp_json_count(json, "hits", l->count);
        qp_json_bool(json, "hit", l->is_hit);
        qp_json_bool(json, "partial", l->is_partial);
        qp_json_text(json, "mark", marks[l->annotation]);
        qp_json_count(json, "blocks", l->n_blocks);
        qp_json_count(json, "blocks_hit", is_excused ? l->n_blocks : l->n_blocks_hit);
        qp_json_count(json, "branches", l->n_branches);
        qp_json_count(json, "branches_hit", l->n_branches_hit);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_functions(qp_json *json, const qp_cover_file *f)
{
    qp_json_begin(json, "functions", '[');
    for (uint32_t i = 0; i < f->n_functions; i++) {
        const qp_cover_function *x = &f->functions[i];
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "name", x->name);
        qp_json_text(json, "module", x->module);
        qp_json_count(json, "line", x->first_line);
        qp_json_count(json, "last_line", x->last_line);
        qp_json_count(json, "hits", x->calls);
        qp_json_bool(json, "hit", x->is_hit);
        qp_json_bool(json, "dead", x->is_dead);
        write_totals(json, &x->totals);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_blocks(qp_json *json, const qp_cover_file *f)
{
    qp_json_begin(json, "blocks", '[');
    for (uint32_t i = 0; i < f->n_blocks; i++) {
        const qp_cover_block *b = &f->blocks[i];
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "line", b->line);
        qp_json_count(json, "function", b->function);
        qp_json_count(json, "hits", b->count);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
    qp_json_begin(json, "branches", '[');
    for (uint32_t i = 0; i < f->n_branches; i++) {
        const qp_cover_branch *b = &f->branches[i];
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "line", b->line);
        qp_json_count(json, "block", b->block);
        qp_json_count(json, "branch", b->way);
        qp_json_count(json, "to_line", b->to_line);
        qp_json_count(json, "function", b->function);
        qp_json_count(json, "hits", b->count);
        qp_json_bool(json, "reached", b->is_reached);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_touches(qp_json *json, const qp_cover_file *f)
{
    qp_json_begin(json, "contexts", '[');
    for (size_t i = 0; i < f->n_touches; i++) {
        const qp_cover_touch *t = &f->touches[i];
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "line", f->lines[t->line].line);
        qp_json_count(json, "context", t->context);
        qp_json_count(json, "hits", t->count);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_file(qp_json *json, const qp_cover_file *f)
{
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "path", f->path);
    qp_json_text(json, "file", f->file);
    write_totals(json, &f->totals);
    write_lines(json, f);
    write_functions(json, f);
    write_blocks(json, f);
    write_touches(json, f);
    qp_json_end(json, '}');
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void write_runs(qp_json *json, const qp_cover *c)
{
    qp_json_begin(json, "runs", '[');
    for (size_t i = 0; i < c->n_runs; i++) {
        const qp_cover_run *run = &c->runs[i];
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "file", run->what);
        qp_json_text(json, "program", run->program);
        qp_json_text(json, "label", run->label);
        qp_json_count(json, "pid", run->pid);
        qp_json_moment(json, "started_at", run->started_at);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

static void write_dirs(qp_json *json, const qp_cover *c)
{
    qp_json_begin(json, "dirs", '[');
    for (size_t i = 0; i < c->n_dirs; i++) {
        qp_json_begin(json, NULL, '{');
        qp_json_text(json, "path", c->dirs[i].path);
        qp_json_count(json, "files", c->dirs[i].totals.files);
        write_totals(json, &c->dirs[i].totals);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}

bool qp_cover_json(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                   qp_error *error)
{
    static const char *const grains[] = {[QP_GRAIN_FUNCTION] = "function",
                                         [QP_GRAIN_BLOCK] = "basic-block",
                                         [QP_GRAIN_LINE] = "line"};
    qp_json json;
    (void)o;
    (void)error;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    write_runs(&json, c);
    qp_json_text(&json, "granularity", grains[c->grain]);
    qp_json_bool(&json, "once", c->is_once);
    qp_json_bool(&json, "complete", c->is_coverage);
    write_texts(&json, "contexts", c->contexts, c->n_contexts);
    write_texts(&json, "warnings", c->warnings, c->n_warnings);
    write_totals(&json, &c->totals);
    write_dirs(&json, c);
    qp_json_begin(&json, "files", '[');
    for (size_t i = 0; i < c->n_files; i++)
        write_file(&json, &c->files[i]);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return true;
}
