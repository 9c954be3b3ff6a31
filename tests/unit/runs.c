/* runs.c: see runs.h. */
#include "unit/runs.h"

#include <string.h>

run run_new(uint32_t collect)
{
    run r = {.p = profile_new()};
    profile_head(r.p)->minor = QP_MINOR;
    profile_head(r.p)->collect = collect;
    r.thread = profile_thread(r.p);
    return r;
}

qp_cell run_method(run *r, const char *name, const char *file, const int *lines, uint32_t n)
{
    enum { LINES_MAX = 64 };
    qp_line table[LINES_MAX];
    assert_true(n <= LINES_MAX);
    for (uint32_t i = 0; i < n; i++)
        table[i] = (qp_line){(int32_t)i * 4, lines[i]};
    qp_cell cell = profile_method(r->p, 1 + profile_head(r->p)->n_methods, name, NULL, file);
    if (n)
        ((qp_method *)profile_at(r->p, cell))->lines = profile_lines(r->p, table, n);
    return cell;
}

static uint32_t blocks_of(const run *r, qp_cell method)
{
    const qp_method *m = profile_at(r->p, method);
    const qp_lines *lines = (const void *)(r->p->bytes + (size_t)m->lines * 8);
    return m->lines ? lines->n_lines : 0;
}

void run_jumps(run *r, qp_cell method, const qp_jump *jumps, uint32_t n_jumps,
               const char *falls)
{
    unsigned char bytes[64];
    uint32_t n = (uint32_t)strlen(falls);
    assert_int_equal(n, blocks_of(r, method));
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = falls[i] == '1';
    ((qp_method *)profile_at(r->p, method))->jumps =
        profile_jumps(r->p, jumps, n_jumps, bytes, n);
}

void run_calls(run *r, qp_cell method, uint64_t calls)
{
    qp_thread_record *th = profile_at(r->p, r->thread);
    profile_node(r->p, r->thread, 0, method, calls, 0);
    th->n_exits += calls;
}

void run_counts(run *r, qp_cell method, const uint64_t *values, uint32_t n)
{
    qp_counter_block *b =
        profile_bank(r->p, r->thread, method, QP_COUNTER_BLOCK_COUNTS, n, blocks_of(r, method));
    memcpy(b->values, values, n * sizeof *values);
}

void run_share(run *r, qp_cell context, qp_cell method, uint64_t calls, const int64_t *values,
               uint32_t n)
{
    qp_counter_block *b = profile_share(r->p, context, method, calls, n, blocks_of(r, method));
    if (n)
        memcpy(b->values, values, n * sizeof *values);
}

/* ---- sets and pictures ------------------------------------------------------------------- */

static bool add_run(qp_cover_set *s, run r, const char *what, const qp_cover_add_options *o,
                    qp_error *error)
{
    qp_model *m = profile_read(r.p, QP_LOAD_CLEAN);
    bool is_added = qp_cover_set_add(s, m, what, o, error);
    qp_model_free(m);
    return is_added;
}

void runs_add_with(qp_cover_set *s, run r, const char *what, const qp_cover_add_options *o)
{
    qp_error error;
    bool is_added = add_run(s, r, what, o, &error);
    assert_string_equal(error.text, "");
    assert_true(is_added);
}

void runs_add(qp_cover_set *s, run r, const char *what)
{
    runs_add_with(s, r, what, NULL);
}

void runs_refuse(qp_cover_set *s, run r, const char *what, const char *words)
{
    qp_error error;
    assert_false(add_run(s, r, what, NULL, &error));
    if (!strstr(error.text, words))
        assert_string_equal(error.text, words);
}

qp_cover_set *runs_set(void)
{
    qp_cover_set *s = qp_cover_set_new();
    assert_non_null(s);
    return s;
}

qp_cover *runs_picture(qp_cover_set *s, const qp_cover_options *o)
{
    qp_error error;
    qp_cover *c = qp_cover_derive(s, o, &error);
    qp_cover_set_free(s);
    assert_string_equal(error.text, "");
    assert_non_null(c);
    return c;
}

qp_cover *runs_picture_of(run r)
{
    qp_cover_set *s = runs_set();
    runs_add(s, r, "run.qprof");
    return runs_picture(s, NULL);
}

/* ---- finding ----------------------------------------------------------------------------- */

const qp_cover_file *runs_file(const qp_cover *c, const char *path)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (strcmp(c->files[i].path, path) == 0)
            return &c->files[i];
    fail_msg("no file %s, but %s", path, c->n_files ? c->files[0].path : "none");
    return NULL;
}

const qp_cover_line *runs_line(const qp_cover_file *f, uint32_t line)
{
    for (uint32_t i = 0; i < f->n_lines; i++)
        if (f->lines[i].line == line)
            return &f->lines[i];
    fail_msg("no line %u", line);
    return NULL;
}

const qp_cover_function *runs_function(const qp_cover_file *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_functions; i++)
        if (strcmp(f->functions[i].name, name) == 0)
            return &f->functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

uint64_t runs_touch(const qp_cover *c, const qp_cover_file *f, uint32_t line,
                    const char *context)
{
    for (size_t i = 0; i < f->n_touches; i++)
        if (f->lines[f->touches[i].line].line == line &&
            strcmp(c->contexts[f->touches[i].context], context) == 0)
            return f->touches[i].count;
    return 0;
}
