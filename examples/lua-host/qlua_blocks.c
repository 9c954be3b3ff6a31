/* qlua_blocks.c: basic blocks, their lines and the jumps between them, from the bytecode.
 *
 * A block begins at the target of a jump, after an instruction that may jump, and where the
 * line changes. What Lua executes as one stays together: a test and its jump, an arithmetic
 * instruction and its fall-back, an instruction and its extra argument. Unreachable statements
 * are blocks, and missed; code that the compiler adds after a `return` is not. If the line of
 * the function's header has no code, it is a block without instructions, executed at each
 * call. */
#define LUA_CORE
#include "lprefix.h"

#include <stdlib.h>

#include "lopcodes.h"
#include "qlua_glue.h"

/* Marks of an instruction. CODE: the program contains it, the compiler did not add it. */
enum { TARGET = 1, AFTER = 2, GLUED = 4, CODE = 8, LEADER = TARGET | AFTER };

/* The target of a jump instruction; -1: the instruction does not jump. */
static int jump_target(const Proto *p, int pc)
{
    Instruction i = p->code[pc];
    switch (GET_OPCODE(i)) {
    case OP_JMP:
        return pc + 1 + GETARG_sJ(i);
    case OP_LFALSESKIP:
        return pc + 2;
    case OP_FORLOOP:
    case OP_TFORLOOP:
        return pc + 1 - GETARG_Bx(i);
    case OP_FORPREP:
        return pc + 2 + GETARG_Bx(i);
    case OP_TFORPREP:
        return pc + 1 + GETARG_Bx(i);
    default:
        return -1;
    }
}

static int is_test(const Proto *p, int pc)
{
    return pc >= 0 && testTMode(GET_OPCODE(p->code[pc]));
}

/* Whether the next instruction is a part of this one. */
static int is_first_half(const Proto *p, int pc)
{
    OpCode op = pc + 1 < p->sizecode ? GET_OPCODE(p->code[pc + 1]) : OP_MOVE;
    return is_test(p, pc) || op == OP_EXTRAARG || op == OP_MMBIN || op == OP_MMBINI ||
           op == OP_MMBINK;
}

/* Whether execution can continue after this instruction without a jump. */
static int may_fall(const Proto *p, int pc)
{
    switch (GET_OPCODE(p->code[pc])) {
    case OP_JMP:
        return is_test(p, pc - 1);
    case OP_LFALSESKIP:
    case OP_TFORPREP:
    case OP_RETURN:
    case OP_RETURN0:
    case OP_RETURN1:
    case OP_TAILCALL:
        return 0;
    default:
        return 1;
    }
}

static int line_after(const Proto *p, int pc, int line)
{
    return p->lineinfo[pc] == ABSLINEINFO ? luaG_getfuncline(p, pc) : line + p->lineinfo[pc];
}

/* Whether an unreachable instruction is not a statement of the program. The compiler adds a
 * return at the end of every function, and instructions at the end of loops, branches and
 * scopes, even after a `return`. It redirects jumps to a `break` or `goto` to its target, so
 * that no jump reaches it. */
static int is_added(const Proto *p, int pc)
{
    switch (GET_OPCODE(p->code[pc])) {
    case OP_RETURN:
        return pc == p->sizecode - 1 || GET_OPCODE(p->code[pc - 1]) == OP_TAILCALL;
    case OP_RETURN0:
        return pc == p->sizecode - 1;
    case OP_JMP:
    case OP_CLOSE:
    case OP_FORLOOP:
        return 1;
    default:
        return 0;
    }
}

/* Mark the instructions that are reached from one. todo has room for each instruction of p.
 * @return 0: it jumps out of the function */
static int mark_from(const Proto *p, int pc, unsigned char *marks, int *todo)
{
    int n = 0;
    marks[pc] |= CODE;
    todo[n++] = pc;
    while (n > 0) {
        pc = todo[--n];
        int next[2] = {jump_target(p, pc), may_fall(p, pc) ? pc + 1 : -1};
        for (int i = 0; i < 2; i++) {
            if (next[i] == -1)
                continue;
            if (next[i] < 0 || next[i] >= p->sizecode)
                return 0;
            if (!(marks[next[i]] & CODE))
                todo[n++] = next[i];
            marks[next[i]] |= CODE | (i == 0 ? TARGET : 0);
        }
        if (next[0] != -1 && pc + 1 < p->sizecode)
            marks[pc + 1] |= AFTER;
    }
    return 1;
}

