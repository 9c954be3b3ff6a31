/* calls.c: see calls.h. */
#include "unit/calls.h"

#include <limits.h>

#include "qprof.h"

static const qprof_LineInfo table[] = {{0, 1}, {4, 2}};
static const qprof_JumpInfo jumps[] = {{0, 1}, {1, 0}};
static const unsigned char falls[] = {1, 0};

#define CALL(name, ...)                                                                        \
    static void name(void)                                                                     \
    {                                                                                          \
        __VA_ARGS__;                                                                           \
    }

CALL(thread_create, qprof_thread_create(4))
CALL(thread_create_vt, qprof_thread_create_vt(4, 5))
CALL(set_thread_name, qprof_set_thread_name("thread"))
CALL(set_thread_name_vt, qprof_set_thread_name_vt("thread", 5))
CALL(thread_handle, qprof_thread_handle(QPROF_INLINE_VERSION))
CALL(thread_handle_vt, qprof_thread_handle_vt(6, QPROF_INLINE_VERSION))
CALL(thread_mount, qprof_thread_mount(qprof_thread_handle_vt(6, QPROF_INLINE_VERSION)))
CALL(inline_events, qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
     qprof_entry(th, 7, 8); qprof_entry(th, 7, 9); qprof_exit(th, 8); qprof_exit(th, 0))
CALL(register_method, qprof_register_method_id(7, "f", "C", 0, "file", table, 2))
CALL(register_method_vt, qprof_register_method_id_vt(8, "g", "C", 0, "file", table, 2, 5))
CALL(set_module, qprof_set_module("module"))
CALL(line_at, qprof_line_at(7, 4))
CALL(block_at, qprof_block_at(7, 4))
CALL(current_method_id, qprof_current_method_id())
CALL(current_method_id_vt, qprof_current_method_id_vt(5))
CALL(fn_entry, qprof_record_fn_entry(7, 8))
CALL(fn_entry_unknown, qprof_record_fn_entry(77, 9))
CALL(counts, qprof_record_counts(3))
CALL(bb_time, qprof_record_bb_time(1))
CALL(fn_exit, qprof_record_fn_exit(8))
CALL(bb_counts, qprof_record_bb_counts(1, 3))
CALL(fn_exit_all, qprof_record_fn_exit(0))
CALL(fn_entry_vt, qprof_record_fn_entry_vt(7, 8, 5))
CALL(fn_entry_unknown_vt, qprof_record_fn_entry_vt(78, 9, 5))
CALL(counts_vt, qprof_record_counts_vt(3, 5))
CALL(bb_counts_vt, qprof_record_bb_counts_vt(1, 3, 5))
CALL(bb_time_vt, qprof_record_bb_time_vt(1, 5))
CALL(fn_exit_vt, qprof_record_fn_exit_vt(8, 5))
CALL(fn_exit_all_vt, qprof_record_fn_exit_vt(0, 5))
CALL(register_jumps, qprof_register_jumps(7, jumps, 2, falls))
CALL(register_instructions, qprof_register_instructions(7, (const unsigned[]){3, 4}, 2))
CALL(alloc_block, qprof_record_alloc_block(qprof_thread_handle(QPROF_INLINE_VERSION), 8, 1, 0))
CALL(counter_bank, qprof_counter_bank(7))
CALL(get_option, qprof_get_option("clock"))
CALL(wants, qprof_wants())
CALL(changes, qprof_changes())
CALL(is_running, qprof_is_running())
CALL(is_recording, qprof_is_recording())
CALL(stop_recording, qprof_stop_recording())
CALL(start_recording, qprof_start_recording())
CALL(add_annotation, qprof_add_annotation("text"))
CALL(save_data, qprof_save_data())
CALL(save_data_to_file, qprof_save_data_to_file("saved.qprof"))
CALL(new_phase, qprof_new_phase("label"); qprof_new_phase(NULL))
CALL(set_program, const char *const arguments[] = {"a", NULL};
     qprof_set_program("script.x", 1, arguments, "Host 1.0"); qprof_set_labels("a=1"))
