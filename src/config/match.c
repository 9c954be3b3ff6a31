/* match.c: names against literals, globs and regular expressions.
 *
 * libc compiles the expressions and takes the memory for it; that is done when a configuration is
 * read and names are matched when methods are registered, never in an event. */
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#include "base/text/glob.h"

/* Only the first NAME_SEEN bytes of a name are searched: libc's search is quadratic in them, and worse
 * for some expressions. */
enum { GROUPS_MAX = 32, COPIES_MAX = 100000, EXPRESSION_BYTES = 4000, NAME_SEEN = 500 };

bool qp_match_take_prefix(const char **name, const char *prefix)
{
    size_t n = strlen(prefix);
    bool has_it = strncmp(*name, prefix, n) == 0 && (*name)[n] != ':';
    *name += has_it ? n : 0;
    return has_it;
}

const char *qp_match_text(const char *name, qp_name_kind *kind)
{
    *kind = qp_match_take_prefix(&name, "glob:")    ? QP_NAME_GLOB
            : qp_match_take_prefix(&name, "regex:") ? QP_NAME_REGEX
                                                    : QP_NAME_LITERAL;
    return name;
}

/* An upper bound of the copies that libc makes of an expression: two of "a" for "a+", nine for "a{9}",
 * as if all repetitions were nested. */
static uint64_t bytes_written_out(const char *expression)
{
    uint64_t n = strlen(expression), bound = 0;
    for (const char *c = expression; *c && n <= COPIES_MAX; c++) {
        bool is_digit = *c >= '0' && *c <= '9';
        bound = !is_digit ? 0 : bound > COPIES_MAX ? bound : bound * 10 + (uint64_t)(*c - '0');
        if (*c == '+')
            n *= 2;
        if (is_digit && (c[1] == '}' || c[1] == ','))
            n *= bound > 1 ? bound : 1;
    }
    return n;
}

bool qp_match_mistake(const char *expression, char *why, size_t n_bytes)
{
    unsigned n_groups = 0;
    const char *wrong = NULL;
    regex_t regex;
    for (const char *c = expression; *c; c++) {
        n_groups += *c == '(';
        if (*c == '\\' && c[1] >= '1' && c[1] <= '9')
            wrong = "references back (\\1) are not possible";
        c += *c == '\\' && c[1];
    }
    if (strlen(expression) > EXPRESSION_BYTES)
        wrong = "longer than 4000 bytes";
    if (n_groups > GROUPS_MAX)
        wrong = "more than 32 groups";
    if (bytes_written_out(expression) > COPIES_MAX)
        wrong = "too many repetitions (+, {}) for its length";
    if (wrong) {
        snprintf(why, n_bytes, "%s", wrong);
        return true;
    }
    int code = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
    if (code)
        regerror(code, &regex, why, n_bytes);
    else
        regfree(&regex);
    return code != 0;
}

bool qp_match_begin(qp_match *m, qp_name_kind kind, const char *text)
{
    m->kind = kind;
    m->text = text;
    return kind != QP_NAME_REGEX || regcomp(&m->regex, text, REG_EXTENDED | REG_NOSUB) == 0;
}

static bool is_found_in(const regex_t *regex, const char *name)
{
    char seen[NAME_SEEN + 1];
    size_t n_bytes = strnlen(name, NAME_SEEN);
    memcpy(seen, name, n_bytes);
    seen[n_bytes] = '\0';
    return regexec(regex, seen, 0, NULL, 0) == 0;
}

bool qp_match_fits(const qp_match *m, const char *name)
{
    switch (m->kind) {
    case QP_NAME_LITERAL:
        return strcmp(m->text, name) == 0;
    case QP_NAME_GLOB:
        return qp_glob_fits_name(m->text, name);
    case QP_NAME_REGEX:
        return is_found_in(&m->regex, name);
    }
    return false;
}

bool qp_match_fits_method(const qp_match *m, qp_element_kind kind,
                          const qp_match_method *method)
{
    const char *slash = strrchr(method->file, '/');
    switch (kind) {
    case QP_ELEMENT_MODULE:
        return qp_match_fits(m, method->module);
    case QP_ELEMENT_FILE:
        return qp_match_fits(m, method->file) || (slash && qp_match_fits(m, slash + 1));
    case QP_ELEMENT_CLASS:
        return method->class_name[0] && qp_match_fits(m, method->class_name);
    case QP_ELEMENT_ROUTINE:
        return qp_match_fits(m, method->display) || qp_match_fits(m, method->name);
    }
    return false;
}

void qp_match_end(qp_match *m)
{
    if (m->kind == QP_NAME_REGEX)
        regfree(&m->regex);
}
