/* methods.c: methods, blocks and bodies become methods of the recorder when they are first called.
 *
 * An event names a class, a method, a file and a first line. A table finds what is known of these four; it
 * keeps classes that have a name. Other classes may be freed, and their places used again: what is known of
 * them is in a second table, which each collection empties. What has the same text is the same: the name that
 * reports show, file and first line. */
#include "recorder.h"

#include <ruby/st.h>
#include <stdio.h>

typedef struct {
    VALUE klass, name, path, line;
    kind kind;
    const definition *of; /* NULL: a free slot */
} known;

typedef struct {
    known *slots; /* [n_slots], open addressing, at most half full */
    size_t n_slots, n_used;
} known_table;

static known_table kept, passing;
static st_table *by_text; /* kind, name, file and first line -> definition */
static VALUE own_folder = Qnil, own_class = Qnil;
static ID id_refined, id_defined_at;
definition nothing_of_ruby, nothing_of_c;

/* ---- tables ------------------------------------------------------------------------------ */

static known *find(const known_table *t, const known *key)
{
    uint64_t hash = ((key->klass >> 3) * 0x9E3779B97F4A7C15u) ^
                    ((key->name >> 8) * 0xC2B2AE3D27D4EB4Fu) ^ key->path ^
                    (key->line * 0xD6E8FEB86659FD93u);
    size_t at = (hash ^ hash >> 29) & (t->n_slots - 1);
    for (; t->slots[at].of; at = (at + 1) & (t->n_slots - 1)) {
        const known *k = &t->slots[at];
        if (k->klass == key->klass && k->name == key->name && k->line == key->line &&
            k->path == key->path && k->kind == key->kind)
            break;
    }
    return &t->slots[at];
}

static int grow(known_table *t)
{
    known_table grown = {NULL, t->n_slots ? 2 * t->n_slots : 1024, t->n_used};
    grown.slots = calloc(grown.n_slots, sizeof *grown.slots);
    if (!grown.slots)
        return 0;
    for (size_t i = 0; i < t->n_slots; i++) {
        if (t->slots[i].of)
            *find(&grown, &t->slots[i]) = t->slots[i];
    }
    free(t->slots);
    *t = grown;
    return 1;
}

static void add(known_table *t, const known *key)
{
    if (2 * t->n_used >= t->n_slots && !grow(t))
        return;
    known *slot = find(t, key);
    if (!slot->of)
        t->n_used++;
    *slot = *key;
}

static void empty(known_table *t)
{
    if (t->n_used)
        memset(t->slots, 0, t->n_slots * sizeof *t->slots);
    t->n_used = 0;
}

/* Each collection calls it, and again at the end of a collection that was not done at once. */
static void mark(void *unused)
{
    (void)unused;
    empty(&passing);
    calls_forget_running();
    for (size_t i = 0; i < kept.n_slots; i++) {
        if (kept.slots[i].of) {
            rb_gc_mark(kept.slots[i].klass);
            rb_gc_mark(kept.slots[i].name);
            rb_gc_mark(kept.slots[i].path);
        }
    }
    lines_mark();
}

static const rb_data_type_t marker_type = {
    .wrap_struct_name = "qprof methods",
    .function = {.dmark = mark},
};

void methods_open(void)
{
    id_refined = rb_intern("__refined_class__");
    id_defined_at = rb_intern("__defined_at__");
    grow(&kept);
    grow(&passing);
    rb_gc_register_address(&own_folder);
    rb_gc_register_address(&own_class);
    rb_gc_register_mark_object(TypedData_Wrap_Struct(0, &marker_type, &kept));
}

void methods_set_own(VALUE folder, VALUE recorder_class)
{
    own_folder = folder;
    own_class = recorder_class;
}

static int free_text(st_data_t text, st_data_t of, st_data_t unused)
{
    (void)unused;
    free((char *)text);
    free((definition *)of);
    return ST_DELETE;
}

void methods_begin_run(void)
{
    empty(&kept);
    empty(&passing);
    if (by_text)
        st_foreach(by_text, free_text, 0);
    else
        by_text = st_init_strtable();
}

/* ---- names ------------------------------------------------------------------------------- */

/* Text of a string that is referenced elsewhere; up to its first zero. */
static const char *text_of(VALUE string)
{
    if (!RB_TYPE_P(string, RUBY_T_STRING))
        return "?";
    const char *text = RSTRING_PTR(string);
    if (text[RSTRING_LEN(string)] == 0)
        return text;
    return memchr(text, 0, (size_t)RSTRING_LEN(string)) ? text : StringValueCStr(string);
}

static int is_module(VALUE v)
{
    return !RB_SPECIAL_CONST_P(v) &&
           (RB_BUILTIN_TYPE(v) == RUBY_T_CLASS || RB_BUILTIN_TYPE(v) == RUBY_T_MODULE);
}

