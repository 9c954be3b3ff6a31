/* event.c: lines of event triggers. */
#include <limits.h>
#include <string.h>

#include "config/match.h"
#include "config/parts.h"

static qp_taken take_event(qp_config_reader *r, const qp_config_text *value, void *field)
{
    uint64_t number;
    uint32_t event = qp_event_find(value->text, strlen(value->text));
    bool is_number = qp_config_number(value->text, &number);
    if (is_number && number >= QP_EVENT_USER_FIRST && number <= QP_EVENT_USER_LAST)
        event = (uint32_t)number;
    *(uint32_t *)field = event;
    if (event)
        return QP_TAKEN;
    return qp_config_refuse(r, value->at,
                            "event=%.40s: expected %d to %d, any, or a name such as fn-entry",
                            value->text, QP_EVENT_USER_FIRST, QP_EVENT_USER_LAST);
}

static qp_taken take_status(qp_config_reader *r, const qp_config_text *value, void *is_enabled)
{
    unsigned which;
    qp_taken taken = qp_config_choose(r, value, "disabled|enabled", &which);
    *(bool *)is_enabled = taken == QP_TAKEN && which == 1;
    return taken;
}

static qp_taken take_context(qp_config_reader *r, const qp_config_text *value, void *trigger)
{
    static const char words[] = "any|any-task|task:ID|any-isr|isr|system";
    qp_config_event_trigger *t = trigger;
    unsigned which;
    size_t n = strcspn(value->text, ":");
    if (value->text[n]) {
        t->context = QP_CONTEXT_TASK;
        if (qp_option_is("task", value->text, n) &&
            qp_config_number(value->text + n + 1, &t->context_id))
            return QP_TAKEN;
        return qp_config_refuse(r, value->at, "context=%.40s: expected %s", value->text, words);
    }
    qp_taken taken = qp_config_choose(r, value, words, &which);
    t->context = taken == QP_TAKEN ? (qp_config_context)which : QP_CONTEXT_ANY;
    return taken;
}

static qp_taken take_object(qp_config_reader *r, const qp_config_text *value, void *trigger)
{
    qp_config_event_trigger *t = trigger;
    if (qp_option_is("any", value->text, strlen(value->text)))
        return QP_TAKEN;
    if (qp_config_number(value->text, &t->object)) {
        t->object_kind = QP_OBJECT_NUMBER;
        return QP_TAKEN;
    }
    if (*value->text == '!')
        return qp_config_refuse(r, value->at, "object=%.40s: expected a name without a !",
                                value->text);
    t->object_kind = QP_OBJECT_NAME;
    t->object_name = qp_match_text(value->text, &t->object_name_kind);
    return qp_config_check_name(r, value->at, t->object_name, t->object_name_kind);
}

/* ---- conditions ---------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* "()" or "(object)" behind the name, which say what it names. */
static bool take_call(const char **at, qp_config_when_kind *kind)
{
    *kind = QP_WHEN_VARIABLE;
    if (**at != '(')
        return true;
    size_t n = strcspn(*at, ")");
    bool has_object = n == 7 && strncmp(*at, "(object", n) == 0;
    *kind = has_object ? QP_WHEN_PREDICATE : QP_WHEN_FUNCTION;
    if (!(*at)[n] || !(has_object || n == 1))
        return false;
    *at += n + 1;
    return true;
}

static bool take_operator(const char **at, qp_config_operator *operator)
{
    static const char texts[][3] = {"==", "!=", "<", "<=", ">", ">=", "|", "&"};
    size_t n = strspn(*at, "=!<>|&");
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strlen(texts[i]) == n && strncmp(*at, texts[i], n) == 0) {
            *operator=(qp_config_operator) i;
            *at += n;
            return true;
        }
    return false;
}

