/* minivm.c: a small virtual machine, whole: functions, natives, errors, tail calls, coroutines and a
 * collector. docs/embedding.md adds the hooks of the recorder to it; minivm.patch is all of them.
 *
 *     minivm FILE...    runs each program in a machine of its own, and prints what main returns
 *
 * A program is functions; a statement is a line. See the programs beside this file.
 *
 *     function NAME PARAMETER... / end       while E / end        if E / else / end
 *     NAME = E      return E      yield E    try / catch / end    throw E
 *
 * E is numbers, names, ( ) + - * < = and calls f(E, ...); "return f(...)" is a tail call. Natives:
 * print(x) pair(a, b) first(p) second(p) resume(c) is_done(c) apply(x) collect() fail(x), and
 * spawn f(E, ...), a coroutine that will run f. apply(x) calls the function "applied" from C. */
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 32, CODE = 400, FUNCTIONS = 64, STACK = 4000, FRAMES = 500, HANDLERS = 50 };
enum { GC_EVERY = 100, NATIVES = 9 };

typedef enum {
    PUSH,
    LOAD,
    STORE,
    POP,
    ADD,
    SUB,
    MUL,
    LESS,
    EQUAL,
    JUMP,
    JUMP_UNLESS,
    CALL,
    TAIL_CALL,
    CALL_NATIVE,
    SPAWN,
    RETURN,
    YIELD,
    TRY,
    END_TRY,
    THROW
} operation;

typedef struct object object;
typedef struct {
    object *o; /* NULL: a number */
    long n;
} value;

typedef struct {
    operation op;
    int a, n, line; /* operand; number of arguments */
} instruction;

typedef struct {
    char name[NAMES];
    int n_parameters, n_locals, n_code;
    char locals[NAMES][NAMES];
    instruction code[CODE];
} function;

typedef struct {
    const function *f;
    int pc, base; /* first local, in the stack of values */
} frame;

typedef struct {
    int n_frames, pc, n_values;
} handler;

typedef struct coroutine {
    value values[STACK];
    frame frames[FRAMES];
    handler handlers[HANDLERS];
    int n_values, n_frames, n_handlers, is_done;
    struct coroutine *resumer;
} coroutine;

struct object {
    object *next;
    int is_marked;
    value first, second;  /* of a pair */
    coroutine *coroutine; /* NULL: a pair */
};

typedef struct vm {
    const char *file;
    int n_functions;
    function functions[FUNCTIONS];
    object *objects;
    int n_since_gc;
    coroutine *running;
    jmp_buf *catcher; /* of native code that fails */
    value error;
} vm;

static value run(vm *m, int floor);

static void die(const vm *m, int line, const char *what, const char *name)
{
    fprintf(stderr, "minivm: %s:%d: %s %s\n", m->file, line, what, name);
    exit(1);
}

/* ---- the collector ----------------------------------------------------------------------- */

static void mark_coroutine(coroutine *c);

static void mark(value v)
{
    for (; v.o && !v.o->is_marked; v = v.o->second) {
        v.o->is_marked = 1;
        mark(v.o->first);
        if (v.o->coroutine)
            mark_coroutine(v.o->coroutine);
    }
}

static void mark_coroutine(coroutine *c)
{
    for (int i = 0; i < c->n_values; i++)
        mark(c->values[i]);
}

static void free_object(vm *m, object *o)
{
    (void)m;
    free(o->coroutine);
    free(o);
}

static void collect(vm *m)
{
    for (coroutine *c = m->running; c; c = c->resumer)
        mark_coroutine(c);
    for (object **link = &m->objects; *link;) {
        object *o = *link;
        if (o->is_marked) {
            o->is_marked = 0;
            link = &o->next;
        } else {
            *link = o->next;
            free_object(m, o);
        }
    }
    m->n_since_gc = 0;
}

static object *allocate(vm *m)
{
    object *o = calloc(1, sizeof *o);
    if (!o)
        exit(1);
    if (m->n_since_gc++ == GC_EVERY)
        collect(m);
    o->next = m->objects;
    return m->objects = o;
}

