/* import_callgrind.c: what callgrind writes, and others do alike (valgrind's manual, "Callgrind
 * Format Specification"): line by line, into functions, and calls with what they cost. It knows who
 * called whom and no call paths: import_graph.c estimates them. Read read_line first. */
#include "model/import_callgrind.h"

#include <string.h>

#include "base/alloc.h"
#include "model/private.h"

/* Names are compressed apart for each of them. */
typedef enum { SPACE_OBJECT, SPACE_FILE, SPACE_FUNCTION } name_space;

/* A function, in words: numbers of texts. */
typedef struct {
    uint32_t object, file, name, thread;
} identity;

bool qp_callgrind_refuse(qp_callgrind *c, const char *what)
{
    qp_text_format(c->error, QP_ERROR_BYTES, "line %zu: %s", c->n_line, what);
    return false;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* @return the number of a text; 0: no memory */
static uint32_t text_number(qp_callgrind *c, const char *text, size_t n)
{
    uint64_t hash = qp_hash_bytes(QP_HASH_START, text, n);
    uint32_t known = qp_dict_get(&c->text_of, hash);
    if (known)
        return known;
    const char *copy = qp_import_text(c->im, text, n);
    const char **to = qp_buf_add(&c->texts);
    bool is_kept = to && copy && qp_dict_put(&c->text_of, hash, (uint32_t)c->texts.n);
    c->im->failed |= !is_kept;
    if (!is_kept)
        return 0;
    *to = copy;
    return (uint32_t)c->texts.n;
}

static const char *text_at(const qp_callgrind *c, uint32_t number)
{
    return number ? *QP_IMPORT_AT(c->texts, const char *, number) : "";
}

/* "(id) name", "(id)" or "name". */
static bool take_name(qp_callgrind *c, qp_words w, name_space space, uint32_t *text)
{
    uint64_t id = 0;
    qp_words rest = w;
    bool has_id = qp_words_begin(&rest, "(");
    rest.at += has_id;
    has_id =
        has_id && qp_words_number(&rest, &id) && qp_words_begin(&rest, ")") && id < 1ull << 60;
    if (!has_id) { /* a name may begin with a parenthesis, too */
        *text = text_number(c, w.at, (size_t)(w.end - w.at));
        return true;
    }
    rest.at++;
    qp_words_skip(&rest);
    uint64_t key = (uint64_t)space << 60 | id;
    if (rest.at == rest.end) {
        *text = qp_dict_get(&c->name_of, key);
        return *text ||
               qp_callgrind_refuse(c, "a compressed name that no line before has explained");
    }
    *text = text_number(c, rest.at, (size_t)(rest.end - rest.at));
    c->im->failed |= *text && !qp_dict_put(&c->name_of, key, *text);
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

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

static uint32_t method_of(qp_callgrind *c, const identity *id)
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

static uint32_t vertex_of(qp_callgrind *c, uint32_t object, uint32_t file, uint32_t name)
{
    identity id = {object, file, name, c->thread};
    uint64_t hash = qp_hash_bytes(QP_HASH_START, &id, sizeof id);
    uint32_t number = qp_dict_get(&c->vertex_of, hash);
    if (number || c->im->failed)
        return number;
    qp_import_vertex *v = qp_buf_add(&c->g.vertices);
    identity *kept = qp_buf_add(&c->identities);
    number = (uint32_t)c->g.vertices.n;
    c->im->failed |= !v || !kept || !qp_dict_put(&c->vertex_of, hash, number);
    if (c->im->failed)
        return 0;
    *kept = id;
    return number;
}

static qp_import_vertex *vertex_at(qp_callgrind *c, uint32_t number)
{
    return QP_IMPORT_AT(c->g.vertices, qp_import_vertex, number);
}

/* ---- costs ----------------------------------------------------------------------------------- */

static void add(qp_callgrind *c, uint64_t *to, uint64_t n)
{
    c->im->is_too_much |= n > INT64_MAX || *to + n > INT64_MAX;
    if (!c->im->is_too_much)
        *to += n;
}

static qp_import_cost *cost_at(qp_callgrind *c, uint64_t line)
{
    if (!line || line > INT32_MAX)
        return NULL;
    uint64_t key = (uint64_t)c->vertex << 32 | line;
    uint32_t at = qp_dict_get(&c->cost_of, key);
    if (at)
        return QP_IMPORT_AT(c->g.costs, qp_import_cost, at);
    qp_import_cost *cost = qp_buf_add(&c->g.costs);
    c->im->failed |= !cost || !qp_dict_put(&c->cost_of, key, (uint32_t)c->g.costs.n);
    if (!cost)
        return NULL;
    *cost = (qp_import_cost){.line = (uint32_t)line, .next = vertex_at(c, c->vertex)->lines};
    vertex_at(c, c->vertex)->lines = (uint32_t)c->g.costs.n;
    return cost;
}

static void add_call(qp_callgrind *c, uint64_t cost)
{
    uint64_t key = (uint64_t)c->vertex << 32 | c->callee;
    uint32_t at = qp_dict_get(&c->edge_of, key);
    if (!at) {
        qp_import_edge *fresh = qp_buf_add(&c->g.edges);
        at = (uint32_t)c->g.edges.n;
        c->im->failed |= !fresh || !qp_dict_put(&c->edge_of, key, at);
        if (!fresh)
            return;
        *fresh = (qp_import_edge){.caller = c->vertex, .callee = c->callee};
    }
    qp_import_edge *e = QP_IMPORT_AT(c->g.edges, qp_import_edge, at);
    add(c, &e->calls, c->n_calls);
    add(c, &e->cost, cost);
}

/* One place: absolute, or relative to that of the line before. */
static bool take_place(qp_words *w, uint64_t *place)
{
    char sign = w->at < w->end ? *w->at : '\0';
    uint64_t n;
    if (sign == '*') {
        w->at++;
        return true;
    }
    w->at += sign == '+' || sign == '-';
    if (!qp_words_number(w, &n))
        return false;
    *place = sign == '+' ? *place + n : sign == '-' ? *place - n : n;
    return true;
}

static void charge(qp_callgrind *c, uint64_t value)
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
static bool read_costs(qp_callgrind *c, qp_words w)
{
    uint64_t value = 0, n;
    for (uint32_t i = 0; i < c->n_columns; i++) {
        if (!take_place(&w, &c->columns[i]))
            return qp_callgrind_refuse(c, "expected a place in the code");
        qp_words_skip(&w);
    }
    bool is_jump = c->is_jump;
    c->is_jump = false;
    for (uint32_t i = 0; w.at < w.end; i++) {
        if (!qp_words_number(&w, &n))
            return qp_callgrind_refuse(c, "expected a number, of 64 bits at most");
        if (i == c->event)
            value = n;
        qp_words_skip(&w);
    }
    if (is_jump)
        return true;
    if (!c->has_events)
        return qp_callgrind_refuse(c, "costs before the line \"events:\"");
    if (!c->vertex)
        return qp_callgrind_refuse(c, "costs before the first function");
    c->is_body = true;
    charge(c, c->is_calls_only ? 0 : value);
    return true;
}

/* ---- the body -------------------------------------------------------------------------------- */

static bool read_object(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_OBJECT, &c->object);
}

static bool read_file(qp_callgrind *c, qp_words w)
{
    bool is_good = take_name(c, w, SPACE_FILE, &c->function_file);
    c->file = c->function_file;
    return is_good;
}

/* Code of another file, or back again. */
static bool read_inlined_file(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_FILE, &c->file);
}