/* What a singleton class is of; Qundef: it is no singleton class */
static VALUE attached(VALUE klass)
{
    if (!is_module(klass) || RB_BUILTIN_TYPE(klass) != RUBY_T_CLASS ||
        !RB_FL_TEST(klass, RUBY_FL_SINGLETON))
        return Qundef;
#ifdef HAVE_RB_CLASS_ATTACHED_OBJECT /* from Ruby 3.2 on */
    return rb_class_attached_object(klass);
#else
    return rb_attr_get(klass, rb_intern("__attached__"));
#endif
}

/* @return nil: it is anonymous, or in a module that is */
static VALUE name_of(VALUE module)
{
    VALUE name = rb_mod_name(module);
    return NIL_P(name) || *text_of(name) == '#' ? Qnil : name;
}

/* @return whether it will always have this name, and must be kept */
static int put_class(char *out, size_t n, VALUE klass)
{
    VALUE name = name_of(klass);
    if (!NIL_P(name)) {
        snprintf(out, n, "%s", text_of(name));
        return 1;
    }
    VALUE refined = rb_attr_get(klass, id_refined), at = rb_attr_get(klass, id_defined_at);
    if (is_module(refined) && is_module(at)) {
        VALUE refined_name = name_of(refined), at_name = name_of(at);
        snprintf(out, n, "#<refinement:%s@%s>",
                 NIL_P(refined_name) ? "Class" : text_of(refined_name),
                 NIL_P(at_name) ? "Module" : text_of(at_name));
        return 0;
    }
    VALUE base = RB_BUILTIN_TYPE(klass) == RUBY_T_CLASS ? rb_class_superclass(klass) : Qnil;
    VALUE base_name = NIL_P(base) ? Qnil : name_of(base);
    if (NIL_P(base_name))
        snprintf(out, n, "%s",
                 RB_BUILTIN_TYPE(klass) == RUBY_T_CLASS ? "#<Class>" : "#<Module>");
    else
        snprintf(out, n, "#<Class:%s>", text_of(base_name));
    return 0;
}

/* Foo#bar, Foo.bar of a module's own method, #<Foo>.bar of another object's.
 * @return whether the class must be kept */
static int put_method(char *out, size_t n, VALUE klass, VALUE name)
{
    char owner[256] = "";
    const char *method = SYMBOL_P(name) ? rb_id2name(rb_sym2id(name)) : NULL;
    VALUE of = attached(klass);
    int is_kept = 1;
    if (of != Qundef && is_module(of)) {
        is_kept = put_class(owner, sizeof owner, of);
        snprintf(out, n, "%s.%s", owner, method ? method : "?");
    } else if (of != Qundef) {
        VALUE real = rb_obj_class(of);
        put_class(owner, sizeof owner, real);
        snprintf(out, n, "#<%s>.%s", owner, method ? method : "?");
        is_kept = 0;
    } else if (is_module(klass)) {
        is_kept = put_class(owner, sizeof owner, klass);
        snprintf(out, n, "%s#%s", owner, method ? method : "?");
    } else {
        snprintf(out, n, "%s", method ? method : "?");
    }
    return is_kept;
}

static const char *label_of_top(void)
{
    VALUE frame, label;
    int line;
    if (rb_profile_frames(0, 1, &frame, &line) != 1)
        return "?";
    label = rb_profile_frame_label(frame);
    return RB_TYPE_P(label, RUBY_T_STRING) ? text_of(label) : "?";
}

static int put_name(char *out, size_t n, const known *key, VALUE self)
{
    int is_kept = 1;
    if (key->kind == KIND_BLOCK && SYMBOL_P(key->name)) {
        char method[280];
        is_kept = put_method(method, sizeof method, key->klass, key->name);
        snprintf(out, n, "block in %s", method);
    } else if (key->kind == KIND_BODY && is_module(self) && !NIL_P(name_of(self))) {
        VALUE name = name_of(self);
        snprintf(out, n, "<%s:%s>", RB_BUILTIN_TYPE(self) == RUBY_T_CLASS ? "class" : "module",
                 text_of(name));
    } else if (key->kind == KIND_BLOCK || key->kind == KIND_BODY) {
        snprintf(out, n, "%s", label_of_top());
    } else {
        is_kept = put_method(out, n, key->klass, key->name);
    }
    return is_kept;
}

/* ---- definitions ------------------------------------------------------------------------- */

/* @param name  as reports show it. @return NULL: no memory */
static definition *define(const char *name, int kind, VALUE path, int line)
{
    char text[1024];
    const char *file = RB_TYPE_P(path, RUBY_T_STRING) ? text_of(path) : NULL;
    cover_file *covered = recorder.has_lines && file ? lines_file(path) : NULL;
    st_data_t found;
    snprintf(text, sizeof text, "%d %d %s %s", kind, line, name, file ? file : "");
    if (st_lookup(by_text, (st_data_t)text, &found))
        return (definition *)found;
    definition *d = calloc(1, sizeof *d);
    char *key = d ? strdup(text) : NULL;
    if (!key) {
        free(d);
        return NULL;
    }
    if (covered)
        d->cover = lines_function(covered, kind, line);
    if (d->cover && !d->cover->is_claimed) {
        d->cover->is_claimed = 1;
        d->id = d->cover->id;
        qprof_rename(d->id, name, NULL);
    } else {
        const qprof_LineInfo declared = {-1, line};
        d->id = qprof_define(name, NULL, file, file ? &declared : NULL, file != NULL);
    }
    st_insert(by_text, (st_data_t)key, (st_data_t)d);
    return d;
}

