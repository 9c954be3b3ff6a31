/* profile.h: what the patched Duktape calls. Guide: docs/embedding.md of qprof.
 *
 * Each is a test of one pointer while nothing is recorded. A frame of the recorder is a frame of Duktape, a
 * duk_activation, which keeps its token. The patch includes this file after Duktape's internal headers. */
#ifndef DUK_PROFILE_H
#define DUK_PROFILE_H

enum { DUK_PROFILE_BUCKETS = 1024 };

/* Code of a function: its template, and the closures that are made of it. */
typedef struct duk_profile_code {
    qprof_MethodID id;
    duk_uint32_t n_users;  /* function objects */
    duk_bool_t is_unnamed; /* until its first call */
} duk_profile_code;

/* A C function, for each magic value, which is an argument of its code. */
typedef struct duk_profile_native {
    struct duk_profile_native *next; /* of its bucket */
    duk_c_function function;
    duk_int_t magic;
    qprof_MethodID id;
} duk_profile_native;

typedef struct duk_profile {
    qprof_vm vm;
    duk_profile_native *buckets[DUK_PROFILE_BUCKETS];
} duk_profile;

DUK_INTERNAL_DECL void duk_profile_open(duk_heap *heap);
DUK_INTERNAL_DECL void duk_profile_close(duk_heap *heap);
DUK_INTERNAL_DECL void duk_profile_define(duk_hthread *thr, duk_hcompfunc *f, const char *kind);
DUK_INTERNAL_DECL void duk_profile_name(duk_hthread *thr, const duk_activation *act);
DUK_INTERNAL_DECL void duk_profile_forget(duk_heap *heap, duk_hcompfunc *f);
DUK_INTERNAL_DECL qprof_MethodID duk_profile_find(duk_hthread *thr, const duk_activation *act);
DUK_INTERNAL_DECL void duk_profile_thread_new(duk_hthread *thr);
DUK_INTERNAL_DECL void duk_profile_thread_end(duk_heap *heap, duk_hthread *thr);

/* A closure is made. */
static inline void duk_profile_use(duk_hcompfunc *closure, const duk_hcompfunc *of)
{
    closure->profile_code = of->profile_code;
    if (closure->profile_code)
        closure->profile_code->n_users++;
}

/* The activation on top is new, or its function has been replaced by a tail call. */
static inline void duk_profile_enter(duk_hthread *thr, duk_activation *act)
{
    qprof_stack *s = thr->profile_stack;
    qprof_MethodID id;
    if (!s)
        return;
    if (act->func && DUK_HOBJECT_IS_COMPFUNC(act->func)) {
        const duk_profile_code *code = ((duk_hcompfunc *)act->func)->profile_code;
        id = code ? code->id : 0;
        if (DUK_UNLIKELY(code && code->is_unnamed))
            duk_profile_name(thr, act);
    } else {
        id = act->func ? ((duk_hnatfunc *)act->func)->profile_id : 0;
        if (!id)
            id = duk_profile_find(thr, act);
    }
    act->profile_token = qprof_enter(s, act->parent ? qprof_top(s) : 0, id);
}

/* An activation ends, by a return or, while an error is on its way, by that. */
static inline void duk_profile_leave(duk_hthread *thr, duk_activation *act)
{
    qprof_stack *s = thr->profile_stack;
    qprof_token token = act->profile_token;
    if (!s || !token)
        return;
    act->profile_token = 0;
    if (thr->heap->profile->vm.running !=
        s) /* resume() and yield() end when they are answered */
        qprof_switch(&thr->heap->profile->vm, s);
    if (thr->heap->lj.type == DUK_LJ_TYPE_THROW && act->parent && act->parent->profile_token)
        qprof_unwind(s, act->parent->profile_token);
    else
        qprof_leave(s, token);
}

/* Another thread of Duktape, a coroutine, runs now; NULL: the host. */
static inline void duk_profile_switch(duk_heap *heap, duk_hthread *to)
{
    duk_profile *p = heap->profile;
    qprof_stack *s;
    if (!p)
        return;
    s = to ? to->profile_stack : &p->vm.main;
    if (s != p->vm.running)
        qprof_switch(&p->vm, s);
}

static inline void duk_profile_gc(duk_heap *heap, duk_bool_t begins)
{
    if (!heap->profile)
        return;
    if (begins)
        qprof_push(heap->profile->vm.running, QPROF_METHOD_GC);
    else
        qprof_pop(heap->profile->vm.running, QPROF_METHOD_GC);
}

#endif
