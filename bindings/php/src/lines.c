/* lines.c: counts the lines of covered code. Read on_opcode() first.
 *
 * The engine lets an extension handle opcodes before it executes them. Only the instructions with which a
 * block begins keep that handler; all others are given back theirs, and run at full speed. */
#include "recorder.h"

#include <zend_vm.h>

static user_opcode_handler_t others[256]; /* handlers of other extensions */
static const void *label; /* the engine's code that calls a handler; NULL: none is set */

/* ---- instructions ------------------------------------------------------------------------ */

static int is_handled(int opcode)
{
    return opcode != ZEND_USER_OPCODE && opcode != ZEND_HANDLE_EXCEPTION &&
           opcode != ZEND_CALL_TRAMPOLINE && opcode <= ZEND_VM_LAST_OPCODE;
}

/* Let the instructions with which a block begins call on_opcode(), and no others. */
static void place_handlers(const function *f, zend_op_array *code)
{
    for (uint32_t i = 0; i < code->last; i++) {
        zend_op *op = &code->opcodes[i];
        if (!is_handled(op->opcode) || others[op->opcode])
            continue;
        user_opcode_handler_t ours = zend_get_user_opcode_handler(op->opcode);
        int is_wanted = f && i < f->n_ops && f->block_of[i];
        if (is_wanted) {
            op->handler = label;
        } else if (op->handler == label) {
            zend_set_user_opcode_handler(op->opcode, NULL);
            zend_vm_set_opcode_handler(op);
            zend_set_user_opcode_handler(op->opcode, ours);
        }
    }
}

void lines_prepare(const function *f, zend_op_array *code)
{
    if (!label || !code->refcount || code->last == 0) /* opcache shares its code */
        return;
    uint32_t first = 0;
    while (f->is_counted && first < f->n_ops && !f->block_of[first])
        first++;
    int is_ready = f->is_counted && first < f->n_ops
                       ? code->opcodes[first].handler == label
                       : code->opcodes[code->last - 1].handler != label;
    if (!is_ready || code->opcodes[code->last - 1].handler == label)
        place_handlers(f->is_counted ? f : NULL, code);
}

/* ---- counters ---------------------------------------------------------------------------- */

static int is_counting(void)
{
    return recorder.has_calls ? qprof_is_counting(recorder.running->stack->th)
                              : qprof_is_recording();
}

static uint64_t *counters_of(function *f)
{
    uint32_t changes = *recorder.changes;
    if (QPROF_UNLIKELY(f->changes != changes)) {
        f->counters = qprof_counter_bank(f->id);
        f->changes = changes;
    }
    return f->counters;
}

/* After block `last` block `to` is executed; 0: none, the function ends. */
static void count(function *f, int last, int to)
{
    uint64_t *counters = counters_of(f);
    if (!counters || !is_counting())
        return;
    for (int i = f->first_way[last]; i < f->first_way[last + 1]; i++) {
        if (f->way_to[i] == to) {
            counters[f->has_entry + f->n_blocks - 1 + i]++;
            return;
        }
    }
    if (to)
        counters[f->has_entry + to - 1]++;
}

static open_call *call_of(const zend_execute_data *frame)
{
    const fiber *c = recorder.running;
    return c->n_calls && c->calls[c->n_calls - 1].frame == frame ? &c->calls[c->n_calls - 1]
                                                                 : NULL;
}

static int on_opcode(zend_execute_data *frame)
{
    const zend_op *op = frame->opline;
    function *f = recorder.has_lines ? function_of(frame->func) : NULL;
    if (f && f->is_counted) {
        size_t at = (size_t)(op - frame->func->op_array.opcodes);
        int block = at < f->n_ops ? f->block_of[at] : 0;
        if (block) {
            open_call *call = call_of(frame);
            count(f, call ? call->block : 0, block);
            if (call)
                call->block = block;
        }
    }
    return others[op->opcode] ? others[op->opcode](frame) : ZEND_USER_OPCODE_DISPATCH;
}

/* The block that a frame executes. */
static int block_at(const function *f, const zend_execute_data *frame)
{
    const zend_op *first = frame->func->op_array.opcodes;
    size_t at = frame->opline >= first && frame->opline < first + f->n_ops
                    ? (size_t)(frame->opline - first)
                    : 0;
    while (at > 0 && !f->block_of[at - 1])
        at--;
    return at > 0 ? f->block_of[at - 1] : 0;
}

void lines_enter(function *f, open_call *call, const zend_execute_data *frame, int is_resume)
{
    call->block = is_resume && f->block_of ? block_at(f, frame) : 0;
    if (f->has_entry && !is_resume && counters_of(f) && is_counting())
        f->counters[0]++;
}

