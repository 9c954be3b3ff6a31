/* show.c: event triggers as text. Read members first: a list and a row of columns follow from it. */
#include "config/config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

enum { FIELD_BYTES = 96 };

typedef char field[FIELD_BYTES];

/* ---- words --------------------------------------------------------------------------------- */

/* Words have no pointers, each of which costs a relocation. */
static const char contexts[][9] = {"any", "any-task", "task", "any-isr", "isr", "system"};
static const char operators[][3] = {"==", "!=", "<", "<=", ">", ">=", "|", "&"};
static const char actions[][9] = {"none", "start",    "stop", "func",
                                  "lib",  "snapshot", "dump", "mark"};

/* A name of unknown origin. */
static void put_text(const char *name, char *to)
{
    field safe;
    qp_text_terminal(safe, sizeof safe, name ? name : "", NULL);
    snprintf(to, FIELD_BYTES, "%s", safe[0] ? safe : "-");
}

static void put_number(const qp_shown *s, char *to)
{
    if (s->number)
        snprintf(to, FIELD_BYTES, "%u", s->number);
    else
        snprintf(to, FIELD_BYTES, "not set");
}

static void put_name(const qp_shown *s, char *to)
{
    put_text(s->trigger.name, to);
}

static void put_event(const qp_shown *s, char *to)
{
    const char *name = qp_event_name(s->trigger.event);
    if (name[0])
        snprintf(to, FIELD_BYTES, "%s", name);
    else
        snprintf(to, FIELD_BYTES, "%u", s->trigger.event);
}

static void put_context(const qp_shown *s, char *to)
{
    if (s->trigger.context == QP_CONTEXT_TASK)
        snprintf(to, FIELD_BYTES, "task:%llu", (unsigned long long)s->trigger.context_id);
    else
        snprintf(to, FIELD_BYTES, "%s", contexts[s->trigger.context]);
}

static void put_object(const qp_shown *s, char *to)
{
    static const char prefixes[][7] = {"", "glob:", "regex:"};
    const qp_config_event_trigger *t = &s->trigger;
    field name;
    put_text(t->object_name, name);
    if (t->object_kind == QP_OBJECT_ANY)
        snprintf(to, FIELD_BYTES, "any");
    else if (t->object_kind == QP_OBJECT_NUMBER)
        snprintf(to, FIELD_BYTES, "%llu", (unsigned long long)t->object);
    else
        snprintf(to, FIELD_BYTES, "%s%.80s", prefixes[t->object_name_kind], name);
}

static void put_condition(const qp_shown *s, char *to)
{
    static const char calls[][9] = {"()", "", "(object)"};
    const qp_config_event_trigger *t = &s->trigger;
    field name;
    put_text(t->when_name, name);
    if (!t->when_name)
        snprintf(to, FIELD_BYTES, "no");
    else
        snprintf(to, FIELD_BYTES, "%.60s%s %s %d", name, calls[t->when_kind],
                 operators[t->when_operator], t->when_value);
}

static void put_chain(const qp_shown *s, char *to)
{
    if (s->chain_number)
        snprintf(to, FIELD_BYTES, "%u", s->chain_number);
    else
        put_text(s->trigger.chain, to);
}

static void put_action(const qp_shown *s, char *to)
{
    const qp_config_event_trigger *t = &s->trigger;
    field name;
    put_text(t->action_name, name);
    if (t->action == QP_DO_FUNCTION || t->action == QP_DO_LIBRARY)
        snprintf(to, FIELD_BYTES, "%s:%.60s(%lld)", actions[t->action], name,
                 (long long)t->action_argument);
    else
        snprintf(to, FIELD_BYTES, "%s", actions[t->action]);
}

static void put_hits(const qp_shown *s, char *to)
{
    snprintf(to, FIELD_BYTES, "%llu", (unsigned long long)s->n_hits);
}

/* ---- members ------------------------------------------------------------------------------- */

#define AT(member) NULL, offsetof(qp_shown, member), sizeof(((qp_shown *)0)->member)

