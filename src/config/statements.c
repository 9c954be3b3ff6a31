/* statements.c: a text into statements. Read qp_config_read first. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "code/pattern.h"
#include "config/words.h"
#include "xbase/xbase.h"

/* ---- values of keys ------------------------------------------------------------------------ */

/* What take_value() takes, and the kinds of values of FLAG and QUANTITY. */
enum { COUNT, FLAG, SETTING, QUANTITY, EVENT, CONTEXT, OBJECT, WHEN, CHAIN, ACTION };
enum { NO_YES, DISABLED_ENABLED };
enum { DURATION, FRAMES, PART, HITS };

static qp_config_take_value take_value;

/* A bool: the second of two words. */
static qp_taken take_flag(qp_config_reader *r, const qp_config_text *value, void *flag)
{
    static const char words[][17] = {
        [NO_YES] = "no|yes", [DISABLED_ENABLED] = "disabled|enabled"};
    unsigned which;
    qp_taken taken = qp_config_choose(r, value, words[value->key->how], &which);
    *(bool *)flag = taken == QP_TAKEN && which == 1;
    return taken;
}

static qp_taken take_setting(qp_config_reader *r, const qp_config_text *value, void *setting)
{
    unsigned which;
    qp_taken taken = qp_config_choose(r, value, "no|yes", &which);
    if (taken == QP_TAKEN)
        *(qp_config_setting *)setting = which == 1 ? QP_SETTING_YES : QP_SETTING_NO;
    return taken;
}

static qp_taken take_count(qp_config_reader *r, const qp_config_text *value, void *count)
{
    if (qp_config_number(value->text, count))
        return QP_TAKEN;
    bool is_large = *value->text && !value->text[strspn(value->text, "0123456789")];
    return qp_config_refuse(r, value->at, "%.40s: %s", value->text,
                            is_large ? "too large: expected a whole number of 64 bits"
                                     : "expected a whole number");
}

/* A number above 0 with its unit, times the unit's factor. */
typedef struct {
    char expected[44];
    uint64_t most;
    struct {
        char name[4];
        uint32_t factor; /* 0: the last */
    } units[5];
} quantity;

static qp_taken take_quantity(qp_config_reader *r, const qp_config_text *value, void *field)
{
    static const quantity quantities[] = {
        [DURATION] = {"a time such as 50ms (ns, us, ms, s)",
                      INT64_MAX,
                      {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}}},
        [FRAMES] = {"a number of frames from 1", INT64_MAX, {{"", 1}}},
        [PART] = {"1% to 100%", 100, {{"%", 1}}},
        [HITS] = {"a number such as 10/s, up to 1000000000/s", 1000000000, {{"/s", 1}}}};
    const quantity *q = &quantities[value->key->how];
    uint64_t *number = field;
    char *text = value->text;
    size_t n = strspn(text, "0123456789"), i = 0;
    while (q->units[i].factor && strcmp(q->units[i].name, text + n) != 0)
        i++;
    bool is_good = n && q->units[i].factor && strspn(text, "0") != n;
    char first = text[n];
    text[n] = '\0';
    bool fits =
        is_good && qp_config_number(text, number) && *number <= q->most / q->units[i].factor;
    text[n] = first;
    if (!fits)
        return qp_config_refuse(r, value->at, "%s=%.40s: %sexpected %s", value->key->name, text,
                                is_good ? "too large: " : "", q->expected);
    *number *= q->units[i].factor;
    return QP_TAKEN;
}

/* ---- lists --------------------------------------------------------------------------------- */

static const char element_prefixes[][9] = {"module:", "file:", "class:", "routine:"};

static qp_config_element element_of(const char *word, bool has_kinds)
{
    bool is_unchecked = *word == '!';
    qp_config_element e = {.kind = QP_ELEMENT_ROUTINE, .is_checked = !is_unchecked};
    e.name = word + is_unchecked;
    if (has_kinds)
        for (unsigned i = 0; i <= QP_ELEMENT_ROUTINE; i++)
            if (qp_match_take_prefix(&e.name, element_prefixes[i])) {
                e.kind = (qp_element_kind)i;
                break;
            }
    e.name = qp_match_text(e.name, &e.name_kind);
    return e;
}

