/* lines.c: how often lines began, of the files that are covered.
 *
 * The package chooses files, and finds their functions and lines (lib/qprof/cover.rb). Each line is a block of
 * the outermost function that has code in it: a jump leads to it, whose counter is incremented in place.
 * Counters belong to an OS thread, and lie in the profile. */
#include "recorder.h"

#include <ruby/st.h>

typedef struct {
    cover_function *function; /* NULL: it has no code */
    int counter;
} cover_line;

struct cover_file {
    cover_function *functions;
    int n_functions, n_lines;
    cover_line lines[]; /* [n_lines], 0 is unused */
};

static VALUE chooser = Qnil;
static st_table *by_path, *by_text; /* -> cover_file, or NULL */
static struct {
    VALUE path;
    cover_file *file;
} last;

void lines_open(void)
{
    rb_gc_register_address(&chooser);
}

void lines_set_chooser(VALUE module)
{
    chooser = module;
}

static int mark_path(st_data_t path, st_data_t file, st_data_t unused)
{
    (void)file;
    (void)unused;
    rb_gc_mark((VALUE)path);
    return ST_CONTINUE;
}

void lines_mark(void)
{
    if (by_path)
        st_foreach(by_path, mark_path, 0);
}

static int free_file(st_data_t text, st_data_t data, st_data_t unused)
{
    cover_file *file = (cover_file *)data;
    (void)unused;
    free((char *)text);
    if (file)
        free(file->functions);
    free(file);
    return ST_DELETE;
}

void lines_begin_run(void)
{
    last.path = 0;
    if (!by_path) {
        by_path = st_init_numtable();
        by_text = st_init_strtable();
    }
    st_clear(by_path);
    st_foreach(by_text, free_file, 0);
}

/* ---- files ------------------------------------------------------------------------------- */

/* @param row  [kind, name, first line, lines] of the package */
static void add_function(cover_file *file, const char *path, cover_function *c, VALUE row)
{
    VALUE lines = RARRAY_AREF(row, 3);
    int n = (int)RARRAY_LEN(lines), n_jumps = 0;
    qprof_LineInfo *table = calloc((size_t)n + 1, sizeof *table);
    qprof_JumpInfo *jumps = calloc((size_t)n + 1, sizeof *jumps);
    unsigned char *falls = calloc((size_t)n + 1, 1);
    *c = (cover_function){.kind = FIX2INT(RARRAY_AREF(row, 0)),
                          .first_line = FIX2INT(RARRAY_AREF(row, 2))};
    c->has_entry = c->kind == KIND_FILE || !recorder.has_calls;
    if (table && jumps && falls) {
        table[0] = (qprof_LineInfo){-1, c->first_line};
        if (c->has_entry)
            jumps[n_jumps++] = (qprof_JumpInfo){QPROF_JUMP_ENTRY, 0};
        for (int i = 0; i < n; i++) {
            int line = FIX2INT(RARRAY_AREF(lines, i));
            table[i + 1] = (qprof_LineInfo){i, line};
            file->lines[line] = (cover_line){c, n_jumps};
            jumps[n_jumps++] = (qprof_JumpInfo){0, i + 1};
        }
        VALUE name = RARRAY_AREF(row, 1);
        c->id = qprof_define(StringValueCStr(name), NULL, path, table, n + 1);
        if (n_jumps)
            qprof_register_jumps(c->id, jumps, n_jumps, falls);
    }
    free(table);
    free(jumps);
    free(falls);
}

/* @param answer  [number of lines, source, rows of functions] */
static cover_file *make_file(const char *path, VALUE answer)
{
    VALUE source = RARRAY_AREF(answer, 1), rows = RARRAY_AREF(answer, 2);
    size_t n_lines = (size_t)FIX2INT(RARRAY_AREF(answer, 0)) + 1;
    int n = (int)RARRAY_LEN(rows);
    cover_file *file = calloc(1, sizeof *file + n_lines * sizeof *file->lines);
    if (!file || !(file->functions = calloc((size_t)n + 1, sizeof *file->functions))) {
        free(file);
        return NULL;
    }
    file->n_lines = (int)n_lines;
    file->n_functions = n;
    qprof_register_source(path, RSTRING_PTR(source), (size_t)RSTRING_LEN(source));
    for (int i = 0; i < n; i++)
        add_function(file, path, &file->functions[i], RARRAY_AREF(rows, i));
    return file;
}

