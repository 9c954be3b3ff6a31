/* blocks.c: the blocks of a function, and which of them are branches.
 *
 * Block 0 is the line where the function is declared, and the last one what is after the code: neither has
 * instructions. Each run of instructions of one line, within a basic block of the engine's control flow graph,
 * is one block more. A jump leads from block 0 to every other: it counts all executions that no way counts.
 * Where a basic block has several successors, each is a way from its last block. */
#include "recorder.h"

#include <Optimizer/zend_cfg.h>
#include <zend_arena.h>

/* Instructions that make no line executable: they only declare, pass or clean up. */
static int is_silent(const zend_op *op)
{
    switch (op->opcode) {
    case ZEND_NOP:
    case ZEND_OP_DATA:
    case ZEND_FE_FREE:
    case ZEND_FREE:
    case ZEND_ASSERT_CHECK:
    case ZEND_VERIFY_RETURN_TYPE:
    case ZEND_RECV:
    case ZEND_RECV_INIT:
    case ZEND_RECV_VARIADIC:
    case ZEND_SEND_VAL:
    case ZEND_SEND_VAR_EX:
    case ZEND_SEND_REF:
    case ZEND_SEND_UNPACK:
    case ZEND_DECLARE_CONST:
    case ZEND_DECLARE_CLASS:
    case ZEND_DECLARE_FUNCTION:
    case ZEND_DECLARE_CLASS_DELAYED:
    case ZEND_DECLARE_ANON_CLASS:
    case ZEND_FAST_RET:
    case ZEND_FAST_CALL:
    case ZEND_TICKS:
    case ZEND_EXT_STMT:
    case ZEND_EXT_FCALL_BEGIN:
    case ZEND_EXT_FCALL_END:
    case ZEND_EXT_NOP:
    case ZEND_BIND_GLOBAL:
        return 1;
    default:
        return 0;
    }
}

