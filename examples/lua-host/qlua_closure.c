/* qlua_closure.c: the name of a function from the code that makes it: what this code does with it.
 *
 * `local function f`, `M.f = `, `{f = ` and `function Class:f` give it a name; a function
 * without one is described, as `argument 2 of map`. Only reads. Start at qlua_closure_name(). */
#define LUA_CORE
#include "lprefix.h"

#include <stdio.h>
#include <string.h>

#include "lfunc.h"
#include "lopcodes.h"
#include "qlua_glue.h"

enum {
    MAX_PATH_PARTS = 4, /* of a table: a.b.c.d.f */
    KEY_BYTES = 64,
    MAX_DISTANCE =
        1000 /* instructions of one expression between a test and where it leads to */
};

/* What was found last in the prototype that is being named: a table with thousands of functions is
 * looked at once. */
static __thread struct {
    const Proto *p;
    int reg, pc, writer; /* the last instruction before pc that writes reg */
    int table, n_parts;  /* made by the instruction `table`, and its name; -1: none */
    int has_name;
    char name[QLUA_NAME_BYTES];
} last;

void qlua_closure_begin(const Proto *p)
{
    last.p = p;
    last.reg = last.table = -1;
}

static const char *constant_text(const Proto *p, int k)
{
    return k < p->sizek && ttisstring(&p->k[k]) ? qlua_text(&p->k[k]) : NULL;
}

static const char *upvalue_text(const Proto *p, int i)
{
    TString *name = i < p->sizeupvalues ? p->upvalues[i].name : NULL;
    return name ? getstr(name) : NULL;
}

/* Of a loop, "(for state)", or of a compiler, as Fennel's "_12_". */
static int is_made_up(const char *name)
{
    size_t n = strlen(name);
    return name[0] == '(' || (n > 2 && name[0] == '_' && name[n - 1] == '_' &&
                              strspn(name + 1, "0123456789") == n - 2);
}

/* The local variable in a register before instruction pc. */
static const char *local_text(const Proto *p, int reg, int pc)
{
    const char *name = luaF_getlocalname(p, reg + 1, pc);
    return name && !is_made_up(name) ? name : NULL;
}

/* PARENT.KEY, or the one of them that exists; fields of _ENV are the globals. */
static int join_names(char *out, const char *table, const char *mark, const char *key)
{
    if (key == NULL)
        return 0;
    int has_table = table && table[0] && strcmp(table, "_ENV") != 0;
    snprintf(out, QLUA_NAME_BYTES, "%s%s%s", has_table ? table : "", has_table ? mark : "",
             key);
    return 1;
}

/* ---- where a value goes ------------------------------------------------------------------ */

static int writes_register(Instruction i, int reg)
{
    OpCode op = GET_OPCODE(i);
    int a = GETARG_A(i);
    if (op == OP_CALL || op == OP_TFORCALL || op == OP_VARARG)
        return a <= reg;
    if (op == OP_LOADNIL)
        return a <= reg && reg <= a + GETARG_B(i);
    return testAMode(op) && (a == reg || (op == OP_SELF && a + 1 == reg));
}

/* Whether reg is one of n registers from `first`. @param n  -1: all */
static int is_among(int reg, int first, int n)
{
    return reg >= first && (n < 0 || reg < first + n);
}

/* Whether the instruction stores, passes or returns the value of a register. */
static int uses_register(Instruction i, int reg)
{
    int a = GETARG_A(i), b = GETARG_B(i);
    switch (GET_OPCODE(i)) {
    case OP_SETTABUP:
        return !TESTARG_k(i) && GETARG_C(i) == reg;
    case OP_SETFIELD:
    case OP_SETTABLE:
    case OP_SETI:
        return !TESTARG_k(i) && GETARG_C(i) == reg && a != reg;
    case OP_SETUPVAL:
    case OP_RETURN1:
        return a == reg;
    case OP_CALL:
    case OP_TAILCALL:
        return is_among(reg, a, b ? b : -1);
    case OP_RETURN:
        return is_among(reg, a, b - 1);
    case OP_SETLIST:
        b = QLUA_SETLIST_N(i);
        return is_among(reg, a + 1, b ? b : -1);
    default:
        return 0;
    }
}

