/* qprof/memory.h: allocations and frees of the host, by call path. Part of qprof/inline.h, which includes
 * it. Read qprof_record_alloc() first. */
#ifndef QPROF_MEMORY_H
#define QPROF_MEMORY_H

#include "qprof/inline.h"

#if (defined(__GNUC__) || defined(__clang__)) && !defined(QPROF_NO_INLINE)

#ifdef __cplusplus
extern "C" {
#endif
/** Handle the rare cases of the functions below. Nothing else calls it.
 *
 * @param th       as there
 * @param bytes    as there
 * @param objects  1: a block is allocated or freed; 0: its size changes
 * @param is_free  1: it is freed, or becomes smaller
 * Thread safety: only the thread that uses the handle. */
QPROF_FN(void)
qprof_cold_memory(qprof_thread *th, uint64_t bytes, uint64_t objects, int is_free);
#ifdef __cplusplus
}
#endif

static inline void qprof_add_memory(qprof_thread *th, uint64_t bytes, uint64_t objects,
                                    int is_free)
{
    qprof_metrics *m = bytes >> 48 ? NULL : qprof_top_metrics(th);
    if (QPROF_UNLIKELY(!m)) {
        qprof_cold_memory(th, bytes, objects, is_free);
    } else if (is_free) {
        QPROF_ADD(m->freed_bytes, bytes);
        QPROF_ADD(m->freed_objects, objects);
    } else {
        QPROF_ADD(m->bytes, bytes);
        QPROF_ADD(m->objects, objects);
    }
}

/** Record that the host has allocated a block of memory, or an object, for the call on top.
 *
 * Needed if qprof_wants() has QPROF_WANT_MEMORY: without -allocations it has no effect.
 *
 * @param th     from qprof_thread_handle()
 * @param bytes  its size; 2^48 and more are refused and counted as e_arg
 * Thread safety: only the thread that uses the handle. Cost: about 1 ns; a test if allocations are not
 * recorded. */
static inline void qprof_record_alloc(qprof_thread *th, uint64_t bytes)
{
    if (QPROF_UNLIKELY(th->wants & QPROF_THREAD_MEMORY))
        qprof_add_memory(th, bytes, 1, 0);
}

/** Record that a block is freed. It counts for the call on top, whichever call allocated the block.
 *
 * @param th     as there
 * @param bytes  as there
 * Thread safety: as there. Cost: the same. */
static inline void qprof_record_free(qprof_thread *th, uint64_t bytes)
{
    if (QPROF_UNLIKELY(th->wants & QPROF_THREAD_MEMORY))
        qprof_add_memory(th, bytes, 1, 1);
}

/** Record that the size of a block has changed: the difference is allocated, or freed, and no object is.
 *
 * @param th         as there
 * @param old_bytes  its size before
 * @param new_bytes  its size now
 * Thread safety: as there. Cost: the same. */
static inline void qprof_record_resize(qprof_thread *th, uint64_t old_bytes, uint64_t new_bytes)
{
    if (QPROF_UNLIKELY(th->wants & QPROF_THREAD_MEMORY))
        qprof_add_memory(th,
                         new_bytes > old_bytes ? new_bytes - old_bytes : old_bytes - new_bytes,
                         0, new_bytes < old_bytes);
}

/** Tell which block of the function on top allocated what was just recorded, so that lines have bytes and objects.
 *
 * It adds nothing to call paths: it is called besides qprof_record_alloc() or _resize(), by hosts that know
 * the block. Frees have no block.
 *
 * @param th       from qprof_thread_handle()
 * @param bytes    that were allocated, or by which a block of memory has grown
 * @param objects  1; 0: a block of memory has grown
 * @param block    index into the line table of the function on top
 * Errors: a size of 2^48 or more is counted as e_arg, a block that is not in the table as bb_out_of_range.
 * Thread safety: only the thread that uses the handle. Cost: about 30 ns. */
QPROF_FN(void)
qprof_record_alloc_block(qprof_thread *th, uint64_t bytes, uint64_t objects, int block);

#endif
#endif
