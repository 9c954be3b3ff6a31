/* match.h: names that a configuration means: one name, a glob, or a regular expression. */
#ifndef QP_CONFIG_MATCH_H
#define QP_CONFIG_MATCH_H

#include <regex.h>

#include "config/config.h"

/* The name behind "glob:" or "regex:". "glob::f" is one of C++, without a prefix. */
const char *qp_match_text(const char *name, qp_name_kind *kind);

/* What is wrong with a POSIX extended regular expression? What could take too much memory or time
 * is wrong, too: many repetitions, references back, deep nesting, length.
 * @param why [n_bytes] receives it. @return false: nothing */
bool qp_match_mistake(const char *expression, char *why, size_t n_bytes);

typedef struct {
    qp_name_kind kind;
    const char *text; /* of a LITERAL or GLOB; borrowed */
    regex_t regex;    /* of a REGEX */
} qp_match;

/* @param text  stays where it is while the match is used. @return false: no memory, or a mistake */
bool qp_match_begin(qp_match *m, qp_name_kind kind, const char *text);
/* A regular expression fits anywhere in the first 500 bytes of the name, a glob fits all of it. */
bool qp_match_fits(const qp_match *m, const char *name);
void qp_match_end(qp_match *m);

/* What elements of areas are compared with. "" where there is none. */
typedef struct {
    const char *module, *file, *class_name, *name;
    const char *display; /* class.name */
} qp_match_method;

/* A file fits by its path or its last part, a routine by its name or class.name. */
bool qp_match_fits_method(const qp_match *m, qp_element_kind kind,
                          const qp_match_method *method);

#endif