static int is_test(const Proto *p, int pc)
{
    return pc >= 0 && testTMode(GET_OPCODE(p->code[pc]));
}

static int jump_target(const Proto *p, int pc)
{
    return pc + 1 + GETARG_sJ(p->code[pc]);
}

/* Where the value that a register holds after instruction pc goes. */
typedef struct {
    int pc;            /* of the instruction that uses it; -1: none does */
    int reg;           /* that holds it there */
    const char *local; /* the variable that it is; NULL: none */
} destination;

/* The value is a function or a table: it passes for true. */
static destination destination_of(const Proto *p, int pc, int reg)
{
    static const destination nowhere = {-1, 0, NULL};
    while (++pc < p->sizecode) {
        Instruction i = p->code[pc];
        OpCode op = GET_OPCODE(i);
        const char *local = local_text(p, reg, pc);
        if (local || uses_register(i, reg))
            return (destination){pc, reg, local};
        int is_asked =
            (op == OP_TEST && GETARG_A(i) == reg) || (op == OP_TESTSET && GETARG_B(i) == reg);
        if (op == OP_MOVE && GETARG_B(i) == reg) {
            reg = GETARG_A(i);
        } else if (is_asked && !GETARG_k(i)) {
            pc++; /* over the jump */
        } else if (is_asked || (op == OP_JMP && !is_test(p, pc - 1))) {
            /* `x and f or g`, `f or g`: the value is that of the whole */
            reg = op == OP_TESTSET ? GETARG_A(i) : reg;
            int jump = pc + is_asked;
            int target = jump < p->sizecode ? jump_target(p, jump) : 0;
            if (target <= pc)
                return nowhere;
            pc = target - 1;
        } else if (writes_register(i, reg)) {
            return nowhere;
        }
    }
    return nowhere;
}

/* The last instruction before pc that writes a register. @return -1: none */
static int last_writer(const Proto *p, int pc, int reg)
{
    int is_known = last.p == p && last.reg == reg && last.pc <= pc;
    int at = pc - 1, first = is_known ? last.pc : 0;
    while (at >= first && !writes_register(p->code[at], reg))
        at--;
    if (at < first)
        at = is_known ? last.writer : -1;
    if (last.p == p) {
        last.reg = reg;
        last.pc = pc;
        last.writer = at;
    }
    return at;
}

/* The instruction that gave a register its value before pc. @return -1: several may have */
static int writer_of(const Proto *p, int pc, int reg)
{
    int at = last_writer(p, pc, reg);
    for (int k = at > MAX_DISTANCE ? at - MAX_DISTANCE : 0; k < at; k++) {
        int target = GET_OPCODE(p->code[k]) == OP_JMP ? jump_target(p, k) : 0;
        if (target > at && target <= pc)
            return -1;
    }
    return at;
}

/* ---- the names of tables and of called functions ----------------------------------------- */

static int name_register(const Proto *p, int pc, int reg, int n_parts, char *out);

/* A string that was loaded into a register: a key of a function with many constants. */
static const char *loaded_text(const Proto *p, int pc, int reg)
{
    int at = writer_of(p, pc, reg);
    return at >= 0 && GET_OPCODE(p->code[at]) == OP_LOADK
               ? constant_text(p, GETARG_Bx(p->code[at]))
               : NULL;
}

/* A field of the table in a register. */
static int name_field(const Proto *p, int pc, int table_reg, const char *mark, const char *key,
                      int n_parts, char *out)
{
    char table[QLUA_NAME_BYTES] = "";
    if (key)
        name_register(p, pc, table_reg, n_parts - 1, table);
    return join_names(out, table, mark, key);
}

