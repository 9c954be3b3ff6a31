/* profile.c: the functions of mruby/profile.h that are not in line: names, lines, fibers. */
#include <mruby.h>
#include <mruby/class.h>
#include <mruby/irep.h>
#include <mruby/opcode.h>
#include <mruby/presym.h>
#include <mruby/string.h>
#include <mruby/variable.h>
#include <mruby/version.h>

#include <mruby/debug.h>
#include <mruby/profile.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ---------------------------------------------------------------------- */

/* The script is the first word that is neither an option of mruby nor its value. */
void mrb_profile_program(int n, char **arguments)
{
    int i = 1;
    while (i < n && arguments[i][0] == '-' && arguments[i][1] &&
           strcmp(arguments[i], "--") != 0) {
        mrb_bool has_value =
            arguments[i][1] && strchr("er", arguments[i][1]) && !arguments[i][2];
        if (arguments[i][1] == 'e')
            return;
        i += has_value ? 2 : 1;
    }
    if (i < n)
        qprof_set_program(arguments[i], n - i - 1, (const char *const *)arguments + i + 1,
                          "mruby " MRUBY_RUBY_VERSION);
}

void mrb_profile_open(mrb_state *mrb)
{
    mrb_profile *p = (mrb_profile *)calloc(1, sizeof *p);
    if (!p)
        return;
    if (qprof_vm_open(&p->vm, NULL) > 0) {
        p->changes = *qprof_changes();
        mrb->profile = p;
        return;
    }
    free(p);
}

void mrb_profile_close(mrb_state *mrb)
{
    mrb_profile *p = mrb->profile;
    if (!p)
        return;
    mrb->profile = NULL;
    qprof_vm_close(&p->vm);
    for (size_t i = 0; i < MRB_PROFILE_BUCKETS; i++) {
        while (p->buckets[i]) {
            mrb_profile_code *code = p->buckets[i];
            p->buckets[i] = code->next;
            free(code->blocks);
            free(code);
        }
    }
    free(p);
}

/* ---- names ------------------------------------------------------------------------------- */

/* They are made without mruby's strings: recording allocates nothing in its heap. */
typedef struct {
    char text[256];
    size_t n;
} name;

static void add(name *to, const char *text, size_t n)
{
    if (n > sizeof to->text - 1 - to->n)
        n = sizeof to->text - 1 - to->n;
    memcpy(to->text + to->n, text, n);
    to->text[to->n += n] = '\0';
}

static void add_symbol(mrb_state *mrb, name *to, mrb_sym symbol)
{
    char saved[sizeof mrb->symbuf]; /* the text of another one, which C code may still read */
    mrb_int n = 0;
    const char *text;
    memcpy(saved, mrb->symbuf, sizeof saved);
    text = mrb_sym_name_len(mrb, symbol, &n);
    add(to, text ? text : "?", text ? (size_t)n : 1);
    memcpy(mrb->symbuf, saved, sizeof saved);
}

static void add_class(mrb_state *mrb, name *to, struct RClass *c)
{
    mrb_value path = mrb_obj_iv_get(mrb, (struct RObject *)c, MRB_SYM(__classname__));
    if (mrb_symbol_p(path))
        add_symbol(mrb, to, mrb_symbol(path));
    else if (mrb_string_p(path))
        add(to, RSTRING_PTR(path), (size_t)RSTRING_LEN(path));
    else
        add(to, "(anonymous)", 11);
}

/* "Array#each"; "File.open": a method of the class itself */
static void add_method(mrb_state *mrb, name *to, struct RClass *c, mrb_sym method)
{
    const char *sign = "#";
    if (c && c->tt == MRB_TT_ICLASS)
        c = c->c;
    if (c && c->tt == MRB_TT_SCLASS) {
        mrb_value owner = mrb_obj_iv_get(mrb, (struct RObject *)c, MRB_SYM(__attached__));
        sign = ".";
        if (mrb_class_p(owner) || mrb_module_p(owner)) {
            c = mrb_class_ptr(owner);
        } else { /* a method of one object */
            c = mrb_class_real(c);
            sign = "#";
        }
    }
    if (c) {
        add_class(mrb, to, c);
        add(to, sign, 1);
    }
    add_symbol(mrb, to, method);
}

