/* callgrind.c: imports callgrind's format, which other tools write as well (valgrind's manual,
 * "Callgrind Format Specification"), line by line: functions, and calls with their costs. The
 * format has callers and callees but no call paths: graph.c estimates them. Start reading at
 * read_line(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/containers/alloc.h"
#include "base/text/buf.h"
#include "model/import/gather.h"
#include "model/read/read.h"

enum { WORD_BYTES = 64 };

/* What is left of a line, or of a text. */
typedef struct {
    const char *at, *end;
} words;

/* Bytes to print, at most `most`. */
static inline int words_cut(words w, int most)
{
    return w.end - w.at < most ? (int)(w.end - w.at) : most;
}

enum { COLUMNS = 8 };

typedef struct {
    qp_import *im;
    qp_import_graph g;
    qp_error *error;
    size_t n_line;
    qp_buf texts;      /* const char * */
    qp_dict text_of;   /* hash -> text */
    qp_dict name_of;   /* space, id -> text */
    qp_dict method_of; /* hash of what names it -> method */
    qp_dict vertex_of; /* hash of an identity -> vertex */
    qp_dict edge_of;   /* caller, callee -> edge */
    qp_dict cost_of;   /* vertex, line -> cost */
    qp_buf identities; /* [n vertices] */
    /* head */
    uint32_t n_columns, line_column;
    uint32_t event; /* the place of the one that is read */
    bool has_events, is_time, is_calls_only, is_ours;
    bool has_calls_event, has_samples_event; /* of ours: what was counted */
    char event_name[WORD_BYTES];
    uint64_t scale;
    uint32_t thread; /* of this part */
    /* where reading is; numbers of texts */
    uint32_t object, function_file, file;
    uint32_t called_object, called_file;
    uint32_t unused;         /* a name that is only listed */
    uint32_t vertex, callee; /* callee: the next costs are those of calls */
    uint64_t n_calls;
    bool has_calls; /* some were counted */
    bool is_jump;   /* the next line is only a place */
    uint64_t columns[COLUMNS];
    uint64_t n_elsewhere; /* costs of lines in other files */
    /* is it whole? in units of the event */
    uint64_t own, promised; /* self costs so far; sums that the parts announced */
    uint64_t n_rounded;     /* lines of own costs that are times */
    bool is_body;           /* of a part: costs came */
} callgrind;

/* ---- words ------------------------------------------------------------------------------- */

static void words_skip(words *w)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
        w->at++;
}

static bool words_begin(const words *w, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(w->end - w->at) >= n && memcmp(w->at, text, n) == 0;
}

static bool words_number(words *w, uint64_t *n)
{
    unsigned base = words_begin(w, "0x") ? 16 : 10;
    const char *first = w->at += base == 16 ? 2 : 0;
    *n = 0;
    for (; w->at < w->end; w->at++) {
        char c = *w->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : UINT32_MAX;
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(*n, base, n) || __builtin_add_overflow(*n, digit, n))
            return false;
    }
    return w->at > first;
}

static bool words_next(words *w, char to[WORD_BYTES])
{
    words_skip(w);
    const char *first = w->at;
    while (w->at < w->end && *w->at != ' ' && *w->at != '\t')
        w->at++;
    qp_text_format(to, WORD_BYTES, "%.*s", words_cut((words){first, w->at}, WORD_BYTES), first);
    return w->at > first;
}

static bool words_line(words *text, words *line)
{
    if (text->at == text->end)
        return false;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    *line = (words){text->at, end ? end : text->end};
    text->at = end ? end + 1 : text->end;
    words_skip(line);
    while (line->at < line->end && strchr(" \t\r", line->end[-1]) && line->end[-1])
        line->end--;
    return true;
}

/* ---- the head ---------------------------------------------------------------------------- */

/* Describe what is wrong, and on which line. @return false */
static bool refuse(callgrind *c, const char *what)
{
    return qp_error_fail(c->error, "line %zu: %s", c->n_line, what);
}

enum { EVENTS_MAX = 256, PARTS_APART = 1 << 20 };

/* "Time_(10ns)", "wall_ns": what follows the last '_'. */
static qp_import_unit unit_of(const char *event)
{
    const char *word = strrchr(event, '_');
    if (!word)
        return (qp_import_unit){false, 1};
    word += 1 + (word[1] == '(');
    return qp_import_unit_of(word, strcspn(word, ")"));
}

