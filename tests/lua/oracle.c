/* oracle.c: a module for unpatched Lua that counts calls and instructions with a debug hook.
 *
 * `lua-base -l oracle PROGRAM` writes, when the process ends, to the file that $ORACLE names:
 *   lua   FILE:LINE  calls of the Lua functions that begin there (LINE 0: a main chunk)
 *   c     NAME       calls of a C function that a standard module holds, "other": of all others
 *   header  FILE:LINE  the same, without main chunks
 *   line  FILE:LINE  executions of the instruction of that line that was executed most
 *   way   FILE:LINE  JUMPED FELL: both ways of a conditional jump that was reached
 *   seen  FILE:LINE  CONTEXT: the line was begun while the context was this one
 *   both  FILE:LINE  executions of a conditional jump that leads where it falls: a hook cannot
 *                    tell its ways apart
 * Lines, ways and contexts are only there with ORACLE_LINES. The module `qlua` is here as well:
 * its contexts.
 * It shares nothing with the recorder: the hook sees each call and, apart, each instruction. */
#define LUA_CORE
#include "lprefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "ldebug.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"
#include "lua.h"

#if LUA_VERSION_RELEASE_NUM >= 50405 /* pointers into the stack are unions */
#define FUNCTION_OF(ci) s2v((ci)->func.p)
#else
#define FUNCTION_OF(ci) s2v((ci)->func)
#endif

enum { MAX_CODES = 20000, MAX_C = 1000, MAX_CONTEXTS = 60, FRAME_SLOTS = 1 << 18 };

typedef struct {
    const Proto *p; /* kept alive by the registry */
    Proto
        kept; /* with arrays of its own, for the end of the process: the state may be closed */
    char file[LUA_IDSIZE + 512];
    unsigned long long calls;
    unsigned long long *at;            /* [sizecode] executions of each instruction */
    unsigned long long *jumped, *fell; /* [sizecode] of those that jump conditionally */
    unsigned long long *seen;          /* [sizecode] bit c: its line was begun in context c */
} code;

static code *codes[MAX_CODES];
static int n_codes;

static struct {
    lua_CFunction f;
    char name[64];
    unsigned long long calls;
} cs[MAX_C];
static int n_cs;
static unsigned long long other_calls;

static char *contexts[MAX_CONTEXTS] = {""};
static int n_contexts = 1, context;

/* The last instruction that was seen of a frame; -1: it has just begun. */
static struct {
    const CallInfo *ci;
    int pc;
} frames[FRAME_SLOTS];

/* Line of an instruction: a sum of differences from the last absolute line. */
static int line_of(const Proto *p, int pc)
{
    int line = p->linedefined, n_absolute = 0;
    for (int i = 0; i <= pc; i++) {
        if (p->lineinfo[i] == ABSLINEINFO)
            line = p->abslineinfo[n_absolute++].line;
        else
            line += p->lineinfo[i];
    }
    return line;
}

static void *copy_of(const void *array, int n, size_t size)
{
    void *copy = array ? malloc((size_t)n * size) : NULL;
    if (copy)
        memcpy(copy, array, (size_t)n * size);
    return copy;
}

static void keep(code *c)
{
    const Proto *p = c->p;
    c->kept = *p;
    c->kept.code = copy_of(p->code, p->sizecode, sizeof *p->code);
    c->kept.k = copy_of(p->k, p->sizek, sizeof *p->k);
    c->kept.lineinfo = copy_of(p->lineinfo, p->sizelineinfo, sizeof *p->lineinfo);
    c->kept.abslineinfo = copy_of(p->abslineinfo, p->sizeabslineinfo, sizeof *p->abslineinfo);
}

static code *code_of(lua_State *L, lua_Debug *ar)
{
    static code *last;
    const Proto *p = ci_func(ar->i_ci)->p;
    if (last && last->p == p)
        return last;
    for (int i = 0; i < n_codes; i++) {
        if (codes[i]->p == p)
            return last = codes[i];
    }
    if (n_codes == MAX_CODES)
        abort();
    code *c = calloc(1, sizeof *c);
    c->p = p;
    c->at = calloc(4 * (size_t)p->sizecode + 4, sizeof *c->at);
    c->jumped = c->at + p->sizecode + 1;
    c->fell = c->jumped + p->sizecode + 1;
    c->seen = c->fell + p->sizecode + 1;
    lua_getinfo(L, "Sf", ar);
    snprintf(c->file, sizeof c->file, "%s",
             *ar->source == '@' ? ar->source + 1 : ar->short_src);
    luaL_ref(L, LUA_REGISTRYINDEX);
    keep(c);
    codes[n_codes++] = c;
    return last = c;
}

static void count_c(lua_CFunction f)
{
    for (int i = 0; i < n_cs; i++) {
        if (cs[i].f == f) {
            cs[i].calls++;
            return;
        }
    }
    other_calls++;
}

static int is_vararg(const Proto *p)
{
    return GET_OPCODE(p->code[0]) == OP_VARARGPREP;
}

