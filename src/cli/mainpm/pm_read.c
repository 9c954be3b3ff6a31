/* pm_read.c: see pm_read.h. */
#include "cli/mainpm/mainpm.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* @return -1: the end */
static int next_byte(qp_pm_source *s)
{
    ssize_t n;
    if (s->at == s->n) {
        while ((n = read(s->fd, s->bytes, sizeof s->bytes)) < 0 && errno == EINTR)
            continue;
        s->n = n > 0 ? (size_t)n : 0;
        s->at = 0;
    }
    return s->at < s->n ? (unsigned char)s->bytes[s->at++] : -1;
}

bool qp_pm_read(qp_pm_source *s, char *to)
{
    size_t n = 0;
    int byte = next_byte(s);
    s->is_too_long = false;
    s->line++;
    to[0] = '\0';
    if (byte < 0)
        return false;
    for (; byte >= 0 && byte != '\n'; byte = next_byte(s)) {
        s->is_too_long |= n + 1 == QP_PM_LINE_BYTES;
        if (!s->is_too_long && byte)
            to[n++] = (char)byte;
    }
    to[n] = '\0';
    return true;
}

bool qp_pm_begins(const char *name, const char *word, size_t n_bytes)
{
    return n_bytes && n_bytes <= strlen(name) && strncasecmp(name, word, n_bytes) == 0;
}

size_t qp_pm_match(const char *const *names, const char *word, size_t n_bytes, size_t *first)
{
    size_t n_found = 0;
    for (size_t i = 0; names[i]; i++) {
        if (!qp_pm_begins(names[i], word, n_bytes))
            continue;
        if (n_found++ == 0)
            *first = i;
        if (strlen(names[i]) == n_bytes) {
            *first = i;
            return 1;
        }
    }
    return n_found;
}