static qp_taken take_when(qp_config_reader *r, const qp_config_text *value, void *trigger)
{
    qp_config_event_trigger *t = trigger;
    int64_t number;
    char *name = value->text + strspn(value->text, " \t");
    char *name_end = name + strcspn(name, " \t(=!<>|&");
    const char *at = skip_blanks(name_end);
    bool is_good = name_end > name && take_call(&at, &t->when_kind);
    at = skip_blanks(at);
    is_good = is_good && take_operator(&at, &t->when_operator);
    if (!is_good || !qp_config_integer(skip_blanks(at), &number) || number < INT_MIN ||
        number > INT_MAX)
        return qp_config_refuse(r, value->at,
                                "when=%.40s: expected \"NAME OP NUMBER\", with NAME, NAME() or "
                                "NAME(object) and == != < <= > >= | or &",
                                value->text);
    *name_end = '\0';
    t->when_name = name;
    t->when_value = (int)number;
    return QP_TAKEN;
}

/* ---- what is done -------------------------------------------------------------------------- */

static qp_taken take_chain(qp_config_reader *r, const qp_config_text *value, void *trigger)
{
    qp_config_event_trigger *t = trigger;
    t->chain = value->text;
    qp_config_place(r, value->at, &t->chain_line, &t->chain_column);
    return QP_TAKEN;
}

/* "NAME(ARGUMENT)" */
static bool take_action_call(char *call, qp_config_event_trigger *t)
{
    int64_t argument = 0;
    size_t n_name = strcspn(call, "("), n = strlen(call);
    if (!n_name || n < n_name + 2 || call[n - 1] != ')')
        return false;
    call[n_name] = call[n - 1] = '\0';
    t->action_name = call;
    bool is_good = !call[n_name + 1] || qp_config_integer(call + n_name + 1, &argument);
    t->action_argument = (intptr_t)argument;
    call[n_name] = '('; /* for a message; the name's end is set when all is good */
    call[n - 1] = ')';
    return is_good && t->action_argument == argument;
}

static qp_taken take_action(qp_config_reader *r, const qp_config_text *value, void *trigger)
{
    static const char words[] = "none|start|stop|func:NAME(NUMBER)|lib:NAME(NUMBER)|snapshot|"
                                "dump|mark";
    qp_config_event_trigger *t = trigger;
    unsigned which;
    size_t n = strcspn(value->text, ":(");
    if (value->text[n]) {
        bool is_function = qp_option_is("func", value->text, n);
        if (value->text[n] != ':' || !(is_function || qp_option_is("lib", value->text, n)) ||
            !take_action_call(value->text + n + 1, t))
            return qp_config_refuse(r, value->at, "action=%.40s: expected %s", value->text,
                                    words);
        value->text[n + 1 + strcspn(t->action_name, "(")] = '\0';
        t->action = is_function ? QP_DO_FUNCTION : QP_DO_LIBRARY;
        return QP_TAKEN;
    }
    qp_taken taken = qp_config_choose(r, value, words, &which);
    t->action = taken == QP_TAKEN ? (qp_config_do)which : QP_DO_NOTHING;
    return taken;
}

/* ---- narrowing ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    uint64_t factor;
} unit;

/* A number above 0 with its unit behind it, times the unit's factor. */
typedef struct {
    const char *key, *expected;
    uint64_t most;
    unit units[5]; /* the last has no name */
} quantity;

static qp_taken take_quantity(qp_config_reader *r, const qp_config_text *value,
                              const quantity *q, uint64_t *number)
{
    char *text = value->text;
    size_t n = strspn(text, "0123456789");
    const unit *u = q->units;
    while (u->name && strcmp(u->name, text + n) != 0)
        u++;
    bool is_good = n && u->name && strspn(text, "0") != n;
    char first = text[n];
    text[n] = '\0';
    bool fits = is_good && qp_config_number(text, number) && *number <= q->most / u->factor;
    text[n] = first;
    if (!fits)
        return qp_config_refuse(r, value->at, "%s=%.40s: %sexpected %s", q->key, text,
                                is_good ? "too large: " : "", q->expected);
    *number *= u->factor;
    return QP_TAKEN;
}