/* @return 0: Lua's compiler did not generate this code */
static int mark_code(const Proto *p, unsigned char *marks, int *todo)
{
    for (int pc = 0; pc < p->sizecode; pc++) {
        int is_new = !(marks[pc] & CODE) && (pc == 0 || !is_added(p, pc));
        if (is_new && !mark_from(p, pc, marks, todo))
            return 0;
        if (is_new)
            marks[pc] |= AFTER;
        if (is_first_half(p, pc))
            marks[pc + 1] |= GLUED;
    }
    for (int pc = 0; pc < p->sizecode; pc++) {
        if ((marks[pc] & GLUED) && (marks[pc] & TARGET))
            return 0;
    }
    return 1;
}

static void begin_block(qlua_blocks *b, int pc, int line)
{
    b->lines[b->n_blocks] = (qprof_LineInfo){pc, line};
    b->sizes[b->n_blocks] = 0;
    b->falls[b->n_blocks] = 1;
    b->n_blocks++;
}

/* The line of the first instruction that Lua itself shows. */
static int first_line(const Proto *p)
{
    int line = line_after(p, 0, p->linedefined);
    int is_vararg = GET_OPCODE(p->code[0]) == OP_VARARGPREP && p->sizecode > 1;
    return is_vararg ? line_after(p, 1, line) : line;
}

/* Fill lines, sizes and falls, [sizecode + 1], and block_of[pc], the block of pc; -1: none. */
static void split_code(const Proto *p, const unsigned char *marks, qlua_blocks *b,
                       int *block_of)
{
    int line = p->linedefined;
    if (p->linedefined > 0 && p->linedefined != first_line(p))
        begin_block(b, -1, p->linedefined);
    begin_block(b, 0, first_line(p));
    for (int pc = 0; pc < p->sizecode; pc++) {
        line = line_after(p, pc, line);
        block_of[pc] = -1;
        if (!(marks[pc] & CODE))
            continue;
        if (pc > 0 && !(marks[pc] & GLUED) &&
            ((marks[pc] & LEADER) || line != b->lines[b->n_blocks - 1].line_number))
            begin_block(b, pc, line);
        block_of[pc] = b->n_blocks - 1;
        b->sizes[b->n_blocks - 1] += !(marks[pc] & GLUED);
        b->falls[b->n_blocks - 1] = (unsigned char)may_fall(p, pc);
    }
}

/* The integer that an instruction puts into a register. @return 0: it does not */
static int is_integer(const Proto *p, int pc, int reg, lua_Integer *value)
{
    Instruction i = p->code[pc];
    if (GETARG_A(i) != reg)
        return 0;
    if (GET_OPCODE(i) == OP_LOADI) {
        *value = GETARG_sBx(i);
        return 1;
    }
    if (GET_OPCODE(i) != OP_LOADK || !ttisinteger(&p->k[GETARG_Bx(i)]))
        return 0;
    *value = ivalue(&p->k[GETARG_Bx(i)]);
    return 1;
}

/* Whether a numeric for cannot be left before its first round: its bounds are constants, as in
 * `for i = 1, 3`, and no jump leads between them. */
static int is_sure_loop(const Proto *p, const unsigned char *marks, int pc)
{
    lua_Integer first, limit, step;
    int reg = GETARG_A(p->code[pc]);
    if (GET_OPCODE(p->code[pc]) != OP_FORPREP || pc < 3 ||
        ((marks[pc - 2] | marks[pc - 1] | marks[pc]) & TARGET))
        return 0;
    return is_integer(p, pc - 3, reg, &first) && is_integer(p, pc - 2, reg + 1, &limit) &&
           is_integer(p, pc - 1, reg + 2, &step) &&
           (step > 0 ? first <= limit : step < 0 && first >= limit);
}

/* A counter for the entry, then one for each instruction up to the last jump. The counters of
 * instructions that do not jump stay 0. */
