/* mruby_count.c: an independent count of calls, compiled into an unpatched mruby by mruby_count.sh.
 *
 * Ruby code is counted by mruby's own hook of each instruction, where it executes the first one of a
 * function; C functions where the source of the virtual machine calls them. The file MRUBY_COUNTS gets
 * a line for each: Ruby FILE:LINE COUNT, with its smallest line, or C NAME COUNT. */
#include <mruby.h>
#include <mruby/class.h>
#include <mruby/irep.h>
#include <mruby/opcode.h>
#include <mruby/presym.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <mruby/debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1 << 16 };

static struct {
    char text[200];
    unsigned long n;
} rows[ROWS];

static void write_rows(void)
{
    const char *file = getenv("MRUBY_COUNTS");
    FILE *out = file ? fopen(file, "a") : NULL;
    for (int i = 0; out && i < ROWS; i++)
        if (rows[i].n)
            fprintf(out, "%s\t%lu\n", rows[i].text, rows[i].n);
    if (out)
        fclose(out);
}

static void count(const char *text)
{
    static int is_begun;
    unsigned long hash = 5381;
    if (!is_begun++)
        atexit(write_rows);
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    while (rows[hash % ROWS].n && strcmp(rows[hash % ROWS].text, text) != 0)
        hash++;
    strcpy(rows[hash % ROWS].text, text);
    rows[hash % ROWS].n++;
}

static int is_jump(mrb_code op)
{
    return op == OP_JMP || op == OP_JMPUW || op == OP_JMPIF || op == OP_JMPNOT ||
           op == OP_JMPNIL;
}

void mrb_count_code(mrb_state *mrb, const mrb_irep *irep, const mrb_code *pc, mrb_value *regs)
{
    static const mrb_irep *last_irep;
    static const mrb_callinfo *last_frame;
    static mrb_code last;
    (void)regs;
    if (pc == irep->iseq && *pc != OP_CALL &&
        !(irep == last_irep && mrb->c->ci == last_frame && is_jump(last))) {
        const char *file = mrb_debug_get_filename(mrb, irep, 0);
        int line = file ? (int)mrb_debug_get_line(mrb, irep, 0) : 0;
        char text[200];
        for (uint32_t at = 1; file && at < irep->ilen; at++)
            if (mrb_debug_get_line(mrb, irep, at) < line)
                line = (int)mrb_debug_get_line(mrb, irep, at);
        snprintf(text, sizeof text, "Ruby %s:%d", file ? file : "", line);
        count(text);
    }
    last_irep = irep;
    last_frame = mrb->c->ci;
    last = *pc;
}

static void symbol(mrb_state *mrb, mrb_sym s, char *text, size_t n)
{
    char kept[8];
    mrb_int length;
    const char *name;
    memcpy(kept, mrb->symbuf, sizeof kept);
    name = mrb_sym_name_len(mrb, s, &length);
    snprintf(text, n, "%.*s", (int)length, name);
    memcpy(mrb->symbuf, kept, sizeof kept);
}

/* Nothing is allocated: the collector runs when it would. */
void mrb_count_c(mrb_state *mrb, int is_block)
{
    const mrb_callinfo *ci = mrb->c->ci;
    struct RClass *c = mrb_vm_ci_target_class(ci);
    const char *sign = "#";
    char class_name[80] = "(anonymous)", method[80] = "", text[200];
    mrb_value path;
    if (!mrb->code_fetch_hook)
        return;
    if (is_block) {
        count("C block");
        return;
    }
    if (c->tt == MRB_TT_ICLASS)
        c = c->c;
    if (c->tt == MRB_TT_SCLASS) {
        mrb_value of = mrb_obj_iv_get(mrb, (struct RObject *)c, MRB_SYM(__attached__));
        if (mrb_type(of) == MRB_TT_CLASS || mrb_type(of) == MRB_TT_MODULE) {
            c = mrb_class_ptr(of);
            sign = ".";
        }
        while (c->tt == MRB_TT_SCLASS || c->tt == MRB_TT_ICLASS)
            c = c->super;
    }
    path = mrb_obj_iv_get(mrb, (struct RObject *)c, MRB_SYM(__classname__));
    if (mrb_symbol_p(path))
        symbol(mrb, mrb_symbol(path), class_name, sizeof class_name);
    else if (mrb_string_p(path))
        snprintf(class_name, sizeof class_name, "%.*s", (int)RSTRING_LEN(path),
                 RSTRING_PTR(path));
    symbol(mrb, ci->mid, method, sizeof method);
    snprintf(text, sizeof text, "C %s%s%s", class_name, sign, method);
    count(text);
}
