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

/* Digits of a traceparent to bytes, [n]. @return 0: they are no digits, or all of them are 0 */
static inline int qprof_read_digits(unsigned char *to, const char *text, int n)
{
    int i, any = 0;
    for (i = 0; i < 2 * n; i++) {
        unsigned char c = (unsigned char)text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return 0;
        to[i / 2] = (unsigned char)(i & 1 ? to[i / 2] | digit : digit << 4);
        any |= digit;
    }
    return any != 0;
}

/** Read the header traceparent of W3C Trace Context.
 *
 * @param text      "00-TRACE-SPAN-FLAGS", or of a later version; NULL: there is none
 * @param trace_id  receives the id of the trace, [16]
 * @param span_id   receives the id of the span, [8]
 * @return 1; 0: there is none or it is wrong, and the ids have any values
 * Thread safety: any thread. Cost: some 0.1 us. */
static inline int qprof_read_traceparent(const char *text, unsigned char *trace_id,
                                         unsigned char *span_id)
{
    enum { TRACE = 3, SPAN = 36, FLAGS = 53, LENGTH = 55 };
    unsigned char number[1];
    int n = 0, is_0;
    while (text && text[n] && n <= LENGTH)
        n++;
    if (n < LENGTH || text[TRACE - 1] != '-' || text[SPAN - 1] != '-' || text[FLAGS - 1] != '-')
        return 0;
    is_0 = text[0] == '0' && text[1] == '0';
    if (is_0 ? n != LENGTH : !qprof_read_digits(number, text, 1) || number[0] == 0xFF)
        return 0;
    if (n > LENGTH && text[LENGTH] != '-')
        return 0;
    if (!qprof_read_digits(number, text + FLAGS, 1) &&
        !(text[FLAGS] == '0' && text[FLAGS + 1] == '0'))
        return 0;
    return qprof_read_digits(trace_id, text + TRACE, 16) &&
           qprof_read_digits(span_id, text + SPAN, 8);
}

#ifdef __cplusplus
}
#endif
#endif