static int is_own(VALUE path)
{
    return RB_TYPE_P(path, RUBY_T_STRING) && RB_TYPE_P(own_folder, RUBY_T_STRING) &&
           RSTRING_LEN(path) > RSTRING_LEN(own_folder) &&
           memcmp(RSTRING_PTR(path), RSTRING_PTR(own_folder),
                  (size_t)RSTRING_LEN(own_folder)) == 0;
}

static const definition *define_own(const known *key)
{
    static const definition unrecorded;
    if (recorder.scratch && key->name == ID2SYM(rb_intern("nothing")))
        return key->kind == KIND_C ? &nothing_of_c : &nothing_of_ruby;
    return &unrecorded;
}

static char creates_thread(const known *key)
{
    VALUE of = attached(key->klass);
    if (key->kind != KIND_C || !SYMBOL_P(key->name))
        return CREATES_NOTHING;
    if (key->klass == rb_cThread && key->name == ID2SYM(rb_intern("initialize")))
        return CREATES_SELF;
    if (of == rb_cThread &&
        (key->name == ID2SYM(rb_intern("start")) || key->name == ID2SYM(rb_intern("fork"))))
        return CREATES_RESULT;
    return CREATES_NOTHING;
}

static __attribute__((noinline)) const definition *meet(known *key, VALUE self)
{
    char name[560];
    uint64_t begun = qprof_work_begin();
    int is_kept = 1;
    if (is_own(key->path) || attached(key->klass) == own_class) {
        key->of = define_own(key);
    } else {
        is_kept = put_name(name, sizeof name, key, self);
        definition *d = define(name, key->kind, key->path, FIX2INT(key->line));
        if (d && !d->creates_thread)
            d->creates_thread = creates_thread(key);
        key->of = d;
    }
    if (key->of)
        add(is_kept ? &kept : &passing, key);
    qprof_work_end(begun);
    return key->of;
}

const definition *method_of(rb_trace_arg_t *arg, kind kind)
{
    known key = {.klass = Qnil, .name = Qnil, .path = Qnil, .line = INT2FIX(0), .kind = kind};
    if (kind != KIND_BODY) {
        key.klass = rb_tracearg_defined_class(arg);
        key.name = rb_tracearg_method_id(arg);
    }
    if (kind != KIND_C) {
        key.line = rb_tracearg_lineno(arg);
        key.path = rb_tracearg_path(arg);
    }
    const known *found = find(&kept, &key);
    if (!found->of)
        found = find(&passing, &key);
    return found->of ? found->of : meet(&key, rb_tracearg_self(arg));
}

/* ---- frames that are open already -------------------------------------------------------- */

const definition *method_of_frame(VALUE frame, int *kind)
{
    char name[560];
    VALUE label = rb_profile_frame_label(frame), method = rb_profile_frame_method_name(frame);
    VALUE path = rb_profile_frame_path(frame), line = rb_profile_frame_first_lineno(frame);
    VALUE owner = rb_profile_frame_classpath(frame);
    int is_c = NIL_P(path), first_line = FIXNUM_P(line) ? FIX2INT(line) : 0;
    if (is_own(path) ||
        (RB_TYPE_P(owner, RUBY_T_STRING) && strcmp(text_of(owner), "Qprof::Recorder") == 0))
        return NULL;
    if (RB_TYPE_P(method, RUBY_T_STRING) && RB_TYPE_P(owner, RUBY_T_STRING)) {
        int is_singleton = RTEST(rb_profile_frame_singleton_method_p(frame));
        snprintf(name, sizeof name, "%s%s%s", text_of(owner), is_singleton ? "." : "#",
                 text_of(method));
        *kind = is_c ? KIND_C : KIND_METHOD;
    } else {
        snprintf(name, sizeof name, "%s",
                 RB_TYPE_P(label, RUBY_T_STRING) ? text_of(label) : "?");
        *kind = strncmp(name, "block ", 6) == 0                                 ? KIND_BLOCK
                : strcmp(name, "<main>") == 0 || strncmp(name, "<top ", 5) == 0 ? KIND_FILE
                                                                                : KIND_BODY;
        first_line += *kind == KIND_FILE && first_line == 0;
    }
    return define(name, *kind, path, first_line);
}

const definition *method_main(const char *file)
{
    return define("<main>", KIND_FILE, rb_str_new_cstr(file), 1);
}
