/* config.c: reading options. An error leaves what was in force before. */
#include "record/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 * 1024, UNKNOWN_MAX = 16 };

/* What cannot be counted before there is a file. */
static struct {
    unsigned n_clamped, n_unknown;
    bool env_ignored;
    char unknown[UNKNOWN_MAX][32];
} pending;

static void note_unknown(void *unused, const char *name)
{
    (void)unused;
    if (pending.n_unknown < UNKNOWN_MAX)
        snprintf(pending.unknown[pending.n_unknown], sizeof pending.unknown[0], "%s", name);
    pending.n_unknown++;
}

static void note_clamped(void *unused, const char *name)
{
    (void)unused;
    (void)name;
    pending.n_clamped++;
}

static const qp_option_events in_file = {.unknown = note_unknown, .clamped = note_clamped};

/* Read a whole small file. @return bytes, or -1 with errno set */
static ssize_t read_file(const char *file, char *out, size_t n_bytes)
{
    struct stat st;
    size_t n = 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    errno = EINVAL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size >= (off_t)n_bytes) {
        close(fd);
        return -1;
    }
    for (ssize_t got; n < n_bytes - 1 && (got = read(fd, out + n, n_bytes - 1 - n)) > 0;)
        n += (size_t)got;
    close(fd);
    out[n] = '\0';
    return (ssize_t)n;
}

/* Blank out the comment of a line: a '#' at the start of a word, outside of quotes. */
static void cut_comment(char *line)
{
    char quote = '\0', before = ' ';
    for (; *line; before = *line++) {
        if (quote)
            quote = *line == quote ? '\0' : quote;
        else if (*line == '"' || *line == '\'')
            quote = *line;
        else if (*line == '#' && (before == ' ' || before == '\t'))
            *line = '\0';
        if (!*line)
            return;
    }
}

static qp_parse take_line(qp_options *o, char *line, const char *file, unsigned number,
                          qp_parse_error *error)
{
    qp_parse_error e = {1, ""};
    cut_comment(line);
    char *first = line + strspn(line, " \t\r");
    qp_parse code = QP_PARSE_OK;
    if (*first && *first != '-') {
        e.column = (unsigned)(first - line) + 1;
        snprintf(e.message, sizeof e.message,
                 "%.*s: only lines of options (-name=value) are known",
                 (int)strcspn(first, " \t"), first);
        code = QP_PARSE_SYNTAX;
    } else if (*first) {
        code = qp_options_parse(o, line, &in_file, &e);
    }
    if (code != QP_PARSE_OK)
        snprintf(error->message, sizeof error->message, "%.60s:%u:%u: %.120s", file, number,
                 e.column, e.message);
    return code;
}

/* Does a statement begin here? Its word is in any case. */
static bool is_statement(const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncasecmp(line, word, n) == 0 && strchr(" \t\r\n", line[n]);
}

/* The end of a PC command, which with WHEN runs on to its ';', else to the end of the line. Comments
 * in it become blanks; what is quoted stays. */
static char *end_of_pc(char *at)
{
    bool is_quoted = false, has_pattern = false;
    char before = ' ';
    for (; *at; before = *at++) {
        bool begins_word = !is_quoted && (before == ' ' || before == '\t' || before == '\n');
        is_quoted ^= *at == '"';
        while (begins_word && *at == '#')
            for (; *at && *at != '\n'; at++)
                *at = ' ';
        has_pattern |= begins_word && (*at == 'w' || *at == 'W');
        if ((has_pattern && !is_quoted && *at == ';') || (!has_pattern && *at == '\n') || !*at)
            break;
    }
    return at;
}

/* @return where the next line begins */
static char *take_pc(qp_options *o, char *line, unsigned *number, qp_parse *code,
                     qp_parse_error *error)
{
    char *end = end_of_pc(line);
    end += *end == ';'; /* behind it: a comment, or what the command's parser will not like */
    char *next = end + strcspn(end, "\n");
    for (const char *at = line; at < next; at++)
        *number += *at == '\n';
    *number += 1;
    next += *next == '\n';
    end[strcspn(end, "#\n")] = '\0';
    *code = qp_option_set(o, QP_OPT_pc, line, error);
    return next;
}

