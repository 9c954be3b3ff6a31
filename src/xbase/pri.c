/* pri.c: reading, changing and writing the settings. The text is lines, each ended by a NUL. */
#include "xbase/xbase.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"

typedef struct {
    char name[14], initial[7]; /* no pointers, each of which costs a relocation */
    uint32_t low, high;
} key_spec;

static const key_spec specs[QP_N_PRI] = {
#define QP_X(id, initial, low, high) {#id, initial, low, high},
    QP_PRI_KEYS(QP_X)
#undef QP_X
};

/* A part of a line. */
typedef struct {
    const char *at;
    size_t n;
} slice;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static slice trim(slice s)
{
    for (; s.n && is_blank(*s.at); s.at++)
        s.n--;
    while (s.n && is_blank(s.at[s.n - 1]))
        s.n--;
    return s;
}

/* @return the key of a line, whose value follows a '='. n 0: it has none */
static slice key_of(slice line)
{
    const char *equals = memchr(line.at, '=', line.n);
    slice none = {line.at, 0}, key = trim(line);
    if (!equals || !key.n || *key.at == ';' || *key.at == '#')
        return none;
    return trim((slice){line.at, (size_t)(equals - line.at)});
}

static bool is_same_key(slice a, slice b)
{
    return a.n && a.n == b.n && strncasecmp(a.at, b.at, a.n) == 0;
}

static slice whole(const char *line)
{
    return (slice){line, strlen(line)};
}

/* @return the last line of a text with this key; NULL: none has it */
static char *find_line(char *text, size_t n_bytes, slice key)
{
    char *found = NULL;
    for (char *line = text; line < text + n_bytes; line += strlen(line) + 1)
        if (is_same_key(key_of(whole(line)), key))
            found = line;
    return found;
}

qp_pri_key qp_pri_find(const char *name, size_t n_bytes)
{
    unsigned i = 0;
    while (i < QP_N_PRI && !is_same_key((slice){name, n_bytes}, whole(specs[i].name)))
        i++;
    return (qp_pri_key)i;
}

const char *qp_pri_name(qp_pri_key key)
{
    return specs[key].name;
}

const char *qp_pri_value(const qp_pri *p, qp_pri_key key)
{
    const char *line = find_line((char *)p->text, p->n_bytes, whole(specs[key].name));
    if (!line)
        return specs[key].initial;
    line = strchr(line, '=') + 1;
    return line + strspn(line, " \t");
}

static bool parse_number(slice text, uint32_t *number)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < text.n && text.at[i] >= '0' && text.at[i] <= '9' && value <= UINT32_MAX; i++)
        value = value * 10 + (unsigned)(text.at[i] - '0');
    *number = (uint32_t)value;
    return i && i == text.n && value <= UINT32_MAX;
}

static bool is_separator(char c)
{
    return c == ',' || is_blank(c);
}

/* Take the next name of a list. @return false: no more */
static bool next_name(slice *list, slice *name)
{
    for (; list->n && is_separator(*list->at); list->at++)
        list->n--;
    *name = (slice){list->at, 0};
    for (; list->n && !is_separator(*list->at); list->at++, list->n--)
        name->n++;
    return name->n != 0;
}

static bool is_list_of_numbers(slice list)
{
    uint32_t unused;
    slice one;
    while (next_name(&list, &one))
        if (!parse_number(one, &unused))
            return false;
    return true;
}

/* Is the value of a key allowed? */
static bool check(qp_pri_key key, slice value, uint32_t *number, qp_error *error)
{
    const key_spec *k = &specs[key];
    char shown[40];
    if (!k->high) {
        if (memchr(value.at, '\n', value.n) || memchr(value.at, '\r', value.n))
            return qp_error_fail(error, "%s: one line is expected", k->name);
        if (key != QP_PRI_EXCLUDETHREAD || is_list_of_numbers(value))
            return true;
        return qp_error_fail(error, "%s=%s: numbers of threads are expected, as 2,5", k->name,
                             qp_plain(value.at, value.n, shown, sizeof shown));
    }
    if (parse_number(value, number) && *number >= k->low && *number <= k->high)
        return true;
    qp_plain(value.at, value.n, shown, sizeof shown);
    if (k->high == UINT32_MAX)
        return qp_error_fail(error, "%s=%s: a number from %u on is expected", k->name, shown,
                             k->low);
    return qp_error_fail(error, "%s=%s: a number from %u to %u is expected", k->name, shown,
                         k->low, k->high);
}

/* Replace a line (NULL: add one at the end). */
static bool put_line(qp_pri *p, char *old, slice key, slice value)
{
    size_t n = key.n + 1 + value.n + 1;
    size_t n_old = old ? strlen(old) + 1 : 0;
    char *at = old ? old : p->text + p->n_bytes;
    if (p->n_bytes - n_old + n > sizeof p->text)
        return false;
    memmove(at + n, at + n_old, (size_t)(p->text + p->n_bytes - at) - n_old);
    memcpy(at, key.at, key.n);
    at[key.n] = '=';
    memcpy(at + key.n + 1, value.at, value.n);
    at[n - 1] = '\0';
    p->n_bytes = (uint32_t)(p->n_bytes - n_old + n);
    return true;
}

