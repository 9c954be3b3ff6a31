/* test_events.c: docs/events.md has every event of the table, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/layout.h"

static char page[1 << 16];

static int read_page(void **state)
{
    char path[4096];
    (void)state;
    snprintf(path, sizeof path, "%s/docs/events.md", getenv("QPROF_SOURCE"));
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    return fclose(file);
}

static const struct {
    const char *name, *object, *help;
    int number;
} events[] = {
#define QP_X(id, number, name, object, help) {name, #object, help, number},
    QP_EVENTS(QP_X)
#undef QP_X
};

enum { N_EVENTS = sizeof events / sizeof *events };

static void the_page_has_every_event_of_the_table(void **state)
{
    char line[256], object[16];
    (void)state;
    for (unsigned i = 0; i < N_EVENTS; i++) {
        snprintf(object, sizeof object, "%s", events[i].object);
        for (char *c = object; *c; c++)
            *c = (char)(*c | 0x20);
        snprintf(line, sizeof line, "| `%s` | %d | %s | %s |\n", events[i].name,
                 events[i].number, object, events[i].help);
        if (!strstr(page, line))
            fail_msg("docs/events.md lacks: %s", line);
    }
}

static void the_page_has_no_other_event(void **state)
{
    unsigned n = 0;
    (void)state;
    const char *at = strstr(page, "## Events"), *end = strstr(page, "## Actions");
    assert_true(at && end);
    while ((at = strstr(at, "\n| `")) && at++ < end)
        n++;
    assert_int_equal(n, N_EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_every_event_of_the_table),
        cmocka_unit_test(the_page_has_no_other_event),
    };
    return cmocka_run_group_tests(tests, read_page, NULL);
}
