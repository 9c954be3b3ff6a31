/* blocks.c: the lines of a code object as blocks, and which of them are branches.
 *
 * The first block is the line of the "def", and the last one what is after the code; no code is in them. Every
 * line with an instruction that the interpreter reports is one block more, though the compiler may have
 * made several copies of it; a docstring is none. A jump leads from the first block to every other: it counts all executions that no
 * way counts. A line from which a conditional jump leads to two other lines, or to one and out of the
 * code, is a branch, and each of these ways is a jump. */
#include "python.h"

#include <opcode.h>

typedef struct {
    int n; /* code units */
    const unsigned char *units;
    int *lines;  /* [n] 0: none */
    int *stamps; /* [n] the walk that has met the unit */
    int *stack;  /* [2 * n] of units to be visited */
} code_text;

typedef struct {
    int from, to; /* blocks; to 0: out of the code */
} way;

typedef struct {
    way *ways;
    int n, n_room;
} way_list;

/* ---- instructions ------------------------------------------------------------------------ */

typedef enum { IS_PLAIN, IS_JUMP, IS_CONDITIONAL, IS_END, IS_RAISE } kind;

static kind kind_of(int opcode)
{
    switch (opcode) {
    case JUMP_FORWARD:
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
        return IS_JUMP;
    case FOR_ITER:
#if HAS_MONITORING
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_TRUE:
    case POP_JUMP_IF_NONE:
    case POP_JUMP_IF_NOT_NONE:
#else
    case JUMP_IF_FALSE_OR_POP:
    case JUMP_IF_TRUE_OR_POP:
    case POP_JUMP_FORWARD_IF_FALSE:
    case POP_JUMP_FORWARD_IF_TRUE:
    case POP_JUMP_FORWARD_IF_NOT_NONE:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_TRUE:
#endif
        return IS_CONDITIONAL;
#ifdef RETURN_CONST /* 3.12 and 3.13 */
    case RETURN_CONST:
#endif
    case RETURN_VALUE:
        return IS_END;
    case RAISE_VARARGS:
    case RERAISE:
        return IS_RAISE;
    default:
        return IS_PLAIN;
    }
}

static int leads_back(int opcode)
{
#if !HAS_MONITORING
    if (opcode >= POP_JUMP_BACKWARD_IF_NOT_NONE && opcode <= POP_JUMP_BACKWARD_IF_TRUE)
        return 1;
#endif
    return opcode == JUMP_BACKWARD || opcode == JUMP_BACKWARD_NO_INTERRUPT;
}

/* The unit to which the jump at a unit leads. */
static int target_of(const code_text *t, int at)
{
    int argument = t->units[2 * at + 1], shift = 8;
    for (int i = at; i > 0 && t->units[2 * (i - 1)] == EXTENDED_ARG; i--, shift += 8)
        argument |= t->units[2 * (i - 1) + 1] << shift;
    int next = at + 1;
    while (next < t->n && t->units[2 * next] == CACHE)
        next++;
    return leads_back(t->units[2 * at]) ? next - argument : next + argument;
}

static int read_lines(code_text *t, PyCodeObject *code)
{
    PyObject *ranges = PyObject_CallMethod((PyObject *)code, "co_lines", NULL), *range;
    if (ranges == NULL)
        return 0;
    while ((range = PyIter_Next(ranges)) != NULL) {
        int begin, end;
        PyObject *line;
        if (PyArg_ParseTuple(range, "iiO", &begin, &end, &line) && line != Py_None) {
            int number = (int)PyLong_AsLong(line);
            for (int i = begin / 2; i < end / 2 && i < t->n; i++)
                t->lines[i] = number;
        }
        Py_DECREF(range);
    }
    Py_DECREF(ranges);
    return !PyErr_Occurred();
}

/* ---- blocks ------------------------------------------------------------------------------ */

static int is_instruction(const code_text *t, int at)
{
    return t->units[2 * at] != CACHE && t->lines[at] > 0;
}