/* May the instruction be executed by the one before it, without being dispatched? */
static int is_fused(const zend_op *op)
{
    switch (op->opcode) {
    case ZEND_JMPZ:
    case ZEND_JMPNZ:
        return op->op1_type == IS_TMP_VAR;
    case ZEND_DO_FCALL:
        return op[-1].opcode == ZEND_NEW;
    default:
        return 0;
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

static int find_blocks(const zend_op_array *code, const zend_cfg *graph, function *f,
                       qprof_LineInfo *lines)
{
    uint32_t last_line = 0;
    for (uint32_t i = 0; i < code->last; i++)
        last_line = code->opcodes[i].lineno > last_line ? code->opcodes[i].lineno : last_line;
    unsigned char *has_code = calloc((size_t)last_line + 1, 1); /* of the lines */
    if (!has_code)
        return 0;
    for (uint32_t i = 0; i < code->last; i++) {
        const zend_op *op = &code->opcodes[i];
        if (!is_silent(op) && graph->blocks[graph->map[i]].flags & ZEND_BB_REACHABLE)
            has_code[op->lineno] = 1;
    }
    lines[0] = (qprof_LineInfo){-1, (int)code->line_start};
    f->n_blocks = 1;
    for (int b = 0; b < graph->blocks_count; b++) {
        const zend_basic_block *block = &graph->blocks[b];
        uint32_t line = 0;
        for (uint32_t i = block->start; i < block->start + block->len; i++) {
            const zend_op *op = &code->opcodes[i];
            if (!(block->flags & ZEND_BB_REACHABLE) || !has_code[op->lineno] ||
                op->lineno == line || is_silent(op) || (i > block->start && is_fused(op)))
                continue;
            line = op->lineno;
            f->block_of[i] = f->n_blocks;
            lines[f->n_blocks++] = (qprof_LineInfo){(int)i, (int)line};
        }
    }
    lines[f->n_blocks] = (qprof_LineInfo){(int)code->last, 0};
    free(has_code);
    return 1;
}

/* ---- ways -------------------------------------------------------------------------------- */

static int first_block(const function *f, const zend_basic_block *block)
{
    for (uint32_t i = block->start; i < block->start + block->len; i++) {
        if (f->block_of[i])
            return f->block_of[i];
    }
    return 0;
}

static int last_block(const function *f, const zend_basic_block *block)
{
    for (uint32_t i = block->start + block->len; i > block->start; i--) {
        if (f->block_of[i - 1])
            return f->block_of[i - 1];
    }
    return 0;
}

/* The block that execution reaches from a basic block's beginning; 0: it leaves the function. */
static int reached(const function *f, const zend_cfg *graph, int b)
{
    for (int n = 0; n < graph->blocks_count; n++) {
        int found = first_block(f, &graph->blocks[b]);
        if (found || graph->blocks[b].successors_count != 1)
            return found;
        b = graph->blocks[b].successors[0];
    }
    return 0;
}

/* Not of "finally", assertions, ??, ?: and ?->. */
static int is_choice(const zend_op *op)
{
    return op->opcode != ZEND_FAST_CALL && op->opcode != ZEND_ASSERT_CHECK &&
           op->opcode != ZEND_COALESCE && op->opcode != ZEND_JMP_NULL &&
           op->opcode != ZEND_JMP_SET;
}

static int find_ways(const zend_op_array *code, const zend_cfg *graph, function *f)
{
    int n = 0, next = 0, n_edges = 0;
    for (int b = 0; b < graph->blocks_count; b++)
        n_edges += graph->blocks[b].successors_count;
    f->first_way = calloc((size_t)f->n_blocks + 2, sizeof *f->first_way);
    f->way_to = calloc((size_t)n_edges + 1, sizeof *f->way_to);
    if (!f->first_way || !f->way_to)
        return 0;
    for (int b = 0; b < graph->blocks_count; b++) { /* blocks are in their order */
        const zend_basic_block *block = &graph->blocks[b];
        const zend_op *last = &code->opcodes[block->start + (block->len ? block->len - 1 : 0)];
        int from =
            block->flags & ZEND_BB_REACHABLE && block->successors_count > 1 && is_choice(last)
                ? last_block(f, block)
                : 0;
        if (!from)
            continue;
        while (next <= from)
            f->first_way[next++] = n;
        for (int s = 0; s < block->successors_count; s++) {
            int to = reached(f, graph, block->successors[s]), is_known = 0;
            for (int i = f->first_way[from]; i < n; i++)
                is_known |= f->way_to[i] == to;
            if (!is_known)
                f->way_to[n++] = to;
        }
        if (n - f->first_way[from] < 2)
            n = f->first_way[from];
    }
    while (next <= f->n_blocks + 1)
        f->first_way[next++] = n;
    return 1;
}

/* ---- all of it --------------------------------------------------------------------------- */

void blocks_forget(function *f)
{
    free(f->block_of);
    free(f->first_way);
    free(f->way_to);
    f->block_of = f->first_way = f->way_to = NULL;
    f->n_ops = 0;
    f->n_blocks = 1;
}

qprof_LineInfo *blocks_find(const zend_op_array *code, function *f, int has_ways)
{
    zend_cfg graph = {0};
    zend_arena *arena = zend_arena_create(16 * 1024);
    qprof_LineInfo *lines = calloc((size_t)code->last + 2, sizeof *lines);
    f->block_of = calloc((size_t)code->last + 1, sizeof *f->block_of);
    f->n_ops = code->last;
    zend_build_cfg(&arena, code, 0, &graph);
    int is_ok = lines && f->block_of && find_blocks(code, &graph, f, lines);
    if (!has_ways)
        graph.blocks_count = 0;
    is_ok = is_ok && find_ways(code, &graph, f);
    zend_arena_destroy(arena);
    if (!is_ok) {
        free(lines);
        blocks_forget(f);
        return NULL;
    }
    return lines;
}

int blocks_register(const function *f)
{
    int n_ways = f->first_way ? f->first_way[f->n_blocks] : 0, n = 0;
    qprof_JumpInfo *jumps = calloc((size_t)(f->n_blocks + n_ways + 1), sizeof *jumps);
    unsigned char *falls = calloc((size_t)f->n_blocks + 2, 1);
    int is_ok = 0;
    if (jumps && falls) {
        if (f->has_entry)
            jumps[n++] = (qprof_JumpInfo){QPROF_JUMP_ENTRY, 0};
        for (int block = 1; block < f->n_blocks; block++)
            jumps[n++] = (qprof_JumpInfo){0, block};
        for (int block = 1; block < f->n_blocks; block++) {
            for (int i = f->first_way[block]; i < f->first_way[block + 1]; i++)
                jumps[n++] = (qprof_JumpInfo){block, f->way_to[i] ? f->way_to[i] : f->n_blocks};
        }
        is_ok = n && qprof_register_jumps(f->id, jumps, n, falls) == 0;
    }
    free(jumps);
    free(falls);
    return is_ok;
}
