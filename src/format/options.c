/* options.c: the option table, and the one parser of everything that looks like -name=value. */
#include "format/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"

/* Of each option its name, initial value and values. A table with pointers would cost a library four
 * times their size, one with texts of equal length twice. */
#define TEXTS(name, initial, values) name "\0" initial "\0" values
typedef struct {
#define QP_X(id, name, kind, initial, values, help)                                            \
    char of_##id[sizeof TEXTS(name, initial, values)];
    QP_OPTIONS(QP_X)
#undef QP_X
} option_texts;
static const option_texts texts = {
#define QP_X(id, name, kind, initial, values, help) TEXTS(name, initial, values),
    QP_OPTIONS(QP_X)
#undef QP_X
};

static const uint16_t places[QP_N_OPTIONS] = {
#define QP_X(id, name, kind, initial, values, help) offsetof(option_texts, of_##id),
    QP_OPTIONS(QP_X)
#undef QP_X
};

static const uint8_t kinds[QP_N_OPTIONS] = {
#define QP_X(id, name, kind, initial, values, help) QP_OPTION_##kind,
    QP_OPTIONS(QP_X)
#undef QP_X
};

static const char *after(const char *text)
{
    return text + strlen(text) + 1;
}

qp_option_kind qp_option_kind_of(qp_option which)
{
    return (qp_option_kind)kinds[which];
}

const char *qp_option_name(qp_option which)
{
    return (const char *)&texts + places[which];
}

const char *qp_option_initial(qp_option which)
{
    return after(qp_option_name(which));
}

const char *qp_option_values(qp_option which)
{
    if (which == QP_OPT_ignore_signals) /* one copy of the names in the library */
        which = QP_OPT_handle_signals;
    return after(qp_option_initial(which));
}

/* Options of the other library are known and ignored, because a host gives both the same words. */
static const uint8_t foreign[] = {
#if QP_PRODUCT_IS_COVERAGE
    QP_OPT_clock,
    QP_OPT_time_unit,
    QP_OPT_time_user_functions,
    QP_OPT_time_blocking_functions,
    QP_OPT_measure_timed_calls,
    QP_OPT_record_min_max,
    QP_OPT_trace,
    QP_OPT_pri,
    QP_OPT_trace_mode,
    QP_OPT_call_trace,
    QP_OPT_save_thread_data,
    QP_OPT_trace_output,
    QP_OPT_max_route_depth,
    QP_OPT_tail_calls,
    QP_OPT_trace_buffer,
    QP_OPT_trace_memory,
    QP_OPT_trace_limit,
    QP_OPT_trace_full,
    QP_OPT_slowest
#else
    QP_OPT_purecov_granularity, QP_OPT_bb_counts, QP_OPT_counts_file, QP_OPT_force_merge
#endif
};

/* libcprof's other words for two options: of the same values. */
static qp_option meaning_of(qp_option which)
{
    if (QP_PRODUCT_IS_COVERAGE && which == QP_OPT_purecov_granularity)
        return QP_OPT_collection_granularity;
    return QP_PRODUCT_IS_COVERAGE && which == QP_OPT_bb_counts ? QP_OPT_cover : which;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_filler(char c)
{
    return c == '-' || c == '_';
}

bool qp_option_is(const char *known, const char *name, size_t n_bytes)
{
    size_t i = 0;
    for (;; known++, i++) {
        while (is_filler(*known))
            known++;
        while (i < n_bytes && is_filler(name[i]))
            i++;
        if (!*known || i >= n_bytes)
            return !*known && i >= n_bytes;
        if (lower(*known) != lower(name[i]))
            return false;
    }
}

qp_option qp_option_find(const char *name, size_t n_bytes)
{
    for (unsigned i = 0; i < QP_N_OPTIONS; i++)
        if (qp_option_is(qp_option_name((qp_option)i), name, n_bytes))
            return meaning_of((qp_option)i);
    return QP_N_OPTIONS;
}

/* Names agree at their beginning and at their end: what lies between them is the difference. */
const char *qp_option_nearest(const char *name)
{
    const char *nearest = "";
    name += strspn(name, "-");
    size_t n = strlen(name), least = 3;
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        const char *known = qp_option_name((qp_option)i);
        size_t n_known = strlen(known), n_longer = n > n_known ? n : n_known;
        size_t begin = 0, end = 0;
        while (begin < n && name[begin] == known[begin])
            begin++;
        while (begin + end < n && begin + end < n_known &&
               name[n - 1 - end] == known[n_known - 1 - end])
            end++;
        size_t differs = begin == n ? 1 : n_longer - begin - end;
        if (differs < least && differs <= begin + end) {
            least = differs;
            nearest = known;
        }
    }
    return nearest;
}

const char *qp_option_text(const qp_options *o, qp_option which)
{
    return o->pool + o->text[which];
}