/* The line of the docstring of a module or class, which its code stores; 0: none */
static int docstring_line(const code_text *t, const code_info *info, PyCodeObject *code)
{
    enum { MOST = 16 }; /* units: the names of a class are stored before */
    for (int i = info->first_resume + 1; i + 1 < t->n && i <= info->first_resume + MOST; i++) {
        int name = t->units[2 * i + 3];
        if (t->units[2 * i] == LOAD_CONST && t->units[2 * i + 2] == STORE_NAME &&
            name < PyTuple_GET_SIZE(code->co_names) &&
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_names, name),
                                             "__doc__") == 0)
            return t->lines[i];
    }
    return 0;
}

static void drop_line(code_text *t, int line)
{
    for (int i = 0; i < t->n; i++) {
        if (t->lines[i] == line)
            t->lines[i] = 0;
    }
}

/* Number the lines in the order of their first instructions after the one that begins a call. */
static int find_blocks(const code_text *t, code_info *info, int first_line,
                       qprof_LineInfo **out)
{
    int low = INT_MAX, high = 0;
    for (int i = info->first_resume + 1; i < t->n; i++) {
        if (is_instruction(t, i) && t->lines[i] < low)
            low = t->lines[i];
        if (is_instruction(t, i) && t->lines[i] > high)
            high = t->lines[i];
    }
    info->first_line = low;
    info->n_lines = high ? high - low + 1 : 0;
    info->block_of_line = PyMem_RawCalloc((size_t)info->n_lines + 1, sizeof(int));
    qprof_LineInfo *lines = PyMem_RawCalloc((size_t)t->n + 2, sizeof *lines);
    *out = lines;
    if (info->block_of_line == NULL || lines == NULL)
        return 0;
    info->n_blocks = 1;
    lines[0] = (qprof_LineInfo){-1, first_line};
    for (int i = info->first_resume + 1; i < t->n; i++) {
        int *block = is_instruction(t, i) ? &info->block_of_line[t->lines[i] - low] : NULL;
        if (block && *block == 0) {
            *block = info->n_blocks;
            lines[info->n_blocks++] = (qprof_LineInfo){i, t->lines[i]};
        }
    }
    lines[info->n_blocks] = (qprof_LineInfo){t->n, 0};
    return 1;
}

/* ---- ways -------------------------------------------------------------------------------- */

/* @param begin  where the ways of the jump begin in the list */
static int add_way(way_list *list, int begin, int from, int to)
{
    for (int i = begin; i < list->n; i++) {
        if (list->ways[i].to == to)
            return 1;
    }
    if (list->n == list->n_room) {
        int n = list->n_room ? 2 * list->n_room : 32;
        way *ways = PyMem_RawRealloc(list->ways, (size_t)n * sizeof *ways);
        if (ways == NULL)
            return 0;
        list->ways = ways;
        list->n_room = n;
    }
    list->ways[list->n++] = (way){from, to};
    return 1;
}

/* Add the lines that execution can reach next from the conditional jump at `branch`, through instructions
 * of its line or of none. An exception is no way, nor is an instruction that raises one again, whatever
 * line it has. */
static int follow(const code_text *t, const code_info *info, int branch, way_list *out)
{
    int line = t->lines[branch], from = info->block_of_line[line - info->first_line];
    int begin = out->n, n = 0;
    t->stack[n++] = branch;
    while (n) {
        int at = t->stack[--n];
        while (at < t->n && t->units[2 * at] == CACHE)
            at++;
        if (at < 0 || at >= t->n || t->stamps[at] == branch)
            continue;
        t->stamps[at] = branch;
        int opcode = t->units[2 * at], to = -1;
        kind what = kind_of(opcode);
        if (opcode == RERAISE)
            continue;
        if (t->lines[at] > 0 && t->lines[at] != line)
            to = info->block_of_line[t->lines[at] - info->first_line];
        else if (what == IS_END)
            to = 0;
        if (to >= 0) {
            if (!add_way(out, begin, from, to))
                return 0;
            continue;
        }
        if (what == IS_PLAIN || what == IS_CONDITIONAL)
            t->stack[n++] = at + 1;
        if (what == IS_JUMP || what == IS_CONDITIONAL || opcode == SEND) {
            int target = target_of(t, at);
            if (target > at || t->lines[target] != line) /* else the line begins again */
                t->stack[n++] = target;
        }
    }
    if (out->n - begin < 2)
        out->n = begin;
    return 1;
}

