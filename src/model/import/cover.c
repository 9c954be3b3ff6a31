/* cover.c: imports coverage of other tools: PureCoverage's export and luacov's statistics. Start
 * reading at qp_import_cover().
 *
 * Both become functions with blocks, which are written as a profile of coverage alone. A block is a line
 * and its count; luacov has no functions, so each file is one. */
#include <inttypes.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "base/text/unit.h"
#include "format/builder.h"
#include "model/import/gather.h"
#include "model/model.h"

#define MARKED UINT64_MAX

enum { FIELDS_MAX = 10, LINES_MAX = 1 << 24 };

typedef struct {
    const char *at, *end;
} span;

typedef struct {
    uint32_t line;
    uint64_t count;
} block;

typedef struct {
    const char *name, *file;
    uint64_t calls;
    size_t first, n_blocks; /* of cover.blocks */
} function;

typedef struct {
    qp_arena texts;
    qp_buf functions; /* function */
    qp_buf blocks;    /* block */
    span rest;        /* what is not read yet */
    size_t n_line;
    qp_error *error;
    const char *creator;
    bool has_calls; /* of functions */
    bool failed;    /* no memory */
    /* of PureCoverage's export */
    const char *dir, *file, *name; /* what is open; NULL: none */
    uint64_t calls;
    uint64_t n_files, n_files_promised;
    bool has_totals;
    uint64_t n_live_blocks; /* of the open function, in the totals */
    qp_buf lines;           /* block: li records of the open function; MARKED: TEST, INSP */
    size_t first_block;     /* of the open function */
    uint64_t n_dead, n_marked;
    /* of luacov's statistics */
    uint64_t n_unknown; /* files whose source was not found */
} cover;

static bool refuse(cover *c, const char *what)
{
    return qp_error_fail(c->error, "line %zu: %s", c->n_line, what);
}

static bool refuse_count(cover *c, uint64_t n)
{
    return qp_error_fail(c->error,
                         "line %zu: count %" PRIu64 " is not a number from 0 to 2^63 - 1",
                         c->n_line, n);
}

static const char *text_of(cover *c, span s)
{
    char *text = qp_arena_take(&c->texts, (size_t)(s.end - s.at) + 1, 1);
    c->failed |= !text;
    if (text)
        memcpy(text, s.at, (size_t)(s.end - s.at));
    return text ? text : "";
}

static bool next_line(span *rest, span *line)
{
    if (rest->at == rest->end)
        return false;
    const char *end = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    *line = (span){rest->at, end ? end : rest->end};
    rest->at = end ? end + 1 : rest->end;
    while (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    return true;
}

/* All of it. @return false: it is not a number of 64 bits */
static bool number_of(span s, uint64_t *n)
{
    const char *at = s.at;
    for (*n = 0; at < s.end; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(*n, 10u, n) ||
            __builtin_add_overflow(*n, (unsigned)(*at - '0'), n))
            return false;
    return at > s.at;
}

static bool is_word(span s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s.end - s.at) == n && memcmp(s.at, word, n) == 0;
}

static void add_block(cover *c, qp_buf *to, uint64_t line, uint64_t count)
{
    block *b = qp_buf_add(to);
    c->failed |= !b;
    if (b)
        *b = (block){(uint32_t)line, count};
}

static void add_function(cover *c, const char *name, const char *file, uint64_t calls,
                         size_t first)
{
    function *f = qp_buf_add(&c->functions);
    c->failed |= !f;
    if (f)
        *f = (function){name, file, calls, first, c->blocks.n - first};
}

/* ---- PureCoverage's export ------------------------------------------------------------------- */

static unsigned split(span line, span fields[FIELDS_MAX])
{
    unsigned n = 0;
    for (const char *at = line.at; n < FIELDS_MAX;) {
        const char *tab = memchr(at, '\t', (size_t)(line.end - at));
        fields[n++] = (span){at, tab ? tab : line.end};
        if (!tab)
            break;
        at = tab + 1;
    }
    return n;
}

/* @return false: the record has not this number of fields, or they are not numbers; see error */
static bool take_numbers(cover *c, const span *fields, unsigned n, unsigned first,
                         unsigned n_wanted, uint64_t *numbers)
{
    if (n < n_wanted)
        return refuse(c, "fields are missing");
    for (unsigned i = first; i < n_wanted; i++)
        if (!number_of(fields[i], &numbers[i]))
            return refuse(c, "expected a number");
    return true;
}