static qp_taken take_longer(qp_config_reader *r, const qp_config_text *value, void *ns)
{
    static const quantity time = {
        "longer",
        "a time such as 50ms (ns, us, ms, s)",
        INT64_MAX,
        {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}}};
    return take_quantity(r, value, &time, ns);
}

static qp_taken take_depth(qp_config_reader *r, const qp_config_text *value, void *depth)
{
    static const quantity frames = {
        "depth", "a number of frames from 1", INT64_MAX, {{"", 1}, {NULL, 0}}};
    return take_quantity(r, value, &frames, depth);
}

static qp_taken take_used(qp_config_reader *r, const qp_config_text *value, void *percent)
{
    static const quantity part = {"used", "1% to 100%", 100, {{"%", 1}, {NULL, 0}}};
    uint64_t number;
    qp_taken taken = take_quantity(r, value, &part, &number);
    *(uint32_t *)percent = taken == QP_TAKEN ? (uint32_t)number : 0;
    return taken;
}

static qp_taken take_rate(qp_config_reader *r, const qp_config_text *value, void *rate)
{
    static const quantity hits = {"rate",
                                  "a number such as 10/s, up to 1000000000/s",
                                  1000000000,
                                  {{"/s", 1}, {NULL, 0}}};
    uint64_t number;
    qp_taken taken = take_quantity(r, value, &hits, &number);
    *(uint32_t *)rate = taken == QP_TAKEN ? (uint32_t)number : 0;
    return taken;
}

/* ---- the line ------------------------------------------------------------------------------ */

#define FIELD(field) offsetof(qp_config_event_trigger, field)

static const qp_config_key keys[] = {{"event", take_event, FIELD(event)},
                                     {"status", take_status, FIELD(is_enabled)},
                                     {"context", take_context, 0},
                                     {"object", take_object, 0},
                                     {"when", take_when, 0},
                                     {"disable", qp_config_yes_no, FIELD(is_one_shot)},
                                     {"chain", take_chain, 0},
                                     {"action", take_action, 0},
                                     {"deferred", qp_config_yes_no, FIELD(is_deferred)},
                                     {"longer", take_longer, FIELD(longer_ns)},
                                     {"depth", take_depth, FIELD(depth)},
                                     {"used", take_used, FIELD(used)},
                                     {"rate", take_rate, FIELD(most_a_second)}};

/* What one key says of another. */
static const char *contradiction(const qp_config_event_trigger *t)
{
    if (!t->event)
        return "expected event=";
    if (t->longer_ns && t->event != QP_EVENT_FN_EXIT)
        return "longer= is for event=fn-exit";
    if (t->depth && t->event != QP_EVENT_FN_ENTRY)
        return "depth= is for event=fn-entry";
    if (t->used && t->event != QP_EVENT_MEMORY)
        return "used= is for event=memory";
    if (t->object_kind == QP_OBJECT_NAME && t->event != QP_EVENT_ANY &&
        qp_event_object_of(t->event) != QP_EVENT_OBJECT_METHOD)
        return "object= names a routine, and this event has none: expected a number, or any";
    return NULL;
}

int qp_config_event_line(qp_config_reader *r)
{
    qp_config_event_trigger t = {.is_enabled = true, .is_deferred = true};
    if (qp_config_take_name(r, &t.name) != QP_TAKEN ||
        qp_config_keys(r, keys, sizeof keys / sizeof *keys, false, &t) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    const char *why = contradiction(&t);
    if (why) {
        qp_config_refuse(r, r->blame, "%.40s: %s", t.name, why);
        return QP_CONFIG_SYNTAX;
    }
    return r->sink->on_event_trigger ? r->sink->on_event_trigger(r->sink->to, &t, r->error) : 0;
}
