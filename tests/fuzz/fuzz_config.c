/* fuzz_config.c: any text as a configuration file. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static size_t n_seen;

static void look_at_list(qp_config_list list)
{
    unsigned n = 0;
    for (qp_config_element e; qp_config_next(&list, &e); n++)
        n_seen += strlen(e.name) + e.kind;
    if (!n)
        abort();
}

static int on_trigger(void *to, const qp_config_trigger *t, qp_error *error)
{
    (void)to, (void)error;
    look_at_list(t->routines);
    return 0;
}

static int on_action(void *to, const qp_config_action *a, qp_error *error)
{
    (void)to, (void)error;
    look_at_list(a->routines);
    return 0;
}

static int on_area(void *to, const qp_config_area *a, qp_error *error)
{
    (void)to, (void)error;
    if (a->has_mode)
        look_at_list(a->elements);
    return 0;
}

static int on_options(void *to, const char *words, qp_error *error)
{
    (void)to, (void)error;
    n_seen += strlen(words);
    return 0;
}

static int on_event_trigger(void *to, const qp_config_event_trigger *t, qp_error *error)
{
    (void)to, (void)error;
    n_seen += strlen(t->name) + (t->chain ? strlen(t->chain) : 0) +
              (t->when_name ? strlen(t->when_name) : 0) +
              (t->action_name ? strlen(t->action_name) : 0) +
              (t->object_name ? strlen(t->object_name) : 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static const qp_config_sink sink = {.on_options = on_options,
                                        .on_trigger = on_trigger,
                                        .on_action = on_action,
                                        .on_area = on_area,
                                        .on_event_trigger = on_event_trigger};
    qp_error error;
    char *exact = malloc(n_bytes ? n_bytes : 1); /* a byte too far is found */
    memcpy(exact, bytes, n_bytes);
    int code = qp_config_read(exact, n_bytes, &sink, &error);
    if (code && (!error.line || !error.column || !error.text[0]))
        abort();
    free(exact);
    return 0;
}
