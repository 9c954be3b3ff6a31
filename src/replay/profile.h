/* profile.h: a trace becomes a profile: calls, own times, smallest and largest ones of each call path,
 * as recording them in exact mode would have given. */
#ifndef QP_REPLAY_PROFILE_H
#define QP_REPLAY_PROFILE_H

#include "replay/trace.h"

/** Write the profile of a trace.
 * @param t  open and not read yet
 * @param counts  receives what was in it
 * @return false: see error (one line) */
bool qp_trace_profile(qp_trace *t, const qp_trace_window *window, const char *path,
                      const qp_progress *progress, qp_span_counts *counts,
                      char error[QP_ERROR_BYTES]);

#endif