/* The field or variable in which instruction pc stores a register. */
static int name_store(const Proto *p, int pc, int reg, const char *mark, int n_parts, char *out)
{
    Instruction i = p->code[pc];
    switch (GET_OPCODE(i)) {
    case OP_SETTABUP:
        return join_names(out, upvalue_text(p, GETARG_A(i)), mark,
                          constant_text(p, GETARG_B(i)));
    case OP_SETFIELD:
        return name_field(p, pc, GETARG_A(i), mark, constant_text(p, GETARG_B(i)), n_parts,
                          out);
    case OP_SETTABLE:
        return name_field(p, pc, GETARG_A(i), mark, loaded_text(p, pc, GETARG_B(i)), n_parts,
                          out);
    case OP_SETUPVAL:
        return GETARG_A(i) == reg && join_names(out, "", "", upvalue_text(p, GETARG_B(i)));
    default:
        return 0;
    }
}

/* What the function p returns: the module of a main chunk, or a call of p. */
static int name_returned(const Proto *p, char *out)
{
    const qlua_code *code = p->qcode;
    if (code && p->linedefined == 0 && code->module)
        snprintf(out, QLUA_NAME_BYTES, "%s", code->module->name);
    else if (code && code->is_named)
        snprintf(out, QLUA_NAME_BYTES, "%.*s()", QLUA_NAME_BYTES - 3, code->name);
    else
        return 0;
    return 1;
}

static int is_call(Instruction i)
{
    return GET_OPCODE(i) == OP_CALL || GET_OPCODE(i) == OP_TAILCALL;
}

/* Whether it passes the value of register reg to setmetatable. @return its number; 0: no */
static int argument_of_setmetatable(const Proto *p, destination to)
{
    Instruction i = p->code[to.pc];
    char name[QLUA_NAME_BYTES];
    if (!is_call(i) || !name_register(p, to.pc, GETARG_A(i), 1, name) ||
        strcmp(name, "setmetatable") != 0)
        return 0;
    return to.reg - GETARG_A(i);
}

/* A table that instruction pc makes: what it is assigned to, at once or by setmetatable. */
static int name_constructed(const Proto *p, int pc, int reg, int n_parts, char *out)
{
    destination to = destination_of(p, pc, reg);
    int argument = to.pc >= 0 && !to.local ? argument_of_setmetatable(p, to) : 0;
    if (argument == 2) {
        char object[QLUA_NAME_BYTES];
        if (!name_register(p, to.pc, GETARG_A(p->code[to.pc]) + 1, n_parts, object))
            return 0;
        snprintf(out, QLUA_NAME_BYTES, "getmetatable(%.*s)", KEY_BYTES, object);
        return 1;
    }
    if (argument == 1 && GET_OPCODE(p->code[to.pc]) == OP_TAILCALL)
        return name_returned(p, out);
    if (argument == 1)
        to = destination_of(p, to.pc, GETARG_A(p->code[to.pc]));
    if (to.local)
        return join_names(out, "", "", to.local);
    if (to.pc < 0)
        return 0;
    OpCode op = GET_OPCODE(p->code[to.pc]);
    if (op == OP_RETURN || op == OP_RETURN1)
        return name_returned(p, out);
    return name_store(p, to.pc, to.reg, ".", n_parts, out);
}

/* The same, found once. */
static int name_table(const Proto *p, int pc, int reg, int n_parts, char *out)
{
    if (last.p != p || last.table != pc || last.n_parts != n_parts) {
        int has_name = name_constructed(p, pc, reg, n_parts, out);
        last.table = last.p == p ? pc : -1;
        last.n_parts = n_parts;
        last.has_name = has_name;
        snprintf(last.name, sizeof last.name, "%s", has_name ? out : "");
        return has_name;
    }
    return join_names(out, "", "", last.has_name ? last.name : NULL);
}

