/* pattern.c: the parser of call patterns, and their names. Matching: pattern_match.c. */
#include "code/pattern.h"

#include <stdarg.h>
#include <stdio.h>
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
            return refuse(x, QP_PARSE_SYNTAX, "a colon stands at a name, not at * or a group");
        return refuse(x, QP_PARSE_SYNTAX,
                      *x->at ? "expected a name, * or (, found '%.1s'"
                             : "expected a name, * or ( at the end",
                      x->at);
    }
    if (take(x, ".") && (procedure = take_name(x)) == UINT32_MAX)
        return refuse(x, QP_PARSE_SYNTAX, "expected the name of a procedure behind the dot");
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
            return refuse(x, QP_PARSE_SYNTAX, "a colon stands at a name, not at * or a group");
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
        return refuse(x, QP_PARSE_SYNTAX, "a colon stands at a name, not at * or a group");
    }
    return group;
}

/* Items between separators, as children of one item; a single one stands for itself. */
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
