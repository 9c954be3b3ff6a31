/* info_marks.c: marks of triggers, actions, event triggers and the host; counts of its events. */
#include "cli/info_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table_text.h"
#include "base/text.h"
#include "base/unit.h"
#include "format/events.h"

enum { SHOWN_MAX = 20, FIELD_BYTES = 64 };

typedef char field[FIELD_BYTES];

static const char *event_text(uint32_t event, char *to)
{
    const char *name = qp_event_name(event);
    if (!event || name[0])
        return name;
    snprintf(to, FIELD_BYTES, "%" PRIu32, event);
    return to;
}

static const char *object_text(const qp_run_mark *k, char *to)
{
    if (k->method[0] || !k->object)
        return k->method;
    snprintf(to, FIELD_BYTES, "%" PRIu64, k->object);
    return to;
}

static const char *value_text(const qp_run_mark *k, char *to)
{
    char number[QP_NUMBER_BYTES];
    to[0] = '\0';
    if (strcmp(k->value_unit, "ns") == 0)
        snprintf(to, FIELD_BYTES, "%s", qp_unit_time(number, k->value));
    else if (k->value_unit[0])
        snprintf(to, FIELD_BYTES, "%s %s", qp_unit_count(number, k->value), k->value_unit);
    return to;
}

static void add_row(qp_table *t, const qp_model *m, const qp_run_mark *k)
{
    field event, object, value;
    char at[QP_NUMBER_BYTES];
    qp_table_plain(t, QP_STYLE_PLAIN, qp_unit_time(at, qp_model_ns(m, k->at)));
    qp_table_name(t, QP_STYLE_PLAIN, k->thread ? m->threads[k->thread].name : "");
    qp_table_name(t, QP_STYLE_PLAIN, k->name);
    qp_table_plain(t, QP_STYLE_PLAIN, k->kind);
    qp_table_plain(t, QP_STYLE_PLAIN, event_text(k->event, event));
    qp_table_name(t, QP_STYLE_PLAIN, object_text(k, object));
    qp_table_plain(t, QP_STYLE_PLAIN, value_text(k, value));
}

static bool print_marks(const qp_screen *s, const qp_model *m)
{
    const qp_run *run = &m->run;
    char n[QP_NUMBER_BYTES];
    qp_table t;
    if (!run->n_marks)
        return true;
    qp_table_init(&t);
    qp_table_column(&t, "At", QP_ALIGN_RIGHT, 0);
    qp_table_column(&t, "Thread", QP_KEEP_BEGIN, 2);
    qp_table_column(&t, "Mark", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Of", QP_ALIGN_LEFT, 1);
    qp_table_column(&t, "Event", QP_ALIGN_LEFT, 1);
    qp_table_column(&t, "Object", QP_KEEP_BEGIN, 0);
    qp_table_column(&t, "Value", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < run->n_marks && i < SHOWN_MAX; i++)
        add_row(&t, m, &run->marks[i]);
    qp_out_char(s->out, '\n');
    bool is_good = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    if (run->n_marks > SHOWN_MAX)
        qp_out_format(s->out, "%s more; --format=json has all\n",
                      qp_unit_things(n, run->n_marks - SHOWN_MAX, "mark"));
    return is_good;
}

static bool print_events(const qp_screen *s, const qp_run *run)
{
    qp_table t;
    field event;
    char count[QP_NUMBER_BYTES];
    if (!run->n_events)
        return true;
    qp_table_init(&t);
    qp_table_column(&t, "Event", QP_ALIGN_LEFT, 0);
    qp_table_column(&t, "Raised", QP_ALIGN_RIGHT, 0);
    for (size_t i = 0; i < run->n_events; i++) {
        qp_table_plain(&t, QP_STYLE_PLAIN, event_text(run->events[i].event, event));
        qp_table_plain(&t, QP_STYLE_PLAIN, qp_unit_count(count, run->events[i].count));
    }
    qp_out_char(s->out, '\n');
    bool is_good = qp_table_print(&t, s, 0);
    qp_table_fini(&t);
    return is_good;
}

bool qp_info_marks_text(const qp_screen *s, const qp_model *m)
{
    return print_marks(s, m) && print_events(s, &m->run);
}

static void write_mark(qp_json *json, const qp_model *m, const qp_run_mark *k)
{
    field event;
    const char *event_name = event_text(k->event, event);
    qp_json_begin(json, NULL, '{');
    qp_json_count(json, "at_ns", qp_model_ns(m, k->at));
    qp_json_text(json, "thread", k->thread ? m->threads[k->thread].name : NULL);
    qp_json_text(json, "name", k->name);
    qp_json_text(json, "kind", k->kind);
    qp_json_text(json, "event", event_name[0] ? event_name : NULL);
    qp_json_count(json, "object", k->object);
    qp_json_text(json, "method", k->method[0] ? k->method : NULL);
    qp_json_count(json, "value", k->value);
    qp_json_text(json, "value_unit", k->value_unit[0] ? k->value_unit : NULL);
    qp_json_end(json, '}');
}

void qp_info_marks_json(qp_json *json, const qp_model *m)
{
    qp_json_begin(json, "marks", '[');
    for (size_t i = 0; i < m->run.n_marks; i++)
        write_mark(json, m, &m->run.marks[i]);
    qp_json_end(json, ']');
    qp_json_begin(json, "events", '[');
    for (size_t i = 0; i < m->run.n_events; i++) {
        qp_json_begin(json, NULL, '{');
        qp_json_count(json, "event", m->run.events[i].event);
        qp_json_count(json, "count", m->run.events[i].count);
        qp_json_end(json, '}');
    }
    qp_json_end(json, ']');
}
