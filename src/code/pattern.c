/* pattern.c: the parsers of call patterns and of the PC command. Matching: pattern_match.c. */
#include "code/pattern.h"

#include <stdarg.h>
#include <string.h>

typedef struct {
    qp_pattern *p;
    const char *text, *at;
    qp_error *error;
    qp_parse code;
    unsigned depth;
} parser;

static uint16_t refuse(parser *x, qp_parse code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first mistake counts. @return 0 */
static uint16_t refuse(parser *x, qp_parse code, const char *format, ...)
{
    va_list args;
    if (x->code != QP_PARSE_OK)
        return 0;
    x->code = code;
    x->error->column = (unsigned)(x->at - x->text) + 1;
    va_start(args, format);
    qp_error_set_list(x->error, code, format, args);
    va_end(args);
    return 0;
}

static void skip_blanks(parser *x)
{
    x->at += strspn(x->at, " \t\r\n\f\v");
}

/* Take a symbol if it is next. */
static bool take(parser *x, const char *symbol)
{
    size_t n = strlen(symbol);
    skip_blanks(x);
    if (strncmp(x->at, symbol, n) != 0)
        return false;
    x->at += n;
    return true;
}

static uint16_t new_item(parser *x, qp_item_kind kind)
{
    if (x->p->n_items == QP_PATTERN_ITEMS)
        return refuse(x, QP_PARSE_ROOM, "more than %d names and groups", QP_PATTERN_ITEMS - 1);
    x->p->items[x->p->n_items] = (qp_item){.kind = (uint16_t)kind};
    return x->p->n_items++;
}

/* ---- names --------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '$' || c == '_' || (unsigned char)c >= 0x80;
}

/* Take a name, quoted or plain, into the names. @return where; UINT32_MAX: none is here */
static uint32_t take_name(parser *x)
{
    qp_pattern *p = x->p;
    uint32_t start = p->n_names;
    skip_blanks(x);
    const char *from = x->at;
    bool is_quoted = *from == '"';
    from += is_quoted;
    size_t n = 0;
    while (is_quoted ? from[n] && from[n] != '"' : is_name_byte(from[n]))
        n++;
    if (is_quoted && !from[n]) {
        refuse(x, QP_PARSE_SYNTAX, "the quote is not closed");
        return UINT32_MAX;
    }
    if (!n && !is_quoted) /* "" is the module of what has neither class nor file */
        return UINT32_MAX;
    memcpy(p->names + start, from, n); /* no longer than the text, with its NUL */
    p->names[start + n] = '\0';
    p->n_names += (uint32_t)n + 1;
    x->at = from + n + is_quoted;
    return start;
}

static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_same_name(const char *a, const char *b)
{
    while (*a && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

bool qp_pattern_name_fits(const qp_pattern *p, const qp_item *item, const char *module,
                          const char *procedure)
{
    return is_same_name(p->names + item->module, module) &&
           (item->kind == QP_ITEM_MODULE ||
            is_same_name(p->names + item->procedure, procedure));
}

/* ---- grammar ------------------------------------------------------------------------------- */

static uint16_t parse_any(parser *x);

static uint16_t parse_named(parser *x, bool has_colon)
{
    uint32_t module = take_name(x), procedure = UINT32_MAX;
    if (module == UINT32_MAX) {
        if (has_colon && (*x->at == '*' || *x->at == '('))
            return refuse(x, QP_PARSE_SYNTAX, "a colon belongs to a name, not to * or a group");
        return refuse(x, QP_PARSE_SYNTAX,
                      *x->at ? "expected a name, * or (, found '%.1s'"
                             : "expected a name, * or ( at the end",
                      x->at);
    }
    if (take(x, ".") && (procedure = take_name(x)) == UINT32_MAX)
        return refuse(x, QP_PARSE_SYNTAX, "expected the name of a procedure after the dot");
    uint16_t item = new_item(x, procedure == UINT32_MAX ? QP_ITEM_MODULE : QP_ITEM_PROCEDURE);
    if (!item)
        return 0;
    qp_item *it = &x->p->items[item];
    it->module = module;
    it->procedure = procedure == UINT32_MAX ? 0 : procedure;
    it->is_caller_charged = has_colon;
    it->is_charged = take(x, ":");
    return item;
}

static uint16_t parse_primary(parser *x)
{
    if (take(x, ":"))
        return parse_named(x, true);
    if (take(x, "*")) {
        uint16_t star = new_item(x, QP_ITEM_STAR);
        if (star && take(x, ":")) {
            x->at--;
            return refuse(x, QP_PARSE_SYNTAX, "a colon belongs to a name, not to * or a group");
        }
        return star;
    }
    if (!take(x, "("))
        return parse_named(x, false);
    if (x->depth == QP_PATTERN_NESTING)
        return refuse(x, QP_PARSE_ROOM, "more than %d groups in each other",
                      QP_PATTERN_NESTING);
    x->depth++;
    if (take(x, ")")) {
        x->at--;
        return refuse(x, QP_PARSE_SYNTAX, "the group is empty");
    }
    uint16_t group = parse_any(x);
    x->depth--;
    if (group && !take(x, ")"))
        return refuse(x, QP_PARSE_SYNTAX, "expected ) or | or ->");
    if (group && take(x, ":")) {
        x->at--;
        return refuse(x, QP_PARSE_SYNTAX, "a colon belongs to a name, not to * or a group");
    }
    return group;
}

/* Items between separators, as children of one item; a single one is not wrapped. */
static uint16_t parse_list(parser *x, const char *separator, qp_item_kind kind,
                           uint16_t (*parse_item)(parser *))
{
    uint16_t first = parse_item(x), last = first, list = 0;
    while (first && x->code == QP_PARSE_OK && take(x, separator)) {
        if (!list) {
            list = new_item(x, kind);
            x->p->items[list].first = first;
        }
        uint16_t item = parse_item(x);
        x->p->items[last].next = item;
        last = item;
    }
    return x->code == QP_PARSE_OK ? (list ? list : first) : 0;
}

static uint16_t parse_thread(parser *x)
{
    return parse_list(x, "->", QP_ITEM_THREAD, parse_primary);
}

static uint16_t parse_any(parser *x)
{
    return parse_list(x, "|", QP_ITEM_ANY, parse_thread);
}

qp_parse qp_pattern_parse(qp_pattern *p, const char *text, qp_error *error)
{
    parser x = {.p = p, .text = text, .at = text, .error = error, .code = QP_PARSE_OK};
    p->n_items = 1;
    p->n_names = 0;
    error->text[0] = '\0';
    error->column = 1;
    if (strnlen(text, QP_PATTERN_BYTES / 2) == QP_PATTERN_BYTES / 2)
        return refuse(&x, QP_PARSE_ROOM, "the pattern is longer than %d bytes",
                      QP_PATTERN_BYTES / 2 - 1),
               x.code;
    p->root = parse_any(&x);
    skip_blanks(&x);
    if (x.code == QP_PARSE_OK && *x.at)
        refuse(&x, QP_PARSE_SYNTAX,
               *x.at == ')' ? "no group is open here"
                            : "expected -> or | or the end, found '%.1s'",
               x.at);
    return x.code;
}

/* ---- the PC command -------------------------------------------------------------------------- */

enum { PERIOD_MIN_US = 50 };
#define PERIOD_MAX_US 3600000000ull

/* Take the next word if it is a prefix of `keyword`, in any case. */
static bool take_keyword(parser *x, const char *keyword)
{
    skip_blanks(x);
    size_t n = strcspn(x->at, " \t\r\n;"), i = 0;
    while (i < n && keyword[i] && fold(x->at[i]) == fold(keyword[i]))
        i++;
    if (!n || i < n)
        return false;
    x->at += n;
    return true;
}

static void take_period(parser *x, qp_pc_command *command)
{
    skip_blanks(x);
    size_t n = strspn(x->at, "0123456789"), n_word = strcspn(x->at, " \t\r\n;");
    uint64_t value = 0;
    if (!n && x->at[0] != '-' && x->at[0] != '+')
        return; /* none is given */
    for (size_t i = 0; i < n && value <= PERIOD_MAX_US; i++)
        value = value * 10 + (uint64_t)(x->at[i] - '0');
    if (n != n_word || !value) {
        refuse(x, QP_PARSE_SYNTAX, "%.40s: expected microseconds, a whole number above 0",
               x->at);
        return;
    }
    if (value > PERIOD_MAX_US) {
        refuse(x, QP_PARSE_SYNTAX, "%.40s: an hour at most, in microseconds", x->at);
        return;
    }
    command->is_raised = value < PERIOD_MIN_US;
    command->period_us = command->is_raised ? PERIOD_MIN_US : value;
    x->at += n;
}

static void take_pattern(parser *x, qp_pc_command *command)
{
    static qp_pattern parsed; /* under the control lock: only to find mistakes */
    static char copy[QP_PATTERN_BYTES];
    bool is_quoted = false;
    size_t n = 0;
    skip_blanks(x);
    for (; x->at[n] && (is_quoted || x->at[n] != ';'); n++)
        is_quoted ^= x->at[n] == '"';
    size_t n_copied = n < sizeof copy ? n : sizeof copy - 1; /* too long for any pattern */
    memcpy(copy, x->at, n_copied);
    copy[n_copied] = '\0';
    x->code = qp_pattern_parse(&parsed, copy, x->error);
    x->error->column += (unsigned)(x->at - x->text);
    command->pattern = x->at;
    command->n_pattern = n;
    while (command->n_pattern && strchr(" \t\r\n", x->at[command->n_pattern - 1]))
        command->n_pattern--;
    x->at += n;
    if (*x->at != ';')
        refuse(x, QP_PARSE_SYNTAX, "expected ; after the pattern");
}

qp_parse qp_pc_parse(const char *text, qp_pc_command *command, qp_error *error)
{
    parser x = {.text = text, .at = text, .error = error, .code = QP_PARSE_OK};
    *command = (qp_pc_command){.kind = QP_PC_VIRTUAL, .period_us = QP_PC_DEFAULT_US};
    error->text[0] = '\0';
    error->column = 1;
    take_keyword(&x, "PC");
    if (take_keyword(&x, "REAL"))
        command->kind = QP_PC_REAL;
    else
        take_keyword(&x, "VIRTUAL");
    take_period(&x, command);
    if (x.code == QP_PARSE_OK && take_keyword(&x, "WHEN"))
        take_pattern(&x, command);
    take(&x, ";");
    skip_blanks(&x);
    if (*x.at)
        refuse(&x, QP_PARSE_SYNTAX,
               "%.40s: expected VIRTUAL, REAL, microseconds or WHEN, in this order", x.at);
    return x.code;
}