/* The name of the value in a register before pc, from the instruction that put it there. */
static int name_register(const Proto *p, int pc, int reg, int n_parts, char *out)
{
    const char *local = local_text(p, reg, pc);
    if (local)
        return join_names(out, "", "", local);
    int at = n_parts > 0 ? writer_of(p, pc, reg) : -1;
    if (at < 0)
        return 0;
    Instruction i = p->code[at];
    int b = GETARG_B(i), c = GETARG_C(i);
    switch (GET_OPCODE(i)) {
    case OP_MOVE:
        return name_register(p, at, b, n_parts, out);
    case OP_GETTABUP:
        return join_names(out, upvalue_text(p, b), ".", constant_text(p, c));
    case OP_GETUPVAL:
        return join_names(out, "", "", upvalue_text(p, b));
    case OP_GETFIELD:
        return name_field(p, at, b, ".", constant_text(p, c), n_parts, out);
    case OP_GETTABLE:
        return name_field(p, at, b, ".", loaded_text(p, at, c), n_parts, out);
    case OP_SELF:
        return name_field(p, at, b, ":",
                          QLUA_SELF_K(i) ? constant_text(p, c) : loaded_text(p, at, c), n_parts,
                          out);
    case OP_NEWTABLE:
        return name_table(p, at, reg, n_parts - 1, out);
    default:
        return 0;
    }
}

/* ---- functions --------------------------------------------------------------------------- */

/* FILE:LINE; only the origin of text that comes from no file. @param line  -1: unknown */
static void put_place(const Proto *p, int line, char *to)
{
    char file[LUA_IDSIZE];
    const char *source = qlua_name_source(p, file), *base = strrchr(source, '/');
    if (source[0] != '[' && base)
        source = base + 1;
    if (line < 0 || (p->qcode && p->qcode->origin))
        snprintf(to, QLUA_PLACE_BYTES, "%s", source);
    else
        snprintf(to, QLUA_PLACE_BYTES, "%.*s:%d", QLUA_PLACE_BYTES - 16, source, line);
}

/* An argument of a call. The object of a method is none. */
static int describe_argument(const Proto *p, destination to, char *out)
{
    int callee = GETARG_A(p->code[to.pc]), n = to.reg - callee;
    int at = writer_of(p, to.pc, callee);
    char name[QLUA_NAME_BYTES];
    if (n == 0 || !name_register(p, to.pc, callee, MAX_PATH_PARTS, name))
        return 0;
    n -= at >= 0 && GET_OPCODE(p->code[at]) == OP_SELF;
    snprintf(out, QLUA_NAME_BYTES, "argument %d of %.*s", n, KEY_BYTES, name);
    return 1;
}

/* An element of a list, by its index. */
static int describe_element(const Proto *p, destination to, int index, char *out)
{
    int table = GETARG_A(p->code[to.pc]);
    char name[QLUA_NAME_BYTES];
    if (name_register(p, to.pc, table, MAX_PATH_PARTS, name))
        snprintf(out, QLUA_NAME_BYTES, "element %d of %.*s", index, KEY_BYTES, name);
    else
        snprintf(out, QLUA_NAME_BYTES, "element %d of table", index);
    return 1;
}

static int describe_key(const Proto *p, destination to, char *out)
{
    Instruction i = p->code[to.pc];
    char table[QLUA_NAME_BYTES], key[QLUA_NAME_BYTES];
    if (!name_register(p, to.pc, GETARG_A(i), MAX_PATH_PARTS, table))
        return 0;
    if (!name_register(p, to.pc, GETARG_B(i), MAX_PATH_PARTS, key))
        snprintf(key, sizeof key, "...");
    snprintf(out, QLUA_NAME_BYTES, "%.*s[%.*s]", KEY_BYTES, table, KEY_BYTES, key);
    return 1;
}