bool qp_config_next(qp_config_list *list, qp_config_element *element)
{
    const char *begin, *why;
    if (qp_config_word(&list->at, list->end, list->word, QP_CONFIG_WORD_BYTES, &begin, &why) !=
        QP_TAKEN)
        return false;
    *element = element_of(list->word, list->has_kinds);
    return true;
}

static qp_taken check_name(qp_config_reader *r, const char *at, const char *name,
                           qp_name_kind kind)
{
    char why[120];
    if (!*name)
        return qp_config_refuse(r, at, "nothing: expected a name");
    if (kind == QP_NAME_REGEX && qp_match_mistake(name, why, sizeof why))
        return qp_config_refuse(r, at, "regex:%.40s: %s", name, why);
    return QP_TAKEN;
}

static qp_taken take_list(qp_config_reader *r, bool has_kinds, qp_config_list *list)
{
    *list = (qp_config_list){r->at, r->end, has_kinds, r->word};
    for (unsigned n = 0;; n++) {
        const char *begin, *why;
        qp_taken taken = qp_config_word(&r->at, r->end, r->word, sizeof r->word, &begin, &why);
        if (taken == QP_MISTAKE)
            return qp_config_refuse(r, begin, "%s", why);
        if (taken == QP_NO_MORE && n)
            return QP_TAKEN;
        if (taken == QP_NO_MORE)
            return qp_config_refuse(r, begin, "the line ends: expected names after the :");
        qp_config_element e = element_of(r->word, has_kinds);
        if (check_name(r, begin, e.name, e.name_kind) != QP_TAKEN)
            return QP_MISTAKE;
        bool has_prefix = e.name != r->word + !e.is_checked;
        if (has_kinds && !has_prefix && e.name[strlen(e.name) - 1] == ':')
            return qp_config_refuse(
                r, begin, "%.40s: expected module:X, file:X, class:X, routine:X", e.name);
    }
}

/* KEY=VALUE, then the ':' that must follow and the list after it. */
static qp_taken take_rest(qp_config_reader *r, const qp_config_key *keys, unsigned n_keys,
                          void *object, qp_config_list *list)
{
    qp_taken taken = qp_config_keys(r, keys, n_keys, take_value, true, object);
    if (taken == QP_NO_MORE)
        return qp_config_refuse(r, r->at, "the line ends: expected a : and names of routines");
    return taken == QP_TAKEN ? take_list(r, false, list) : taken;
}

/* ---- triggers, actions, areas -------------------------------------------------------------- */

static int trigger_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"pass", 0, COUNT, offsetof(qp_config_trigger, pass)},
        {"work", 0, COUNT, offsetof(qp_config_trigger, work)},
        {"cycling", NO_YES, FLAG, offsetof(qp_config_trigger, is_cycling)},
        {"all-threads", NO_YES, FLAG, offsetof(qp_config_trigger, is_for_all_threads)},
        {"checked", NO_YES, FLAG, offsetof(qp_config_trigger, is_checked)}};
    qp_config_trigger t = {.is_checked = true};
    unsigned which;
    if (qp_config_take_name(r, &t.name) != QP_TAKEN ||
        qp_config_take_one(r, "off|on", &which) != QP_TAKEN ||
        take_rest(r, keys, sizeof keys / sizeof *keys, &t, &t.routines) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    t.is_on = which == 1;
    return r->sink->on_trigger ? r->sink->on_trigger(r->sink->to, &t, r->error) : 0;
}

static int action_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"checked", NO_YES, FLAG, offsetof(qp_config_action, is_checked)}};
    qp_config_action a = {.is_checked = true};
    unsigned kind, when;
    if (qp_config_take_name(r, &a.name) != QP_TAKEN ||
        qp_config_take_one(r, "enable|disable|get-results|clear-results", &kind) != QP_TAKEN ||
        qp_config_take_one(r, "enter|exit", &when) != QP_TAKEN ||
        take_rest(r, keys, 1, &a, &a.routines) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    a.kind = (qp_action_kind)kind;
    a.is_at_exit = when == 1;
    return r->sink->on_action ? r->sink->on_action(r->sink->to, &a, r->error) : 0;
}