void lines_leave(const open_call *call, const zend_execute_data *frame)
{
    function *f = ((void **)frame->run_time_cache)[recorder.function_slot];
    const zend_op_array *code = &frame->func->op_array;
    int is_suspended =
        code->fn_flags & ZEND_ACC_GENERATOR &&
        !(frame->opline >= code->opcodes && frame->opline < code->opcodes + code->last &&
          frame->opline->opcode == ZEND_GENERATOR_RETURN);
    if (f && f->run == recorder.run && f->is_counted && call->block && !is_suspended)
        count(f, call->block, 0);
}

/* ---- code that is loaded ----------------------------------------------------------------- */

static void register_code(zend_op_array *code)
{
    int is_skipped =
        !code->function_name && code->last == 1; /* an include does not execute it */
    if (code->fn_flags & ZEND_ACC_ABSTRACT || is_skipped || !code->refcount)
        return;
    function *f = functions_find((zend_function *)code);
    if (!f || !f->is_counted)
        return;
    for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++)
        register_code(code->dynamic_func_defs[i]);
}

static void register_source(const char *name)
{
    FILE *file = fopen(name, "rb");
    char *text = NULL;
    long n = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (n = ftell(file)) >= 0 &&
        (text = malloc((size_t)n + 1))) {
        rewind(file);
        if (fread(text, 1, (size_t)n, file) == (size_t)n)
            qprof_register_source(name, text, (size_t)n);
    }
    free(text);
    if (file)
        fclose(file);
}

/* Methods of a trait are functions of the classes that use it; what remains was used by none. */
static void register_class(zend_class_entry *class, int is_trait)
{
    zend_function *method;
    if (class->type != ZEND_USER_CLASS || !(class->ce_flags & ZEND_ACC_TRAIT) != !is_trait)
        return;
    ZEND_HASH_FOREACH_PTR(&class->function_table, method)
    {
        if (method->type == ZEND_USER_FUNCTION && method->op_array.filename &&
            (!is_trait || !functions_is_called(&method->op_array)))
            register_code(&method->op_array);
    }
    ZEND_HASH_FOREACH_END();
}

void lines_register(uint32_t first_function, uint32_t first_class)
{
    HashTable *functions = CG(function_table), *classes = CG(class_table);
    for (uint32_t i = first_function; i < functions->nNumUsed; i++) {
        zend_function *f = Z_PTR(functions->arData[i].val);
        if (Z_TYPE(functions->arData[i].val) == IS_PTR && f->type == ZEND_USER_FUNCTION)
            register_code(&f->op_array);
    }
    for (uint32_t i = first_class; i < classes->nNumUsed; i++) {
        if (Z_TYPE(classes->arData[i].val) == IS_PTR)
            register_class(Z_PTR(classes->arData[i].val), 0);
    }
}

void lines_register_file(zend_op_array *code, uint32_t first_function, uint32_t first_class)
{
    if (!recorder.has_lines || !code || !cover_has(ZSTR_VAL(code->filename)))
        return;
    register_source(ZSTR_VAL(code->filename));
    register_code(code);
    lines_register(first_function, first_class);
}

void lines_end_request(void)
{
    zend_class_entry *class;
    if (recorder.has_lines && EG(class_table)) {
        ZEND_HASH_FOREACH_PTR(EG(class_table), class)
        {
            register_class(class, 1);
        }
        ZEND_HASH_FOREACH_END();
    }
}

/* ---- begin and end ----------------------------------------------------------------------- */

void lines_begin(void)
{
    zend_op op = {.opcode = ZEND_NOP, .op1_type = IS_UNUSED, .op2_type = IS_UNUSED};
    zend_string *name = zend_string_init("opcache.enable", sizeof "opcache.enable" - 1, 0);
    /* what opcache keeps is shared by processes, and optimized */
    zend_alter_ini_entry_chars(name, "0", 1, PHP_INI_SYSTEM, PHP_INI_STAGE_RUNTIME);
    zend_string_release(name);
    CG(compiler_options) |= ZEND_COMPILE_NO_JUMPTABLES; /* each case of a switch is a line */
    if (label)
        return;
    for (int i = 0; i <= ZEND_VM_LAST_OPCODE; i++) {
        others[i] = zend_get_user_opcode_handler((zend_uchar)i);
        if (is_handled(i))
            zend_set_user_opcode_handler((zend_uchar)i, on_opcode);
    }
    zend_vm_set_opcode_handler(&op);
    label = op.handler;
}

void lines_reset(void)
{
    if (!label || recorder.has_lines)
        return;
    for (int i = 0; i <= ZEND_VM_LAST_OPCODE; i++) {
        if (is_handled(i) && zend_get_user_opcode_handler((zend_uchar)i) == on_opcode)
            zend_set_user_opcode_handler((zend_uchar)i, others[i]);
    }
    memset(others, 0, sizeof others);
    label = NULL;
}