/* Lines without a block of their own get one, blocks of lines that are not listed are dead, and those of
 * marked lines count as executed. A function whose blocks are all dead is in no total. */
static void end_function(cover *c)
{
    const block *lines = c->lines.items;
    size_t n = c->blocks.n - c->first_block, n_kept = 0;
    block *blocks = n ? (block *)c->blocks.items + c->first_block : NULL;
    bool is_dead = n && !c->n_live_blocks;
    qp_dict line_of = {0}, has_block = {0};
    for (size_t i = 0; i < c->lines.n && !c->failed; i++)
        c->failed |= !qp_dict_put(&line_of, lines[i].line, (uint32_t)i + 1);
    for (size_t i = 0; i < n && !c->failed; i++) {
        uint32_t line = qp_dict_get(&line_of, blocks[i].line);
        if (is_dead || (c->lines.n && !line)) {
            c->n_dead++;
            continue;
        }
        bool is_marked = line && lines[line - 1].count == MARKED && !blocks[i].count;
        c->n_marked += is_marked;
        c->failed |= !qp_dict_put(&has_block, blocks[i].line, 1);
        blocks[n_kept] = blocks[i];
        blocks[n_kept++].count += is_marked;
    }
    c->blocks.n = c->first_block + n_kept;
    for (size_t i = 0; i < c->lines.n && !c->failed; i++)
        if (!qp_dict_get(&has_block, lines[i].line))
            add_block(c, &c->blocks, lines[i].line,
                      lines[i].count == MARKED ? 1 : lines[i].count);
    qp_dict_fini(&line_of);
    qp_dict_fini(&has_block);
    if (!is_dead)
        add_function(c, c->name, c->file, c->calls, c->first_block);
    c->name = NULL;
}

static bool begin_function(cover *c, const span *fields, unsigned n)
{
    uint64_t numbers[FIELDS_MAX];
    if (!c->file || c->name)
        return refuse(c, "a function outside of a file");
    if (!take_numbers(c, fields, n, 2, 7, numbers))
        return false;
    c->name = text_of(c, fields[1]);
    c->calls = numbers[6];
    c->n_live_blocks = numbers[3];
    c->lines.n = 0;
    c->first_block = c->blocks.n;
    return true;
}

static bool begin_file(cover *c, span name)
{
    if (c->file)
        return refuse(c, "a file in a file");
    const char *file = text_of(c, name);
    bool has_dir = c->dir && strcmp(c->dir, ".") != 0;
    c->file = has_dir ? qp_arena_format(&c->texts, "%s%s%s", c->dir,
                                        strcmp(c->dir, "/") == 0 ? "" : "/", file)
                      : file;
    c->failed |= !c->file;
    c->n_files++;
    return true;
}

/* li: line, count or mark. bl: first line, last line, count. */
static bool take_count(cover *c, const span *fields, unsigned n, bool is_block)
{
    uint64_t line, count;
    span last = fields[n - 1];
    if (!c->name)
        return refuse(c, "a line or block outside of a function");
    if (n < 3u + is_block)
        return refuse(c, "fields are missing");
    bool is_marked = !is_block && (is_word(last, "TEST") || is_word(last, "INSP"));
    if (!number_of(fields[1], &line) || line == 0 || line > INT32_MAX ||
        (!is_marked && (!number_of(last, &count) || count > INT64_MAX)))
        return refuse(c, "expected a line and a count");
    add_block(c, is_block ? &c->blocks : &c->lines, line, is_marked ? MARKED : count);
    return true;
}

static bool take_record(cover *c, const span *fields, unsigned n)
{
    uint64_t numbers[FIELDS_MAX];
    span word = fields[0];
    if (is_word(word, "to")) {
        c->has_totals = true;
        bool is_good = take_numbers(c, fields, n, 1, 9, numbers);
        c->n_files_promised = is_good ? numbers[7] : 0;
        return is_good;
    }
    if (is_word(word, "li") || is_word(word, "bl"))
        return take_count(c, fields, n, is_word(word, "bl"));
    if (is_word(word, "fu"))
        return begin_function(c, fields, n);
    if (is_word(word, "di") && n > 1 && !c->dir && !c->file)
        return (c->dir = text_of(c, fields[1])) != NULL;
    if (is_word(word, "fi") && n > 1)
        return begin_file(c, fields[1]);
    if (is_word(word, "efu") && c->name) {
        end_function(c);
    } else if (is_word(word, "efi") && c->file && !c->name) {
        c->file = NULL;
    } else if (is_word(word, "edi") && c->dir && !c->file) {
        c->dir = NULL;
    } else {
        return refuse(c, "not a record of PureCoverage's export, or not in its place");
    }
    return true;
}