/* The next word, unless it is a key or the ':': then it is not taken. @return QP_NO_MORE then */
static qp_taken take_plain_word(qp_config_reader *r, const char *expected, qp_config_text *word)
{
    const char *before = r->at;
    qp_taken taken = qp_config_take(r, expected, word);
    if (taken != QP_TAKEN || !(strchr(word->text, '=') || strcmp(word->text, ":") == 0))
        return taken;
    r->at = before;
    return QP_NO_MORE;
}

/* "include", "exclude" and the level, if they are there: an area that exists needs none. */
static qp_taken take_mode(qp_config_reader *r, qp_config_area *a)
{
    unsigned which = 0;
    qp_config_text word;
    qp_taken taken =
        take_plain_word(r, "include, exclude, or checked= of an area that exists", &word);
    if (taken != QP_TAKEN)
        return taken;
    if (qp_config_choose(r, &word, "include|exclude", &which) != QP_TAKEN)
        return QP_MISTAKE;
    a->has_mode = true;
    a->is_excluding = which == 1;
    taken = take_plain_word(r, NULL, &word);
    if (taken == QP_TAKEN && a->is_excluding)
        return qp_config_refuse(r, word.at, "%.40s: an excluding area has no level", word.text);
    if (taken == QP_TAKEN) {
        taken = qp_config_choose(r, &word, "routines|lines", &which);
        a->lines = which == 1 ? QP_SETTING_YES : QP_SETTING_NO;
    }
    return taken;
}

static int area_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"parameters", 0, SETTING, offsetof(qp_config_area, parameters)},
        {"checked", 0, SETTING, offsetof(qp_config_area, checked)}};
    qp_config_area a = {
        .lines = QP_SETTING_NONE, .parameters = QP_SETTING_NONE, .checked = QP_SETTING_NONE};
    if (qp_config_take_name(r, &a.name) != QP_TAKEN || take_mode(r, &a) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    qp_taken taken =
        qp_config_keys(r, keys, sizeof keys / sizeof *keys, take_value, a.has_mode, &a);
    if (taken == QP_NO_MORE && a.has_mode)
        taken = qp_config_refuse(r, r->at,
                                 "the line ends: expected a : and names, as in class:Server");
    else if (taken == QP_TAKEN)
        taken = take_list(r, true, &a.elements);
    if (taken == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    return r->sink->on_area ? r->sink->on_area(r->sink->to, &a, r->error) : 0;
}

/* ---- event triggers ------------------------------------------------------------------------ */

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
    return check_name(r, value->at, t->object_name, t->object_name_kind);
}

