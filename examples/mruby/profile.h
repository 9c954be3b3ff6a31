/* mruby/profile.h: what the patched virtual machine of mruby calls. Guide: docs/embedding.md of qprof.
 *
 * Each is a test of one pointer while nothing is recorded. A frame of the recorder is a frame of mruby,
 * a mrb_callinfo; its token and its code are kept there. */
#ifndef MRUBY_PROFILE_H
#define MRUBY_PROFILE_H

#include <mruby/opcode.h>
#include <mruby/proc.h>

enum { MRB_PROFILE_BUCKETS = 4096 };

/* Ruby code, or a C function as a method of a class. */
typedef struct mrb_profile_code {
    struct mrb_profile_code *next; /* of its bucket */
    const void *key;  /* its irep, its class or, if it is a block in C, the function */
    uintptr_t method; /* of a C function: its name in the class */
    qprof_MethodID id;
    const mrb_code *iseq;
    uint32_t
        *blocks; /* [ilen] number of the block that begins at an instruction, from 1; 0: none */
    uint64_t *counters; /* of the blocks; NULL: they are not counted */
} mrb_profile_code;

typedef struct mrb_profile {
    qprof_vm vm;
    uint32_t changes;        /* of what is counted, as last seen */
    mrb_bool is_counting;    /* of any code the blocks are counted */
    mrb_bool has_class[256]; /* by hash: C functions of such a class are known */
    mrb_profile_code *buckets[MRB_PROFILE_BUCKETS];
} mrb_profile;

enum {
    MRB_PROFILE_RUBY = 0,
    MRB_PROFILE_BLOCK = 1
}; /* mrb_profile_code.method of what has none */

void mrb_profile_open(mrb_state *mrb);
void mrb_profile_close(mrb_state *mrb);
void mrb_profile_program(int n, char **arguments);
mrb_profile_code *mrb_profile_find(mrb_state *mrb, const mrb_callinfo *ci, const void *key,
                                   uintptr_t method);
void mrb_profile_renew(mrb_profile *p);
void mrb_profile_forget_code(mrb_state *mrb, const mrb_irep *irep);
void mrb_profile_forget_class(mrb_state *mrb, const struct RClass *c);
void mrb_profile_fiber_new(mrb_state *mrb, struct mrb_context *c);
void mrb_profile_fiber_end(mrb_state *mrb, struct mrb_context *c);
void mrb_profile_enter_fiber(mrb_state *mrb);
void mrb_profile_switch(mrb_state *mrb);
void mrb_profile_unwind(mrb_state *mrb);

static inline size_t mrb_profile_bucket(const void *key, uintptr_t method)
{
    return (size_t)((((uintptr_t)key >> 4) + method * 61) * 0x9E3779B1u >> 12) %
           MRB_PROFILE_BUCKETS;
}

/* The frame on top executes this code now; it is new, or its function has been replaced. */
static inline void mrb_profile_enter_key(mrb_state *mrb, mrb_callinfo *ci, const void *key,
                                         uintptr_t method)
{
    mrb_profile *p = mrb->profile;
    qprof_stack *s = p->vm.running;
    mrb_profile_code *code = p->buckets[mrb_profile_bucket(key, method)];
    if (!code || code->key != key || code->method != method)
        code = mrb_profile_find(mrb, ci, key, method);
    if (ci->profile_token)
        qprof_leave(s, ci->profile_token);
    ci->profile_code = code;
    ci->profile_token = qprof_enter(
        s, ci > mrb->c->cibase && ci[-1].profile_token ? qprof_top(s) : 0, code->id);
    if (p->changes != *qprof_changes())
        mrb_profile_renew(p);
}

/* A C function is called. */
static inline void mrb_profile_enter_c(mrb_state *mrb)
{
    mrb_callinfo *ci = mrb->c->ci;
    if (mrb->profile)
        mrb_profile_enter_key(mrb, ci, mrb_vm_ci_target_class(ci), (uintptr_t)ci->mid + 2);
}

/* A C function is called as a block. */
static inline void mrb_profile_enter_c_block(mrb_state *mrb, const struct RProc *proc)
{
    union {
        mrb_func_t call;
        const void *key;
    } function;
    function.call = MRB_PROC_CFUNC(proc);
    if (mrb->profile)
        mrb_profile_enter_key(mrb, mrb->c->ci, function.key, MRB_PROFILE_BLOCK);
}

/* Ruby code is called. The code that only calls a block, of Proc#call and yield, is not recorded. */
static inline void mrb_profile_enter(mrb_state *mrb, const struct RProc *proc)
{
    if (mrb->profile && *proc->body.irep->iseq != OP_CALL)
        mrb_profile_enter_key(mrb, mrb->c->ci, proc->body.irep, MRB_PROFILE_RUBY);
}

/* The frame on top ends, by a return or, while an exception is on its way, by that. */
static inline void mrb_profile_leave(mrb_state *mrb)
{
    mrb_callinfo *ci = mrb->c->ci;
    qprof_stack *s;
    if (!mrb->profile || !ci->profile_token)
        return;
    s = mrb->profile->vm.running;
    if (mrb->exc && ci > mrb->c->cibase && ci[-1].profile_token)
        qprof_unwind(s, ci[-1].profile_token);
    else
        qprof_leave(s, ci->profile_token);
    ci->profile_token = 0;
}

static inline void mrb_profile_gc(mrb_state *mrb, mrb_bool begins)
{
    if (!mrb->profile)
        return;
    if (begins)
        qprof_push(mrb->profile->vm.running, QPROF_METHOD_GC);
    else
        qprof_pop(mrb->profile->vm.running, QPROF_METHOD_GC);
}

/* An instruction is executed: it may begin a block. */
static inline void mrb_profile_count(mrb_state *mrb, const mrb_irep *irep, const mrb_code *pc)
{
    mrb_profile *p = mrb->profile;
    const mrb_profile_code *code = mrb->c->ci->profile_code;
    uint32_t block;
    if (!p || !code || code->iseq != irep->iseq || !code->counters)
        return;
    block = code->blocks[pc - code->iseq];
    if (block && qprof_is_counting(p->vm.running->th))
        code->counters[block - 1]++;
}

#endif
