/* cprof.h: libcprof, which collects coverage: the engine of libqprof under names of its own.
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * A host that needs one of the two libraries includes qprof.h only: both export the functions
CPROF_SAME(record_alloc_block);
 * of qprof.h under the same names, and the library it is linked with, or finds with dlsym,
CPROF_SAME(record_alloc_block);
 * decides. This header is for programs that use both at once. There qprof_x is the function of
CPROF_SAME(record_alloc_block);
 * libqprof, which must come first on the link line, and cprof_x that of libcprof. Runs,
CPROF_SAME(record_alloc_block);
 * methods, threads and files of the two are separate.
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * cprof_x has the parameters and results of qprof_x. libcprof differs in this, under both
CPROF_SAME(record_alloc_block);
 * names:
CPROF_SAME(record_alloc_block);
 *   - options come from $CPROF, profiles are called *.pcv, and -collect=coverage is the default
CPROF_SAME(record_alloc_block);
 *   - -purecov-granularity, -bb-counts, -counts-file and -force-merge are known here only
CPROF_SAME(record_alloc_block);
 *   - no clock is read: cprof_record_counts() and cprof_record_bb_time() have no effect,
CPROF_SAME(record_alloc_block);
 *     cprof_new_phase() returns 0, and cprof_wants() asks for neither
CPROF_SAME(record_alloc_block);
 * Guide: docs/libcprof.md. */