static VALUE ask(VALUE path)
{
    return rb_funcall(chooser, rb_intern("file"), 1, path);
}

cover_file *lines_file(VALUE path)
{
    st_data_t file = 0;
    int state = 0;
    if (st_lookup(by_path, (st_data_t)path, &file))
        return (cover_file *)file;
    const char *text = RSTRING_PTR(path);
    if (!st_lookup(by_text, (st_data_t)text, &file)) {
        VALUE answer = rb_protect(ask, path, &state);
        if (state) {
            recorder.pending = state;
            return NULL;
        }
        if (!st_lookup(by_text, (st_data_t)text,
                       &file)) { /* no other thread was here meanwhile */
            char *key = strdup(text);
            if (!key)
                return NULL;
            if (RB_TYPE_P(answer, RUBY_T_ARRAY))
                file = (st_data_t)make_file(text, answer);
            st_insert(by_text, (st_data_t)key, file);
        }
    }
    st_insert(by_path, (st_data_t)path, file);
    return (cover_file *)file;
}

/* Of several blocks on one line, the first one that has no name of a call yet. */
cover_function *lines_function(cover_file *file, int kind, int first_line)
{
    cover_function *found = NULL;
    for (int i = 0; i < file->n_functions; i++) {
        cover_function *c = &file->functions[i];
        if (c->first_line == first_line && c->kind == kind && (!found || found->is_claimed))
            found = c;
    }
    return found || kind != KIND_METHOD ? found : lines_function(file, KIND_BLOCK, first_line);
}

/* ---- counters ---------------------------------------------------------------------------- */

static uint64_t *counters_of(cover_function *c, const fiber *f)
{
    uint32_t changes = qprof_changes()[0];
    if (recorder.changes != changes) {
        recorder.wants = qprof_wants();
        recorder.changes = changes;
    }
    if (c->counted_by != f->thread->number || c->changes != changes) {
        c->counters = qprof_counter_bank(c->id);
        c->counted_by = f->thread->number;
        c->changes = changes;
    }
    return c->counters;
}

static int is_counting(const fiber *f)
{
    if (!recorder.is_recording)
        return 0;
    return !(recorder.wants & QPROF_WANT_GATE) || qprof_is_counting(f->stack.th);
}

void lines_enter(cover_function *c, const fiber *f)
{
    uint64_t *counters = c->has_entry && is_counting(f) ? counters_of(c, f) : NULL;
    if (counters)
        counters[0]++;
}

void lines_execute(rb_trace_arg_t *arg, const fiber *f)
{
    VALUE path = rb_tracearg_path(arg);
    if (path != last.path) {
        if (!RB_TYPE_P(path, RUBY_T_STRING))
            return;
        cover_file *file = lines_file(path);
        last.path = path;
        last.file = file;
    }
    unsigned line = (unsigned)FIX2INT(rb_tracearg_lineno(arg));
    if (!last.file || line >= (unsigned)last.file->n_lines)
        return;
    const cover_line *at = &last.file->lines[line];
    if (!at->function || !is_counting(f))
        return;
    if (at->function->kind == KIND_FILE && !at->function->is_claimed) {
        at->function->is_claimed = 1;
        lines_enter(at->function, f);
    }
    uint64_t *counters = counters_of(at->function, f);
    if (counters)
        counters[at->counter]++;
}

/* ---- files that are not loaded ----------------------------------------------------------- */

VALUE lines_add_file(VALUE self, VALUE path)
{
    (void)self;
    path = rb_str_freeze(rb_str_dup(rb_str_to_str(path)));
    if (recorder.is_on && recorder.has_lines)
        lines_file(path);
    if (recorder.pending) {
        int state = recorder.pending;
        recorder.pending = 0;
        rb_jump_tag(state);
    }
    return Qnil;
}