/* A generic loop goes from its preparation straight to the call of the iterator: unseen. */
static void count_instruction(code *c, int pc)
{
    Instruction i = c->p->code[pc];
    c->at[pc]++;
    if (GET_OPCODE(i) == OP_TFORPREP)
        c->at[pc + 1 + GETARG_Bx(i)]++;
}

static int *last_pc(const CallInfo *ci)
{
    size_t i = ((size_t)ci >> 4) * 0x9E3779B97F4A7C15u >> 20 & (FRAME_SLOTS - 1);
    for (size_t n = 0; frames[i].ci && frames[i].ci != ci; i = (i + 1) & (FRAME_SLOTS - 1)) {
        if (n++ == FRAME_SLOTS / 2)
            abort();
    }
    if (!frames[i].ci) {
        frames[i].ci = ci;
        frames[i].pc = -1;
    }
    return &frames[i].pc;
}

/* Where the conditional jump leads that decides what comes after instruction pc; -1: there is
 * none. *at: the instruction that decides; *fallen: where execution continues without the
 * jump. */
static int jump_after(const Proto *p, int pc, int *at, int *fallen)
{
    Instruction i = p->code[pc];
    OpCode op = GET_OPCODE(i);
    if (op == OP_TFORPREP)
        return jump_after(p, pc + 1 + GETARG_Bx(i), at, fallen);
    *at = op == OP_TFORCALL ? pc + 1 : pc;
    *fallen = *at + 1;
    i = p->code[*at];
    if (op >= OP_EQ && op <= OP_TESTSET) { /* those that a jump follows */
        *fallen = pc + 2;
        return pc + 2 + GETARG_sJ(p->code[pc + 1]);
    }
    if (op == OP_FORPREP)
        return pc + 2 + GETARG_Bx(i);
    return op == OP_TFORCALL || op == OP_FORLOOP ? *at + 1 - GETARG_Bx(i) : -1;
}

static void note_way(code *c, int from, int to)
{
    int at, fallen;
    int target = jump_after(c->p, from, &at, &fallen);
    if (target == -1)
        return;
    if (to == fallen)
        c->fell[at]++;
    else if (to == target || to == at + 1) /* or: the jump itself, after a yield in the test */
        c->jumped[at]++;
    else
        abort();
}

/* Returns and closes run again when a variable that they close has yielded. */
static int is_repeated(const Proto *p, int last, int pc)
{
    OpCode op = GET_OPCODE(p->code[pc]);
    return last == pc && (op == OP_RETURN || op == OP_CLOSE);
}

static void hook(lua_State *L, lua_Debug *ar)
{
    if (ar->event == LUA_HOOKCOUNT) {
        code *c = code_of(L, ar);
        int pc = pcRel(ar->i_ci->u.l.savedpc, c->p);
        int *last = last_pc(ar->i_ci);
        if (is_repeated(c->p, *last, pc))
            return;
        count_instruction(c, pc);
        if (*last >= 0)
            note_way(c, *last, pc);
        *last = pc;
        return;
    }
    if (ar->event == LUA_HOOKLINE) {
        code *c = code_of(L, ar);
        c->seen[pcRel(ar->i_ci->u.l.savedpc, c->p)] |= 1ull << context;
        return;
    }
    if (!isLua(ar->i_ci)) {
        const TValue *f = FUNCTION_OF(ar->i_ci);
        count_c(ttislcf(f) ? fvalue(f) : clCvalue(f)->f);
        return;
    }
    code *c = code_of(L, ar);
    c->calls++;
    *last_pc(ar->i_ci) = -1;
}

/* ---- the result -------------------------------------------------------------------------- */

static int is_same_code(const Proto *a, const Proto *b)
{
    return a->linedefined == b->linedefined && a->lastlinedefined == b->lastlinedefined &&
           a->sizecode == b->sizecode &&
           memcmp(a->code, b->code, (size_t)a->sizecode * sizeof *a->code) == 0;
}

/* The same code that was loaded twice is one function. */
static void merge_codes(void)
{
    for (int i = 0; i < n_codes; i++) {
        for (int k = 0; k < i; k++) {
            if (!codes[k]->p || !is_same_code(codes[i]->p, codes[k]->p) ||
                strcmp(codes[i]->file, codes[k]->file) != 0)
                continue;
            codes[k]->calls += codes[i]->calls;
            for (int pc = 0; pc < codes[i]->p->sizecode; pc++) {
                codes[k]->at[pc] += codes[i]->at[pc];
                codes[k]->jumped[pc] += codes[i]->jumped[pc];
                codes[k]->fell[pc] += codes[i]->fell[pc];
                codes[k]->seen[pc] |= codes[i]->seen[pc];
            }
            codes[i] = codes[--n_codes];
            i--;
            break;
        }
    }
}

/* Does any jump lead to the instruction? */
static int is_target(const Proto *p, int to)
{
    for (int pc = 0; pc < p->sizecode; pc++) {
        Instruction i = p->code[pc];
        int at, fallen, jump = jump_after(p, pc, &at, &fallen);
        if ((jump != -1 && (jump == to || (fallen == to && fallen != pc + 1))) ||
            (GET_OPCODE(i) == OP_JMP && pc + 1 + GETARG_sJ(i) == to) ||
            (GET_OPCODE(i) == OP_LFALSESKIP && pc + 2 == to))
            return 1;
    }
    return 0;
}

