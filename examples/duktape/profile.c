/* profile.c: the functions of profile.h that are not in line: names, lines, threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ---------------------------------------------------------------------- */

DUK_INTERNAL void duk_profile_open(duk_heap *heap)
{
    duk_profile *p = (duk_profile *)calloc(1, sizeof *p);
    if (!p)
        return;
    if (qprof_vm_open(&p->vm, NULL) > 0) {
        heap->profile = p;
        heap->heap_thread->profile_stack = &p->vm.main;
        return;
    }
    free(p);
}

DUK_INTERNAL void duk_profile_close(duk_heap *heap)
{
    duk_profile *p = heap->profile;
    if (!p)
        return;
    heap->profile = NULL;
    qprof_vm_close(&p->vm);
    for (size_t i = 0; i < DUK_PROFILE_BUCKETS; i++) {
        while (p->buckets[i]) {
            duk_profile_native *native = p->buckets[i];
            p->buckets[i] = native->next;
            free(native);
        }
    }
    free(p);
}

/* ---- names ------------------------------------------------------------------------------- */

/* Properties are looked up as they lie in memory: no getter, no Proxy runs, and nothing is allocated. */
static duk_tval *own(duk_heap *heap, duk_hobject *o, duk_small_uint_t name)
{
    return duk_hobject_find_entry_tval_ptr_stridx(heap, o, name);
}

static const char *own_text(duk_heap *heap, duk_hobject *o, duk_small_uint_t name)
{
    duk_tval *v = own(heap, o, name);
    if (!v || !DUK_TVAL_IS_STRING(v) || DUK_HSTRING_HAS_SYMBOL(DUK_TVAL_GET_STRING(v)))
        return NULL;
    return (const char *)DUK_HSTRING_GET_DATA(DUK_TVAL_GET_STRING(v));
}

/* The name of the property of an object, of its own, that is the function: a value, a getter or a setter. */
static duk_hstring *name_in(duk_heap *heap, duk_hobject *o, const duk_hobject *f,
                            const char **kind)
{
    DUK_UNREF(heap);
    for (duk_uint_fast32_t i = 0; i < DUK_HOBJECT_GET_ENEXT(o); i++) {
        duk_hstring *key = DUK_HOBJECT_E_GET_KEY(heap, o, i);
        *kind = "";
        if (!key || DUK_HSTRING_HAS_HIDDEN(key))
            continue;
        if (DUK_HOBJECT_E_SLOT_IS_ACCESSOR(heap, o, i)) {
            *kind = DUK_HOBJECT_E_GET_VALUE_GETTER(heap, o, i) == f ? "get " : "set ";
            if (DUK_HOBJECT_E_GET_VALUE_GETTER(heap, o, i) == f ||
                DUK_HOBJECT_E_GET_VALUE_SETTER(heap, o, i) == f)
                return key;
        } else {
            const duk_tval *v = DUK_HOBJECT_E_GET_VALUE_TVAL_PTR(heap, o, i);
            if (DUK_TVAL_IS_OBJECT(v) && DUK_TVAL_GET_OBJECT(v) == f)
                return key;
        }
    }
    return NULL;
}

/* Text of a property's name; that of a symbol begins with a byte of its own and ends at 0xff. */
static int text_length(const duk_hstring *s)
{
    const char *text = (const char *)DUK_HSTRING_GET_DATA(s), *end = strchr(text, '\xff');
    return DUK_HSTRING_HAS_SYMBOL(s) && end ? (int)(end - text) - 1 : (int)strlen(text);
}

static void join(char *to, size_t n, const char *kind, const char *path,
                 const duk_hstring *name)
{
    duk_bool_t is_symbol = DUK_HSTRING_HAS_SYMBOL(name);
    snprintf(to, n, "%s%s%s%.*s%s", kind, path, is_symbol ? "[" : "", text_length(name),
             (const char *)DUK_HSTRING_GET_DATA(name) + is_symbol, is_symbol ? "]" : "");
}

