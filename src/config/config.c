/* config.c: a text into statements. Read qp_config_read first. */
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "code/pc_command.h"
#include "config/parts.h"
#include "xbase/xbase.h"

/* ---- statements that are one text ----------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t bytes_of_comment(const char *at, const char *end)
{
    const char *line_end = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
    return (size_t)((line_end ? line_end : end) - at);
}

/* The statement into the head as it stands, so that columns are the same; what does not belong to
 * it, a comment or the end of a continued line, becomes blanks. A PC command with WHEN goes on to
 * its ';' and the end of that line. */
static qp_taken take_text(qp_config_reader *r, bool is_pc)
{
    char quote = '\0', before = ' ';
    bool goes_on = false;
    const char *begin = r->at;
    size_t n = 0, n_skipped;
    for (; begin + n < r->end && (begin[n] != '\n' || goes_on); n += n_skipped) {
        const char *c = begin + n;
        bool begins_word = !quote && is_blank(before);
        n_skipped = qp_config_continuation(c, r->end);
        if (!n_skipped && begins_word)
            n_skipped = bytes_of_comment(c, r->end);
        char kept = n_skipped ? ' ' : *c;
        n_skipped += !n_skipped;
        if (n + n_skipped >= sizeof r->head)
            return qp_config_refuse(r, begin, "this is longer than %d bytes",
                                    QP_CONFIG_HEAD_BYTES - 1);
        if (kept == '\0')
            return qp_config_refuse(r, c, "a byte 0: this is no text");
        if (quote)
            quote = kept == quote ? '\0' : quote;
        else if (kept == '"' || (kept == '\'' && !is_pc))
            quote = kept;
        goes_on |= is_pc && begins_word && (kept | 0x20) == 'w';
        goes_on &= quote || kept != ';';
        memset(r->head + n, kept, n_skipped);
        before = kept;
    }
    r->head[n] = '\0';
    r->at = begin + n;
    return QP_TAKEN;
}

/* What a parser of such a text dislikes, at its column. */
static int refuse_text(qp_config_reader *r, const char *begin, unsigned column,
                       const char *message)
{
    qp_config_refuse(r, begin + (column ? column - 1 : 0), "%s", message);
    return QP_CONFIG_SYNTAX;
}

