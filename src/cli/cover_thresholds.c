/* cover_thresholds.c: see cover_thresholds.h. */
#include "cli/cover_thresholds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

enum { FILE_MAX = 1 << 20, WORD_SHOWN = 60 };

typedef struct {
    const qp_cli *cli;
    const char *path;
    unsigned line;
    const char *begin; /* of the line */
    char *at;
    bool has_failed;
} parser;

static void complain(parser *p, const char *word, const char *expected)
{
    qp_cli_fail(p->cli, "%s:%u:%u: expected %s%s%.*s", p->path, p->line,
                (unsigned)(word - p->begin) + 1, expected, *word ? ", not " : "", WORD_SHOWN,
                word);
    p->has_failed = true;
}

/* The next word, cut off where it stands; in quotes it may hold blanks. "" at the end. */
static char *next_word(parser *p)
{
    char *word = p->at + strspn(p->at, " \t\r");
    bool is_quoted = *word == '"';
    char *end = is_quoted ? strchr(word + 1, '"') : word + strcspn(word, " \t\r#");
    if (is_quoted && !end) {
        complain(p, word, "a \" at the end of the name");
        end = word + strlen(word);
    }
    if (!is_quoted && end == word) { /* a comment, or nothing */
        *word = '\0';
        p->at = word;
        return word;
    }
    p->at = end + (*end != '\0');
    if (*end == '#')
        *p->at = '\0';
    *end = '\0';
    return word + is_quoted;
}

static bool read_percent(parser *p, double *percent)
{
    char *word = next_word(p), *end;
    *percent = strtod(word, &end);
    bool is_number = *word >= '0' && *word <= '9' && (*end == '\0' || strcmp(end, "%") == 0);
    if (!is_number || *percent < 0 || *percent > 100) {
        complain(p, word, "a number from 0 to 100");
        return false;
    }
    word = next_word(p);
    if (*word)
        complain(p, word, "the end of the line");
    return *word == '\0';
}

static void read_line(parser *p, qp_buf *items)
{
    char *word = next_word(p);
    const char *glob = NULL;
    double percent;
    if (!*word || p->has_failed)
        return;
    if (strcmp(word, "file") == 0) {
        glob = next_word(p);
        if (!*glob)
            complain(p, glob, "a file, for example src/*.lua");
        word = *glob ? next_word(p) : word;
    }
    if (p->has_failed)
        return;
    int figure = qp_args_word(QP_FIGURE_WORDS, word);
    if (figure < 0) {
        complain(p, word,
                 glob ? "lines, branches or functions" : "lines, branches, functions or file");
        return;
    }
    if (!read_percent(p, &percent))
        return;
    qp_threshold *t = qp_buf_add(items);
    if (t)
        *t = (qp_threshold){.glob = glob ? qp_alloc_text(glob) : NULL,
                            .figure = (qp_figure)figure,
                            .percent = percent,
                            .line = p->line};
    items->failed |= t && glob && !t->glob;
}

/* @param text  is cut apart @return false: messages were printed */
static bool read_lines(const qp_cli *cli, const char *path, char *text, qp_thresholds *t)
{
    bool has_failed = false;
    unsigned n = 0;
    qp_buf items;
    qp_buf_init(&items, sizeof(qp_threshold));
    for (char *rest = text; rest;) {
        parser p = {.cli = cli, .path = path, .line = ++n};
        p.begin = p.at = strsep(&rest, "\n");
        read_line(&p, &items);
        has_failed |= p.has_failed;
    }
    if (!has_failed && !items.failed && items.n == 0) {
        qp_cli_fail(cli, "%s: it has no threshold; write for example: lines 80", path);
        has_failed = true;
    }
    t->items = items.items;
    t->n = items.n;
    if (items.failed)
        qp_cli_fail_memory(cli);
    if (!has_failed && !items.failed)
        return true;
    qp_thresholds_free(t);
    return false;
}

bool qp_thresholds_read(const qp_cli *cli, const char *path, qp_thresholds *t)
{
    const char *why;
    uint64_t n_bytes = 0;
    int fd = qp_file_open(path, &why);
    *t = (qp_thresholds){0};
    if (fd >= 0 && qp_file_is_plain(fd, &n_bytes, &why) && n_bytes > FILE_MAX)
        why = "it is too large for a file of thresholds";
    if (fd < 0 || n_bytes > FILE_MAX) {
        qp_cli_fail(cli, "%s: %s; --thresholds=FILE says where the thresholds are", path, why);
        if (fd >= 0)
            close(fd);
        return false;
    }
    char *text = qp_alloc_zeroed((size_t)n_bytes + 1, 1);
    if (text)
        qp_file_read_at(fd, text, (size_t)n_bytes, 0);
    close(fd);
    bool is_good = text && read_lines(cli, path, text, t);
    if (!text)
        qp_cli_fail_memory(cli);
    qp_free(text);
    return is_good;
}

void qp_thresholds_free(qp_thresholds *t)
{
    for (size_t i = 0; i < t->n; i++)
        qp_free(t->items[i].glob);
    qp_free(t->items);
    *t = (qp_thresholds){0};
}
