/* pc_command.c: the grammar of the PC command. */
#include "code/pc_command.h"

#include <stdio.h>
#include <string.h>

enum { PERIOD_MIN_US = 50 };
#define PERIOD_MAX_US 3600000000ull

typedef struct {
    const char *text, *at;
    qp_error *error;
} reader;

static qp_parse refuse(reader *r, const char *at, const char *format, const char *what)
{
    r->error->column = (unsigned)(at - r->text) + 1;
    return qp_error_set(r->error, QP_PARSE_SYNTAX, format, what);
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Take the next word if it is a prefix of `keyword`, in any case. */
static bool take_keyword(reader *r, const char *keyword)
{
    skip_blanks(r);
    size_t n = strcspn(r->at, " \t\r\n;"), i = 0;
    while (i < n && keyword[i] && upper(r->at[i]) == keyword[i])
        i++;
    if (!n || i < n)
        return false;
    r->at += n;
    return true;
}

static qp_parse take_period(reader *r, qp_pc_command *command)
{
    skip_blanks(r);
    size_t n = strspn(r->at, "0123456789"), n_word = strcspn(r->at, " \t\r\n;");
    uint64_t value = 0;
    bool is_number = n && n == n_word;
    if (!n && r->at[0] != '-' && r->at[0] != '+')
        return QP_PARSE_OK; /* none is given */
    for (size_t i = 0; i < n && value <= PERIOD_MAX_US; i++)
        value = value * 10 + (uint64_t)(r->at[i] - '0');
    if (!is_number || !value)
        return refuse(r, r->at, "%.40s: expected microseconds, a whole number above 0", r->at);
    if (value > PERIOD_MAX_US)
        return refuse(r, r->at, "%.40s: an hour at most, in microseconds", r->at);
    command->is_raised = value < PERIOD_MIN_US;
    command->period_us = command->is_raised ? PERIOD_MIN_US : value;
    r->at += n;
    return QP_PARSE_OK;
}

static size_t pattern_bytes(const char *text)
{
    bool is_quoted = false;
    size_t n = 0;
    for (; text[n] && (is_quoted || text[n] != ';'); n++)
        is_quoted ^= text[n] == '"';
    return n;
}

static qp_parse take_pattern(reader *r, qp_pc_command *command)
{
    static qp_pattern parsed; /* under the control lock: only to find mistakes */
    static char copy[QP_PATTERN_BYTES];
    skip_blanks(r);
    size_t n = pattern_bytes(r->at);
    size_t n_copied =
        n < sizeof copy ? n : sizeof copy - 1; /* too long for a pattern in any case */
    memcpy(copy, r->at, n_copied);
    copy[n_copied] = '\0';
    qp_parse code = qp_pattern_parse(&parsed, copy, r->error);
    r->error->column += (unsigned)(r->at - r->text);
    if (code == QP_PARSE_OK && r->at[n] != ';')
        return refuse(r, r->at + n, "%s", "expected ; behind the pattern");
    command->pattern = r->at;
    command->n_pattern = n;
    while (command->n_pattern && strchr(" \t\r\n", r->at[command->n_pattern - 1]))
        command->n_pattern--;
    r->at += n;
    return code;
}

qp_parse qp_pc_parse(const char *text, qp_pc_command *command, qp_error *error)
{
    reader r = {text, text, error};
    *command = (qp_pc_command){.kind = QP_PC_VIRTUAL, .period_us = QP_PC_DEFAULT_US};
    error->text[0] = '\0';
    error->column = 1;
    skip_blanks(&r);
    if (take_keyword(&r, "PC"))
        skip_blanks(&r);
    if (take_keyword(&r, "REAL"))
        command->kind = QP_PC_REAL;
    else
        take_keyword(&r, "VIRTUAL");
    qp_parse code = take_period(&r, command);
    if (code == QP_PARSE_OK && take_keyword(&r, "WHEN"))
        code = take_pattern(&r, command);
    if (code != QP_PARSE_OK)
        return code;
    skip_blanks(&r);
    r.at += *r.at == ';';
    skip_blanks(&r);
    return *r.at ? refuse(&r, r.at,
                          "%.40s: expected VIRTUAL, REAL, microseconds or WHEN, in "
                          "this order",
                          r.at)
                 : QP_PARSE_OK;
}