/* ---- coroutines -------------------------------------------------------------------------- */

static coroutine *new_coroutine(vm *m)
{
    coroutine *c = calloc(1, sizeof *c);
    (void)m;
    if (!c)
        exit(1);
    return c;
}

static value resume(vm *m, coroutine *c)
{
    value result;
    c->resumer = m->running;
    m->running = c;
    result = run(m, 0);
    m->running = c->resumer;
    c->resumer = NULL;
    return result;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* The arguments are on top of the stack of values; they become the first locals. */
static void enter(vm *m, const function *f)
{
    coroutine *c = m->running;
    frame *to = &c->frames[c->n_frames++];
    if (c->n_frames == FRAMES || c->n_values > STACK - 100)
        die(m, f->code[0].line, "stack overflow in", f->name);
    *to = (frame){.f = f, .base = c->n_values - f->n_parameters};
    c->n_values = to->base + f->n_locals;
    memset(&c->values[to->base + f->n_parameters], 0,
           (size_t)(f->n_locals - f->n_parameters) * sizeof(value));
}

static void leave(vm *m, value result)
{
    coroutine *c = m->running;
    c->n_frames--;
    c->n_values = c->frames[c->n_frames].base;
    c->values[c->n_values++] = result;
}

static void tail_call(vm *m, const function *f)
{
    coroutine *c = m->running;
    frame *at = &c->frames[c->n_frames - 1];
    memmove(&c->values[at->base], &c->values[c->n_values - f->n_parameters],
            (size_t)f->n_parameters * sizeof(value));
    c->n_values = at->base + f->n_parameters;
    c->n_frames--;
    enter(m, f);
}

/* An error: continue at the innermost handler of the frames above `floor`. */
static int catch_error(vm *m, int floor)
{
    coroutine *c = m->running;
    const handler *h = &c->handlers[c->n_handlers - 1];
    if (!c->n_handlers || h->n_frames <= floor)
        return 0;
    c->n_handlers--;
    c->n_frames = h->n_frames;
    c->n_values = h->n_values;
    c->frames[c->n_frames - 1].pc = h->pc;
    return 1;
}

/* Call a function from C. */
static value call(vm *m, const char *name, value argument)
{
    for (int i = 0; i < m->n_functions; i++) {
        const function *f = &m->functions[i];
        if (strcmp(f->name, name) != 0)
            continue;
        if (f->n_parameters)
            m->running->values[m->running->n_values++] = argument;
        enter(m, f);
        return run(m, m->running->n_frames - 1);
    }
    die(m, 0, "no function", name);
    return argument;
}

/* ---- natives ----------------------------------------------------------------------------- */

static void fail(vm *m, value error)
{
    m->error = error;
    longjmp(*m->catcher, 1);
}

static value native_print(vm *m, const value *v)
{
    (void)m;
    printf("%ld\n", v[0].n);
    return v[0];
}

static value native_pair(vm *m, const value *v)
{
    object *o = allocate(m);
    o->first = v[0];
    o->second = v[1];
    return (value){.o = o};
}

static value native_first(vm *m, const value *v)
{
    (void)m;
    return v[0].o ? v[0].o->first : v[0];
}

static value native_second(vm *m, const value *v)
{
    (void)m;
    return v[0].o ? v[0].o->second : v[0];
}

static value native_resume(vm *m, const value *v)
{
    if (!v[0].o || !v[0].o->coroutine || v[0].o->coroutine->is_done)
        fail(m, v[0]);
    return resume(m, v[0].o->coroutine);
}

static value native_is_done(vm *m, const value *v)
{
    (void)m;
    return (value){.n = !v[0].o || !v[0].o->coroutine || v[0].o->coroutine->is_done};
}

static value native_apply(vm *m, const value *v)
{
    return call(m, "applied", v[0]);
}

static value native_collect(vm *m, const value *v)
{
    (void)v;
    collect(m);
    return (value){0};
}

static value native_fail(vm *m, const value *v)
{
    fail(m, v[0]);
    return v[0];
}

typedef struct {
    const char *name;
    value (*call)(vm *m, const value *v);
    int n_parameters;
} native;

static const native natives[NATIVES] = {
    {"print", native_print, 1},   {"pair", native_pair, 2},
    {"first", native_first, 1},   {"second", native_second, 1},
    {"resume", native_resume, 1}, {"is_done", native_is_done, 1},
    {"apply", native_apply, 1},   {"collect", native_collect, 0},
    {"fail", native_fail, 1},
};

static value call_native(vm *m, int number)
{
    coroutine *c = m->running;
    const native *n = &natives[number];
    value result = n->call(m, &c->values[c->n_values - n->n_parameters]);
    c->n_values -= n->n_parameters;
    return result;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static value arithmetic(operation op, value a, value b)
{
    long n = op == ADD    ? a.n + b.n
             : op == SUB  ? a.n - b.n
             : op == MUL  ? a.n * b.n
             : op == LESS ? a.n < b.n
                          : a.n == b.n && a.o == b.o;
    return (value){.n = n};
}

/* A coroutine that will run a function: its arguments are on top of the stack. */
static void spawn(vm *m, const function *f)
{
    coroutine *from = m->running, *c = new_coroutine(m);
    object *o = allocate(m);
    o->coroutine = c;
    from->n_values -= f->n_parameters;
    memcpy(c->values, &from->values[from->n_values], (size_t)f->n_parameters * sizeof(value));
    c->n_values = f->n_parameters;
    c->frames[0].f = f; /* entered when it is resumed */
    from->values[from->n_values++] = (value){.o = o};
}

/* Execute frames until only `floor` are left, or the coroutine yields.
 * @return what the last one returned, or the value that was yielded */
static value run(vm *m, int floor)
{
    jmp_buf here, *outer = m->catcher;
    coroutine *volatile self = m->running;
    if (!self->n_frames)
        enter(m, self->frames[0].f);
    m->catcher = &here;
    if (setjmp(here)) {
        m->running = self;
        if (!catch_error(m, floor)) {
            m->catcher = outer;
            self->n_frames = floor;
            self->is_done |= !floor;
            if (!outer)
                die(m, 0, "an error was not caught", "");
            longjmp(*outer, 1);
        }
    }
    for (;;) {
        coroutine *c = self;
        frame *at = &c->frames[c->n_frames - 1];
        const instruction *i = &at->f->code[at->pc++];
        value *top = c->values + (c->n_values ? c->n_values - 1 : 0), result;
        switch (i->op) {
        case PUSH:
            c->values[c->n_values++] = (value){.n = i->a};
            break;
        case LOAD:
            c->values[c->n_values++] = c->values[at->base + i->a];
            break;
        case STORE:
            c->values[at->base + i->a] = *top;
            c->n_values--;
            break;
        case POP:
            c->n_values--;
            break;
        case ADD:
        case SUB:
        case MUL:
        case LESS:
        case EQUAL:
            top[-1] = arithmetic(i->op, top[-1], *top);
            c->n_values--;
            break;
        case JUMP:
            at->pc = i->a;
            break;
        case JUMP_UNLESS:
            c->n_values--;
            at->pc = top->n ? at->pc : i->a;
            break;
        case CALL:
            enter(m, &m->functions[i->a]);
            break;
        case TAIL_CALL:
            tail_call(m, &m->functions[i->a]);
            break;
        case CALL_NATIVE:
            result = call_native(m, i->a);
            c->values[c->n_values++] = result;
            break;
        case SPAWN:
            spawn(m, &m->functions[i->a]);
            break;
        case TRY:
            c->handlers[c->n_handlers++] = (handler){c->n_frames, i->a, c->n_values};
            break;
        case END_TRY:
            c->n_handlers--;
            break;
        case THROW:
            fail(m, *top);
            break;
        case YIELD:
            m->catcher = outer;
            c->n_values--; /* the resumer gives nothing: the statement ends */
            return *top;
        case RETURN:
            result = *top;
            leave(m, result);
            if (c->n_frames > floor)
                break;
            c->n_values--;
            c->is_done |= !floor;
            m->catcher = outer;
            return result;
        }
    }
}

/* ---- the compiler ------------------------------------------------------------------------ */

typedef struct {
    vm *m;
    function *f;
    const char *at;
    int line;
} parser;

static int emit(parser *p, operation op, int a, int n)
{
    if (p->f->n_code == CODE)
        die(p->m, p->line, "too long:", p->f->name);
    p->f->code[p->f->n_code] = (instruction){.op = op, .a = a, .n = n, .line = p->line};
    return p->f->n_code++;
}

static int accept(parser *p, const char *word)
{
    size_t n = strlen(word);
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
    if (strncmp(p->at, word, n) != 0 ||
        (isalpha(*word) && (isalnum(p->at[n]) || p->at[n] == '_')))
        return 0;
    p->at += n;
    return 1;
}

static int name_in(parser *p, char *name)
{
    int n = 0;
    accept(p, "");
    while ((isalpha(*p->at) || *p->at == '_' || (n && isdigit(*p->at))) && n < NAMES - 1)
        name[n++] = *p->at++;
    name[n] = '\0';
    return n;
}

static int find_local(parser *p, const char *name)
{
    function *f = p->f;
    for (int i = 0; i < f->n_locals; i++)
        if (strcmp(f->locals[i], name) == 0)
            return i;
    if (f->n_locals == NAMES)
        die(p->m, p->line, "too many names:", name);
    strcpy(f->locals[f->n_locals], name);
    return f->n_locals++;
}

/* A function may be called before it is defined. */
static int find_function(parser *p, const char *name)
{
    vm *m = p->m;
    for (int i = 0; i < m->n_functions; i++)
        if (strcmp(m->functions[i].name, name) == 0)
            return i;
    if (m->n_functions == FUNCTIONS)
        die(m, p->line, "too many functions:", name);
    strcpy(m->functions[m->n_functions].name, name);
    return m->n_functions++;
}

static void expression(parser *p);

static void arguments(parser *p, const char *name, int is_spawn)
{
    int n = 0, number = 0;
    while (!accept(p, ")")) {
        expression(p);
        n++;
        accept(p, ",");
        if (!*p->at)
            die(p->m, p->line, "no ) after", name);
    }
    while (number < NATIVES && strcmp(natives[number].name, name) != 0)
        number++;
    if (number < NATIVES && !is_spawn)
        emit(p, CALL_NATIVE, number, n);
    else
        emit(p, is_spawn ? SPAWN : CALL, find_function(p, name), n);
}

static void primary(parser *p)
{
    char name[NAMES];
    if (accept(p, "(")) {
        expression(p);
        accept(p, ")");
    } else if (isdigit(*p->at)) {
        emit(p, PUSH, (int)strtol(p->at, (char **)&p->at, 10), 0);
    } else {
        int is_spawn = accept(p, "spawn");
        if (!name_in(p, name))
            die(p->m, p->line, "an expression is missing before", p->at);
        if (accept(p, "("))
            arguments(p, name, is_spawn);
        else
            emit(p, LOAD, find_local(p, name), 0);
    }
}

static void expression(parser *p)
{
    static const struct {
        const char *sign;
        operation op;
    } signs[] = {{"+", ADD}, {"-", SUB}, {"*", MUL}, {"<", LESS}, {"=", EQUAL}};
    primary(p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (accept(p, signs[i].sign)) {
            primary(p); /* from left to right, without precedence */
            emit(p, signs[i].op, 0, 0);
            i = (size_t)-1;
        }
    }
}

static int next_line(parser *p, FILE *in)
{
    static char text[200];
    p->at = text;
    p->line++;
    if (!fgets(text, sizeof text, in))
        return 0;
    text[strcspn(text, "#\n")] = '\0';
    return 1;
}

static void block(parser *p, FILE *in);

static void if_block(parser *p, FILE *in)
{
    int skip, to_end = -1;
    expression(p);
    skip = emit(p, JUMP_UNLESS, 0, 0);
    block(p, in);
    if (accept(p, "else")) {
        to_end = emit(p, JUMP, 0, 0);
        p->f->code[skip].a = p->f->n_code;
        block(p, in);
    }
    p->f->code[to_end < 0 ? skip : to_end].a = p->f->n_code;
}

static void while_block(parser *p, FILE *in)
{
    int start = p->f->n_code, out;
    expression(p);
    out = emit(p, JUMP_UNLESS, 0, 0);
    block(p, in);
    emit(p, JUMP, start, 0);
    p->f->code[out].a = p->f->n_code;
}

static void try_block(parser *p, FILE *in)
{
    int handler = emit(p, TRY, 0, 0), to_end;
    block(p, in);
    emit(p, END_TRY, 0, 0);
    to_end = emit(p, JUMP, 0, 0);
    p->f->code[handler].a = p->f->n_code;
    block(p, in);
    p->f->code[to_end].a = p->f->n_code;
}

static void statement(parser *p, FILE *in)
{
    char name[NAMES];
    const char *start = p->at;
    function *f = p->f;
    if (accept(p, "if")) {
        if_block(p, in);
    } else if (accept(p, "while")) {
        while_block(p, in);
    } else if (accept(p, "try")) {
        try_block(p, in);
    } else if (accept(p, "return")) {
        expression(p);
        if (f->code[f->n_code - 1].op == CALL)
            f->code[f->n_code - 1].op = TAIL_CALL;
        else
            emit(p, RETURN, 0, 0);
    } else if (accept(p, "throw") || accept(p, "yield")) {
        operation op = strstr(start, "throw") ? THROW : YIELD;
        expression(p);
        emit(p, op, 0, 0);
    } else if (name_in(p, name) && accept(p, "=")) {
        expression(p);
        emit(p, STORE, find_local(p, name), 0);
    } else {
        p->at = start;
        if (accept(p, "") && *p->at) {
            expression(p);
            emit(p, POP, 0, 0);
        }
    }
}

/* Statements up to the line with "end", "else" or "catch". */
static void block(parser *p, FILE *in)
{
    while (next_line(p, in)) {
        if (accept(p, "end") || accept(p, "catch"))
            return;
        if (accept(p, "else")) {
            p->at -= 4;
            return;
        }
        statement(p, in);
    }
    die(p->m, p->line, "no end of", p->f->name);
}

/* The function is complete. */
static void finish(parser *p)
{
    emit(p, PUSH, 0, 0);
    emit(p, RETURN, 0, 0);
}

static void load(vm *m, FILE *in)
{
    parser p = {.m = m};
    char name[NAMES];
    while (next_line(&p, in)) {
        if (!accept(&p, "function"))
            continue;
        name_in(&p, name);
        p.f = &m->functions[find_function(&p, name)];
        while (name_in(&p, name))
            p.f->n_parameters = find_local(&p, name) + 1;
        block(&p, in);
        finish(&p);
    }
}

/* ---- machines ---------------------------------------------------------------------------- */

static void run_file(const char *file)
{
    vm *m = calloc(1, sizeof *m);
    FILE *in = fopen(file, "r");
    if (!m || !in) {
        fprintf(stderr, "minivm: %s: cannot be read\n", file);
        exit(1);
    }
    m->file = file;
    m->running = new_coroutine(m);
    load(m, in);
    fclose(in);
    printf("%ld\n", call(m, "main", (value){0}).n);
    m->running->n_values = 0;
    collect(m);
    free(m->running);
    free(m);
}

int main(int n, char **files)
{
    for (int i = 1; i < n; i++)
        run_file(files[i]);
    return n < 2;
}