static qp_parse store_text(qp_options *o, qp_option which, const char *value, qp_error *e)
{
    size_t n = strlen(value) + 1;
    if (strcmp(qp_option_text(o, which), value) == 0)
        return QP_PARSE_OK;
    if (o->n_pool + n > sizeof o->pool)
        return qp_error_set(e, QP_PARSE_ROOM,
                            "option values are too long: %zu bytes at most in all",
                            sizeof o->pool);
    o->text[which] = o->n_pool;
    memcpy(o->pool + o->n_pool, value, n);
    o->n_pool = (uint16_t)(o->n_pool + n);
    return QP_PARSE_OK;
}

/* What a letter after a number multiplies it by; 0: unknown. */
static uint64_t unit_of(char letter, qp_option_kind kind)
{
    static const uint32_t units[] = {1 << 10, 1 << 20, 1 << 30, 1, 60, 3600, 86400};
    static const char letters[] = "kmgsmhd";
    unsigned from = kind == QP_OPTION_TIME ? 3 : 0;
    const char *at = kind == QP_OPTION_NUMBER ? NULL : strchr(letters + from, letter);
    return at && (from || at < letters + 3) ? units[at - letters] : 0;
}

static bool parse_number(const char *text, qp_option_kind kind, uint64_t *out)
{
    uint64_t value = 0;
    if (*text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    uint64_t unit = *text ? unit_of(lower(*text++), kind) : 1;
    if (*text || !unit || value > UINT64_MAX / unit)
        return false;
    *out = value * unit;
    return true;
}

/* SIZE or TIME out of its range is refused, NUMBER is moved into it. */
static qp_parse store_number(qp_options *o, qp_option which, const char *value,
                             const qp_option_events *events, qp_error *e)
{
    const char *choices = qp_option_values(which);
    const qp_option_kind kind = qp_option_kind_of(which);
    bool is_size = kind != QP_OPTION_NUMBER;
    char low_text[24];
    uint64_t number, low = 0, high = 0;
    const char *dots = strstr(choices, "..");
    snprintf(low_text, sizeof low_text, "%.*s", (int)(dots - choices), choices);
    parse_number(low_text, kind, &low);
    parse_number(dots + 2, kind, &high);
    if (!parse_number(value, kind, &number) || (is_size && (number < low || number > high)))
        return qp_error_set(e, QP_PARSE_VALUE, "-%s=%.40s: not a number in %s",
                            qp_option_name(which), value, choices);
    if (number < low || number > high) {
        number = number < low ? low : high;
        if (events->clamped)
            events->clamped(events->to, qp_option_name(which));
    }
    o->number[which] = number;
    return QP_PARSE_OK;
}

/* Which of "a|b|c" the value is; false: none. */
static bool find_word(const char *words, const char *value, uint64_t *which, char *spelled)
{
    for (*which = 0;; ++*which) {
        size_t n = strcspn(words, "|");
        memcpy(spelled, words, n);
        spelled[n] = '\0';
        if (qp_option_is(spelled, value, strlen(value)))
            return true;
        if (!words[n])
            return false;
        words += n + 1;
    }
}

bool qp_option_word(const char *words, const char *value, uint64_t *which)
{
    char spelled[32];
    return find_word(words, value, which, spelled);
}

void qp_option_nth(const char *words, uint64_t which, char *out, size_t n_bytes)
{
    for (; which; which--)
        words += strcspn(words, "|") + 1;
    snprintf(out, n_bytes, "%.*s", (int)strcspn(words, "|"), words);
}

/* Some of the words "a|b|c", separated by commas. */
static qp_parse store_set(qp_options *o, qp_option which, const char *value, qp_error *e)
{
    const char *choices = qp_option_values(which);
    char member[64], word[32];
    uint64_t index, mask = 0;
    for (const char *at = value;; at++) {
        size_t n = strcspn(at, ",");
        snprintf(member, sizeof member, "%.*s", (int)n, at);
        if (n >= sizeof member || !find_word(choices, member, &index, word))
            return qp_error_set(e, QP_PARSE_VALUE, "-%s=%.40s: \"%.40s\" is not one of %s",
                                qp_option_name(which), value, member, choices);
        mask |= 1ull << index;
        at += n;
        if (!*at)
            break;
    }
    o->number[which] = mask;
    return store_text(o, which, value, e);
}

static qp_parse store_value(qp_options *o, qp_option which, const char *value, bool has_value,
                            const qp_option_events *events, qp_error *e)
{
    const char *choices = qp_option_values(which);
    char word[32];
    uint64_t index;
    o->is_set[which] = true;
    switch (qp_option_kind_of(which)) {
    case QP_OPTION_TEXT:
        return store_text(o, which, value, e);
    case QP_OPTION_BOOL:
        if (has_value && !find_word("no|yes", value, &index, word))
            return qp_error_set(e, QP_PARSE_VALUE, "-%s=%.40s: neither yes nor no",
                                qp_option_name(which), value);
        o->number[which] = has_value ? index : 1;
        return QP_PARSE_OK;
    case QP_OPTION_NUMBER:
    case QP_OPTION_SIZE:
    case QP_OPTION_TIME:
        return store_number(o, which, value, events, e);
    case QP_OPTION_WORD:
        if (!has_value && !*qp_option_initial(which)) { /* -cover: the first of its words */
            snprintf(word, sizeof word, "%.*s", (int)strcspn(choices, "|"), choices);
            o->number[which] = 0;
            return store_text(o, which, word, e);
        }
        if (!find_word(choices, value, &index, word))
            return qp_error_set(e, QP_PARSE_VALUE, "-%s=%.40s: not one of %s",
                                qp_option_name(which), value, choices);
        o->number[which] = index;
        return store_text(o, which, word, e);
    case QP_OPTION_SET:
        return store_set(o, which, value, e);
    }
    return QP_PARSE_OK;
}

qp_parse qp_option_set(qp_options *o, qp_option which, const char *value, qp_error *error)
{
    static const qp_option_events silent;
    error->text[0] = '\0';
    return store_value(o, which, value, true, &silent, error);
}

void qp_options_init(qp_options *o)
{
    static const qp_option_events silent;
    qp_error unused;
    memset(o, 0, sizeof *o);
    o->n_pool = 1;
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        o->number[i] = UINT64_MAX;
        if (*qp_option_initial((qp_option)i))
            store_value(o, (qp_option)i, qp_option_initial((qp_option)i), true, &silent,
                        &unused);
        o->is_set[i] = false;
    }
}