/* Lines that end in '\' go on in the next one. */
static qp_parse take_file(void *unused, qp_options *o, const char *file, qp_parse_error *error)
{
    static char text[FILE_MAX]; /* under the control lock, or before the run */
    (void)unused;
    if (read_file(file, text, sizeof text) < 0) {
        snprintf(error->message, sizeof error->message, "-config=%.100s: %s", file,
                 errno == EINVAL ? "not a file of less than 64 KiB" : strerror(errno));
        return QP_PARSE_VALUE;
    }
    unsigned number = 1;
    for (char *line = text; *line;) {
        unsigned first_number = number;
        qp_parse code;
        line += strspn(line, " \t");
        if (is_statement(line, "pc")) {
            line = take_pc(o, line, &number, &code, error);
            if (code != QP_PARSE_OK)
                return code;
            continue;
        }
        char *end = line;
        for (; *end && *end != '\n'; end++)
            if (end[0] == '\\' && end[1] == '\n') {
                end[0] = end[1] = ' ';
                number++;
            }
        char *next = *end ? end + 1 : end;
        *end = '\0';
        number++;
        code = take_line(o, line, file, first_number, error);
        if (code != QP_PARSE_OK)
            return code;
        line = next;
    }
    return QP_PARSE_OK;
}

static const qp_option_events anywhere = {
    .unknown = note_unknown, .config = take_file, .clamped = note_clamped};

static int code_of(qp_parse parse)
{
    return parse == QP_PARSE_OK       ? 0
           : parse == QP_PARSE_SYNTAX ? QPROF_E_SYNTAX
                                      : QPROF_E_OPTION;
}

int qp_config_begin(const char *initial_options, qp_parse_error *error)
{
    memset(&pending, 0, sizeof pending);
    qp_options_init(&qp_run.options);
    const char *environment = getenv(QP_PRODUCT_ENVIRONMENT);
    pending.env_ignored = environment && getauxval(AT_SECURE);
    qp_parse parse = QP_PARSE_OK;
    if (environment && !pending.env_ignored)
        parse = qp_options_parse(&qp_run.options, environment, &anywhere, error);
    if (parse == QP_PARSE_OK && initial_options)
        parse = qp_options_parse(&qp_run.options, initial_options, &anywhere, error);
    if (parse != QP_PARSE_OK)
        return code_of(parse);
    if (qp_run.options.is_set[QP_OPT_measure_timed_calls]) { /* its words for the other's */
        static const unsigned same[] = {0, 2, 3, 1};
        uint64_t word = qp_run.options.number[QP_OPT_measure_timed_calls];
        qp_run.options.number[QP_OPT_time_blocking_functions] = same[word];
    }
    return 0;
}

void qp_config_report(void)
{
    for (unsigned i = 0; i < pending.n_clamped; i++)
        qp_count(&qp_run.space, QP_D_clamped_options);
    for (unsigned i = 0; i < pending.n_unknown; i++) {
        qp_count(&qp_run.space, QP_D_unknown_option);
        if (i < UNKNOWN_MAX)
            qp_session_log("%s: unknown option, ignored", pending.unknown[i]);
    }
    if (pending.env_ignored)
        qp_count(&qp_run.space, QP_D_env_ignored);
    memset(&pending, 0, sizeof pending);
}

/* Only this one cannot change: its address space is reserved. */
static int check_memory(const qp_options *changed, qp_parse_error *error)
{
    if (changed->number[QP_OPT_memory_limit] <= qp_run.space.map.reserved_bytes)
        return 0;
    snprintf(error->message, sizeof error->message,
             "-memory-limit: can be raised by qprof_initialize or QPROF only");
    return QPROF_E_STATE;
}

static int apply(qp_parse parse, const qp_options *changed, qp_parse_error *error)
{
    const qp_options before = qp_run.options;
    int code = parse != QP_PARSE_OK ? code_of(parse) : check_memory(changed, error);
    if (code)
        return code;
    qp_run.options = *changed;
    code = qp_session_reapply(error);
    if (code) {
        qp_parse_error unused;
        qp_run.options = before;
        qp_session_reapply(&unused);
        return code;
    }
    qp_config_report();
    return 0;
}

int qp_config_words(const char *words, qp_parse_error *error)
{
    qp_options changed = qp_run.options;
    qp_parse parse = qp_options_parse(&changed, words, &anywhere, error);
    return apply(parse, &changed, error);
}

int qp_config_set(qp_option which, const char *value, qp_parse_error *error)
{
    qp_options changed = qp_run.options;
    qp_parse parse = qp_option_set(&changed, which, value, error);
    return apply(parse, &changed, error);
}

int qp_config_file(const char *file, qp_parse_error *error)
{
    qp_options changed = qp_run.options;
    if (access(file, R_OK) != 0) {
        snprintf(error->message, sizeof error->message, "%.120s: %s", file, strerror(errno));
        return QPROF_E_IO;
    }
    return apply(take_file(NULL, &changed, file, error), &changed, error);
}
