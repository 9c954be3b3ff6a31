/* objects.c: lines of triggers, actions and areas, and the lists of names behind their ':'. */
#include <stddef.h>
#include <string.h>

#include "config/match.h"
#include "config/parts.h"

/* ---- lists --------------------------------------------------------------------------------- */

static const char *const element_prefixes[] = {"module:", "file:", "class:", "routine:"};

/* Is the prefix there? "class::name" begins with a class of C++, not with a prefix. */
static bool take_prefix(const char **name, const char *prefix)
{
    size_t n = strlen(prefix);
    if (strncmp(*name, prefix, n) != 0 || (*name)[n] == ':')
        return false;
    *name += n;
    return true;
}

static qp_config_element element_of(const char *word, bool has_kinds)
{
    bool is_unchecked = *word == '!';
    qp_config_element e = {.kind = QP_ELEMENT_ROUTINE, .is_checked = !is_unchecked};
    e.name = word + is_unchecked;
    if (has_kinds)
        for (unsigned i = 0; i <= QP_ELEMENT_ROUTINE; i++)
            if (take_prefix(&e.name, element_prefixes[i])) {
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

qp_taken qp_config_check_name(qp_config_reader *r, const char *at, const char *name,
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
            return qp_config_refuse(r, begin, "the line ends: expected names behind the :");
        qp_config_element e = element_of(r->word, has_kinds);
        if (qp_config_check_name(r, begin, e.name, e.name_kind) != QP_TAKEN)
            return QP_MISTAKE;
    }
}

/* KEY=VALUE, then the ':' that must follow and the list behind it. */
static qp_taken take_rest(qp_config_reader *r, const qp_config_key *keys, unsigned n_keys,
                          void *object, qp_config_list *list)
{
    qp_taken taken = qp_config_keys(r, keys, n_keys, true, object);
    if (taken == QP_NO_MORE)
        return qp_config_refuse(r, r->at, "the line ends: expected a : and names of routines");
    return taken == QP_TAKEN ? take_list(r, false, list) : taken;
}

/* ---- lines --------------------------------------------------------------------------------- */

int qp_config_trigger_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"pass", qp_config_count, offsetof(qp_config_trigger, pass)},
        {"work", qp_config_count, offsetof(qp_config_trigger, work)},
        {"cycling", qp_config_yes_no, offsetof(qp_config_trigger, is_cycling)},
        {"all-threads", qp_config_yes_no, offsetof(qp_config_trigger, is_for_all_threads)},
        {"checked", qp_config_yes_no, offsetof(qp_config_trigger, is_checked)}};
    qp_config_trigger t = {.is_checked = true};
    unsigned which;
    if (qp_config_take_name(r, &t.name) != QP_TAKEN ||
        qp_config_take_one(r, "off|on", &which) != QP_TAKEN ||
        take_rest(r, keys, sizeof keys / sizeof *keys, &t, &t.routines) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    t.is_on = which == 1;
    return r->sink->on_trigger ? r->sink->on_trigger(r->sink->to, &t, r->error) : 0;
}

int qp_config_action_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"checked", qp_config_yes_no, offsetof(qp_config_action, is_checked)}};
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

/* The next word, unless it is a key or the ':': then it stays where it is, and this is QP_NO_MORE. */
static qp_taken take_plain_word(qp_config_reader *r, const char *expected, qp_config_text *word)
{
    const char *before = r->at;
    qp_taken taken = qp_config_take(r, expected, word);
    if (taken != QP_TAKEN || !(strchr(word->text, '=') || strcmp(word->text, ":") == 0))
        return taken;
    r->at = before;
    return QP_NO_MORE;
}

/* "include", "exclude" and the level, where they stand: an area that exists needs none. */
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

int qp_config_area_line(qp_config_reader *r)
{
    static const qp_config_key keys[] = {
        {"parameters", qp_config_setting_of, offsetof(qp_config_area, parameters)},
        {"checked", qp_config_setting_of, offsetof(qp_config_area, checked)}};
    qp_config_area a = {
        .lines = QP_SETTING_NONE, .parameters = QP_SETTING_NONE, .checked = QP_SETTING_NONE};
    if (qp_config_take_name(r, &a.name) != QP_TAKEN || take_mode(r, &a) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    qp_taken taken = qp_config_keys(r, keys, sizeof keys / sizeof *keys, a.has_mode, &a);
    if (taken == QP_NO_MORE && a.has_mode)
        taken = qp_config_refuse(r, r->at,
                                 "the line ends: expected a : and names, as in class:Server");
    else if (taken == QP_TAKEN)
        taken = take_list(r, true, &a.elements);
    if (taken == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    return r->sink->on_area ? r->sink->on_area(r->sink->to, &a, r->error) : 0;
}