/* "Math.max", "Array.prototype.push", "get ArrayBuffer.prototype.byteLength": where it is below an object */
static duk_bool_t find_name(duk_heap *heap, duk_hobject *o, const duk_hobject *f,
                            const char *path, int depth, char *to, size_t n)
{
    const char *kind;
    duk_hstring *name = name_in(heap, o, f, &kind);
    if (name) {
        join(to, n, kind, path, name);
        return 1;
    }
    for (duk_uint_fast32_t i = 0; depth && i < DUK_HOBJECT_GET_ENEXT(o); i++) {
        duk_hstring *key = DUK_HOBJECT_E_GET_KEY(heap, o, i);
        duk_tval *v = DUK_HOBJECT_E_GET_VALUE_TVAL_PTR(heap, o, i);
        char inner[128];
        if (!key || DUK_HSTRING_HAS_SYMBOL(key) || DUK_HOBJECT_E_SLOT_IS_ACCESSOR(heap, o, i) ||
            !DUK_TVAL_IS_OBJECT(v) || DUK_TVAL_GET_OBJECT(v) == o)
            continue;
        snprintf(inner, sizeof inner, "%s%s.", path, (const char *)DUK_HSTRING_GET_DATA(key));
        if (find_name(heap, DUK_TVAL_GET_OBJECT(v), f, inner, depth - 1, to, n))
            return 1;
    }
    return 0;
}

/* ---- functions --------------------------------------------------------------------------- */

static duk_hbuffer_fixed *pc2line_of(duk_heap *heap, duk_hcompfunc *f)
{
    duk_tval *v = own(heap, &f->obj, DUK_STRIDX_INT_PC2LINE);
    if (!v || !DUK_TVAL_IS_BUFFER(v) || DUK_HBUFFER_HAS_DYNAMIC(DUK_TVAL_GET_BUFFER(v)))
        return NULL;
    return (duk_hbuffer_fixed *)DUK_TVAL_GET_BUFFER(v);
}

/* Code is compiled or loaded. */
DUK_INTERNAL void duk_profile_define(duk_hthread *thr, duk_hcompfunc *f, const char *kind)
{
    const char *name, *file;
    duk_hbuffer_fixed *pc2line;
    qprof_LineInfo line = {0, 0};
    uint64_t begun;
    if (!thr->heap->profile ||
        !(f->profile_code = (duk_profile_code *)calloc(1, sizeof *f->profile_code)))
        return;
    begun = qprof_work_begin();
    name = own_text(thr->heap, &f->obj, DUK_STRIDX_NAME);
    f->profile_code->is_unnamed = !kind && !(name && *name);
    file = own_text(thr->heap, &f->obj, DUK_STRIDX_FILE_NAME);
    pc2line = pc2line_of(thr->heap, f);
    if (pc2line)
        line.line_number = (int)duk__hobject_pc2line_query_raw(thr, pc2line, 0);
    f->profile_code->n_users = 1;
    f->profile_code->id = qprof_define(kind            ? kind
                                       : name && *name ? name
                                                       : "(anonymous)",
                                       NULL, file, &line, 1);
    qprof_work_end(begun);
}

