/* counters.h: what is counted besides calls, and the mistakes of hosts, part of layout.h. */
#ifndef QP_FORMAT_COUNTERS_H
#define QP_FORMAT_COUNTERS_H

/* ---- counters -------------------------------------------------------------------------------
 *
 * Every counter of what was lost, repaired or misused, in one table. X(name, kind, text): kind L
 * loss, R repaired input, H mistake of the host, E environment, N normal. The position is the index
 * in qp_head.diagnostics: append only. */

#define QP_DIAGNOSTICS(X)                                                                      \
    X(after_shutdown, H, "calls after shutdown")                                               \
    X(wrong_mode, H, "plain calls in virtual-thread mode, or the reverse")                     \
    X(exit_unknown_id, H, "exits that named no open frame")                                    \
    X(exit_empty_stack, H, "exits on an empty stack")                                          \
    X(exit_search_limited, L, "exits whose search for the frame was cut short")                \
    X(entry_zero_stack_id, H, "entries with stack id 0")                                       \
    X(unknown_method, H, "methods that were entered and never registered")                     \
    X(method_reregistered, H, "repeated registrations of a method")                            \
    X(bad_method_id, H, "uses of method id 0 or of a reserved id")                             \
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
    X(tree_overflow, L, "entries counted in <overflow> because of the memory limit")           \
    X(depth_overflow, L, "entries counted but not stored because the stack was too deep")      \
    X(stack_nomem, L, "stack growths that failed")                                             \
    X(thread_nomem, L, "events of threads that could not be recorded")                         \
    X(out_of_memory, L, "events that could not be stored")                                     \
    X(clock_backwards, R, "clock readings earlier than the previous one")                      \
    X(clock_backwards_max, R, "largest backward step of the clock, in ticks")                  \
    X(vt_migrations, N, "virtual threads that moved to another OS thread")                     \
    X(vt_conflict, H, "events of a virtual thread that was mounted on another OS thread")      \
    X(saturated, L, "sums that reached their limit")                                           \
    X(lost_full, L, "growths of the live file refused because the disk was full")              \
    X(fd_hijacked, E,                                                                          \
      "growths refused because the file's descriptor was closed or used by the host")          \
    X(no_crash_safety, E, "recorded in anonymous memory, which a crash would have lost")       \
    X(env_ignored, E, "environment ignored in a privileged program")                           \
    X(clamped_options, E, "option values moved into their range")                              \
    X(unknown_option, H, "unknown options")                                                    \
    X(sampler_unavailable, E, "the sampler could not be started")                              \
    X(overrun, E, "sampler passes left out because they came too late")                        \
    X(e_arg, H, "calls refused: bad argument")                                                 \
    X(e_version, H, "calls refused: unsupported version")                                      \
    X(e_state, H, "calls refused: not possible in that state")                                 \
    X(e_option, H, "calls refused: bad option value")                                          \
    X(e_memory, E, "calls refused: out of memory")                                             \
    X(e_io, E, "calls refused: file error")                                                    \
    X(e_syntax, H, "calls refused: syntax error")                                              \
    X(e_unsupported, E, "calls refused: not available here")                                   \
    X(e_notfound, H, "calls refused: unknown id or name")                                      \
    X(e_limit, E, "calls refused: a maximum was reached")                                      \
    X(context_mixed, H,                                                                        \
      "changes of methods that count blocks and jumps, not attributed to a context")           \
    X(sample_lost, L, "samples for which there was no memory")                                 \
    X(throttled, E, "times the sampler doubled its interval because it cost too much")         \
    X(unmatched_names, H, "names of triggers, actions and areas that match no method")         \
    X(trace_lost, L, "trace records for which there was no room in memory")                    \
    X(trace_unwritten, L, "trace records that could not be written to the file")               \
    X(marks_lost, L, "markers for which there was no memory")                                  \
    X(actions_dropped, L, "deferred actions dropped because the queue was full")               \
    X(counter_unread, L,                                                                       \
      "failed readings of a processor's counter, which kept its value meanwhile")              \
    X(memory_reduced, E, "memory limits reduced because address space is limited")             \
    X(inline_version, H, "hosts that were compiled with another version of qprof/inline.h")    \
    X(no_events, H, "runs in which nothing was recorded")                                      \
    X(unmounted, H, "call paths that began on a thread that was not mounted")                  \
    X(creator_lost, L,                                                                         \
      "virtual threads whose creators are not known, because rows are used up")                \
    X(request_unbegun, H, "ends of requests of which none was open")                           \
    X(endpoint_limit, E,                                                                       \
      "requests in <other>, because there are more endpoints than -endpoints")                 \
    X(request_unkept, L, "requests among the slowest that found no room, of -slowest")

typedef enum {
#define QP_X(name, kind, text) QP_D_##name,
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
        QP_D_COUNT
} qp_diagnostic;

/* Their names and kinds. */
const char *qp_diagnostic_name(qp_diagnostic which);
extern const char qp_diagnostic_kinds[QP_D_COUNT + 1];

/* ---- mistakes of the host -------------------------------------------------------------------
 *
 * What integrations get wrong, found by -check-host or anyway. X(name, step): the step of
 * docs/embedding.md. The position is the index in qp_head.findings: append only. */
#define QP_HOST_MISTAKES(X)                                                                    \
    X(exit_names_leaver, 4)                                                                    \
    X(missed_unwind, 5)                                                                        \
    X(missed_tail_call, 5)                                                                     \
    X(missed_switch, 7)                                                                        \
    X(unmounted_thread, 7)                                                                     \
    X(other_os_thread, 7)                                                                      \
    X(stack_id_twice, 4)                                                                       \
    X(method_id_twice, 3)                                                                      \
    X(frame_not_open, 4)                                                                       \
    X(wrong_depth, 4)                                                                          \
    X(forked_child, 2)                                                                         \
    X(earlier_counters, 8)

typedef enum {
#define QP_X(name, step) QP_HOST_##name,
    QP_HOST_MISTAKES(QP_X)
#undef QP_X
        QP_HOST_COUNT
} qp_host_mistake;
_Static_assert((int)QP_HOST_COUNT <= (int)QP_N_FINDINGS, "they fit");

/* Terms of the accounting identity: kept for each thread, shown under these names. */
#define QP_IDENTITY_TERMS(X)                                                                   \
    X(unwound, "frames ended by an exit of a frame below them")                                \
    X(destroyed_live, "frames open when their thread was destroyed")                           \
    X(still_live, "frames open at the end")                                                    \
    X(dropped, "entries seen but not recorded")

#endif
