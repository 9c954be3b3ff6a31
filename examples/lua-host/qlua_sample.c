/* qlua_sample.c: the block of Lua code that ran when a sample was taken.
 *
 * The loop that tells blocks (7 in qlua_loop.h) jumps from an instruction to the next by the table
 * qlua_dispatch. When samples wait, a thread of the recorder replaces all its places, so that the
 * loop comes to be asked after the instruction that runs. That costs nothing otherwise, works in
 * loops without calls, and finds the line to an instruction. Entries and exits ask as well. */
#define LUA_CORE
#include "lprefix.h"

#include "lopcodes.h"
#include "qlua_glue.h"

const void *qlua_dispatch[NUM_OPCODES];
static const void *const *labels;
static const void *asked;

static void fill(const void *const *from, const void *all)
{
    for (int i = 0; i < NUM_OPCODES; i++)
        __atomic_store_n(&qlua_dispatch[i], from ? from[i] : all, __ATOMIC_RELAXED);
}

void qlua_dispatch_open(const void *const *given, const void *label)
{
    labels = given;
    asked = label;
    fill(labels, NULL);
}

static void wake(void)
{
    fill(NULL, asked);
}

void qlua_sample_begin(void)
{
    qlua_execute_sampled(NULL, NULL);
    qlua_is_telling = qlua_is_apart = 1;
    qprof_on_samples(wake);
}

static void credit(lua_State *L, CallInfo *ci, const Instruction *at, int is_next)
{
    const qlua_code *code = ci_func(ci)->p->qcode;
    if (code == NULL || code->leaders == NULL || ci->qtoken == 0 ||
        ci->qtoken == QPROF_NO_TOKEN)
        return;
    int i = (int)(at - code->code), block = qlua_code_block(code, i);
    if (is_next && code->leaders[block] == i)
        block = code->befores[block];
    qprof_sample_block(L->qstack.th, block);
}

void qlua_sample_next(lua_State *L, CallInfo *ci, const Instruction *next)
{
    fill(labels, NULL);
    if (qprof_has_samples(L->qstack.th))
        credit(L, ci, next, 1);
}

void qlua_sample_at(lua_State *L, CallInfo *ci, const Instruction *pc)
{
    credit(L, ci, pc - 1, 0);
}