static bool purecov_fits(span text)
{
    span line, fields[FIELDS_MAX];
    while (next_line(&text, &line))
        if (line.at < line.end && *line.at != '#')
            return split(line, fields) >= 7 &&
                   (is_word(fields[0], "to") || is_word(fields[0], "di") ||
                    is_word(fields[0], "fi"));
    return false;
}

static bool read_purecov(cover *c)
{
    span line, fields[FIELDS_MAX];
    c->creator = "PureCoverage export";
    c->has_calls = true;
    while (next_line(&c->rest, &line)) {
        c->n_line++;
        if (line.at == line.end || *line.at == '#')
            continue;
        if (!take_record(c, fields, split(line, fields)))
            return false;
        if (c->failed)
            return true; /* write_all() tells why */
    }
    if (c->name || c->file || c->dir || (c->has_totals && c->n_files != c->n_files_promised))
        return refuse(c, "it is cut off");
    return true;
}

/* ---- which lines of Lua have code -------------------------------------------------------------- */

/* What the tokens of a line are so far. */
typedef enum {
    LINE_EMPTY,
    LINE_NAMES, /* "local a, b", "::label::" */
    LINE_OPEN,  /* ends with "function (a)", "=" or "[[": its code may belong to a later line */
    LINE_CODE
} line_kind;

typedef struct {
    span rest;
    size_t n_line;   /* from 0 */
    bool is_in_head; /* between "function" and ")" */
    line_kind *kinds;
} lua_text;

static bool is_name_byte(char b)
{
    return b == '_' || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') ||
           (b >= 'A' && b <= 'Z') || (unsigned char)b >= 0x80;
}

/* Move to a place, counting lines. */
static void skip_to(lua_text *t, const char *to)
{
    for (; t->rest.at < to; t->rest.at++)
        t->n_line += *t->rest.at == '\n';
}

/* "[[" or "[==[" at a place: the end of what it opens; NULL: it is none. */
static const char *long_bracket_end(const char *at, const char *end)
{
    size_t n = 0;
    const char *p = at + 1;
    for (; p < end && *p == '='; p++)
        n++;
    if (at == end || *at != '[' || p >= end || *p != '[')
        return NULL;
    for (; p < end; p++) {
        size_t k = 0;
        if (*p != ']')
            continue;
        while (p + 1 + k < end && k < n && p[1 + k] == '=')
            k++;
        if (k == n && p + 1 + k < end && p[1 + k] == ']')
            return p + k + 2;
    }
    return end;
}

static const char *string_end(const char *at, const char *end)
{
    char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

static const char *comment_end(const char *at, const char *end)
{
    const char *long_end = long_bracket_end(at + 2, end);
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    return long_end ? long_end : line_end ? line_end : end;
}

/* Words and signs that make no instruction by themselves. */
static bool is_silent(span token)
{
    static const char words[][7] = {"end", "else", "then", "do", "repeat"};
    if (token.end - token.at == 1 && strchr("{}()],;<>", *token.at))
        return true;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(token, words[i]))
            return true;
    return false;
}

static void take_token(lua_text *t, span token)
{
    line_kind *kind = &t->kinds[t->n_line];
    bool is_function = is_word(token, "function"), is_end = t->is_in_head && *token.at == ')';
    bool is_name = is_name_byte(*token.at) && !is_function && !is_word(token, "return");
    bool begins_names = *kind == LINE_EMPTY && (is_word(token, "local") || *token.at == ':');
    bool continues_names = *kind == LINE_NAMES && (is_name || *token.at == ':');
    t->is_in_head = is_function || (t->is_in_head && !is_end);
    if (is_end || *token.at == '=' || *token.at == '[')
        *kind = LINE_OPEN;
    else if (begins_names)
        *kind = LINE_NAMES;
    else if (*kind == LINE_OPEN || (!continues_names && !is_silent(token)))
        *kind = LINE_CODE;
}

