/* tally.c: see tally.h. */
#include "cprof/tally.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"

static qp_cover_set *set;
static char notes[4096];

void tally_forget(void)
{
    qp_cover_set_free(set);
    set = NULL;
}

void tally_read(const char *path)
{
    qp_error error;
    qp_model *m;
    tally_forget();
    notes[0] = '\0';
    if (qp_model_load(path, NULL, &m, &error) != QP_LOAD_CLEAN)
        fail_msg("%s: %s", path, m ? m->losses[0] : error.text);
    for (size_t i = 0; i < m->run.n_notes; i++) {
        strncat(notes, m->run.notes[i].text, sizeof notes - strlen(notes) - 2);
        strcat(notes, "\n");
    }
    qp_check *checks;
    size_t n_checks;
    assert_true(qp_model_check(m, &checks, &n_checks));
    for (size_t i = 0; i < n_checks; i++)
        if (!checks[i].passed)
            fail_msg("%s: %s: %s", path, checks[i].name, checks[i].detail);
    qp_free(checks);
    set = qp_cover_set_new();
    if (!qp_cover_set_add(set, m, path, &(qp_cover_add_options){0}, &error))
        fail_msg("%s", error.text);
    qp_model_free(m);
}

static const qp_cover_method *find(const char *name)
{
    for (size_t i = 0; i < set->n_methods; i++)
        if (!strcmp(set->methods[i].name, name))
            return &set->methods[i];
    return NULL;
}

static void assert_values(const uint64_t *values, uint64_t block_0, uint64_t block_1)
{
    assert_int_equal(values ? values[0] : 0, block_0);
    assert_int_equal(values ? values[1] : 0, block_1);
}

void assert_tally(const char *method, uint64_t calls, uint64_t block_0, uint64_t block_1)
{
    const qp_cover_method *m = find(method);
    assert_non_null(m);
    assert_int_equal(m->calls, calls);
    assert_values(m->values, block_0, block_1);
}

uint64_t tally_calls(const char *method)
{
    const qp_cover_method *m = find(method);
    assert_non_null(m);
    return m->calls;
}

void assert_context(const char *method, const char *context, uint64_t calls, uint64_t block_0,
                    uint64_t block_1)
{
    const qp_cover_method *m = find(method);
    assert_non_null(m);
    uint64_t found[3] = {0, 0, 0};
    if (!context[0]) { /* it also has what no share has */
        found[0] = m->calls;
        found[1] = m->values ? m->values[0] : 0;
        found[2] = m->values ? m->values[1] : 0;
    }
    for (size_t i = 0; i < m->n_shares; i++) {
        const qp_cover_share *share = &m->shares[i];
        const char *its = set->contexts[share->context];
        int sign = !context[0] ? -(its[0] != '\0') : !strcmp(its, context);
        found[0] += (uint64_t)(sign * share->calls);
        found[1] += (uint64_t)(m->n_values ? sign * share->values[0] : 0);
        found[2] += (uint64_t)(m->n_values ? sign * share->values[1] : 0);
    }
    assert_int_equal(found[0], calls);
    assert_int_equal(found[1], block_0);
    assert_int_equal(found[2], block_1);
}

void assert_no_method(const char *method)
{
    assert_null(find(method));
}

void assert_note(const char *words)
{
    if (!strstr(notes, words))
        fail_msg("no note says \"%s\", only:\n%s", words, notes);
}

/* ---- runs -------------------------------------------------------------------------------- */

void tally_register(qprof_MethodID id, const char *name, int line_0, int line_1)
{
    const qprof_LineInfo table[] = {{0, line_0}, {4, line_1}};
    cprof_register_method_id(id, name, NULL, QPROF_METHOD_FLAGS_NONE, "a.x", table, 2);
}

void tally_begin(const char *options)
{
    if (cprof_initialize(options, NULL) != 0)
        fail_msg("%s: %s", options, cprof_error_text());
    tally_register(TALLY_F, "f", 10, 11);
}

void tally_call(qprof_MethodID method, unsigned n, unsigned second)
{
    for (unsigned i = 0; i < n; i++) {
        cprof_record_fn_entry(method, 1);
        cprof_record_bb_counts(0, 1);
        cprof_record_bb_counts(1, i < second);
        cprof_record_fn_exit(0);
    }
}

void tally_run(const char *options, unsigned n, unsigned second)
{
    tally_begin(options);
    tally_call(TALLY_F, n, second);
    cprof_shutdown();
}

/* ---- files ------------------------------------------------------------------------------- */

unsigned char *tally_bytes(const char *path, size_t *n)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        fail_msg("%s: cannot be read", path);
    unsigned char *bytes = malloc((size_t)st.st_size + 1);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *n = (size_t)st.st_size;
    return bytes;
}

void tally_write(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}
