/* cprof.h: libcprof, which collects coverage: the engine of libqprof under names of its own.
 *
 * A host that needs one of the two libraries includes qprof.h only: both export the functions
 * of qprof.h under the same names, and the library it is linked with, or finds with dlsym,
 * decides. This header is for programs that use both at once. There qprof_x is the function of
 * libqprof, which must come first on the link line, and cprof_x that of libcprof. Runs,
 * methods, threads and files of the two are separate.
 *
 * cprof_x has the parameters and results of qprof_x. libcprof differs in this, under both
 * names:
 *   - options come from $CPROF, profiles are called *.pcv, and -collect=coverage is the default
 *   - -purecov-granularity, -bb-counts, -counts-file and -force-merge are known here only
 *   - no clock is read: cprof_record_counts() and cprof_record_bb_time() have no effect,
 *     cprof_new_phase() returns 0, and cprof_wants() asks for neither
 * Guide: docs/libcprof.md. */
#ifndef CPROF_H
#define CPROF_H

#include <stdio.h>

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#define CPROF_SAME(name) QPROF_API extern decltype(qprof_##name) cprof_##name
#else
#define CPROF_SAME(name) QPROF_API extern __typeof__(qprof_##name) cprof_##name
#endif

/* ---- hosting ----------------------------------------------------------------------------- */
CPROF_SAME(initialize);
CPROF_SAME(register_method_id);
CPROF_SAME(record_fn_entry);
CPROF_SAME(record_fn_exit);
CPROF_SAME(record_bb_counts);
CPROF_SAME(shutdown);

/* ---- embedding --------------------------------------------------------------------------- */
CPROF_SAME(open);
CPROF_SAME(close);
CPROF_SAME(define);
CPROF_SAME(rename);
CPROF_SAME(unload);
CPROF_SAME(register_code);

/* ---- threads --------------------------------------------------------------------------------
 *
 * Thread safety: any thread may call these functions. */
CPROF_SAME(initialize_ex);
CPROF_SAME(shutdown_vt);
CPROF_SAME(thread_create);
CPROF_SAME(thread_create_vt);
CPROF_SAME(set_thread_parent_vt);
CPROF_SAME(set_thread_name);
CPROF_SAME(set_thread_name_vt);
CPROF_SAME(thread_destroy);
CPROF_SAME(thread_destroy_vt);
CPROF_SAME(register_method_id_vt);
CPROF_SAME(record_fn_entry_vt);
CPROF_SAME(record_fn_exit_vt);
CPROF_SAME(record_bb_counts_vt);

/* A handle of libcprof. It has a type of its own because qprof_entry() and qprof_exit() must
 * not take it: their rare cases call functions by name, which in a program with both libraries
 * are libqprof's. Record events with cprof_record_fn_entry() and cprof_record_fn_exit(), or
 * count in place with cprof_counter_bank(). */
typedef struct cprof_thread cprof_thread;

/** Return the handle of the calling thread, or of a virtual thread. See qprof_thread_handle().
 *
 * @param vt       the virtual thread
 * @param version  QPROF_INLINE_VERSION
 * @return a handle, never NULL */
QPROF_FN(cprof_thread *) cprof_thread_handle(unsigned version);
QPROF_FN(cprof_thread *) cprof_thread_handle_vt(VthreadID vt, unsigned version);

/** Mount a virtual thread on the calling OS thread. See qprof_thread_mount().
 *
 * @param th  from cprof_thread_handle_vt()
 * @return the handle that was mounted before, or a closed handle if there was none */
QPROF_FN(cprof_thread *) cprof_thread_mount(cprof_thread *th);

/** Make a virtual thread with an id of the library's own, and end one. See qprof_thread_new().
 *
 * @param shared   of the VM, NULL at first: a handle that its stacks share; NULL: this one is not shared
 * @param creator  cprof_thread_path() of the code that created it; 0: unknown
 * @param th       any handle
 * @return a handle, never NULL; the path: 0 if nothing is recorded */
