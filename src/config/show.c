/* show.c: event triggers as text. */
#include "config/show.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

enum { FIELD_BYTES = 96 };

typedef char field[FIELD_BYTES];

/* ---- words --------------------------------------------------------------------------------- */

static const char *const contexts[] = {"any", "any-task", "task", "any-isr", "isr", "system"};
static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">=", "|", "&"};
static const char *const actions[] = {"none", "start",    "stop", "func",
                                      "lib",  "snapshot", "dump", "mark"};

static void put_name(const char *name, char *to)
{
    field safe;
    qp_text_terminal(safe, sizeof safe, name ? name : "", NULL);
    snprintf(to, FIELD_BYTES, "%s", safe[0] ? safe : "-");
}

static void put_event(uint32_t event, char *to)
{
    const char *name = qp_event_name(event);
    if (name[0])
        snprintf(to, FIELD_BYTES, "%s", name);
    else
        snprintf(to, FIELD_BYTES, "%u", event);
}

static void put_context(const qp_config_event_trigger *t, char *to)
{
    if (t->context == QP_CONTEXT_TASK)
        snprintf(to, FIELD_BYTES, "task:%llu", (unsigned long long)t->context_id);
    else
        snprintf(to, FIELD_BYTES, "%s", contexts[t->context]);
}

static void put_object(const qp_config_event_trigger *t, char *to)
{
    static const char *const prefixes[] = {"", "glob:", "regex:"};
    field name;
    put_name(t->object_name, name);
    if (t->object_kind == QP_OBJECT_ANY)
        snprintf(to, FIELD_BYTES, "any");
    else if (t->object_kind == QP_OBJECT_NUMBER)
        snprintf(to, FIELD_BYTES, "%llu", (unsigned long long)t->object);
    else
        snprintf(to, FIELD_BYTES, "%s%.80s", prefixes[t->object_name_kind], name);
}

static void put_condition(const qp_shown *s, char *to)
{
    static const char *const calls[] = {"()", "", "(object)"};
    const qp_config_event_trigger *t = &s->said;
    field name;
    put_name(t->when_name, name);
    if (!t->when_name)
        snprintf(to, FIELD_BYTES, "no");
    else
        snprintf(to, FIELD_BYTES, "%.60s%s %s %d", name, calls[t->when_kind],
                 operators[t->when_operator], t->when_value);
}

static void put_action(const qp_config_event_trigger *t, char *to)
{
    field name;
    put_name(t->action_name, name);
    if (t->action == QP_DO_FUNCTION || t->action == QP_DO_LIBRARY)
        snprintf(to, FIELD_BYTES, "%s:%.60s(%lld)", actions[t->action], name,
                 (long long)t->action_argument);
    else
        snprintf(to, FIELD_BYTES, "%s", actions[t->action]);
}

static void put_chain(const qp_shown *s, char *to)
{
    if (s->chain_number)
        snprintf(to, FIELD_BYTES, "%u", s->chain_number);
    else
        put_name(s->said.chain, to);
}

static void put_number(unsigned number, char *to)
{
    if (number)
        snprintf(to, FIELD_BYTES, "%u", number);
    else
        snprintf(to, FIELD_BYTES, "not set");
}

static const char *yes(bool is_so)
{
    return is_so ? "yes" : "no";
}

static const char *status(bool is_enabled)
{
    return is_enabled ? "enabled" : "disabled";
}

/* ---- lines --------------------------------------------------------------------------------- */

#define COLUMNS                                                                                \
    "%-7s  %-16.40s  %-15s  %-8s  %-10.32s  %-20.60s  %-4s  %-14.60s  %-8s  %-7s  %-7.40s  "   \
    "%4.20s"

void qp_show_head(char *line)
{
    snprintf(line, QP_SHOWN_BYTES, COLUMNS, "id", "name", "event", "status", "context",
             "object", "when", "action", "deferred", "disable", "chain", "hits");
}

void qp_show_line(const qp_shown *s, char *line)
{
    const qp_config_event_trigger *t = &s->said;
    field number, name, event, context, object, action, chain, hits;
    put_number(s->number, number);
    put_name(t->name, name);
    put_event(t->event, event);
    put_context(t, context);
    put_object(t, object);
    put_action(t, action);
    put_chain(s, chain);
    snprintf(hits, sizeof hits, "%llu", (unsigned long long)s->n_hits);
    snprintf(line, QP_SHOWN_BYTES, COLUMNS, number, name, event, status(t->is_enabled), context,
             object, yes(t->when_name), action, yes(t->is_deferred), yes(t->is_one_shot), chain,
             hits);
}

/* A limit that may not be set. */
static void put_limit(uint64_t limit, const char *unit, char *to)
{
    if (limit)
        snprintf(to, FIELD_BYTES, "%llu%s", (unsigned long long)limit, unit);
    else
        snprintf(to, FIELD_BYTES, "none");
}

typedef enum {
    NUMBER,
    NAME,
    EVENT,
    STATUS,
    INITIAL,
    DISABLE,
    CONTEXT,
    OBJECT,
    CONDITION,
    CHAIN,
    ACTION,
    DEFERRED,
    LONGER,
    DEPTH,
    USED,
    RATE,
    HITS,
    N_MEMBERS
} member;

static void put_member(const qp_shown *s, member which, char *to)
{
    const qp_config_event_trigger *t = &s->said;
    switch (which) {
    case NUMBER:
        put_number(s->number, to);
        break;
    case NAME:
        put_name(t->name, to);
        break;
    case EVENT:
        put_event(t->event, to);
        break;
    case STATUS:
        snprintf(to, FIELD_BYTES, "%s", status(t->is_enabled));
        break;
    case INITIAL:
        snprintf(to, FIELD_BYTES, "%s", status(s->is_initially_enabled));
        break;
    case DISABLE:
        snprintf(to, FIELD_BYTES, "%s", yes(t->is_one_shot));
        break;
    case CONTEXT:
        put_context(t, to);
        break;
    case OBJECT:
        put_object(t, to);
        break;
    case CONDITION:
        put_condition(s, to);
        break;
    case CHAIN:
        put_chain(s, to);
        break;
    case ACTION:
        put_action(t, to);
        break;
    case DEFERRED:
        snprintf(to, FIELD_BYTES, "%s", yes(t->is_deferred));
        break;
    case LONGER:
        put_limit(t->longer_ns, " ns", to);
        break;
    case DEPTH:
        put_limit(t->depth, "", to);
        break;
    case USED:
        put_limit(t->used, " %", to);
        break;
    case RATE:
        put_limit(t->most_a_second, " a second", to);
        break;
    case HITS:
    case N_MEMBERS:
        snprintf(to, FIELD_BYTES, "%llu", (unsigned long long)s->n_hits);
        break;
    }
}

bool qp_show_member(const qp_shown *s, unsigned i, char *line)
{
    static const char names[N_MEMBERS][16] = {
        "id",     "name",    "event", "status", "initial status", "disable", "context",
        "object", "when",    "chain", "action", "deferred",       "longer",  "depth",
        "used",   "at most", "hits"};
    field value;
    if (i >= N_MEMBERS)
        return false;
    put_member(s, (member)i, value);
    snprintf(line, QP_SHOWN_BYTES, "%s: %s", names[i], value);
    return true;
}

void qp_show_foot(unsigned n_enabled, unsigned max, bool is_on, uint64_t n_dropped, char *line)
{
    snprintf(line, QP_SHOWN_BYTES, "enabled %u of %u, triggering %s, dropped %llu", n_enabled,
             max, is_on ? "on" : "off", (unsigned long long)n_dropped);
}