static int compare_ways(const void *a, const void *b)
{
    const way *x = a, *y = b;
    if (x->from != y->from)
        return x->from - y->from;
    return (x->to ? x->to : INT_MAX) < (y->to ? y->to : INT_MAX) ? -1 : x->to != y->to;
}

static int find_ways(const code_text *t, const code_info *info, way_list *out)
{
    for (int i = info->first_resume + 1; i < t->n; i++) {
        if (is_instruction(t, i) && kind_of(t->units[2 * i]) == IS_CONDITIONAL &&
            !follow(t, info, i, out))
            return 0;
    }
    if (out->n)
        qsort(out->ways, (size_t)out->n, sizeof *out->ways, compare_ways);
    return 1;
}

static int store_ways(code_info *info, const way_list *found)
{
    info->first_way = PyMem_RawCalloc((size_t)info->n_blocks + 1, sizeof(int));
    info->way_to = PyMem_RawCalloc((size_t)found->n + 1, sizeof(int));
    if (info->first_way == NULL || info->way_to == NULL)
        return 0;
    int n = 0, at = 0;
    for (int block = 0; block < info->n_blocks; block++) {
        info->first_way[block] = n;
        for (; at < found->n && found->ways[at].from == block; at++) {
            if (n == info->first_way[block] || found->ways[at].to != info->way_to[n - 1])
                info->way_to[n++] = found->ways[at].to;
        }
    }
    info->first_way[info->n_blocks] = n;
    return 1;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int find(code_text *t, PyCodeObject *code, code_info *info, int has_ways,
                qprof_LineInfo **lines)
{
    way_list found = {NULL, 0, 0};
    t->lines = PyMem_RawCalloc((size_t)t->n + 1, sizeof(int));
    t->stamps = PyMem_RawCalloc((size_t)t->n + 1, sizeof(int));
    t->stack = PyMem_RawCalloc(2 * (size_t)t->n + 2, sizeof(int));
    int is_ok = t->lines && t->stamps && t->stack && read_lines(t, code);
    int docstring = is_ok ? docstring_line(t, info, code) : 0;
    if (docstring)
        drop_line(t, docstring);
    is_ok = is_ok && find_blocks(t, info, code->co_firstlineno, lines) &&
            (!has_ways || find_ways(t, info, &found)) && store_ways(info, &found);
    PyMem_RawFree(found.ways);
    PyMem_RawFree(t->lines);
    PyMem_RawFree(t->stamps);
    PyMem_RawFree(t->stack);
    return is_ok;
}

int blocks_find(PyCodeObject *code, code_info *info, int has_ways, qprof_LineInfo **lines)
{
    PyObject *bytes = PyCode_GetCode(code);
    *lines = NULL;
    if (bytes == NULL)
        return 0;
    code_text t = {.n = (int)(PyBytes_GET_SIZE(bytes) / 2),
                   .units = (const unsigned char *)PyBytes_AS_STRING(bytes)};
    int is_ok = find(&t, code, info, has_ways, lines);
    Py_DECREF(bytes);
    if (!is_ok) {
        PyMem_RawFree(*lines);
        *lines = NULL;
    }
    return is_ok;
}

int blocks_register(const code_info *info)
{
    int n_ways = info->first_way ? info->first_way[info->n_blocks] : 0, n = 0;
    qprof_JumpInfo *jumps =
        PyMem_RawCalloc((size_t)(info->n_blocks + n_ways + 1), sizeof *jumps);
    unsigned char *falls = PyMem_RawCalloc((size_t)info->n_blocks + 2, 1);
    int is_ok = 0;
    if (jumps && falls) {
        if (info->has_entry)
            jumps[n++] = (qprof_JumpInfo){QPROF_JUMP_ENTRY, 0};
        for (int block = 1; block < info->n_blocks; block++)
            jumps[n++] = (qprof_JumpInfo){0, block};
        for (int block = 1; block < info->n_blocks; block++) {
            for (int i = info->first_way[block]; i < info->first_way[block + 1]; i++)
                jumps[n++] =
                    (qprof_JumpInfo){block, info->way_to[i] ? info->way_to[i] : info->n_blocks};
        }
        is_ok = n && qprof_register_jumps(info->id, jumps, n, falls) == 0;
    }
    PyMem_RawFree(jumps);
    PyMem_RawFree(falls);
    return is_ok;
}