/* A function without a name is called: its name is that of the method of `this` that it is. */
DUK_INTERNAL void duk_profile_name(duk_hthread *thr, const duk_activation *act)
{
    duk_profile_code *code = ((duk_hcompfunc *)act->func)->profile_code;
    const duk_tval *self =
        (duk_tval *)(void *)((duk_uint8_t *)thr->valstack + act->bottom_byteoff) - 1;
    duk_hobject *o = DUK_TVAL_IS_OBJECT(self) ? DUK_TVAL_GET_OBJECT(self) : NULL;
    uint64_t begun = qprof_work_begin();
    code->is_unnamed = 0;
    for (int i = 0; o && i < 16; i++, o = DUK_HOBJECT_GET_PROTOTYPE(thr->heap, o)) {
        const char *kind, *of = NULL;
        duk_hstring *name = name_in(thr->heap, o, act->func, &kind);
        duk_tval *constructor = own(thr->heap, o, DUK_STRIDX_CONSTRUCTOR);
        char path[128] = "", text[256];
        if (!name)
            continue;
        if (constructor && DUK_TVAL_IS_OBJECT(constructor))
            of = own_text(thr->heap, DUK_TVAL_GET_OBJECT(constructor), DUK_STRIDX_NAME);
        if (of && *of)
            snprintf(path, sizeof path, "%s.prototype.", of);
        join(text, sizeof text, kind, path, name);
        qprof_rename(code->id, text, NULL);
        break;
    }
    qprof_work_end(begun);
}

/* A function object is freed. */
DUK_INTERNAL void duk_profile_forget(duk_heap *heap, duk_hcompfunc *f)
{
    duk_profile_code *code = f->profile_code;
    if (!code || --code->n_users)
        return;
    if (heap->profile)
        qprof_unload(code->id);
    free(code);
}

static duk_profile_native *define_native(duk_hthread *thr, const duk_activation *act)
{
    duk_profile_native *native = (duk_profile_native *)calloc(1, sizeof *native);
    const char *name = NULL;
    char text[256];
    uint64_t begun;
    if (!native)
        return NULL;
    begun = qprof_work_begin();
    if (act->func && find_name(thr->heap, thr->builtins[DUK_BIDX_GLOBAL], act->func, "", 2,
                               text, sizeof text))
        name = text;
    else if (act->func)
        name = own_text(thr->heap, act->func, DUK_STRIDX_NAME);
    native->id = qprof_define(name && *name ? name : "(native)", NULL, NULL, NULL, 0);
    qprof_work_end(begun);
    return native;
}

/* The id of a C function that is called for the first time, or by another function object. */
DUK_INTERNAL qprof_MethodID duk_profile_find(duk_hthread *thr, const duk_activation *act)
{
    duk_hnatfunc *f = (duk_hnatfunc *)act->func;
    duk_c_function function = f ? f->func : DUK_TVAL_GET_LIGHTFUNC_FUNCPTR(&act->tv_func);
    duk_int_t magic =
        f ? f->magic
          : DUK_LFUNC_FLAGS_GET_MAGIC((duk_int_t)DUK_TVAL_GET_LIGHTFUNC_FLAGS(&act->tv_func));
    duk_profile_native **bucket, *native;
    uintptr_t address = 0;
    memcpy(&address, &function,
           sizeof function < sizeof address ? sizeof function : sizeof address);
    bucket = &thr->heap->profile
                  ->buckets[((address >> 4) + (uintptr_t)(magic * 61)) % DUK_PROFILE_BUCKETS];
    for (native = *bucket; native; native = native->next) {
        if (native->function == function && native->magic == magic)
            break;
    }
    if (!native && (native = define_native(thr, act)) != NULL) {
        native->function = function;
        native->magic = magic;
        native->next = *bucket;
        *bucket = native;
    }
    if (f && native)
        f->profile_id = native->id;
    return native ? native->id : 0;
}

/* ---- threads ----------------------------------------------------------------------------- */

DUK_INTERNAL void duk_profile_thread_new(duk_hthread *thr)
{
    if (!thr->heap->profile)
        return;
    thr->profile_stack = &thr->profile_own_stack;
    qprof_stack_create(thr->profile_stack, thr->heap->profile->vm.running);
}

/* It is freed, or its function has ended, and another thread runs. */
DUK_INTERNAL void duk_profile_thread_end(duk_heap *heap, duk_hthread *thr)
{
    if (heap->profile && thr->profile_stack == &thr->profile_own_stack)
        qprof_stack_end(&heap->profile->vm, thr->profile_stack);
}