static bool read_function(qp_callgrind *c, qp_words w)
{
    uint32_t name;
    if (!take_name(c, w, SPACE_FUNCTION, &name))
        return false;
    c->file = c->function_file;
    c->vertex = vertex_of(c, c->object, c->file, name);
    c->called_object = c->called_file = c->callee = 0;
    return true;
}

static bool read_called_object(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_OBJECT, &c->called_object);
}

static bool read_called_file(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_FILE, &c->called_file);
}

static bool read_called_function(qp_callgrind *c, qp_words w)
{
    uint32_t name;
    if (!take_name(c, w, SPACE_FUNCTION, &name))
        return false;
    c->callee = vertex_of(c, c->called_object ? c->called_object : c->object,
                          c->called_file ? c->called_file : c->file, name);
    c->called_object = c->called_file = 0;
    return true;
}

/* Where a call leads is where the callee is declared. */
static void take_target(qp_callgrind *c, qp_words w)
{
    uint64_t columns[QP_CALLGRIND_COLUMNS];
    memcpy(columns, c->columns, sizeof columns);
    for (uint32_t i = 0; i < c->n_columns; i++) {
        qp_words_skip(&w);
        if (!take_place(&w, &columns[i]))
            return;
    }
    qp_import_vertex *v = c->callee ? vertex_at(c, c->callee) : NULL;
    uint64_t line = c->line_column < c->n_columns ? columns[c->line_column] : 0;
    if (v && line && line <= INT32_MAX && (!v->first_line || line < v->first_line))
        v->first_line = (uint32_t)line;
}