static void name_code(mrb_state *mrb, name *to, const mrb_callinfo *ci, uintptr_t kind)
{
    struct RClass *c = mrb_vm_ci_target_class(ci);
    const struct RProc *proc = ci->proc;
    mrb_sym method = ci->mid;
    if (kind == MRB_PROFILE_RUBY) { /* blocks in a fiber have only the scopes around them */
        for (const struct RProc *p = proc; p && !(method && c) && !MRB_PROC_SCOPE_P(p);
             p = p->upper) {
            if (!method && MRB_PROC_ENV_P(p))
                method = MRB_PROC_ENV(p)->mid;
            if (!c)
                c = MRB_PROC_TARGET_CLASS(p);
        }
    }
    if (kind == MRB_PROFILE_BLOCK) {
        add(to, "C block in ", 11);
    } else if (kind == MRB_PROFILE_RUBY && proc && !MRB_PROC_SCOPE_P(proc) &&
               (proc->upper || MRB_PROC_ENV_P(proc))) {
        add(to, "block in ", 9);
    } else if (kind == MRB_PROFILE_RUBY && !method) {
        if (!c || c == mrb->object_class) {
            add(to, "<main>", 6);
        } else {
            add(to, c->tt == MRB_TT_MODULE ? "<module:" : "<class:",
                c->tt == MRB_TT_MODULE ? 8 : 7);
            add_class(mrb, to, c);
            add(to, ">", 1);
        }
        return;
    }
    if (method)
        add_method(mrb, to, c, method);
    else
        add(to, "<main>", 6);
}

/* ---- lines ------------------------------------------------------------------------------- */

enum { Z, B, BB, BBB, BS, BSS, S, W };

static size_t size_of(const mrb_code *code, size_t *n_prefix)
{
    static const unsigned char formats[] = {
#define OPCODE(name, format) format,
#include <mruby/ops.h>
#undef OPCODE
    };
    static const unsigned char sizes[] = {1, 2, 3, 4, 4, 6, 3, 4};
    size_t wide = *code == OP_EXT1 ? 1 : *code == OP_EXT2 ? 2 : *code == OP_EXT3 ? 3 : 0, n;
    unsigned char format;
    *n_prefix = wide != 0;
    format = formats[code[*n_prefix]];
    n = *n_prefix + sizes[format];
    if (format >= B && format <= BSS)
        n += (wide & 1) + (wide > 1 && (format == BB || format == BBB));
    return n;
}

/* A block begins at each instruction where a line begins, to which code jumps, or that follows a jump. */
static void find_blocks(mrb_state *mrb, mrb_profile_code *code, const mrb_irep *irep,
                        qprof_LineInfo *lines, int *n_lines)
{
    int32_t line = -1;
    size_t prefix;
    const struct mrb_irep_catch_handler *handlers = mrb_irep_catch_handler_table(irep);
    for (size_t at = 0, n; at < irep->ilen; at += n) {
        mrb_code op;
        n = size_of(irep->iseq + at, &prefix);
        op = irep->iseq[at + prefix];
        if (op == OP_JMP || op == OP_JMPUW || op == OP_JMPIF || op == OP_JMPNOT ||
            op == OP_JMPNIL) {
            const mrb_code *end = irep->iseq + at + n;
            size_t target = at + n + (size_t)(int16_t)(end[-2] << 8 | end[-1]);
            if (target < irep->ilen)
                code->blocks[target] = 1;
            if (at + n < irep->ilen)
                code->blocks[at + n] = 1;
        }
    }
    for (size_t i = 0; i < irep->clen; i++) {
        const uint8_t *t = handlers[i].target;
        size_t target = (size_t)t[0] << 24 | (size_t)t[1] << 16 | (size_t)t[2] << 8 | t[3];
        if (target < irep->ilen)
            code->blocks[target] = 1;
    }
    for (size_t at = 0; at < irep->ilen; at += size_of(irep->iseq + at, &prefix)) {
        int32_t here = mrb_debug_get_line(mrb, irep, (uint32_t)at);
        if (at && here == line && !code->blocks[at])
            continue;
        lines[(*n_lines)++] = (qprof_LineInfo){(int)at, here};
        code->blocks[at] = (uint32_t)*n_lines;
        line = here;
    }
}

/* ---- code -------------------------------------------------------------------------------- */

static mrb_bool *class_flag(mrb_profile *p, const void *c)
{
    return &p->has_class[((uintptr_t)c >> 4) % 256];
}

static mrb_profile_code *define(mrb_state *mrb, const mrb_callinfo *ci, const void *key,
                                uintptr_t method)
{
    static mrb_profile_code none; /* there is no memory */
    mrb_profile_code *code = (mrb_profile_code *)calloc(1, sizeof *code);
    const mrb_irep *irep = method == MRB_PROFILE_RUBY ? (const mrb_irep *)key : NULL;
    const char *file = irep ? mrb_debug_get_filename(mrb, irep, 0) : NULL;
    name text = {"", 0};
    qprof_LineInfo *lines = NULL;
    int n_lines = 0;
    if (!code)
        return &none;
    code->key = key;
    code->method = method;
    if (file) {
        code->iseq = irep->iseq;
        code->blocks = (uint32_t *)calloc(irep->ilen + 1, sizeof *code->blocks);
        lines = (qprof_LineInfo *)calloc(irep->ilen + 1, sizeof *lines);
        if (code->blocks && lines)
            find_blocks(mrb, code, irep, lines, &n_lines);
    }
    name_code(mrb, &text, ci, method);
    code->id = qprof_define(text.text, NULL, file, lines, n_lines);
    if (n_lines > 0)
        code->counters = qprof_counter_bank(code->id);
    mrb->profile->is_counting |= code->counters != NULL;
    if (method > MRB_PROFILE_BLOCK)
        *class_flag(mrb->profile, key) = TRUE;
    free(lines);
    return code;
}