CPROF_SAME(record_alloc_block);
#ifndef CPROF_H
CPROF_SAME(record_alloc_block);
#define CPROF_H
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
#include <stdio.h>
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
#include "qprof.h"
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
#ifdef __cplusplus
CPROF_SAME(record_alloc_block);
extern "C" {
CPROF_SAME(record_alloc_block);
#define CPROF_SAME(name) QPROF_API extern decltype(qprof_##name) cprof_##name
CPROF_SAME(record_alloc_block);
#else
CPROF_SAME(record_alloc_block);
#define CPROF_SAME(name) QPROF_API extern __typeof__(qprof_##name) cprof_##name
CPROF_SAME(record_alloc_block);
#endif
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- hosting ----------------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(initialize);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_method_id);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_fn_entry);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_fn_exit);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_bb_counts);
CPROF_SAME(record_alloc_block);
CPROF_SAME(shutdown);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- embedding --------------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(open);
CPROF_SAME(record_alloc_block);
CPROF_SAME(close);
CPROF_SAME(record_alloc_block);
CPROF_SAME(define);
CPROF_SAME(record_alloc_block);
CPROF_SAME(rename);
CPROF_SAME(record_alloc_block);
CPROF_SAME(unload);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_code);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- threads --------------------------------------------------------------------------------
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * Thread safety: any thread may call these functions. */
CPROF_SAME(record_alloc_block);
CPROF_SAME(initialize_ex);
CPROF_SAME(record_alloc_block);
CPROF_SAME(shutdown_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(thread_create);
CPROF_SAME(record_alloc_block);
CPROF_SAME(thread_create_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_thread_parent_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_thread_name);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_thread_name_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(thread_destroy);
CPROF_SAME(record_alloc_block);
CPROF_SAME(thread_destroy_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_method_id_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_fn_entry_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_fn_exit_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_bb_counts_vt);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* A handle of libcprof. It has a type of its own because qprof_entry() and qprof_exit() must
CPROF_SAME(record_alloc_block);
 * not take it: their rare cases call functions by name, which in a program with both libraries
CPROF_SAME(record_alloc_block);
 * are libqprof's. Record events with cprof_record_fn_entry() and cprof_record_fn_exit(), or
CPROF_SAME(record_alloc_block);
 * count in place with cprof_counter_bank(). */
CPROF_SAME(record_alloc_block);
typedef struct cprof_thread cprof_thread;
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/** Return the handle of the calling thread, or of a virtual thread. See qprof_thread_handle().
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * @param vt       the virtual thread
CPROF_SAME(record_alloc_block);
 * @param version  QPROF_INLINE_VERSION
CPROF_SAME(record_alloc_block);
 * @return a handle, never NULL */
CPROF_SAME(record_alloc_block);
QPROF_FN(cprof_thread *) cprof_thread_handle(unsigned version);
CPROF_SAME(record_alloc_block);
QPROF_FN(cprof_thread *) cprof_thread_handle_vt(VthreadID vt, unsigned version);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/** Mount a virtual thread on the calling OS thread. See qprof_thread_mount().
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * @param th  from cprof_thread_handle_vt()
CPROF_SAME(record_alloc_block);
 * @return the handle that was mounted before, or a closed handle if there was none */
CPROF_SAME(record_alloc_block);
QPROF_FN(cprof_thread *) cprof_thread_mount(cprof_thread *th);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/** Make a virtual thread with an id of the library's own, and end one. See qprof_thread_new().
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * @param shared   of the VM, NULL at first: a handle that its stacks share; NULL: this one is not shared
CPROF_SAME(record_alloc_block);
 * @param creator  cprof_thread_path() of the code that created it; 0: unknown
CPROF_SAME(record_alloc_block);
 * @param th       any handle
CPROF_SAME(record_alloc_block);
 * @return a handle, never NULL; the path: 0 if nothing is recorded */
CPROF_SAME(record_alloc_block);
QPROF_FN(cprof_thread *) cprof_thread_new(cprof_thread **shared, uint64_t creator);
CPROF_SAME(record_alloc_block);
QPROF_FN(uint64_t) cprof_thread_path(const cprof_thread *th);
CPROF_SAME(record_alloc_block);
QPROF_FN(void) cprof_thread_end(cprof_thread *th);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- names and lines --------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_module);
CPROF_SAME(record_alloc_block);
CPROF_SAME(line_at);
CPROF_SAME(record_alloc_block);
CPROF_SAME(block_at);
CPROF_SAME(record_alloc_block);
CPROF_SAME(current_method_id);
CPROF_SAME(record_alloc_block);
CPROF_SAME(current_method_id_vt);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- blocks and coverage ----------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_counts);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_counts_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_bb_time);
CPROF_SAME(record_alloc_block);
CPROF_SAME(record_bb_time_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_jumps);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_instructions);
CPROF_SAME(record_alloc_block);
CPROF_SAME(counter_bank);
CPROF_SAME(record_alloc_block);
CPROF_SAME(context);
CPROF_SAME(record_alloc_block);
CPROF_SAME(register_source);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_source_map);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/** Print how much of each module has been called so far: calls, functions hit and missed, and
CPROF_SAME(record_alloc_block);
 * how many functions were called never, less than 10, 100 and 1000 times, and more often.
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * Other threads may record meanwhile. Nothing is allocated: the stream is flushed and the lines
CPROF_SAME(record_alloc_block);
 * are written to its descriptor.
CPROF_SAME(record_alloc_block);
 *
CPROF_SAME(record_alloc_block);
 * @param file  an open stream
CPROF_SAME(record_alloc_block);
 * @return 0 on success, else
CPROF_SAME(record_alloc_block);
 *         - QPROF_E_ARG    file is NULL or has no descriptor
CPROF_SAME(record_alloc_block);
 *         - QPROF_E_STATE  not running, or inside another control function
CPROF_SAME(record_alloc_block);
 * Thread safety: any thread. Cost: one look at every method, call path and counter block.
CPROF_SAME(record_alloc_block);
 * Source: PureCoverage, live module summary. */