/* What the enclosing function returns. */
static int describe_result(const Proto *p, char *out)
{
    char name[QLUA_NAME_BYTES];
    if (!qlua_name_plain(p, name))
        return 0;
    snprintf(out, QLUA_NAME_BYTES, "result of %.*s", KEY_BYTES, name);
    return 1;
}

/* What the code does with a function that has no name. */
static int describe(const Proto *p, destination to, char *out)
{
    Instruction i = p->code[to.pc];
    int c = GETARG_C(i);
    switch (GET_OPCODE(i)) {
    case OP_CALL:
    case OP_TAILCALL:
        return describe_argument(p, to, out);
    case OP_SETTABLE:
        return describe_key(p, to, out);
    case OP_SETI:
        return describe_element(p, to, GETARG_B(i), out);
    case OP_SETLIST:
        c = QLUA_SETLIST_AFTER(i);
        if (TESTARG_k(i) && to.pc + 1 < p->sizecode)
            c += GETARG_Ax(p->code[to.pc + 1]) * (QLUA_MAX_AFTER + 1);
        return describe_element(p, to, c + to.reg - GETARG_A(i), out);
    case OP_RETURN:
    case OP_RETURN1:
        return describe_result(p, out);
    default:
        return 0;
    }
}

/* A field of a table without a name, which is known by its place. */
static int describe_field(const Proto *p, int pc, const char *key, char *out)
{
    int table = writer_of(p, pc, GETARG_A(p->code[pc]));
    char place[QLUA_PLACE_BYTES], text[KEY_BYTES];
    snprintf(text, sizeof text, "%.*s", KEY_BYTES - 1, key);
    put_place(p, luaG_getfuncline(p, table < 0 ? pc : table), place);
    snprintf(out, QLUA_NAME_BYTES, "field \"%s\" of table at %s", text, place);
    return 1;
}

static int is_of_nameless_table(const Proto *p, int pc)
{
    char table[QLUA_NAME_BYTES];
    Instruction i = p->code[pc];
    return (GET_OPCODE(i) == OP_SETFIELD || GET_OPCODE(i) == OP_SETTABLE) &&
           !name_register(p, pc, GETARG_A(i), MAX_PATH_PARTS - 1, table);
}

static qlua_naming name_destination(const Proto *p, destination to, const Proto *inner,
                                    char *out)
{
    if (to.local)
        return join_names(out, "", "", to.local) ? QLUA_NAMED : QLUA_NAMELESS;
    if (to.pc < 0)
        return QLUA_NAMELESS;
    char what[QLUA_NAME_BYTES], place[QLUA_PLACE_BYTES];
    if (name_store(p, to.pc, to.reg, qlua_is_method(inner) ? ":" : ".", MAX_PATH_PARTS, what)) {
        if (!is_of_nameless_table(p, to.pc))
            return join_names(out, "", "", what) ? QLUA_NAMED : QLUA_NAMELESS;
        return describe_field(p, to.pc, what, out) ? QLUA_DESCRIBED : QLUA_NAMELESS;
    }
    if (!describe(p, to, what))
        return QLUA_NAMELESS;
    put_place(p, inner->linedefined, place);
    snprintf(out, QLUA_NAME_BYTES, "%.*s at %s", QLUA_NAME_BYTES - QLUA_PLACE_BYTES - 8, what,
             place);
    return QLUA_DESCRIBED;
}

qlua_naming qlua_closure_name(const Proto *p, int pc, const Proto *inner, char *out)
{
    int reg = GETARG_A(p->code[pc]);
    qlua_naming naming = name_destination(p, destination_of(p, pc, reg), inner, out);
    if (naming == QLUA_NAMELESS &&
        join_names(out, "", "", luaF_getlocalname(p, reg + 1, pc + 1)))
        return QLUA_NAMED; /* made up, but it is in the source */
    return naming;
}