/* Take the next word off *at: quotes removed, blanks inside them kept. */
static qp_parse next_word(const char **at, char *word, size_t n_max, qp_error *e)
{
    size_t n = 0;
    char quote = '\0';
    for (; **at && (quote || !strchr(" \t\r\n", **at)); ++*at) {
        char c = **at;
        if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            continue;
        }
        if (c == quote) {
            quote = '\0';
            continue;
        }
        if (quote == '"' && c == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\'))
            c = *++*at;
        if (n + 1 >= n_max)
            return qp_error_set(e, QP_PARSE_ROOM, "an option is longer than %zu bytes",
                                n_max - 1);
        word[n++] = c;
    }
    word[n] = '\0';
    return quote ? qp_error_set(e, QP_PARSE_SYNTAX, "a quote (%c) is not closed", quote)
                 : QP_PARSE_OK;
}

static qp_parse take_option(qp_options *o, char *word, const qp_option_events *events,
                            qp_error *e)
{
    if (word[0] != '-' || !word[1])
        return qp_error_set(e, QP_PARSE_SYNTAX, "%.40s: an option begins with '-'", word);
    size_t n_name = strcspn(word, "=");
    bool has_value = word[n_name] == '=';
    const char *value = word + n_name + has_value;
    qp_option which = qp_option_find(word, n_name);
    if (which == QP_N_OPTIONS) {
        word[n_name] = '\0';
        if (events->unknown)
            events->unknown(events->to, word);
        return QP_PARSE_OK;
    }
    if (memchr(foreign, (int)which, sizeof foreign))
        return QP_PARSE_OK;
    if (!has_value && qp_option_kind_of(which) == QP_OPTION_TEXT && !*qp_option_initial(which))
        return qp_error_set(e, QP_PARSE_VALUE, "%.40s: expected %.40s=%s", word, word,
                            qp_option_values(which));
    if (which != QP_OPT_config) {
        qp_parse code = store_value(o, which, value, has_value, events, e);
        bool is_file = code == QP_PARSE_OK && which == QP_OPT_pri && events->pri;
        return is_file && events->pri(events->to, value, e) ? QP_PARSE_VALUE : code;
    }
    if (!events->config)
        return qp_error_set(e, QP_PARSE_SYNTAX, "-config: not inside a configuration file");
    return events->config(events->to, o, value, e);
}

qp_parse qp_options_parse(qp_options *o, const char *words, const qp_option_events *events,
                          qp_error *error)
{
    const char *at = words;
    char word[4096];
    error->text[0] = '\0';
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (!*at)
            return QP_PARSE_OK;
        error->column = (unsigned)(at - words) + 1;
        qp_parse code = next_word(&at, word, sizeof word, error);
        if (code == QP_PARSE_OK)
            code = take_option(o, word, events, error);
        if (code != QP_PARSE_OK)
            return code;
    }
}