/* Return the code, which is the first one of its bucket then. */
mrb_profile_code *mrb_profile_find(mrb_state *mrb, const mrb_callinfo *ci, const void *key,
                                   uintptr_t method)
{
    mrb_profile_code **bucket = &mrb->profile->buckets[mrb_profile_bucket(key, method)];
    mrb_profile_code **link = bucket, *code;
    while (*link && ((*link)->key != key || (*link)->method != method))
        link = &(*link)->next;
    code = *link;
    if (code) {
        *link = code->next;
    } else {
        uint64_t begun = qprof_work_begin();
        code = define(mrb, ci, key, method);
        qprof_work_end(begun);
        if (!code->key)
            return code;
    }
    code->next = *bucket;
    return *bucket = code;
}

/* The address may be that of other code soon: forget what is known of it in this bucket. */
static void forget(mrb_profile *p, size_t bucket, const void *key)
{
    for (mrb_profile_code **link = &p->buckets[bucket]; *link;) {
        mrb_profile_code *code = *link;
        if (code->key != key || code->method == MRB_PROFILE_BLOCK) {
            link = &code->next;
            continue;
        }
        *link = code->next;
        qprof_unload(code->id);
        free(code->blocks);
        free(code);
    }
}

/* Code is freed. */
void mrb_profile_forget_code(mrb_state *mrb, const mrb_irep *irep)
{
    if (mrb->profile)
        forget(mrb->profile, mrb_profile_bucket(irep, MRB_PROFILE_RUBY), irep);
}

/* A class is freed. */
void mrb_profile_forget_class(mrb_state *mrb, const struct RClass *c)
{
    if (!mrb->profile || !*class_flag(mrb->profile, c))
        return;
    for (size_t i = 0; i < MRB_PROFILE_BUCKETS; i++)
        forget(mrb->profile, i, c);
}

/* What is counted has changed. */
void mrb_profile_renew(mrb_profile *p)
{
    p->changes = *qprof_changes();
    p->is_counting = FALSE;
    for (size_t i = 0; i < MRB_PROFILE_BUCKETS; i++) {
        for (mrb_profile_code *code = p->buckets[i]; code; code = code->next) {
            code->counters = code->blocks ? qprof_counter_bank(code->id) : NULL;
            p->is_counting |= code->counters != NULL;
        }
    }
}

/* ---- fibers ------------------------------------------------------------------------------ */

static qprof_stack *stack_of(mrb_state *mrb, struct mrb_context *c)
{
    return c == mrb->root_c ? &mrb->profile->vm.main : &c->profile_stack;
}

void mrb_profile_fiber_new(mrb_state *mrb, struct mrb_context *c)
{
    if (mrb->profile)
        qprof_stack_create(&c->profile_stack, mrb->profile->vm.running);
}

/* It runs for the first time. */
void mrb_profile_enter_fiber(mrb_state *mrb)
{
    mrb_callinfo *ci = mrb->c->cibase;
    if (mrb->profile)
        mrb_profile_enter_key(mrb, ci, ci->proc->body.irep, MRB_PROFILE_RUBY);
}

/* It is freed; or its code has ended, or an exception leaves it, and the host switches now. */
void mrb_profile_fiber_end(mrb_state *mrb, struct mrb_context *c)
{
    if (!mrb->profile || c == mrb->root_c)
        return;
    if (mrb->profile->vm.running == &c->profile_stack)
        qprof_unwind(&c->profile_stack, 0);
    qprof_stack_end(&mrb->profile->vm, &c->profile_stack);
}

/* Another fiber runs now, mrb->c. */
void mrb_profile_switch(mrb_state *mrb)
{
    if (mrb->profile)
        qprof_switch(&mrb->profile->vm, stack_of(mrb, mrb->c));
}

/* Frames above the one that runs were dropped. */
void mrb_profile_unwind(mrb_state *mrb)
{
    if (mrb->profile && mrb->c->ci->profile_token)
        qprof_unwind(mrb->profile->vm.running, mrb->c->ci->profile_token);
}