CALL(clear_data, qprof_clear_data())
CALL(load_config, qprof_load_config("missing.conf"))
CALL(config_line, qprof_config_line("-time-unit=ms"))
CALL(diagnostic, qprof_diagnostic("wrong_mode"))
CALL(diagnostics, qprof_Diagnostic out[4]; qprof_diagnostics(out, 4))
CALL(texts, qprof_strerror(-1); qprof_error_text(); qprof_version(); qprof_live_file())
CALL(mark, qprof_mark("mark"); qprof_counter("counter", 3))
CALL(trace_details, qprof_trace_line(3); qprof_trace_parameter(1, "int", "5", "n");
     qprof_trace_call(7, 3); qprof_trace_return(79, 3); qprof_trace_result("int", "6"))
CALL(trace_details_vt, qprof_trace_line_vt(3, 5);
     qprof_trace_parameter_vt(1, "int", "5", "n", 5); qprof_trace_call_vt(7, 3, 5);
     qprof_trace_return_vt(7, 3, 5); qprof_trace_result_vt("int", "6", 5))
CALL(trace_dump, qprof_trace_dump("dump.qtrace"))
CALL(thread_destroy, qprof_thread_destroy(4))
CALL(thread_destroy_vt, qprof_thread_destroy_vt(5))

#define ROW(name)                                                                              \
    {                                                                                          \
#name, name                                                                            \
    }

const play_call good_calls[] = {
    ROW(thread_create),
    ROW(thread_create_vt),
    ROW(set_thread_name),
    ROW(set_thread_name_vt),
    ROW(thread_handle),
    ROW(thread_handle_vt),
    ROW(thread_mount),
    ROW(inline_events),
    ROW(register_method),
    ROW(register_method_vt),
    ROW(set_module),
    ROW(line_at),
    ROW(block_at),
    ROW(current_method_id),
    ROW(current_method_id_vt),
    ROW(config_line),
    ROW(set_program),
    ROW(fn_entry),
    ROW(fn_entry_unknown),
    ROW(counts),
    ROW(bb_time),
    ROW(mark),
    ROW(trace_details),
    ROW(fn_exit),
    ROW(bb_counts),
    ROW(fn_exit_all),
    ROW(fn_entry_vt),
    ROW(fn_entry_unknown_vt),
    ROW(counts_vt),
    ROW(bb_counts_vt),
    ROW(bb_time_vt),
    ROW(trace_details_vt),
    ROW(fn_exit_vt),
    ROW(fn_exit_all_vt),
    ROW(register_jumps),
    ROW(register_instructions),
    ROW(alloc_block),
    ROW(counter_bank),
    ROW(get_option),
    ROW(wants),
    ROW(changes),
    ROW(is_running),
    ROW(is_recording),
    ROW(stop_recording),
    ROW(start_recording),
    ROW(add_annotation),
    ROW(save_data),
    ROW(save_data_to_file),
    ROW(new_phase),
    ROW(clear_data),
    ROW(trace_dump),
    ROW(load_config),
    ROW(diagnostic),
    ROW(diagnostics),
    ROW(texts),
    ROW(thread_destroy),
    ROW(thread_destroy_vt),
};
const size_t n_good_calls = sizeof good_calls / sizeof *good_calls;

/* ---- the same with arguments that make no sense ------------------------------------------ */

CALL(bad_create, qprof_thread_create(0); qprof_thread_create(UINTPTR_MAX))
CALL(bad_create_vt, qprof_thread_create_vt(0, 0); qprof_thread_create_vt(1, UINTPTR_MAX))
CALL(bad_name, qprof_set_thread_name(NULL); qprof_set_thread_name(""))
CALL(bad_name_vt, qprof_set_thread_name_vt(NULL, 0); qprof_set_thread_name_vt("", UINTPTR_MAX))
CALL(bad_handle, qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION + 1);
     qprof_entry(th, 1, 1); qprof_exit(th, 0); qprof_thread_handle(0))