static int list_jumps(const Proto *p, const unsigned char *marks, const int *block_of,
                      qlua_blocks *b)
{
    int n_counted = p->sizecode;
    while (n_counted > 0 && jump_target(p, n_counted - 1) == -1)
        n_counted--;
    b->n_window = 1 + n_counted;
    b->n_jumps = b->n_window + 2 * b->n_blocks;
    b->jumps = calloc((size_t)b->n_jumps, sizeof *b->jumps);
    if (b->jumps == NULL)
        return 0;
    b->jumps[0] = (qprof_JumpInfo){QPROF_JUMP_ENTRY, 0};
    for (int pc = 0; pc < n_counted; pc++) {
        int target = jump_target(p, pc);
        int is_jump = target != -1 && block_of[pc] != -1 && !is_sure_loop(p, marks, pc);
        b->jumps[1 + pc] = is_jump ? (qprof_JumpInfo){block_of[pc], block_of[target]}
                                   : (qprof_JumpInfo){QPROF_JUMP_LEFT, 0};
    }
    for (int i = 0; i < b->n_blocks; i++) {
        b->jumps[b->n_window + i] = (qprof_JumpInfo){QPROF_JUMP_LEFT, i};
        b->jumps[b->n_window + b->n_blocks + i] = (qprof_JumpInfo){QPROF_JUMP_JOINED, i};
    }
    return 1;
}

/* Find the block that most probably ran before the first instruction of each: of a loop, that which
 * jumps back. Else the block above, unless that cannot continue here: then the block itself. */
static void find_befores(const Proto *p, const int *block_of, qlua_blocks *b)
{
    for (int i = 0; i < b->n_blocks; i++) {
        int above = b->lines[i].code_offset - 1;
        b->befores[i] =
            above >= 0 && block_of[above] != -1 && may_fall(p, above) ? block_of[above] : i;
    }
    for (int pc = 0; pc < p->sizecode; pc++) {
        int target = jump_target(p, pc);
        if (target != -1 && target <= pc && block_of[pc] != -1)
            b->befores[block_of[target]] = block_of[pc];
    }
}

int qlua_blocks_find(const Proto *p, qlua_blocks *b)
{
    *b = (qlua_blocks){0};
    if (p->lineinfo == NULL || p->sizelineinfo != p->sizecode || p->sizecode == 0)
        return 0;
    size_t n = (size_t)p->sizecode;
    unsigned char *marks = calloc(n + 1, 1);
    int *block_of = malloc(n * sizeof *block_of);
    b->lines = malloc((n + 1) * sizeof *b->lines);
    b->sizes = malloc((n + 1) * sizeof *b->sizes);
    b->falls = malloc(n + 1);
    b->befores = malloc((n + 1) * sizeof *b->befores);
    int is_found = 0;
    if (marks && block_of && b->lines && b->sizes && b->falls && b->befores &&
        mark_code(p, marks, block_of)) {
        split_code(p, marks, b, block_of);
        find_befores(p, block_of, b);
        is_found = list_jumps(p, marks, block_of, b);
    }
    free(marks);
    free(block_of);
    if (!is_found)
        qlua_blocks_free(b);
    return is_found;
}

int qlua_blocks_declare(const Proto *p, qlua_blocks *b)
{
    *b = (qlua_blocks){0};
    if (p->lineinfo == NULL || p->sizelineinfo != p->sizecode || p->sizecode == 0)
        return 0;
    b->lines = malloc(sizeof *b->lines);
    b->falls = calloc(1, sizeof *b->falls);
    b->jumps = malloc(sizeof *b->jumps);
    if (b->lines == NULL || b->falls == NULL || b->jumps == NULL) {
        qlua_blocks_free(b);
        return 0;
    }
    b->jumps[0] = (qprof_JumpInfo){QPROF_JUMP_ENTRY, 0};
    b->n_window = b->n_jumps = 1;
    b->lines[0] = (qprof_LineInfo){-1, p->linedefined ? p->linedefined : first_line(p)};
    b->n_blocks = 1;
    return 1;
}

void qlua_blocks_free(qlua_blocks *b)
{
    free(b->lines);
    free(b->sizes);
    free(b->falls);
    free(b->befores);
    free(b->jumps);
    *b = (qlua_blocks){0};
}