QPROF_FN(cprof_thread *) cprof_thread_new(cprof_thread **shared, uint64_t creator);
QPROF_FN(uint64_t) cprof_thread_path(const cprof_thread *th);
QPROF_FN(void) cprof_thread_end(cprof_thread *th);

/* ---- names and lines --------------------------------------------------------------------- */
CPROF_SAME(set_module);
CPROF_SAME(line_at);
CPROF_SAME(block_at);
CPROF_SAME(current_method_id);
CPROF_SAME(current_method_id_vt);

/* ---- blocks and coverage ----------------------------------------------------------------- */
CPROF_SAME(record_counts);
CPROF_SAME(record_counts_vt);
CPROF_SAME(record_alloc_block);
CPROF_SAME(measure_calls);
CPROF_SAME(work_begin);
CPROF_SAME(work_end);
CPROF_SAME(record_bb_time);
CPROF_SAME(record_bb_time_vt);
CPROF_SAME(register_jumps);
CPROF_SAME(register_instructions);
CPROF_SAME(counter_bank);
CPROF_SAME(context);
CPROF_SAME(register_source);
CPROF_SAME(set_source_map);

/** Print how much of each module has been called so far: calls, functions hit and missed, and
 * how many functions were called never, less than 10, 100 and 1000 times, and more often.
 *
 * Other threads may record meanwhile. Nothing is allocated: the stream is flushed and the lines
 * are written to its descriptor.
 *
 * @param file  an open stream
 * @return 0 on success, else
 *         - QPROF_E_ARG    file is NULL or has no descriptor
 *         - QPROF_E_STATE  not running, or inside another control function
 * Thread safety: any thread. Cost: one look at every method, call path and counter block.
 * Source: PureCoverage, live module summary. */
QPROF_FN(int) cprof_live_summary(FILE *file);

/* ---- control ----------------------------------------------------------------------------- */
CPROF_SAME(wants);
CPROF_SAME(changes);
CPROF_SAME(is_running);
CPROF_SAME(is_recording);
CPROF_SAME(start_recording);
CPROF_SAME(stop_recording);
CPROF_SAME(disable_recording);
CPROF_SAME(clear_data);
CPROF_SAME(save_data);
CPROF_SAME(save_data_to_file);
CPROF_SAME(new_phase);
CPROF_SAME(add_annotation);
CPROF_SAME(get_option);
CPROF_SAME(set_labels);
CPROF_SAME(set_program);
CPROF_SAME(load_config);
CPROF_SAME(config_line);
CPROF_SAME(environment);
CPROF_SAME(set_clock);

/* ---- sampling: QPROF_E_UNSUPPORTED, or no effect ----------------------------------------- */
CPROF_SAME(on_samples);
CPROF_SAME(sample_block);
CPROF_SAME(pc_supported);
CPROF_SAME(pc_command);
CPROF_SAME(pc_off);
CPROF_SAME(pc_sample);
CPROF_SAME(pc_enter_critical);
CPROF_SAME(pc_leave_critical);
CPROF_SAME(path);
CPROF_SAME(sample_path);
CPROF_SAME(pc_totals);
CPROF_SAME(pc_procedure);
CPROF_SAME(pc_list);
CPROF_SAME(pc_pattern_compile);
CPROF_SAME(pc_pattern_match);
CPROF_SAME(pc_pattern_free);