CALL(bad_handle_vt, qprof_thread_handle_vt(0, 99); qprof_thread_handle_vt(UINTPTR_MAX, 0))
CALL(bad_mount, qprof_thread_mount(NULL); qprof_thread_mount(qprof_thread_handle(99)))
CALL(bad_register, qprof_register_method_id(0, NULL, NULL, -1, NULL, NULL, INT_MIN);
     qprof_register_method_id(UINTPTR_MAX, "x", "x", INT_MAX, "x", table, INT_MIN);
     qprof_register_method_id(901, NULL, NULL, INT_MIN, NULL, NULL, INT_MAX);
     qprof_register_method_id(902, "", "", 0, "", table, -1))
CALL(bad_register_vt, qprof_register_method_id_vt(0, NULL, NULL, -1, NULL, NULL, -1, 0))
CALL(bad_module, qprof_set_module(NULL); qprof_set_module(""))
CALL(bad_line_at, qprof_line_at(0, INT_MIN); qprof_line_at(UINTPTR_MAX, INT_MAX))
CALL(bad_block_at, qprof_block_at(0, INT_MIN); qprof_block_at(12345, INT_MAX))
CALL(bad_current, qprof_current_method_id_vt(0); qprof_current_method_id_vt(UINTPTR_MAX))
CALL(bad_exit, qprof_record_fn_exit(UINTPTR_MAX); qprof_record_fn_exit(1))
CALL(bad_exit_vt, qprof_record_fn_exit_vt(1, 0); qprof_record_fn_exit_vt(1, UINTPTR_MAX))
CALL(bad_entry, qprof_record_fn_entry(0, 0); qprof_record_fn_entry(UINTPTR_MAX, UINTPTR_MAX);
     qprof_record_fn_exit(0))
CALL(bad_entry_vt, qprof_record_fn_entry_vt(0, 0, 0);
     qprof_record_fn_entry_vt(UINTPTR_MAX, UINTPTR_MAX, UINTPTR_MAX);
     qprof_record_fn_exit_vt(0, 0); qprof_record_fn_exit_vt(0, UINTPTR_MAX))
CALL(bad_counts, qprof_record_counts(UINT64_MAX); qprof_record_counts_vt(UINT64_MAX, 0))
CALL(bad_bb_counts, qprof_record_bb_counts(-1, UINT64_MAX); qprof_record_bb_counts(INT_MAX, 0);
     qprof_record_bb_counts_vt(INT_MIN, 1, 0))
CALL(bad_bb_time, qprof_record_bb_time(INT_MIN); qprof_record_bb_time_vt(INT_MAX, UINTPTR_MAX))
CALL(bad_destroy, qprof_thread_destroy(0); qprof_thread_destroy(UINTPTR_MAX);
     qprof_thread_destroy_vt(0); qprof_thread_destroy_vt(UINTPTR_MAX))
CALL(bad_jumps, static const qprof_JumpInfo far[] = {{-2, 0}, {0, 99}, {INT_MAX, INT_MIN}};
     qprof_register_jumps(0, NULL, 0, NULL); qprof_register_jumps(12345, far, 3, falls);
     qprof_register_method_id(903, "j", NULL, 0, NULL, table, 2);
     qprof_register_jumps(903, NULL, 5, NULL); qprof_register_jumps(903, far, 3, falls);
     qprof_register_jumps(903, far, INT_MIN, falls); qprof_register_jumps(903, jumps, 2, NULL))
CALL(bad_instructions, static const unsigned sizes[] = {1, UINT_MAX};
     qprof_register_instructions(0, NULL, 0); qprof_register_instructions(12345, sizes, 2);
     qprof_register_instructions(903, NULL, 2); qprof_register_instructions(903, sizes, 1);
     qprof_register_instructions(903, sizes, INT_MIN);
     qprof_register_instructions(903, sizes, 2); qprof_register_instructions(903, sizes, 2))
