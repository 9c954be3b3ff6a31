/* test_settings.c: the settings of a trace in docs/trace-xbase.md are those of xbase/pri.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xbase/xbase.h"

/* The row of the table of settings that names a key: cells between '|'. */
static bool find_row(const char *page, const char *key, char *initial)
{
    for (const char *row = strstr(page, "| key | default |"); row;
         row = strchr(row + 1, '\n')) {
        char keys[128] = "", value[64] = "";
        if (sscanf(row, "\n| %127[^|]| %63[^|]|", keys, value) < 1)
            continue;
        const char *at = strstr(keys, key);
        if (!at || (at > keys && at[-1] != ' ') || !strchr(" ,", at[strlen(key)]))
            continue;
        size_t n = strcspn(value, " ");
        memcpy(initial, value, n);
        initial[n] = '\0';
        return true;
    }
    return false;
}

static void the_page_has_every_setting_with_its_default(void **state)
{
    static char page[32768];
    static qp_pri settings;
    char path[4096], initial[64];
    (void)state;
    snprintf(path, sizeof path, "%s/docs/trace-xbase.md", getenv("QPROF_SOURCE"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(page, 1, sizeof page - 1, f) > 0);
    fclose(f);
    qp_pri_init(&settings);
    for (unsigned i = 0; i < QP_N_PRI; i++) {
        if (!find_row(page, qp_pri_name((qp_pri_key)i), initial))
            fail_msg("%s is not in the page", qp_pri_name((qp_pri_key)i));
        assert_string_equal(initial, qp_pri_value(&settings, (qp_pri_key)i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_every_setting_with_its_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