static const char *after_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* "()" or "(object)" after the name: what it names. */
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
    const char *at = after_blanks(name_end);
    bool is_good = name_end > name && take_call(&at, &t->when_kind);
    at = after_blanks(at);
    is_good = is_good && take_operator(&at, &t->when_operator);
    if (!is_good || !qp_config_integer(after_blanks(at), &number) || number < INT_MIN ||
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

#define FIELD(field) offsetof(qp_config_event_trigger, field)

static const qp_config_key event_keys[] = {
    {"event", 0, EVENT, FIELD(event)},
    {"status", DISABLED_ENABLED, FLAG, FIELD(is_enabled)},
    {"context", 0, CONTEXT, 0},
    {"object", 0, OBJECT, 0},
    {"when", 0, WHEN, 0},
    {"disable", NO_YES, FLAG, FIELD(is_one_shot)},
    {"chain", 0, CHAIN, 0},
    {"action", 0, ACTION, 0},
    {"deferred", NO_YES, FLAG, FIELD(is_deferred)},
    {"longer", DURATION, QUANTITY, FIELD(longer_ns)},
    {"depth", FRAMES, QUANTITY, FIELD(depth)},
    {"used", PART, QUANTITY, FIELD(used)},
    {"rate", HITS, QUANTITY, FIELD(most_a_second)}};
#undef FIELD

static qp_taken take_value(qp_config_reader *r, const qp_config_text *value, void *field)
{
    switch (value->key->what) {
    case COUNT:
        return take_count(r, value, field);
    case FLAG:
        return take_flag(r, value, field);
    case SETTING:
        return take_setting(r, value, field);
    case QUANTITY:
        return take_quantity(r, value, field);
    case EVENT:
        return take_event(r, value, field);
    case CONTEXT:
        return take_context(r, value, field);
    case OBJECT:
        return take_object(r, value, field);
    case WHEN:
        return take_when(r, value, field);
    case CHAIN:
        return take_chain(r, value, field);
    default:
        return take_action(r, value, field);
    }
}

/* What is wrong with the keys together; NULL: nothing. */
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

static int event_line(qp_config_reader *r)
{
    qp_config_event_trigger t = {.is_enabled = true, .is_deferred = true};
    if (qp_config_take_name(r, &t.name) != QP_TAKEN ||
        qp_config_keys(r, event_keys, sizeof event_keys / sizeof *event_keys, take_value, false,
                       &t) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    const char *why = contradiction(&t);
    if (why) {
        qp_config_refuse(r, r->blame, "%.40s: %s", t.name, why);
        return QP_CONFIG_SYNTAX;
    }
    return r->sink->on_event_trigger ? r->sink->on_event_trigger(r->sink->to, &t, r->error) : 0;
}

/* ---- statements that are one text ----------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t bytes_of_comment(const char *at, const char *end)
{
    const char *line_end = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
    return (size_t)((line_end ? line_end : end) - at);
}

/* Copy the statement to the head unchanged, so that columns are the same; what does not belong to it,
 * a comment or the end of a continued line, becomes blanks. A PC command with WHEN continues to its
 * ';' and the end of that line. */
static qp_taken take_text(qp_config_reader *r, bool is_pc)
{
    char quote = '\0', before = ' ';
    bool continues = false;
    const char *begin = r->at;
    size_t n = 0, n_skipped;
    for (; begin + n < r->end && (begin[n] != '\n' || continues); n += n_skipped) {
        const char *c = begin + n;
        bool begins_word = !quote && is_blank(before);
        n_skipped = qp_config_continuation(c, r->end);
        if (!n_skipped && begins_word)
            n_skipped = bytes_of_comment(c, r->end);
        char kept = n_skipped ? ' ' : *c;
        n_skipped += !n_skipped;
        if (n + n_skipped >= sizeof r->head)
            return qp_config_refuse(r, begin, "this is longer than %d bytes",
                                    QP_CONFIG_HEAD_BYTES - 1);
        if (kept == '\0')
            return qp_config_refuse(r, c, "a byte 0: this is not a text");
        if (quote)
            quote = kept == quote ? '\0' : quote;
        else if (kept == '"' || (kept == '\'' && !is_pc))
            quote = kept;
        continues |= is_pc && begins_word && (kept | 0x20) == 'w';
        continues &= quote || kept != ';';
        memset(r->head + n, kept, n_skipped);
        before = kept;
    }
    r->head[n] = '\0';
    r->at = begin + n;
    return QP_TAKEN;
}

/* Refuse such a text, at the column that its parser has given. */
static int refuse_text(qp_config_reader *r, const char *begin, unsigned column,
                       const char *message)
{
    qp_config_refuse(r, begin + (column ? column - 1 : 0), "%s", message);
    return QP_CONFIG_SYNTAX;
}

static int option_line(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_error refused = {0};
    if (take_text(r, false) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    int code = r->sink->on_options ? r->sink->on_options(r->sink->to, r->head, &refused) : 0;
    if (code)
        refuse_text(r, begin, refused.column, refused.text);
    return code;
}

static int pc_line(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_pc_command unused;
    qp_error refused;
    if (take_text(r, true) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    if (qp_pc_parse(r->head, &unused, &refused) != QP_PARSE_OK)
        return refuse_text(r, begin, refused.column, refused.text);
    return r->sink->on_pc ? r->sink->on_pc(r->sink->to, r->head, r->error) : 0;
}

/* ---- statements of a few words -------------------------------------------------------------- */

static int switch_line(qp_config_reader *r)
{
    unsigned is_on;
    if (qp_config_take_one(r, "off|on", &is_on) != QP_TAKEN || qp_config_end(r) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    return r->sink->on_switch ? r->sink->on_switch(r->sink->to, r->which, is_on == 1, r->error)
                              : 0;
}

static int trace_line(qp_config_reader *r)
{
    qp_config_text word;
    qp_taken taken = qp_config_take(r, "KEY=VALUE", &word);
    for (; taken == QP_TAKEN; taken = qp_config_take(r, NULL, &word)) {
        char *value = strchr(word.text, '=');
        if (!value || value == word.text) {
            taken = qp_config_refuse(r, word.at, "%.40s: expected KEY=VALUE", word.text);
            break;
        }
        *value++ = '\0';
        r->blame = word.at;
        qp_error refused;
        if (!qp_pri_check(word.text, value, &refused)) {
            taken = qp_config_refuse(r, word.at, "%s", refused.text);
            break;
        }
        int code =
            r->sink->on_trace ? r->sink->on_trace(r->sink->to, word.text, value, r->error) : 0;
        if (code)
            return code;
    }
    return taken == QP_MISTAKE ? QP_CONFIG_SYNTAX : 0;
}

static int pri_line(qp_config_reader *r)
{
    qp_config_text word;
    if (qp_config_take(r, "a file", &word) != QP_TAKEN || qp_config_end(r) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    r->blame = word.at;
    return r->sink->on_pri ? r->sink->on_pri(r->sink->to, word.text, r->error) : 0;
}

/* ---- the text ------------------------------------------------------------------------------ */

static const struct {
    char word[16]; /* no pointer, which costs a relocation */
    int (*read)(qp_config_reader *r);
    qp_config_switch which;
} statements[] = {{"initial-status", switch_line, QP_SWITCH_INITIAL_STATUS},
                  {"profiling", switch_line, QP_SWITCH_PROFILING},
                  {"trigger", trigger_line, 0},
                  {"action", action_line, 0},
                  {"area", area_line, 0},
                  {"event-trigger", event_line, 0},
                  {"triggering", switch_line, QP_SWITCH_TRIGGERING},
                  {"pc", pc_line, 0},
                  {"trace", trace_line, 0},
                  {"pri", pri_line, 0}};

enum { N_STATEMENTS = sizeof statements / sizeof *statements };

/* An option, perhaps in quotes. */
static bool is_option(const char *at, const char *end)
{
    bool is_quoted = (*at == '"' || *at == '\'') && at + 1 < end;
    return at[is_quoted] == '-';
}

static int read_statement(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_config_text word;
    char all[160];
    size_t n = 0;
    r->blame = begin;
    r->n_head = 0;
    if (is_option(begin, r->end))
        return option_line(r);
    if (qp_config_take(r, "a statement", &word) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    for (unsigned i = 0; i < N_STATEMENTS; i++)
        if (qp_option_is(statements[i].word, word.text, strlen(word.text))) {
            r->at = statements[i].read == pc_line ? begin : r->at;
            r->which = statements[i].which;
            return statements[i].read(r);
        }
    for (unsigned i = 0; i < N_STATEMENTS; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, ", %s", statements[i].word);
    qp_config_refuse(r, word.at, "%.24s: expected -name=value%s", word.text, all);
    return QP_CONFIG_SYNTAX;
}

/* To the next statement: past blanks, line ends and comments. */
static const char *skip_to_statement(const char *at, const char *end)
{
    while (at < end) {
        size_t n = is_blank(*at) ? 1 : qp_config_continuation(at, end);
        n += n ? 0 : bytes_of_comment(at, end);
        if (!n)
            break;
        at += n;
    }
    return at;
}

size_t qp_config_mark(const char *text, size_t n_bytes)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = sizeof mark - 1;
    return n_bytes >= n && memcmp(text, mark, n) == 0 ? n : 0;
}

int qp_config_read(const char *text, size_t n_bytes, const qp_config_sink *sink,
                   qp_error *error)
{
    const char *begin = text + qp_config_mark(text, n_bytes);
    qp_config_reader r = {.text = begin, .at = begin, .end = text + n_bytes, .sink = sink};
    r.error = error;
    *error = (qp_error){0};
    while ((r.at = skip_to_statement(r.at, r.end)) < r.end) {
        int code = read_statement(&r);
        if (code && !error->line) { /* a sink's, which belongs to the statement's name */
            char message[sizeof error->text];
            qp_plain(error->text, sizeof error->text, message, sizeof message);
            qp_config_refuse(&r, r.blame, "%s", message);
        }
        if (code)
            return code;
    }
    return 0;
}