/* A member that `put` writes; else, by its bytes, a bool (as "yes|no") or a limit with a unit. */
static const struct {
    char name[16];
    void (*put)(const qp_shown *s, char *to);
    uint16_t at, n_bytes;
    char words[18]; /* "if true|if false", or the unit */
} members[] = {{"id", .put = put_number},
               {"name", .put = put_name},
               {"event", .put = put_event},
               {"status", AT(trigger.is_enabled), "enabled|disabled"},
               {"initial status", AT(is_initially_enabled), "enabled|disabled"},
               {"disable", AT(trigger.is_one_shot), "yes|no"},
               {"context", .put = put_context},
               {"object", .put = put_object},
               {"when", .put = put_condition},
               {"chain", .put = put_chain},
               {"action", .put = put_action},
               {"deferred", AT(trigger.is_deferred), "yes|no"},
               {"longer", AT(trigger.longer_ns), " ns"},
               {"depth", AT(trigger.depth), ""},
               {"used", AT(trigger.used), " %"},
               {"at most", AT(trigger.most_a_second), " a second"},
               {"hits", .put = put_hits}};
#undef AT

enum { N_MEMBERS = sizeof members / sizeof *members };

static void put_member(const qp_shown *s, unsigned i, char *to)
{
    const char *at = (const char *)s + members[i].at, *words = members[i].words;
    if (members[i].put) {
        members[i].put(s, to);
    } else if (members[i].n_bytes == sizeof(bool)) {
        size_t n = strcspn(words, "|");
        bool is_so = *(const bool *)(const void *)at;
        snprintf(to, FIELD_BYTES, "%.*s", is_so ? (int)n : FIELD_BYTES,
                 is_so ? words : words + n + 1);
    } else {
        uint64_t limit = *(const uint64_t *)(const void *)at;
        if (limit)
            snprintf(to, FIELD_BYTES, "%llu%s", (unsigned long long)limit, words);
        else
            snprintf(to, FIELD_BYTES, "none");
    }
}

bool qp_show_member(const qp_shown *s, unsigned i, char *line)
{
    field value;
    if (i >= N_MEMBERS)
        return false;
    put_member(s, i, value);
    snprintf(line, QP_SHOWN_BYTES, "%s: %s", members[i].name, value);
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* @param s  NULL: the names of the columns */
static void put_row(const qp_shown *s, char *line)
{
    static const struct {
        char name[9]; /* of the member */
        signed char width, most;
    } columns[] = {{"id", -7, 95},      {"name", -16, 40},    {"event", -15, 95},
                   {"status", -8, 95},  {"context", -10, 32}, {"object", -20, 60},
                   {"when", -4, 3},     {"action", -14, 60},  {"deferred", -8, 95},
                   {"disable", -7, 95}, {"chain", -7, 40},    {"hits", 4, 20}};
    size_t n = 0;
    for (unsigned c = 0; c < sizeof columns / sizeof *columns; c++) {
        unsigned i = 0;
        field value;
        while (strcmp(members[i].name, columns[c].name) != 0)
            i++;
        if (s && members[i].put == put_condition) /* a row has no room for it */
            snprintf(value, sizeof value, "%s", s->trigger.when_name ? "yes" : "no");
        else if (s)
            put_member(s, i, value);
        n += (size_t)snprintf(line + n, QP_SHOWN_BYTES - n, "%s%*.*s", c ? "  " : "",
                              columns[c].width, s ? columns[c].most : FIELD_BYTES,
                              s ? value : members[i].name);
    }
}

void qp_show_head(char *line)
{
    put_row(NULL, line);
}

void qp_show_line(const qp_shown *s, char *line)
{
    put_row(s, line);
}

void qp_show_foot(unsigned n_enabled, unsigned max, bool is_on, uint64_t n_dropped, char *line)
{
    snprintf(line, QP_SHOWN_BYTES, "enabled %u of %u, triggering %s, dropped %llu", n_enabled,
             max, is_on ? "on" : "off", (unsigned long long)n_dropped);
}