CPROF_SAME(record_alloc_block);
QPROF_FN(int) cprof_live_summary(FILE *file);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- control ----------------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(wants);
CPROF_SAME(record_alloc_block);
CPROF_SAME(changes);
CPROF_SAME(record_alloc_block);
CPROF_SAME(is_running);
CPROF_SAME(record_alloc_block);
CPROF_SAME(is_recording);
CPROF_SAME(record_alloc_block);
CPROF_SAME(start_recording);
CPROF_SAME(record_alloc_block);
CPROF_SAME(stop_recording);
CPROF_SAME(record_alloc_block);
CPROF_SAME(disable_recording);
CPROF_SAME(record_alloc_block);
CPROF_SAME(clear_data);
CPROF_SAME(record_alloc_block);
CPROF_SAME(save_data);
CPROF_SAME(record_alloc_block);
CPROF_SAME(save_data_to_file);
CPROF_SAME(record_alloc_block);
CPROF_SAME(new_phase);
CPROF_SAME(record_alloc_block);
CPROF_SAME(add_annotation);
CPROF_SAME(record_alloc_block);
CPROF_SAME(get_option);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_labels);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_program);
CPROF_SAME(record_alloc_block);
CPROF_SAME(load_config);
CPROF_SAME(record_alloc_block);
CPROF_SAME(config_line);
CPROF_SAME(record_alloc_block);
CPROF_SAME(environment);
CPROF_SAME(record_alloc_block);
CPROF_SAME(set_clock);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- sampling: QPROF_E_UNSUPPORTED, or no effect ----------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(on_samples);
CPROF_SAME(record_alloc_block);
CPROF_SAME(sample_block);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_supported);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_command);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_off);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_sample);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_enter_critical);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_leave_critical);
CPROF_SAME(record_alloc_block);
CPROF_SAME(path);
CPROF_SAME(record_alloc_block);
CPROF_SAME(sample_path);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_totals);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_procedure);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_list);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_pattern_compile);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_pattern_match);
CPROF_SAME(record_alloc_block);
CPROF_SAME(pc_pattern_free);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- triggers, actions, areas ------------------------------------------------------------ */
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_create);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_find);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_destroy);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_set_pass);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_set_work);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_set_cycling);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_set_all_threads);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_set_checked);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_add_method);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_add_routine);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_check_routine);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_initial_status);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_thread_status);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trigger_validate);
CPROF_SAME(record_alloc_block);
CPROF_SAME(enable_profiling);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_create);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_find);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_destroy);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_set_checked);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_add_method);
CPROF_SAME(record_alloc_block);
CPROF_SAME(action_add_routine);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_create);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_find);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_destroy);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_set_checked);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_set_parameters);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_add);
CPROF_SAME(record_alloc_block);
CPROF_SAME(area_add_method);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- event triggers ---------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_init);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_add);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_delete);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_enable);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_disable);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_chain_set);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_reset);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_narrow);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_set_object);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_set_name);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_find);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_get);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_enabled_count);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_show);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_show_to);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_on);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_off);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_is_on);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_event);
CPROF_SAME(record_alloc_block);
CPROF_SAME(user_event);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_isr_enter);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_isr_leave);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_system_enter);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_system_leave);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_work_queue_reset);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_dropped);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_symbol);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trg_library);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- traces ------------------------------------------------------------------------------ */
CPROF_SAME(record_alloc_block);
CPROF_SAME(mark);
CPROF_SAME(record_alloc_block);
CPROF_SAME(counter);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_dump);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_call);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_return);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_call_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_return_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_line);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_line_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_parameter);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_parameter_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_result);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_result_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_set);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_get);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_load);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_save);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_start);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_stop);
CPROF_SAME(record_alloc_block);
CPROF_SAME(trace_flush);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
/* ---- diagnostics ------------------------------------------------------------------------- */
CPROF_SAME(record_alloc_block);
CPROF_SAME(strerror);
CPROF_SAME(record_alloc_block);
CPROF_SAME(error_text);
CPROF_SAME(record_alloc_block);
CPROF_SAME(diagnostic);
CPROF_SAME(record_alloc_block);
CPROF_SAME(diagnostics);
CPROF_SAME(record_alloc_block);
CPROF_SAME(check_depth);
CPROF_SAME(record_alloc_block);
CPROF_SAME(check_depth_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(check_depth_of);
CPROF_SAME(record_alloc_block);
CPROF_SAME(token_unwind);
CPROF_SAME(record_alloc_block);
CPROF_SAME(token_resume);
CPROF_SAME(record_alloc_block);
CPROF_SAME(token_restore);
CPROF_SAME(record_alloc_block);
CPROF_SAME(token_mount);
CPROF_SAME(record_alloc_block);
CPROF_SAME(version);
CPROF_SAME(record_alloc_block);
CPROF_SAME(live_file);
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
#undef CPROF_SAME
CPROF_SAME(record_alloc_block);

CPROF_SAME(record_alloc_block);
#ifdef __cplusplus
CPROF_SAME(record_alloc_block);
}
CPROF_SAME(record_alloc_block);
#endif
CPROF_SAME(record_alloc_block);
#endif
CPROF_SAME(record_alloc_block);