static void print_value(const qp_options *o, qp_option which, char *out, size_t n_bytes)
{
    switch (qp_option_kind_of(which)) {
    case QP_OPTION_BOOL:
        snprintf(out, n_bytes, "%s", o->number[which] ? "yes" : "no");
        break;
    case QP_OPTION_NUMBER:
    case QP_OPTION_SIZE:
    case QP_OPTION_TIME:
        snprintf(out, n_bytes, "%llu", (unsigned long long)o->number[which]);
        break;
    case QP_OPTION_TEXT:
    case QP_OPTION_WORD:
    case QP_OPTION_SET: {
        const char *text = qp_option_text(o, which);
        bool needs_quotes = text[strcspn(text, " \t\r\n\"'")] != '\0';
        size_t n = 0;
        if (needs_quotes && n + 1 < n_bytes)
            out[n++] = '"';
        for (; *text && n + 3 < n_bytes; text++) {
            if (needs_quotes && (*text == '"' || *text == '\\'))
                out[n++] = '\\';
            out[n++] = *text;
        }
        if (needs_quotes)
            out[n++] = '"';
        out[n] = '\0';
        break;
    }
    }
}

size_t qp_options_print(const qp_options *o, char *out, size_t n_bytes)
{
    size_t n = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        char value[1024];
        if (!o->is_set[i])
            continue;
        print_value(o, (qp_option)i, value, sizeof value);
        int wrote = snprintf(out + n, n_bytes - n, "%s-%s=%s", n ? " " : "",
                             qp_option_name((qp_option)i), value);
        if (wrote < 0 || n + (size_t)wrote >= n_bytes) {
            out[n] = '\0';
            return n;
        }
        n += (size_t)wrote;
    }
    return n;
}

/* ---- names of files ------------------------------------------------------------------------- */

static char safe(char c)
{
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_plain || c == '.' || c == '-' ? c : '_';
}

const char *qp_name_label(const char *labels, const char *name, size_t n)
{
    while (labels && *labels && !(strncmp(labels, name, n) == 0 && labels[n] == '=')) {
        labels = strchr(labels, ',');
        labels += labels != NULL;
    }
    return labels && *labels ? labels : NULL;
}

/* The last part of a path. @param has_suffix  with what follows its last dot */
static void put_base(char *out, size_t n_bytes, const char *path, bool has_suffix)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(out, n_bytes, "%s", slash ? slash + 1 : path ? path : "");
    char *dot = strrchr(out, '.');
    if (dot && dot > out && !has_suffix)
        *dot = '\0';
}

/* @param at  after "{" */
static const char *put_label(const char *labels, const char *at, char *out, size_t n_bytes)
{
    size_t n = strcspn(at, "}");
    const char *value = n ? qp_name_label(labels, at, n) : NULL;
    if (!n || at[n] != '}')
        return NULL;
    if (value)
        snprintf(out, n_bytes, "%.*s", (int)strcspn(value + n + 1, ","), value + n + 1);
    return at + n + 1;
}

/* @return false: no such conversion */
static bool put_fact(const qp_name_facts *facts, char letter, char *out, size_t n_bytes)
{
    switch (letter) {
    case 'v':
        snprintf(out, n_bytes, "%s", facts->program ? facts->program : "");
        return true;
    case 'V':
        snprintf(out, n_bytes, "%s", facts->program_path ? facts->program_path : "");
        return true;
    case 'i':
        snprintf(out, n_bytes, "%s", facts->host ? facts->host : "");
        return true;
    case 'p':
        snprintf(out, n_bytes, "%ld", facts->pid);
        return true;
    case 'T':
        snprintf(out, n_bytes, "%ld", facts->thread);
        return true;
    case 'n':
        snprintf(out, n_bytes, "%u", facts->dataset);
        return true;
    case 'h':
        gethostname(out, n_bytes);
        return true;
    case 's':
        put_base(out, n_bytes, facts->script, false);
        return true;
    case 'w':
        put_base(out, n_bytes, facts->folder, true);
        return true;
    default:
        return false;
    }
}

const char *qp_name_convert(const qp_name_facts *facts, const char *at, char *out,
                            size_t n_bytes)
{
    time_t now = (time_t)(qp_clock_wall() / 1000000000u);
    struct tm t;
    const char letter = *at, *end = letter ? at + 1 : NULL;
    out[0] = '\0';
    if (letter == 't' || letter == 'd') {
        if (localtime_r(&now, &t))
            strftime(out, n_bytes, letter == 't' ? "%H:%M" : "%y%m%d", &t);
        return end;
    }
    if (letter == '{')
        end = put_label(facts->labels, at + 1, out, n_bytes);
    else if (!put_fact(facts, letter, out, n_bytes))
        return NULL;
    if (!out[0])
        snprintf(out, n_bytes, "unknown");
    out[n_bytes - 1] = '\0';
    for (char *c = out; *c; c++)
        *c = safe(*c);
    return end;
}