/* Choose the event to read: the wanted one, else the first of a time, else the first. */
static bool choose_event(callgrind *c, words w, uint32_t *n_events)
{
    const char *wanted = c->has_events ? c->event_name : c->im->wanted;
    char word[WORD_BYTES];
    bool is_time = false, is_found = false;
    for (*n_events = 0; words_next(&w, word) && *n_events < EVENTS_MAX; ++*n_events) {
        bool is_better = wanted ? strcmp(word, wanted) == 0
                                : *n_events == 0 || (!is_time && unit_of(word).is_time);
        c->has_calls_event |= strcmp(word, "Calls") == 0;
        c->has_samples_event |= strcmp(word, "Samples") == 0;
        if (!is_better)
            continue;
        is_time = unit_of(word).is_time;
        is_found = true;
        c->event = *n_events;
        memcpy(c->event_name, word, sizeof word);
    }
    return is_found;
}

static bool read_events(callgrind *c, words w)
{
    uint32_t n_events;
    qp_head *h = &c->im->head;
    char missing[WORD_BYTES * 2];
    qp_text_format(missing, sizeof missing, "there is no event %.60s here",
                   c->has_events   ? c->event_name
                   : c->im->wanted ? c->im->wanted
                                   : "at all");
    if (!choose_event(c, w, &n_events))
        return refuse(c, missing);
    bool is_first = !c->has_events;
    c->has_events = true;
    if (!is_first)
        return true;
    qp_import_unit unit = unit_of(c->event_name);
    c->scale = unit.scale;
    c->is_time = unit.is_time;
    c->is_calls_only = c->is_ours && strcmp(c->event_name, "Calls") == 0;
    h->time_mode = c->is_calls_only ? QP_TIME_NONE : QP_TIME_EXACT;
    qp_import_clock(c->im, unit, strncmp(c->event_name, "cpu", 3) == 0);
    if (!unit.is_time && !c->is_calls_only)
        qp_import_note(c->im, "counts are events %s", c->event_name);
    if (c->is_ours && c->has_samples_event)
        qp_import_note(c->im,
                       "times were estimated from samples, and their intervals are not known");
    if (n_events > 1 + (uint32_t)c->is_ours)
        qp_import_note(c->im, "of its events only %s was read, of: %.*s", c->event_name,
                       words_cut(w, 300), w.at);
    return true;
}

static bool read_positions(callgrind *c, words w)
{
    char word[WORD_BYTES];
    c->n_columns = 0;
    c->line_column = COLUMNS - 1;
    for (; words_next(&w, word); c->n_columns++) {
        if (c->n_columns == COLUMNS - 1)
            return refuse(c, "more kinds of positions than there are");
        if (strcmp(word, "line") == 0)
            c->line_column = c->n_columns;
    }
    return true;
}

static bool read_command(callgrind *c, words w)
{
    words_skip(&w);
    const char *end = memchr(w.at, ' ', (size_t)(w.end - w.at));
    const char *path = qp_import_text(c->im, w.at, (size_t)((end ? end : w.end) - w.at));
    c->im->program = path ? qp_import_base_name(path) : NULL;
    return true;
}

static bool read_creator(callgrind *c, words w)
{
    char word[WORD_BYTES + 16];
    words_skip(&w);
    qp_text_format(word, sizeof word, "callgrind format of %.*s", words_cut(w, WORD_BYTES),
                   w.at);
    c->is_ours = words_begin(&w, "qprof ");
    c->im->recorder = qp_import_text(c->im, word, strlen(word));
    return true;
}

static bool read_pid(callgrind *c, words w)
{
    words_skip(&w);
    return words_number(&w, &c->im->head.pid) || refuse(c, "expected a number");
}

static bool read_thread(callgrind *c, words w)
{
    uint64_t n;
    words_skip(&w);
    if (!words_number(&w, &n) || n > PARTS_APART)
        return refuse(c, "expected the number of a thread");
    c->thread = (uint32_t)n;
    return true;
}

static bool read_part(callgrind *c, words w)
{
    (void)w;
    c->is_body = false;
    return true;
}

/* The sum of a part's self costs. Valgrind and qprof write it before the costs, others may
 * write it after them. */
static bool read_summary(callgrind *c, words w)
{
    uint64_t value = 0;
    for (uint32_t i = 0; c->has_events && !c->is_body && i <= c->event; i++) {
        words_skip(&w);
        if (w.at == w.end)
            return true; /* the rest is 0 */
        if (!words_number(&w, &value))
            return refuse(c, "expected a number, of 64 bits at most");
    }
    if (c->has_events && !c->is_body)
        c->promised = qp_sum(c->promised, value);
    return true;
}