/* @param kinds  [lines] of the text, all LINE_EMPTY */
static void scan_lua(const qp_source *s, line_kind *kinds)
{
    lua_text t = {.rest = {s->text, s->text + s->n_bytes}, .kinds = kinds};
    while (t.rest.at < t.rest.end) {
        const char *at = t.rest.at, *end = t.rest.end, *next = at + 1;
        const char *bracket_end = *at == '[' ? long_bracket_end(at, end) : NULL;
        if (at + 1 < end && at[0] == '-' && at[1] == '-') {
            next = comment_end(at, end);
        } else if (bracket_end) {
            next = bracket_end;
            take_token(&t, (span){at, next});
        } else if (!strchr(" \t\r\n\f\v", *at) || !*at) {
            if (*at == '"' || *at == '\'')
                next = string_end(at, end);
            while (is_name_byte(*at) && next < end && is_name_byte(*next))
                next++;
            take_token(&t, (span){at, next});
        }
        skip_to(&t, next);
    }
}

/* ---- luacov's statistics ----------------------------------------------------------------------- */

/* A number, a colon, a name. */
static bool take_head(span line, uint64_t *n_lines, span *name)
{
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    if (!colon || colon + 1 == line.end)
        return false;
    *name = (span){colon + 1, line.end};
    return number_of((span){line.at, colon}, n_lines) && *n_lines <= LINES_MAX;
}

static bool luacov_fits(span text)
{
    span line, name;
    uint64_t n;
    if (!next_line(&text, &line) || !take_head(line, &n, &name))
        return false;
    for (const char *at = text.at; at < text.end && *at != '\n'; at++)
        if ((*at < '0' || *at > '9') && *at != ' ' && *at != '\r')
            return false;
    return text.at < text.end && *text.at >= '0' && *text.at <= '9';
}

/* The counts of a file. Of the lines without one, those with code were missed. */
static bool take_counts(cover *c, const char *file, uint64_t n_lines, span counts)
{
    static const qp_source_folders none;
    qp_source source;
    qp_error unused;
    size_t first = c->blocks.n;
    line_kind *kinds = NULL;
    bool has_source = qp_source_read(file, 0, &none, &source, &unused), is_good = true;
    if (has_source)
        kinds = qp_alloc_zeroed(source.n_lines + 1, sizeof *kinds);
    if (kinds)
        scan_lua(&source, kinds);
    c->failed |= has_source && !kinds;
    c->n_unknown += !has_source;
    uint64_t line = 0, count;
    const char *at = counts.at;
    while (at < counts.end) {
        const char *blank = memchr(at, ' ', (size_t)(counts.end - at));
        span word = {at, blank ? blank : counts.end};
        is_good = number_of(word, &count) && count <= INT64_MAX;
        if (!is_good)
            break;
        bool is_missed = kinds && line < source.n_lines && kinds[line] == LINE_CODE;
        if (count || is_missed)
            add_block(c, &c->blocks, line + 1, count);
        line++;
        at = word.end + (blank != NULL);
    }
    if (has_source)
        qp_source_fini(&source);
    qp_free(kinds);
    if (!is_good)
        return refuse_count(c, line + 1);
    if (line != n_lines)
        return refuse(c, "not as many counts as lines");
    add_function(c, qp_import_base_name(file), file, 0, first);
    return true;
}