bool qp_pri_check(const char *key, const char *value, qp_error *error)
{
    uint32_t unused;
    char all[QP_N_PRI * 16], shown[40];
    size_t n = 0;
    qp_pri_key which = qp_pri_find(key, strlen(key));
    if (which != QP_N_PRI)
        return check(which, trim(whole(value)), &unused, error);
    for (unsigned i = 0; i < QP_N_PRI; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? " " : "", specs[i].name);
    return qp_error_fail(error, "%s: expected one of %s", qp_plain(key, strlen(key), shown, 24),
                         all);
}

bool qp_pri_set(qp_pri *p, qp_pri_key key, const char *value, qp_error *error)
{
    slice name = whole(specs[key].name), trimmed = trim(whole(value));
    uint32_t number = 0;
    error->line = 0;
    if (!check(key, trimmed, &number, error))
        return false;
    if (!put_line(p, find_line(p->text, p->n_bytes, name), name, trimmed))
        return qp_error_fail(error, "%s: the settings take more than %d bytes", name.at,
                             QP_PRI_BYTES);
    p->number[key] = number;
    return true;
}

void qp_pri_init(qp_pri *p)
{
    qp_error unused;
    p->n_bytes = 0;
    for (unsigned i = 0; i < QP_N_PRI; i++)
        qp_pri_set(p, (qp_pri_key)i, specs[i].initial, &unused);
}

/* ---- files --------------------------------------------------------------------------------- */

/* Cut the next line off, without its end and the blanks before that. */
static slice next_line(const char **at, const char *end)
{
    slice line = {*at, (size_t)(end - *at)};
    const char *newline = memchr(line.at, '\n', line.n);
    if (newline)
        line.n = (size_t)(newline - line.at);
    *at = newline ? newline + 1 : end;
    while (line.n && (is_blank(line.at[line.n - 1]) || line.at[line.n - 1] == '\r'))
        line.n--;
    return line;
}

static bool add_line(qp_pri *p, slice line, qp_error *error)
{
    if (p->n_bytes + line.n + 1 > sizeof p->text)
        return qp_error_fail(error, "the settings take more than %d bytes", QP_PRI_BYTES);
    memcpy(p->text + p->n_bytes, line.at, line.n);
    p->text[p->n_bytes + line.n] = '\0';
    p->n_bytes += (uint32_t)line.n + 1;
    return true;
}

static bool take_line(qp_pri *p, slice line, qp_error *error)
{
    slice key = key_of(line), text = trim(line);
    if (memchr(line.at, '\0', line.n))
        return qp_error_fail(error, "a line of text is expected, there is a NUL byte");
    if (!key.n && text.n && *text.at != ';' && *text.at != '#')
        return qp_error_fail(error, "KEY=VALUE is expected");
    qp_pri_key which = key.n ? qp_pri_find(key.at, key.n) : QP_N_PRI;
    if (which != QP_N_PRI) {
        const char *value = (const char *)memchr(line.at, '=', line.n) + 1;
        slice trimmed = trim((slice){value, (size_t)(line.at + line.n - value)});
        if (!check(which, trimmed, &p->number[which], error))
            return false;
    }
    return add_line(p, line, error);
}

/* Keep settings that the file does not mention, after its own. */
static bool keep_others(qp_pri *p, const qp_pri *before, qp_error *error)
{
    size_t n_file = p->n_bytes;
    for (const char *line = before->text; line < before->text + before->n_bytes;) {
        slice all = whole(line), key = key_of(all);
        if (key.n && !find_line(p->text, n_file, key) && !add_line(p, all, error))
            return false;
        line += all.n + 1;
    }
    return true;
}

bool qp_pri_read(qp_pri *p, const qp_pri *before, const char *text, size_t n_bytes,
                 qp_error *error)
{
    const char *end = text + n_bytes;
    memcpy(p->number, before->number, sizeof p->number);
    p->n_bytes = 0;
    error->line = 0;
    while (text < end) {
        slice line = next_line(&text, end);
        error->line++;
        if (!take_line(p, line, error))
            return false;
    }
    error->line = 0;
    return keep_others(p, before, error);
}

size_t qp_pri_write(const qp_pri *p, char *to, size_t room)
{
    size_t n_lines = 0, n = 0;
    for (size_t i = 0; i < p->n_bytes; i++)
        n_lines += p->text[i] == '\0';
    if (p->n_bytes + n_lines > room)
        return p->n_bytes + n_lines;
    for (size_t i = 0; i < p->n_bytes; i++) {
        if (p->text[i]) {
            to[n++] = p->text[i];
        } else {
            to[n++] = '\r';
            to[n++] = '\n';
        }
    }
    return n;
}

/* ---- lists --------------------------------------------------------------------------------- */

bool qp_pri_list_has(const char *list, const char *name, size_t n_bytes)
{
    slice left = whole(list), one;
    while (next_name(&left, &one))
        if (one.n == n_bytes && memcmp(one.at, name, n_bytes) == 0)
            return true;
    return false;
}

bool qp_pri_list_has_number(const char *list, uint32_t number)
{
    slice left = whole(list), one;
    uint32_t value;
    while (next_name(&left, &one))
        if (parse_number(one, &value) && value == number)
            return true;
    return false;
}