/* ---- triggers, actions, areas ------------------------------------------------------------ */
CPROF_SAME(trigger_create);
CPROF_SAME(trigger_find);
CPROF_SAME(trigger_destroy);
CPROF_SAME(trigger_set_pass);
CPROF_SAME(trigger_set_work);
CPROF_SAME(trigger_set_cycling);
CPROF_SAME(trigger_set_all_threads);
CPROF_SAME(trigger_set_checked);
CPROF_SAME(trigger_add_method);
CPROF_SAME(trigger_add_routine);
CPROF_SAME(trigger_check_routine);
CPROF_SAME(trigger_initial_status);
CPROF_SAME(trigger_thread_status);
CPROF_SAME(trigger_validate);
CPROF_SAME(enable_profiling);
CPROF_SAME(action_create);
CPROF_SAME(action_find);
CPROF_SAME(action_destroy);
CPROF_SAME(action_set_checked);
CPROF_SAME(action_add_method);
CPROF_SAME(action_add_routine);
CPROF_SAME(area_create);
CPROF_SAME(area_find);
CPROF_SAME(area_destroy);
CPROF_SAME(area_set_checked);
CPROF_SAME(area_set_parameters);
CPROF_SAME(area_add);
CPROF_SAME(area_add_method);

/* ---- event triggers ---------------------------------------------------------------------- */
CPROF_SAME(trg_init);
CPROF_SAME(trg_add);
CPROF_SAME(trg_delete);
CPROF_SAME(trg_enable);
CPROF_SAME(trg_disable);
CPROF_SAME(trg_chain_set);
CPROF_SAME(trg_reset);
CPROF_SAME(trg_narrow);
CPROF_SAME(trg_set_object);
CPROF_SAME(trg_set_name);
CPROF_SAME(trg_find);
CPROF_SAME(trg_get);
CPROF_SAME(trg_enabled_count);
CPROF_SAME(trg_show);
CPROF_SAME(trg_show_to);
CPROF_SAME(trg_on);
CPROF_SAME(trg_off);
CPROF_SAME(trg_is_on);
CPROF_SAME(trg_event);
CPROF_SAME(user_event);
CPROF_SAME(trg_isr_enter);
CPROF_SAME(trg_isr_leave);
CPROF_SAME(trg_system_enter);
CPROF_SAME(trg_system_leave);
CPROF_SAME(trg_work_queue_reset);
CPROF_SAME(trg_dropped);
CPROF_SAME(trg_symbol);
CPROF_SAME(trg_library);

/* ---- traces ------------------------------------------------------------------------------ */
CPROF_SAME(mark);
CPROF_SAME(counter);
CPROF_SAME(trace_dump);
CPROF_SAME(trace_call);
CPROF_SAME(trace_return);
CPROF_SAME(trace_call_vt);
CPROF_SAME(trace_return_vt);
CPROF_SAME(trace_line);
CPROF_SAME(trace_line_vt);
CPROF_SAME(trace_parameter);
CPROF_SAME(trace_parameter_vt);
CPROF_SAME(trace_result);
CPROF_SAME(trace_result_vt);
CPROF_SAME(trace_set);
CPROF_SAME(trace_get);
CPROF_SAME(trace_load);
CPROF_SAME(trace_save);
CPROF_SAME(trace_start);
CPROF_SAME(trace_stop);
CPROF_SAME(trace_flush);

/* ---- requests ---------------------------------------------------------------------------- */
CPROF_SAME(request_begin);
CPROF_SAME(request_begin_vt);
CPROF_SAME(request_begin_of);
CPROF_SAME(request_end);
CPROF_SAME(request_end_vt);
CPROF_SAME(request_end_of);

/* ---- metrics ----------------------------------------------------------------------------- */
CPROF_SAME(metric_create);
CPROF_SAME(record_metric_of);
CPROF_SAME(wait_begin);
CPROF_SAME(wait_end);

/* ---- diagnostics ------------------------------------------------------------------------- */
CPROF_SAME(strerror);
CPROF_SAME(error_text);
CPROF_SAME(diagnostic);
CPROF_SAME(diagnostics);
CPROF_SAME(check_depth);
CPROF_SAME(check_depth_vt);
CPROF_SAME(check_depth_of);
CPROF_SAME(token_unwind);
CPROF_SAME(token_resume);
CPROF_SAME(token_restore);
CPROF_SAME(token_mount);
CPROF_SAME(version);
CPROF_SAME(live_file);

#undef CPROF_SAME

#ifdef __cplusplus
}
#endif
#endif