static bool read_calls(qp_callgrind *c, qp_words w)
{
    if (!c->callee && !c->im->failed)
        return qp_callgrind_refuse(c, "calls without a line \"cfn=\" before");
    if (!qp_words_number(&w, &c->n_calls))
        return qp_callgrind_refuse(c, "expected the number of calls");
    if (c->is_ours && !c->has_calls_event) /* one stands for some that nobody counted */
        c->n_calls = 0;
    c->has_calls |= c->n_calls > 0;
    take_target(c, w);
    return true;
}

static bool ignore(qp_callgrind *c, qp_words w)
{
    (void)c;
    (void)w;
    return true;
}

static bool read_jump(qp_callgrind *c, qp_words w)
{
    (void)w;
    c->is_jump = true;
    return true;
}

static bool name_file(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_FILE, &(uint32_t){0});
}

static bool name_function(qp_callgrind *c, qp_words w)
{
    return take_name(c, w, SPACE_FUNCTION, &(uint32_t){0});
}

static const struct {
    const char *word;
    bool (*read)(qp_callgrind *c, qp_words w);
} keywords[] = {
    {"fn=", read_function},
    {"cfn=", read_called_function},
    {"calls=", read_calls},
    {"fl=", read_file},
    {"fi=", read_inlined_file},
    {"fe=", read_inlined_file},
    {"cfi=", read_called_file},
    {"cfl=", read_called_file},
    {"ob=", read_object},
    {"cob=", read_called_object},
    {"jump=", read_jump},
    {"jcnd=", read_jump},
    {"jfi=", name_file},
    {"jfl=", name_file},
    {"jfn=", name_function},
    {"events:", qp_callgrind_events},
    {"positions:", qp_callgrind_positions},
    {"cmd:", qp_callgrind_command},
    {"creator:", qp_callgrind_creator},
    {"pid:", qp_callgrind_pid},
    {"thread:", qp_callgrind_thread},
    {"version:", ignore},
    {"desc:", ignore},
    {"part:", qp_callgrind_part},
    {"event:", ignore},
    {"summary:", qp_callgrind_summary},
    {"totals:", qp_callgrind_totals},
    {"timerange:", ignore},
    {"rcalls=", ignore},
};

static bool read_line(qp_callgrind *c, qp_words w)
{
    char first = w.at < w.end ? *w.at : '#';
    if (first == '#')
        return true;
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*')
        return read_costs(c, w);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (qp_words_begin(&w, keywords[i].word)) {
            w.at += strlen(keywords[i].word);
            return keywords[i].read(c, w);
        }
    return qp_callgrind_refuse(c, "this is no line of callgrind's format");
}

bool qp_import_callgrind_fits(const unsigned char *bytes, size_t n_bytes)
{
    static const char *const heads[] = {
        "# callgrind format", "version:", "creator:", "cmd:", "pid:", "part:",
        "positions:",         "events:"};
    qp_words text = {(const char *)bytes, (const char *)bytes + n_bytes}, line;
    while (qp_words_line(&text, &line)) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            if (qp_words_begin(&line, heads[i]))
                return true;
        if (line.at < line.end && *line.at != '#')
            return false;
    }
    return false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void declare(qp_callgrind *c, const qp_import_vertex *v)
{
    qp_import_method *m = QP_IMPORT_AT(c->im->methods, qp_import_method, v->method);
    if (!m->first_line || v->first_line < m->first_line)
        m->first_line = v->first_line;
}

/* In what qprof exported, a thread is a function without a file, which calls the outermost ones. */
static void name_vertices(qp_callgrind *c)
{
    bool *is_called = qp_alloc_zeroed(c->g.vertices.n + 1, sizeof *is_called);
    char name[QP_WORD_BYTES];
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
        if (v->method && v->first_line)
            declare(c, v);
    }
    qp_free(is_called);
}

static void finish(qp_callgrind *c)
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

bool qp_import_callgrind(qp_import *im, const unsigned char *bytes, size_t n_bytes, char *error)
{
    qp_callgrind c = {.im = im, .error = error, .n_columns = 1, .scale = 1};
    qp_words text = {(const char *)bytes, (const char *)bytes + n_bytes}, line;
    qp_buf_init(&c.g.vertices, sizeof(qp_import_vertex));
    qp_buf_init(&c.g.edges, sizeof(qp_import_edge));
    qp_buf_init(&c.g.costs, sizeof(qp_import_cost));
    qp_buf_init(&c.texts, sizeof(const char *));
    qp_buf_init(&c.identities, sizeof(identity));
    bool is_read = true;
    while (is_read && !im->failed && !im->is_too_much && qp_words_line(&text, &line)) {
        c.n_line++;
        is_read = read_line(&c, line);
    }
    if (is_read && !im->failed && !im->is_too_much)
        is_read = qp_callgrind_is_whole(&c);
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