/* Valgrind's last line: the file is complete. */
static bool read_totals(callgrind *c, words w)
{
    (void)w;
    c->own = c->promised = c->n_rounded = 0;
    return true;
}

/* Whether the sums agree: a file that was cut off at the end of a line differs from a complete
 * one only in them. */
static bool is_whole(callgrind *c)
{
    if (!c->has_events)
        return refuse(c, "it ends without a line \"events:\"");
    if (c->callee)
        return refuse(c, "it is cut off: it ends before what the calls cost");
    if (c->is_calls_only || c->promised <= qp_sum(c->own, c->n_rounded))
        return true;
    return qp_error_fail(
        c->error,
        "line %zu: it is cut off: the costs up to here are %llu %.60s, and its "
        "summary says %llu",
        c->n_line, (unsigned long long)c->own, c->event_name, (unsigned long long)c->promised);
}

/* Names are compressed apart for each of them. */
typedef enum { SPACE_OBJECT, SPACE_FILE, SPACE_FUNCTION } name_space;

/* A function, in words: numbers of texts. */
typedef struct {
    uint32_t object, file, name, thread;
} identity;

/* ---- names ------------------------------------------------------------------------------- */

/* @return the number of a text; 0: no memory */
static uint32_t text_number(callgrind *c, const char *text, size_t n)
{
    bool is_new;
    uint32_t number =
        qp_buf_keyed(&c->texts, &c->text_of, qp_hash_bytes(QP_HASH_START, text, n), &is_new);
    const char *copy = is_new ? qp_import_text(c->im, text, n) : NULL;
    if (is_new)
        *QP_IMPORT_AT(c->texts, const char *, number) = copy;
    c->im->failed |= !number;
    return c->im->failed ? 0 : number;
}

static const char *text_at(const callgrind *c, uint32_t number)
{
    return number ? *QP_IMPORT_AT(c->texts, const char *, number) : "";
}

/* "(id) name", "(id)" or "name". */
static bool take_name(callgrind *c, words w, name_space space, uint32_t *text)
{
    uint64_t id = 0;
    words rest = w;
    bool has_id = words_begin(&rest, "(");
    rest.at += has_id;
    has_id = has_id && words_number(&rest, &id) && words_begin(&rest, ")") && id < 1ull << 60;
    if (!has_id) { /* a name may begin with a parenthesis */
        *text = text_number(c, w.at, (size_t)(w.end - w.at));
        return true;
    }
    rest.at++;
    words_skip(&rest);
    uint64_t key = (uint64_t)space << 60 | id;
    if (rest.at == rest.end) {
        *text = qp_dict_get(&c->name_of, key);
        return *text || refuse(c, "a compressed name that no line before has explained");
    }
    *text = text_number(c, rest.at, (size_t)(rest.end - rest.at));
    c->im->failed |= *text && !qp_dict_put(&c->name_of, key, *text);
    return true;
}

/* ---- functions --------------------------------------------------------------------------- */

/* A text that says "unknown" is none. */
static const char *known(const char *text)
{
    return strcmp(text, "???") == 0 ? "" : text;
}

/* The name without the mark of recursion that --separate-recs adds: 'N. */
static size_t plain_bytes(const char *name)
{
    size_t n = strlen(name), digits = n;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    return digits < n && digits > 1 && name[digits - 1] == '\'' ? digits - 1 : n;
}

static uint32_t method_of(callgrind *c, const identity *id)
{
    const char *name = text_at(c, id->name);
    uint32_t words_of[] = {id->object, id->file, text_number(c, name, plain_bytes(name))};
    uint64_t hash = qp_hash_bytes(QP_HASH_START, words_of, sizeof words_of);
    uint32_t method = qp_dict_get(&c->method_of, hash);
    if (method)
        return method;
    const char *object = qp_import_base_name(known(text_at(c, id->object)));
    method = qp_import_method_add(
        c->im, &(qp_import_method){.name = text_at(c, words_of[2]),
                                   .file = known(text_at(c, id->file)),
                                   .module = *object ? object : c->im->program});
    c->im->failed |= !qp_dict_put(&c->method_of, hash, method ? method : 1);
    return method;
}