static bool read_luacov(cover *c)
{
    span line, name, counts;
    uint64_t n_lines;
    c->creator = "luacov statistics";
    while (next_line(&c->rest, &line)) {
        c->n_line++;
        if (!take_head(line, &n_lines, &name))
            return refuse(c, "expected a number of lines, a colon and a file");
        c->n_line++;
        if (!next_line(&c->rest, &counts))
            return refuse(c, "it is cut off");
        if (!take_counts(c, text_of(c, name), n_lines, counts))
            return false;
    }
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void write_note(qp_builder *b, uint64_t n, const char *thing, const char *what)
{
    char text[160], things[QP_NUMBER_BYTES];
    if (n)
        qp_builder_note(
            b, QP_NOTE_MESSAGE,
            qp_text_format(text, sizeof text, "%s %s", qp_unit_things(things, n, thing), what));
}

static void write_head(qp_builder *b, const cover *c)
{
    qp_head *h = qp_builder_head(b);
    h->flags = QP_FLAG_IMPORTED | QP_FLAG_RECORDING | (c->has_calls ? 0 : QP_FLAG_NO_CALLS);
    h->time_mode = QP_TIME_NONE;
    h->clock_source = QP_SOURCE_NS;
    h->grain = c->blocks.n ? QP_GRAIN_LINE : QP_GRAIN_FUNCTION;
    h->begun_raw = h->end_raw = 1; /* an end is set, and the duration is 0 */
    h->collect = QP_COLLECT_COVERAGE;
    h->version = qp_builder_text(b, c->creator);
    write_note(b, c->n_dead, "block", "marked as dead: left out");
    write_note(b, c->n_marked, "block", "marked as tested or inspected: executed once here");
    write_note(b, c->n_unknown, "file",
               "without source in this folder: missed lines are not known");
}

static void write_methods(qp_builder *b, const cover *c)
{
    const function *all = c->functions.items;
    const block *blocks = c->blocks.items;
    qp_buf lines = QP_BUF(qp_line);
    for (size_t i = 0; i < c->functions.n && !lines.failed; i++) {
        lines.n = 0;
        for (size_t k = 0; k < all[i].n_blocks; k++) {
            qp_line *l = qp_buf_add(&lines);
            if (l)
                *l = (qp_line){(int32_t)k, (int32_t)blocks[all[i].first + k].line};
        }
        qp_builder_method(b, &(qp_builder_code){.id = i + 1,
                                                .flags = QP_METHOD_REGISTERED,
                                                .name = all[i].name,
                                                .file = all[i].file,
                                                .lines = lines.items,
                                                .n_lines = (uint32_t)lines.n});
    }
    qp_free(lines.items);
}

static void write_counts(qp_builder *b, const cover *c)
{
    const function *all = c->functions.items;
    const block *blocks = c->blocks.items;
    qp_thread_record *th =
        qp_builder_thread(b, &(qp_thread_record){.name = qp_builder_text(b, "all threads"),
                                                 .state = QP_THREAD_ENDED,
                                                 .n_lives = 1});
    for (size_t i = 0; th && i < c->functions.n; i++) {
        uint32_t n = (uint32_t)all[i].n_blocks, method = (uint32_t)i + 1;
        uint64_t *values =
            n ? qp_builder_counter_block(b, QP_COUNTER_BLOCK_COUNTS, method, n, n) : NULL;
        for (uint32_t k = 0; values && k < n; k++)
            values[k] = blocks[all[i].first + k].count;
        if (!all[i].calls)
            continue;
        qp_builder_node(b, 0, method,
                        &(qp_node){.n_calls = all[i].calls, .self_min = UINT64_MAX});
        th->n_exits = qp_sum(th->n_exits, all[i].calls); /* every call has ended */
    }
}

/* ---- the whole --------------------------------------------------------------------------------- */

bool qp_import_cover_fits(const unsigned char *bytes, size_t n_bytes)
{
    span text = {(const char *)bytes, (const char *)bytes + n_bytes};
    return purecov_fits(text) || luacov_fits(text);
}

static bool write_all(const cover *c, void **made, size_t *n_made)
{
    const char *why = "there is not enough memory to read it";
    qp_builder *b = c->failed ? NULL : qp_builder_new(0);
    if (b) {
        write_methods(b, c);
        write_counts(b, c);
        write_head(b, c);
    }
    bool is_made = b && qp_builder_bytes(b, made, n_made, &why);
    qp_builder_free(b);
    return is_made || qp_error_fail(c->error, "%s", why);
}

bool qp_import_cover(const unsigned char *bytes, size_t n_bytes, void **made, size_t *n_made,
                     qp_error *error)
{
    span text = {(const char *)bytes, (const char *)bytes + n_bytes};
    cover c = {.rest = text,
               .error = error,
               .functions = QP_BUF(function),
               .blocks = QP_BUF(block),
               .lines = QP_BUF(block)};
    bool is_read = purecov_fits(text) ? read_purecov(&c) : read_luacov(&c);
    is_read = is_read && write_all(&c, made, n_made);
    qp_free(c.functions.items);
    qp_free(c.blocks.items);
    qp_free(c.lines.items);
    qp_arena_fini(&c.texts);
    return is_read;
}
