/* pm_read.h: lines of commands, from a terminal, a pipe or a file. */
#ifndef QP_CLI_PM_READ_H
#define QP_CLI_PM_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { QP_PM_LINE_BYTES = 1 << 16 };

typedef struct {
    int fd; /* borrowed */
    char bytes[4096];
    size_t n, at;
    unsigned line;    /* of the last one read, from 1 */
    bool is_too_long; /* it was cut */
} qp_pm_source;

/* The next line, without its end. @param to [QP_PM_LINE_BYTES] @return false: there are no more */
bool qp_pm_read(qp_pm_source *s, char *to);

/* Names of `names`, which ends with NULL, that begin with a word in any case; a whole name is the
 * only one. @param first  index of the first of them @return how many */
size_t qp_pm_match(const char *const *names, const char *word, size_t n_bytes, size_t *first);

/* Does the word begin this name, in any case? */
bool qp_pm_begins(const char *name, const char *word, size_t n_bytes);

#endif