static uint32_t vertex_of(callgrind *c, uint32_t object, uint32_t file, uint32_t name)
{
    identity id = {object, file, name, c->thread};
    uint64_t hash = qp_hash_bytes(QP_HASH_START, &id, sizeof id);
    bool is_new;
    uint32_t number = qp_buf_keyed(&c->identities, &c->vertex_of, hash, &is_new);
    if (is_new)
        *QP_IMPORT_AT(c->identities, identity, number) = id;
    c->im->failed |= !number || (is_new && !qp_buf_add(&c->g.vertices));
    return c->im->failed ? 0 : number;
}

static qp_import_vertex *vertex_at(callgrind *c, uint32_t number)
{
    return QP_IMPORT_AT(c->g.vertices, qp_import_vertex, number);
}

/* ---- costs ------------------------------------------------------------------------------- */

static void add(callgrind *c, uint64_t *to, uint64_t n)
{
    c->im->is_too_much |= n > INT64_MAX || *to + n > INT64_MAX;
    if (!c->im->is_too_much)
        *to += n;
}

static qp_import_cost *cost_at(callgrind *c, uint64_t line)
{
    if (!line || line > INT32_MAX)
        return NULL;
    bool is_new;
    uint32_t at =
        qp_buf_keyed(&c->g.costs, &c->cost_of, (uint64_t)c->vertex << 32 | line, &is_new);
    qp_import_cost *cost = at ? QP_IMPORT_AT(c->g.costs, qp_import_cost, at) : NULL;
    c->im->failed |= !cost;
    if (is_new) {
        *cost = (qp_import_cost){(uint32_t)line, vertex_at(c, c->vertex)->lines, 0, 0};
        vertex_at(c, c->vertex)->lines = at;
    }
    return cost;
}

static void add_call(callgrind *c, uint64_t cost)
{
    bool is_new;
    uint32_t at =
        qp_buf_keyed(&c->g.edges, &c->edge_of, (uint64_t)c->vertex << 32 | c->callee, &is_new);
    c->im->failed |= !at;
    if (!at)
        return;
    qp_import_edge *e = QP_IMPORT_AT(c->g.edges, qp_import_edge, at);
    e->caller = c->vertex;
    e->callee = c->callee;
    add(c, &e->calls, c->n_calls);
    add(c, &e->cost, cost);
}

/* One place: absolute, or relative to that of the line before. */
static bool take_place(words *w, uint64_t *place)
{
    char sign = w->at < w->end ? *w->at : '\0';
    uint64_t n;
    if (sign == '*') {
        w->at++;
        return true;
    }
    w->at += sign == '+' || sign == '-';
    if (!words_number(w, &n))
        return false;
    *place = sign == '+' ? *place + n : sign == '-' ? *place - n : n;
    return true;
}

static void add_self(callgrind *c, uint64_t value)
{
    uint64_t scaled, line = c->columns[c->line_column];
    bool is_here = c->line_column < c->n_columns && c->file == c->function_file;
    if (__builtin_mul_overflow(value, c->scale, &scaled))
        scaled = UINT64_MAX;
    qp_import_cost *cost = is_here ? cost_at(c, line) : NULL;
    c->n_elsewhere += !is_here && value;
    if (c->callee) {
        add_call(c, scaled);
    } else {
        add(c, &vertex_at(c, c->vertex)->self, scaled);
        c->own = qp_sum(c->own, value);
        c->n_rounded += c->is_time;
    }
    if (cost && !c->im->failed) {
        add(c, &cost->total, c->callee == c->vertex ? 0 : scaled);
        add(c, &cost->self, c->callee ? 0 : scaled);
    }
    c->callee = 0;
}

/* Places and values. Those that are missing at the end are 0. */
static bool read_costs(callgrind *c, words w)
{
    uint64_t value = 0, n;
    for (uint32_t i = 0; i < c->n_columns; i++) {
        if (!take_place(&w, &c->columns[i]))
            return refuse(c, "expected a place in the code");
        words_skip(&w);
    }
    bool is_jump = c->is_jump;
    c->is_jump = false;
    for (uint32_t i = 0; w.at < w.end; i++) {
        if (!words_number(&w, &n))
            return refuse(c, "expected a number, of 64 bits at most");
        if (i == c->event)
            value = n;
        words_skip(&w);
    }
    if (is_jump)
        return true;
    if (!c->has_events)
        return refuse(c, "costs before the line \"events:\"");
    if (!c->vertex)
        return refuse(c, "costs before the first function");
    c->is_body = true;
    add_self(c, c->is_calls_only ? 0 : value);
    return true;
}