static int option_line(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_error refused = {0};
    if (take_text(r, false) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    int code = r->sink->on_options ? r->sink->on_options(r->sink->to, r->head, &refused) : 0;
    if (code)
        refuse_text(r, begin, refused.column, refused.text);
    return code;
}

static int pc_line(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_pc_command unused;
    qp_error refused;
    if (take_text(r, true) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    if (qp_pc_parse(r->head, &unused, &refused) != QP_PARSE_OK)
        return refuse_text(r, begin, refused.column, refused.text);
    return r->sink->on_pc ? r->sink->on_pc(r->sink->to, r->head, r->error) : 0;
}

/* ---- statements of a few words -------------------------------------------------------------- */

static int switch_line(qp_config_reader *r, int (*turn)(void *, bool, qp_error *))
{
    unsigned which;
    if (qp_config_take_one(r, "off|on", &which) != QP_TAKEN || qp_config_end(r) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    return turn ? turn(r->sink->to, which == 1, r->error) : 0;
}

static int initial_status_line(qp_config_reader *r)
{
    return switch_line(r, r->sink->on_initial_status);
}

static int profiling_line(qp_config_reader *r)
{
    return switch_line(r, r->sink->on_profiling);
}

static int triggering_line(qp_config_reader *r)
{
    return switch_line(r, r->sink->on_triggering);
}

static int trace_line(qp_config_reader *r)
{
    qp_config_text word;
    qp_taken taken = qp_config_take(r, "KEY=VALUE", &word);
    for (; taken == QP_TAKEN; taken = qp_config_take(r, NULL, &word)) {
        char *value = strchr(word.text, '=');
        if (!value || value == word.text) {
            taken = qp_config_refuse(r, word.at, "%.40s: expected KEY=VALUE", word.text);
            break;
        }
        *value++ = '\0';
        r->blame = word.at;
        qp_error refused;
        if (!qp_pri_check(word.text, value, &refused)) {
            taken = qp_config_refuse(r, word.at, "%s", refused.text);
            break;
        }
        int code =
            r->sink->on_trace ? r->sink->on_trace(r->sink->to, word.text, value, r->error) : 0;
        if (code)
            return code;
    }
    return taken == QP_MISTAKE ? QP_CONFIG_SYNTAX : 0;
}

static int pri_line(qp_config_reader *r)
{
    qp_config_text word;
    if (qp_config_take(r, "a file", &word) != QP_TAKEN || qp_config_end(r) == QP_MISTAKE)
        return QP_CONFIG_SYNTAX;
    r->blame = word.at;
    return r->sink->on_pri ? r->sink->on_pri(r->sink->to, word.text, r->error) : 0;
}

/* ---- the text ------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    int (*read)(qp_config_reader *r);
} statements[] = {{"initial-status", initial_status_line},
                  {"profiling", profiling_line},
                  {"trigger", qp_config_trigger_line},
                  {"action", qp_config_action_line},
                  {"area", qp_config_area_line},
                  {"event-trigger", qp_config_event_line},
                  {"triggering", triggering_line},
                  {"pc", pc_line},
                  {"trace", trace_line},
                  {"pri", pri_line}};

enum { N_STATEMENTS = sizeof statements / sizeof *statements };

/* An option, perhaps in quotes. */
static bool is_option(const char *at, const char *end)
{
    bool is_quoted = (*at == '"' || *at == '\'') && at + 1 < end;
    return at[is_quoted] == '-';
}

static int read_statement(qp_config_reader *r)
{
    const char *begin = r->at;
    qp_config_text word;
    char all[160];
    size_t n = 0;
    r->blame = begin;
    r->n_head = 0;
    if (is_option(begin, r->end))
        return option_line(r);
    if (qp_config_take(r, "a statement", &word) != QP_TAKEN)
        return QP_CONFIG_SYNTAX;
    for (unsigned i = 0; i < N_STATEMENTS; i++)
        if (qp_option_is(statements[i].word, word.text, strlen(word.text))) {
            r->at = statements[i].read == pc_line ? begin : r->at;
            return statements[i].read(r);
        }
    for (unsigned i = 0; i < N_STATEMENTS; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, ", %s", statements[i].word);
    qp_config_refuse(r, word.at, "%.24s: expected -name=value%s", word.text, all);
    return QP_CONFIG_SYNTAX;
}

/* To the next statement: past blanks, line ends and comments. */
static const char *skip_to_statement(const char *at, const char *end)
{
    while (at < end) {
        size_t n = is_blank(*at) ? 1 : qp_config_continuation(at, end);
        n += n ? 0 : bytes_of_comment(at, end);
        if (!n)
            break;
        at += n;
    }
    return at;
}

size_t qp_config_mark(const char *text, size_t n_bytes)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = sizeof mark - 1;
    return n_bytes >= n && memcmp(text, mark, n) == 0 ? n : 0;
}

int qp_config_read(const char *text, size_t n_bytes, const qp_config_sink *sink,
                   qp_error *error)
{
    const char *begin = text + qp_config_mark(text, n_bytes);
    qp_config_reader r = {.text = begin, .at = begin, .end = text + n_bytes, .sink = sink};
    r.error = error;
    *error = (qp_error){0};
    while ((r.at = skip_to_statement(r.at, r.end)) < r.end) {
        int code = read_statement(&r);
        if (code && !error->line) { /* a sink's: its message is said of the statement's name */
            char message[sizeof error->text];
            qp_plain(error->text, sizeof error->text, message, sizeof message);
            qp_config_refuse(&r, r.blame, "%s", message);
        }
        if (code)
            return code;
    }
    return 0;
}