CALL(bad_alloc_block, qprof_thread *th = qprof_thread_handle(QPROF_INLINE_VERSION);
     qprof_record_alloc_block(th, UINT64_MAX, 1, 0);
     qprof_record_alloc_block(th, 1, UINT64_MAX, 0);
     qprof_record_alloc_block(th, 1, 1, INT_MIN); qprof_record_alloc_block(th, 1, 1, INT_MAX))
CALL(bad_bank, qprof_counter_bank(0); qprof_counter_bank(UINTPTR_MAX); qprof_counter_bank(902))
CALL(bad_option, qprof_get_option(NULL); qprof_get_option(""); qprof_get_option("-");
     qprof_get_option("--=\"'"))
CALL(bad_annotation, qprof_add_annotation(NULL); qprof_add_annotation(""))
CALL(bad_save, qprof_save_data_to_file(NULL); qprof_save_data_to_file("");
     qprof_save_data_to_file("/"); qprof_save_data_to_file("no/such/folder/x");
     qprof_save_data_to_file("%"); qprof_save_data_to_file("%q"))
CALL(bad_config, qprof_load_config(NULL); qprof_load_config(""); qprof_load_config("/");
     qprof_config_line(NULL); qprof_config_line("\""); qprof_config_line("-clock"))
CALL(bad_trace, qprof_mark(NULL); qprof_mark(""); qprof_counter(NULL, INT64_MIN);
     qprof_counter("", 0); qprof_trace_line(INT_MIN); qprof_trace_call(0, -1);
     qprof_trace_return(UINTPTR_MAX, INT_MAX); qprof_trace_parameter(INT_MIN, NULL, NULL, NULL);
     qprof_trace_parameter(INT_MAX, NULL, NULL, NULL); qprof_trace_result(NULL, NULL);
     qprof_trace_dump(NULL); qprof_trace_dump(""); qprof_trace_dump("/");
     qprof_trace_dump("no/such/folder"); qprof_trace_dump("%q"))
CALL(bad_trace_vt, qprof_trace_line_vt(-1, 0); qprof_trace_call_vt(0, 0, UINTPTR_MAX);
     qprof_trace_return_vt(0, 0, 0); qprof_trace_parameter_vt(1, NULL, NULL, NULL, 0);
     qprof_trace_result_vt(NULL, NULL, UINTPTR_MAX))
CALL(bad_diagnostic, qprof_diagnostic(NULL); qprof_diagnostic(""); qprof_diagnostics(NULL, 0);
     qprof_diagnostics(NULL, 7))
CALL(bad_strerror, qprof_strerror(INT_MIN); qprof_strerror(INT_MAX); qprof_strerror(0))
CALL(bad_initialise, qprof_InitInfo info = {INT_MIN, NULL, NULL, -1}; qprof_initialize_ex(NULL);
     qprof_initialize_ex(&info); qprof_initialize("-clock=\"", NULL))

const play_call bad_calls[] = {
    ROW(bad_create),      ROW(bad_create_vt),  ROW(bad_name),         ROW(bad_name_vt),
    ROW(bad_handle),      ROW(bad_handle_vt),  ROW(bad_mount),        ROW(bad_register),
    ROW(bad_register_vt), ROW(bad_module),     ROW(bad_line_at),      ROW(bad_block_at),
    ROW(bad_current),     ROW(bad_exit),       ROW(bad_exit_vt),      ROW(bad_entry),
    ROW(bad_entry_vt),    ROW(bad_counts),     ROW(bad_bb_counts),    ROW(bad_bb_time),
    ROW(bad_destroy),     ROW(bad_jumps),      ROW(bad_instructions), ROW(bad_alloc_block),
    ROW(bad_bank),        ROW(bad_option),     ROW(bad_annotation),   ROW(bad_save),
    ROW(bad_config),      ROW(bad_trace),      ROW(bad_trace_vt),     ROW(bad_diagnostic),
    ROW(bad_strerror),    ROW(bad_initialise),
};
const size_t n_bad_calls = sizeof bad_calls / sizeof *bad_calls;
