/* qprof/requests.h: the requests that a server answers, by endpoint. Part of qprof.h, which includes it.
 * Guide: docs/requests.md. */
#ifndef QPROF_REQUESTS_H
#define QPROF_REQUESTS_H

#include "qprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Begin a request: what the thread does until its end belongs to the endpoint.
 *
 * The endpoint becomes a callee of the frame on top; the calls below it are recorded as everywhere, at the
 * same cost. Requests may be nested. A coroutine that a request creates belongs to it. A frame in which the
 * request was begun may end before it: then the request ends as well, and is counted as cut; so it is when the
 * thread or the run ends. Without a frame below it, it stays until its end. A clear forgets a request that is
 * open.
 *
 * Names that are longer than 255 bytes are cut, with a hash at their end. More names than -endpoints, and a
 * name that is NULL or "", are counted in <other>.
 *
 * @param endpoint  for example "GET /users/:id"; copied
 * @param trace_id  [16] of the request's trace; NULL: none. The slowest request of an endpoint shows it
 * @param span_id   [8] of its span; NULL: none
 * @param vt        the virtual thread; without vt: the calling thread, in virtual-thread mode the one that is
 *                  mounted on it
 * @param th        from qprof_thread_handle() or qprof_thread_handle_vt(), and for a stack of
 *                  qprof/embed.h stack->th while it runs
 * Thread safety: any thread; th: the one that drives it. Cost: of an entry out of line, a look-up of the name
 * and a clock read. */
QPROF_FN(void)
qprof_request_begin(const char *endpoint, const unsigned char *trace_id,
                    const unsigned char *span_id);
QPROF_FN(void)
qprof_request_begin_vt(const char *endpoint, const unsigned char *trace_id,
                       const unsigned char *span_id, VthreadID vt);
QPROF_FN(void)
qprof_request_begin_of(qprof_thread *th, const char *endpoint, const unsigned char *trace_id,
                       const unsigned char *span_id);

/** End the innermost request that is open on the thread. Frames that were entered in it end with it.
 *
 * Without an open request nothing happens, and it is counted as request_unbegun.
 *
 * @param has_failed  not 0: it is counted as failed
 * @param vt          as above
 * @param th          as above
 * Thread safety: as above. Cost: of an exit out of line and a clock read. */
QPROF_FN(void) qprof_request_end(int has_failed);
QPROF_FN(void) qprof_request_end_vt(int has_failed, VthreadID vt);
QPROF_FN(void) qprof_request_end_of(qprof_thread *th, int has_failed);

#ifdef __cplusplus
}
#endif
#endif