/* A loop of constant bounds, which runs at least once: there is one way into it. */
static int is_sure_loop(const Proto *p, int pc)
{
    lua_Integer v[3];
    for (int k = 0; k < 3; k++) {
        if (GET_OPCODE(p->code[pc]) != OP_FORPREP || pc < 3 || (k && is_target(p, pc - 3 + k)))
            return 0;
        Instruction i = p->code[pc - 3 + k];
        if (GETARG_A(i) != GETARG_A(p->code[pc]) + k)
            return 0;
        if (GET_OPCODE(i) == OP_LOADI)
            v[k] = GETARG_sBx(i);
        else if (GET_OPCODE(i) == OP_LOADK && ttisinteger(&p->k[GETARG_Bx(i)]))
            v[k] = ivalue(&p->k[GETARG_Bx(i)]);
        else
            return 0;
    }
    return !is_target(p, pc) && (v[2] > 0 ? v[0] <= v[1] : v[2] < 0 && v[0] >= v[1]);
}

static void write_ways(FILE *out, const code *c, int pc)
{
    int at, fallen;
    if (c->jumped[pc] + c->fell[pc] == 0)
        return;
    if (is_sure_loop(c->p, pc)) {
        if (c->jumped[pc])
            abort(); /* it was left at once */
        return;
    }
    if (jump_after(c->p, pc, &at, &fallen) == fallen)
        fprintf(out, "both\t%s:%d\t%llu\n", c->file, line_of(c->p, pc),
                c->jumped[pc] + c->fell[pc]);
    else
        fprintf(out, "way\t%s:%d\t%llu %llu\n", c->file, line_of(c->p, pc), c->jumped[pc],
                c->fell[pc]);
}

static void write_code(FILE *out, const code *c)
{
    const Proto *p = c->p;
    fprintf(out, "lua\t%s:%d\t%llu\n", c->file, p->linedefined, c->calls);
    if (p->lineinfo == NULL)
        return;
    if (p->linedefined > 0)
        fprintf(out, "header\t%s:%d\t%llu\n", c->file, p->linedefined, c->calls);
    for (int pc = is_vararg(p); pc < p->sizecode; pc++) {
        if (c->at[pc])
            fprintf(out, "line\t%s:%d\t%llu\n", c->file, line_of(p, pc), c->at[pc]);
        write_ways(out, c, pc);
        for (int i = 0; i < n_contexts; i++) {
            if (c->seen[pc] >> i & 1)
                fprintf(out, "seen\t%s:%d\t%s\n", c->file, line_of(p, pc), contexts[i]);
        }
    }
}

static void write_result(void)
{
    FILE *out = fopen(getenv("ORACLE"), "w");
    if (out == NULL)
        abort();
    for (int i = 0; i < n_codes; i++)
        codes[i]->p = &codes[i]->kept;
    merge_codes();
    for (int i = 0; i < n_codes; i++)
        write_code(out, codes[i]);
    for (int i = 0; i < n_cs; i++)
        fprintf(out, "c\t%s\t%llu\n", cs[i].name, cs[i].calls);
    fprintf(out, "c\tother\t%llu\n", other_calls);
    fclose(out);
}

/* Names of the C functions in package.loaded, which is on top: print, string.gsub. */
static void learn_names(lua_State *L)
{
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *module = lua_tostring(L, -2);
        if (!lua_istable(L, -1))
            continue;
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
            if (lua_type(L, -2) != LUA_TSTRING || !lua_iscfunction(L, -1) || n_cs == MAX_C)
                continue;
            int is_global = strcmp(module, "_G") == 0;
            cs[n_cs].f = lua_tocfunction(L, -1);
            snprintf(cs[n_cs].name, sizeof cs->name, "%s%s%s", is_global ? "" : module,
                     is_global ? "" : ".", lua_tostring(L, -2));
            n_cs++;
        }
    }
}

static int lib_context(lua_State *L)
{
    const char *name = luaL_optstring(L, 1, "");
    for (context = 0; context < n_contexts; context++) {
        if (strcmp(contexts[context], name) == 0)
            break;
    }
    if (context == n_contexts) {
        if (n_contexts == MAX_CONTEXTS)
            abort();
        contexts[n_contexts++] = strdup(name);
    }
    lua_pushboolean(L, 1);
    return 1;
}

static int open_qlua(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, lib_context);
    lua_setfield(L, -2, "context");
    return 1;
}

int luaopen_oracle(lua_State *L);

int luaopen_oracle(lua_State *L)
{
    const char *lines = getenv("ORACLE_LINES");
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    learn_names(L);
    lua_pop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_qlua);
    lua_setfield(L, -2, "qlua");
    lua_pop(L, 1);
    atexit(write_result);
    lua_sethook(L, hook, LUA_MASKCALL | (lines ? LUA_MASKCOUNT | LUA_MASKLINE : 0), 1);
    return 0;
}