/* ---- the body ---------------------------------------------------------------------------- */

static bool read_file(callgrind *c, words w)
{
    bool is_good = take_name(c, w, SPACE_FILE, &c->function_file);
    c->file = c->function_file;
    return is_good;
}

static bool read_function(callgrind *c, words w)
{
    uint32_t name;
    if (!take_name(c, w, SPACE_FUNCTION, &name))
        return false;
    c->file = c->function_file;
    c->vertex = vertex_of(c, c->object, c->file, name);
    c->called_object = c->called_file = c->callee = 0;
    return true;
}

static bool read_called_function(callgrind *c, words w)
{
    uint32_t name;
    if (!take_name(c, w, SPACE_FUNCTION, &name))
        return false;
    c->callee = vertex_of(c, c->called_object ? c->called_object : c->object,
                          c->called_file ? c->called_file : c->file, name);
    c->called_object = c->called_file = 0;
    return true;
}

/* A call's target line is the callee's declaration, if no smaller one is known. */
static void take_target(callgrind *c, words w)
{
    uint64_t columns[COLUMNS];
    memcpy(columns, c->columns, sizeof columns);
    for (uint32_t i = 0; i < c->n_columns; i++) {
        words_skip(&w);
        if (!take_place(&w, &columns[i]))
            return;
    }
    qp_import_vertex *v = c->callee ? vertex_at(c, c->callee) : NULL;
    uint64_t line = c->line_column < c->n_columns ? columns[c->line_column] : 0;
    if (v && line && line <= INT32_MAX && (!v->first_line || line < v->first_line))
        v->first_line = (uint32_t)line;
}

static bool read_calls(callgrind *c, words w)
{
    if (!c->callee && !c->im->failed)
        return refuse(c, "calls without a line \"cfn=\" before");
    if (!words_number(&w, &c->n_calls))
        return refuse(c, "expected the number of calls");
    if (c->is_ours && !c->has_calls_event) /* 1 means that calls were not counted */
        c->n_calls = 0;
    c->has_calls |= c->n_calls > 0;
    take_target(c, w);
    return true;
}

static bool ignore(callgrind *c, words w)
{
    (void)c;
    (void)w;
    return true;
}

static bool read_jump(callgrind *c, words w)
{
    (void)w;
    c->is_jump = true;
    return true;
}

/* The words that begin a line. Without a function, a name follows, which goes to a field. */
static const struct {
    const char *word;
    bool (*read)(callgrind *c, words w);
    name_space space;
    size_t field;
} keywords[] = {
#define NAME(word, space, field)                                                               \
    {                                                                                          \
        word, NULL, space, offsetof(callgrind, field)                                          \
    }
    {.word = "fn=", .read = read_function},
    {.word = "cfn=", .read = read_called_function},
    {.word = "calls=", .read = read_calls},
    {.word = "fl=", .read = read_file},
    NAME("fi=", SPACE_FILE, file), /* code of another file begins, or ends */
    NAME("fe=", SPACE_FILE, file),
    NAME("cfi=", SPACE_FILE, called_file),
    NAME("cfl=", SPACE_FILE, called_file),
    NAME("ob=", SPACE_OBJECT, object),
    NAME("cob=", SPACE_OBJECT, called_object),
    {.word = "jump=", .read = read_jump},
    {.word = "jcnd=", .read = read_jump},
    NAME("jfi=", SPACE_FILE, unused),
    NAME("jfl=", SPACE_FILE, unused),
    NAME("jfn=", SPACE_FUNCTION, unused),
#undef NAME
    {.word = "events:", .read = read_events},
    {.word = "positions:", .read = read_positions},
    {.word = "cmd:", .read = read_command},
    {.word = "creator:", .read = read_creator},
    {.word = "pid:", .read = read_pid},
    {.word = "thread:", .read = read_thread},
    {.word = "version:", .read = ignore},
    {.word = "desc:", .read = ignore},
    {.word = "part:", .read = read_part},
    {.word = "event:", .read = ignore},
    {.word = "summary:", .read = read_summary},
    {.word = "totals:", .read = read_totals},
    {.word = "timerange:", .read = ignore},
    {.word = "rcalls=", .read = ignore},
};

