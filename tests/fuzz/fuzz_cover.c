/* fuzz_cover.c: a damaged profile as coverage: added up, derived, compared with itself.
 *
 * The input is a list of changes to a sound profile, so that each run gets past the head. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "model/cover/cover.h"
#include "unit/runs.h"

enum { CHANGE_BYTES = 7 };

static run sample(void)
{
    static const qp_jump jumps[] = {{0, 2}, {1, 0}, {QP_JUMP_LEFT, 1}, {QP_JUMP_ENTRY, 0}};
    run r = run_new(QP_COLLECT_PROFILE | QP_COLLECT_COVERAGE);
    qp_cell f = run_method(&r, "f", "./a.lua", RUN_LINES(1, 1, 2));
    qp_cell g = run_method(&r, "g", "/lib/b.lua", RUN_LINES(5, 6));
    run_method(&r, "h", "a.lua", RUN_LINES(2, 7));
    run_jumps(&r, f, jumps, 4, "110");
    run_counts(&r, f, RUN_VALUES(1, 2, 0, 3));
    run_counts(&r, g, RUN_VALUES(4, 0));
    run_calls(&r, g, 4);
    qp_cell a = profile_context(r.p, "a"), b = profile_context(r.p, NULL);
    run_share(&r, a, f, 1, RUN_SIGNED(1, -1, 1, 2));
    run_share(&r, a, g, 2, RUN_SIGNED(1, 0));
    profile_head(r.p)->context = b;
    profile_source(r.p, "a.lua", 9);
    return r;
}

static void change(profile *p, const uint8_t *data, size_t n_bytes)
{
    for (; n_bytes >= CHANGE_BYTES; data += CHANGE_BYTES, n_bytes -= CHANGE_BYTES) {
        size_t at = (data[0] | (size_t)data[1] << 8) * 4 % profile_bytes(p);
        memcpy(p->bytes + at, data + 3, 1 + data[2] % 4);
    }
}

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_totals(const qp_cover_totals *t)
{
    expect(t->functions_hit <= t->functions && t->lines_hit <= t->lines);
    expect(t->lines_partial <= t->lines && t->blocks_hit <= t->blocks);
    expect(t->branches_hit <= t->branches);
}

static void check_file(const qp_cover *c, const qp_cover_file *f)
{
    uint32_t n_blocks = 0, n_branches = 0, n_hit = 0;
    check_totals(&f->totals);
    expect(f->path[0] && f->dir < c->n_dirs);
    for (uint32_t i = 0; i < f->n_lines; i++) {
        const qp_cover_line *l = &f->lines[i];
        expect(l->first_block == n_blocks && l->n_blocks > 0 && l->n_blocks_hit <= l->n_blocks);
        expect(!i || f->lines[i - 1].line < l->line);
        expect(!l->n_branches || l->first_branch == n_branches);
        n_blocks += l->n_blocks;
        n_branches += l->n_branches;
        n_hit += l->is_hit;
    }
    expect(n_blocks == f->n_blocks && n_branches == f->n_branches);
    expect(n_hit == f->totals.lines_hit && f->n_lines == f->totals.lines);
    for (size_t i = 0; i < f->n_touches; i++) {
        expect(f->touches[i].line < f->n_lines && f->touches[i].count > 0);
        expect(f->touches[i].context < c->n_contexts);
    }
    for (uint32_t i = 0; i < f->n_functions; i++)
        check_totals(&f->functions[i].totals);
}

static void check_picture(const qp_cover *c)
{
    uint64_t n_files = 0;
    check_totals(&c->totals);
    for (size_t i = 0; i < c->n_files; i++, n_files++)
        check_file(c, &c->files[i]);
    expect(n_files == c->totals.files);
    for (size_t i = 1; i < c->n_dirs; i++)
        expect(c->dirs[i].parent < i);
    qp_cover_diff *d = qp_cover_diff_new(c, c);
    expect(d && d->n_changed[QP_CHANGE_NONE] == c->n_files);
    qp_cover_diff_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    qp_error error;
    qp_model *m;
    run r = sample(), sound = sample();
    change(r.p, data, n_bytes);
    qp_load_status status =
        qp_model_load_bytes(r.p->bytes, profile_bytes(r.p), NULL, &m, &error);
    if (status != QP_LOAD_UNUSABLE) {
        qp_cover_set *s = qp_cover_set_new();
        qp_model *other = profile_load(sound.p, QP_LOAD_CLEAN);
        const qp_cover_add_options o = {.is_forced = n_bytes % 2,
                                        .is_layered = n_bytes % 4 > 1};
        expect(qp_cover_set_add(s, m, "damaged", &o, &error));
        expect(qp_cover_set_add(s, m, "damaged", &o, &error) || !o.is_forced);
        expect(qp_cover_set_add(s, other, "sound", NULL, &error) || error.text[0]);
        static const char *const globs[] = {"", "[ab]", "damaged"};
        qp_cover_options derive = {.is_unadjusted = true};
        qp_cover *c = qp_cover_derive(s, &derive, &error);
        expect(c != NULL);
        check_picture(c);
        qp_cover_free(c);
        derive.contexts = globs;
        derive.n_contexts = 3;
        c = qp_cover_derive(s, &derive, &error);
        if (c)
            check_picture(c);
        qp_cover_free(c);
        qp_cover_set_free(s);
        qp_model_free(other);
        qp_model_free(m);
    }
    profile_free(r.p);
    profile_free(sound.p);
    return 0;
}
