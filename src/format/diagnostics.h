/* diagnostics.h: every counter of what was lost, repaired or misused, in one table.
 *
 * X(name, kind, text): kind L loss, R repaired input, H mistake of the host, E environment,
 * N normal. The position is the index in qp_head.diagnostics: append only. */
#ifndef QP_FORMAT_DIAGNOSTICS_H
#define QP_FORMAT_DIAGNOSTICS_H

#define QP_DIAGNOSTICS(X)                                                                      \
    X(after_shutdown, H, "calls after shutdown")                                               \
    X(wrong_mode, H, "plain calls in virtual-thread mode, or the reverse")                     \
    X(exit_unknown_id, H, "exits that named no open frame")                                    \
    X(exit_empty_stack, H, "exits on an empty stack")                                          \
    X(exit_search_limited, L, "exits whose search for the frame was cut short")                \
    X(entry_zero_stack_id, H, "entries with stack id 0")                                       \
    X(unknown_method, H, "methods that were entered and never registered")                     \
    X(method_reregistered, H, "registrations of a method that was known")                      \
    X(bad_method_id, H, "uses of method id 0 or of a reserved one")                            \
    X(method_limit, L, "methods that did not fit the memory limit")                            \
    X(bb_out_of_range, H, "block numbers outside the line table")                              \
    X(bb_no_frame, H, "block events on an empty stack")                                        \
    X(counts_no_frame, H, "counts on an empty stack")                                          \
    X(unknown_thread, H, "calls that named no known thread")                                   \
    X(unsorted_line_table, R, "line tables that were not sorted by code offset")               \
    X(line_table_truncated, R, "line tables cut to a million entries")                         \
    X(name_truncated, R, "texts cut to 64 KiB")                                                \
    X(reentrant, L, "events recorded inside another event of the same thread")                 \
    X(callback_nesting, L, "events nested too deep inside the callback")                       \
    X(tree_overflow, L, "entries folded into <overflow> at the memory limit")                  \
    X(depth_overflow, L, "entries only counted because the stack was too deep")                \
    X(stack_nomem, L, "stack growths that failed")                                             \
    X(thread_nomem, L, "events of threads that could not be recorded")                         \
    X(out_of_memory, L, "events that could not be stored")                                     \
    X(clock_backwards, R, "clock readings earlier than the one before")                        \
    X(clock_backwards_max, R, "largest step back of the clock, in ticks")                      \
    X(vt_migrations, N, "virtual threads that went on on another system thread")               \
    X(vt_conflict, H, "events of a virtual thread that another system thread was driving")     \
    X(saturated, L, "sums that reached their limit")                                           \
    X(lost_full, L, "growths of the live file refused for want of space")                      \
    X(fd_hijacked, E, "growths refused because the file's descriptor was not ours any more")   \
    X(no_crash_safety, E, "recorded in plain memory: a crash would have lost it")              \
    X(env_ignored, E, "environment ignored in a privileged program")                           \
    X(clamped_options, E, "option values moved into their range")                              \
    X(unknown_option, H, "options that are not known")                                         \
    X(sampler_unavailable, E, "the sampler could not be started")                              \
    X(overrun, E, "sampler passes that came too late and were left out")                       \
    X(e_arg, H, "calls refused: bad argument")                                                 \
    X(e_version, H, "calls refused: unsupported version")                                      \
    X(e_state, H, "calls refused: not possible at that time")                                  \
    X(e_option, H, "calls refused: bad option value")                                          \
    X(e_memory, E, "calls refused: out of memory")                                             \
    X(e_io, E, "calls refused: file error")                                                    \
    X(e_syntax, H, "calls refused: syntax error")                                              \
    X(e_unsupported, E, "calls refused: not available here")                                   \
    X(e_notfound, H, "calls refused: unknown id or name")                                      \
    X(e_limit, E, "calls refused: a maximum was reached")                                      \
    X(context_mixed, H, "changes of methods that count blocks and jumps: not told apart")      \
    X(sample_lost, L, "samples that found no room")                                            \
    X(throttled, E, "times the sampler doubled its interval because it cost too much")         \
    X(unmatched_names, H, "names of triggers, actions and areas that no method has")           \
    X(trace_lost, L, "records of the trace that found no room in memory")                      \
    X(trace_unwritten, L, "records of the trace that could not be written to its file")        \
    X(marks_lost, L, "marks that found no room")                                               \
    X(actions_dropped, L, "deferred actions that found the queue full")                        \
    X(counter_unread, L, "readings of a processor's counter that failed: it stood meanwhile")

typedef enum {
#define QP_X(name, kind, text) QP_D_##name,
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
        QP_D_COUNT
} qp_diagnostic;

/* Their names and kinds. */
extern const char qp_diagnostic_names[QP_D_COUNT][24];
extern const char qp_diagnostic_kinds[QP_D_COUNT + 1];

/* Terms of the accounting identity: kept for each thread, shown under these names. */
#define QP_IDENTITY_TERMS(X)                                                                   \
    X(unwound, "frames ended by an exit of a frame below them")                                \
    X(destroyed_live, "frames open when their thread was destroyed")                           \
    X(still_live, "frames open at the end")                                                    \
    X(dropped, "entries that were seen and not recorded")

#endif