static bool read_line(callgrind *c, words w)
{
    char first = w.at < w.end ? *w.at : '#';
    if (first == '#')
        return true;
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*')
        return read_costs(c, w);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (words_begin(&w, keywords[i].word)) {
            w.at += strlen(keywords[i].word);
            void *field = (char *)c + keywords[i].field;
            return keywords[i].read ? keywords[i].read(c, w)
                                    : take_name(c, w, keywords[i].space, field);
        }
    return refuse(c, "not a line of callgrind's format");
}

bool qp_import_callgrind_fits(const unsigned char *bytes, size_t n_bytes)
{
    static const char *const heads[] = {
        "# callgrind format", "version:", "creator:", "cmd:", "pid:", "part:",
        "positions:",         "events:"};
    words text = {(const char *)bytes, (const char *)bytes + n_bytes}, line;
    while (words_line(&text, &line)) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            if (words_begin(&line, heads[i]))
                return true;
        if (line.at < line.end && *line.at != '#')
            return false;
    }
    return false;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* In qprof's own exports a thread is a function without a file that calls the outermost
 * ones. */
static void name_vertices(callgrind *c)
{
    bool *is_called = qp_alloc_zeroed(c->g.vertices.n + 1, sizeof *is_called);
    char name[WORD_BYTES];
    c->im->failed |= !is_called;
    for (size_t e = 1; is_called && e <= c->g.edges.n; e++)
        is_called[QP_IMPORT_AT(c->g.edges, qp_import_edge, e)->callee] = true;
    for (uint32_t i = 1; i <= c->g.vertices.n && !c->im->failed; i++) {
        const identity *id = QP_IMPORT_AT(c->identities, identity, i);
        qp_import_vertex *v = vertex_at(c, i);
        v->is_thread = c->is_ours && !is_called[i] && !v->self && !*known(text_at(c, id->file));
        qp_text_format(name, sizeof name, "thread %u", id->thread);
        const char *text = v->is_thread ? text_at(c, id->name)
                           : id->thread ? qp_import_text(c->im, name, strlen(name))
                                        : "main";
        v->thread = c->im->failed ? 0 : qp_import_thread(c->im, text);
        v->method = v->is_thread ? 0 : method_of(c, id);
        qp_import_method *m =
            v->method ? QP_IMPORT_AT(c->im->methods, qp_import_method, v->method) : NULL;
        if (m && v->first_line && (!m->first_line || v->first_line < m->first_line))
            m->first_line = v->first_line;
    }
    qp_free(is_called);
}

static void finish(callgrind *c)
{
    qp_import *im = c->im;
    im->failed |= c->g.vertices.failed || c->g.edges.failed || c->g.costs.failed;
    im->head.flags |= QP_FLAG_FROM_EDGES | (c->has_calls ? 0u : QP_FLAG_NO_CALLS);
    im->recorder = im->recorder ? im->recorder : "callgrind format";
    qp_import_note(im, "call paths are estimated from callers and callees");
    if (c->n_elsewhere)
        qp_import_note(im,
                       "%llu costs on lines of other files than their function's belong to "
                       "the function alone",
                       (unsigned long long)c->n_elsewhere);
    if (!im->failed)
        name_vertices(c);
    if (!im->failed && !im->is_too_much)
        qp_import_paths(im, &c->g);
}

bool qp_import_callgrind(qp_import *im, const unsigned char *bytes, size_t n_bytes,
                         qp_error *error)
{
    callgrind c = {
        .im = im,
        .g = {QP_BUF(qp_import_vertex), QP_BUF(qp_import_edge), QP_BUF(qp_import_cost)},
        .error = error,
        .texts = QP_BUF(const char *),
        .identities = QP_BUF(identity),
        .n_columns = 1,
        .scale = 1};
    words text = {(const char *)bytes, (const char *)bytes + n_bytes}, line;
    bool is_read = true;
    while (is_read && !im->failed && !im->is_too_much && words_line(&text, &line)) {
        c.n_line++;
        is_read = read_line(&c, line);
    }
    if (is_read && !im->failed && !im->is_too_much)
        is_read = is_whole(&c);
    if (is_read)
        finish(&c);
    qp_dict *const dicts[] = {&c.text_of,   &c.name_of, &c.method_of,
                              &c.vertex_of, &c.edge_of, &c.cost_of};
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
        qp_dict_fini(dicts[i]);
    qp_buf *const bufs[] = {&c.g.vertices, &c.g.edges, &c.g.costs, &c.texts, &c.identities};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        qp_free(bufs[i]->items);
    return is_read;
}
