/* files.c: see files.h. */
#include "unit/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "model/figures/figures.h"

int files_enter(void **state)
{
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/qprof-test-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? chdir(folder) : -1;
}

int files_leave(void **state)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return chdir("/") || system(command);
}

int files_count(void)
{
    int n = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(folder);
    return n;
}

static void assert_all_checks_pass(const qp_model *m)
{
    qp_check *checks;
    size_t n;
    assert_true(qp_model_check(m, &checks, &n));
    for (size_t i = 0; i < n; i++)
        assert_string_equal(checks[i].detail, "");
    qp_free(checks);
}

qp_model *files_read(const char *path)
{
    qp_model *m;
    qp_error error;
    qp_load_status status = qp_model_load(path, NULL, &m, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, QP_LOAD_CLEAN);
    assert_string_equal(m->run.state_text, "sealed");
    assert_all_checks_pass(m);
    return m;
}

void sum_add(qp_merge *s, const qp_model *m, const char *what)
{
    qp_error error;
    bool is_good = qp_merge_add(s, m, what, false, &error);
    assert_string_equal(error.text, "");
    assert_true(is_good);
}

void sum_add_profile(qp_merge *s, const profile *p, const char *what)
{
    qp_model *m = profile_load(p, QP_LOAD_CLEAN);
    sum_add(s, m, what);
    qp_model_free(m);
}

qp_model *sum_finish(qp_merge *s, const char *path)
{
    qp_error error;
    bool is_good = qp_merge_write(s, path, &error);
    assert_string_equal(error.text, "");
    assert_true(is_good);
    qp_merge_free(s);
    return files_read(path);
}
