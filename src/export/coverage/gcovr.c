/* gcovr.c: JSON of gcovr: format 0.3 as its version 5.2 reads it, with all keys on every line, or 0.6 of
 * its version 7. Each version reads one format. */
#include "base/text/json.h"
#include "export/shared/coverage.h"

/* Returns are not counted apart from calls. */
static void write_function(qp_json *json, const qp_cover_function *x, const char *name,
                           uint32_t line, bool is_gcovr7)
{
    uint64_t calls = qp_cover_hits(x->is_hit, x->calls);
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "name", name);
    qp_json_count(json, "lineno", line);
    qp_json_count(json, "execution_count", calls);
    if (is_gcovr7) {
        qp_json_count(json, "returned_count", calls);
        qp_json_count(json, "blocks_percent",
                      x->totals.blocks ? 100 * x->totals.blocks_hit / x->totals.blocks : 0);
    }
    qp_json_end(json, '}');
}

/* The last way is the one without a jump, which gcov calls falling through. */
static void write_branches(qp_json *json, const qp_cover_branch *b, uint32_t n, bool is_gcovr7)
{
    for (uint32_t i = 0; i < n; i++) {
        qp_json_begin(json, NULL, '{');
        if (is_gcovr7)
            qp_json_count(json, "blockno", b[i].block);
        qp_json_count(json, "count", b[i].count);
        qp_json_bool(json, "fallthrough", i + 1 == n || b[i + 1].block != b[i].block);
        qp_json_bool(json, "throw", false);
        qp_json_end(json, '}');
    }
}

static void write_line(qp_json *json, const qp_cover_file *f, const qp_cover_line *l,
                       bool is_gcovr7)
{
    qp_json_begin(json, NULL, '{');
    qp_json_count(json, "line_number", l->line);
    qp_json_count(json, "count", qp_cover_hits(l->is_hit, l->count));
    qp_json_begin(json, "branches", '[');
    write_branches(json, f->branches + l->first_branch, l->n_branches, is_gcovr7);
    qp_json_end(json, ']');
    qp_json_bool(json, "gcovr/noncode", false);
    qp_json_bool(json, "gcovr/excluded", false);
    qp_json_end(json, '}');
}

static bool write_file(qp_json *json, const qp_cover_file *f, bool is_gcovr7)
{
    const char **names = qp_cover_names(f);
    if (!names)
        return false;
    qp_json_begin(json, NULL, '{');
    qp_json_text(json, "file", f->path);
    qp_json_begin(json, "functions", '[');
    for (uint32_t i = 0; i < f->n_functions; i++) {
        uint32_t line = qp_cover_start_line(f, &f->functions[i]);
        if (line)
            write_function(json, &f->functions[i], names[i], line, is_gcovr7);
    }
    qp_json_end(json, ']');
    qp_json_begin(json, "lines", '[');
    for (uint32_t i = 0; i < f->n_lines; i++)
        if (qp_cover_is_live(&f->lines[i]))
            write_line(json, f, &f->lines[i], is_gcovr7);
    qp_json_end(json, ']');
    qp_json_end(json, '}');
    qp_cover_names_free(f, names);
    return true;
}

bool qp_cover_gcovr(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                    qp_error *error)
{
    qp_json json;
    bool is_written = true;
    qp_json_init(&json, out);
    qp_json_begin(&json, NULL, '{');
    qp_json_text(&json, "gcovr/format_version", o->is_gcovr7 ? "0.6" : "0.3");
    qp_json_begin(&json, "files", '[');
    for (size_t i = 0; is_written && i < c->n_files; i++)
        is_written = write_file(&json, &c->files[i], o->is_gcovr7);
    qp_json_end(&json, ']');
    qp_json_end(&json, '}');
    return is_written || qp_error_fail(error, "out of memory");
}
