/* trace_cursor.h: the place of a reader in a ring, and what the next records there are. */
#ifndef QP_RECORD_STREAM_TRACE_CURSOR_H
#define QP_RECORD_STREAM_TRACE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

typedef struct qp_trace_cursor qp_trace_cursor;
struct qp_trace_cursor {
    uint64_t at;     /* number of the next record */
    uint32_t thread; /* cell of the one that is driven there; 0: none */
    uint32_t reserved;
    /* of the pass: */
    uint64_t head, mask;
    const qp_trace_record *records;
    qp_trace_cursor *next; /* of those that hold something */
};

/* Record i from the next one on. */
static inline const qp_trace_record *qp_trace_cursor_record(const qp_trace_cursor *c,
                                                            uint64_t i)
{
    return &c->records[(c->at + i) & c->mask];
}

/* When the next record was written. One that continues a lost record is skipped at once. */
uint64_t qp_trace_cursor_time(const qp_trace_cursor *c);

/* Does the OS thread continue with another thread at the next record? */
bool qp_trace_cursor_switches(const qp_trace_cursor *c);

/* Byte i of the texts after a VALUE. */
char qp_trace_cursor_text(const qp_trace_cursor *c, uint64_t i);

/* The time of a tick of the clock, as exactly as it is known by now. */
double qp_trace_ms_per_tick(void);

/* The clock of a host may pause or fall. */
bool qp_trace_clock_may_fall(void);

/* @return until; if the clock may have fallen, at least the greatest time in the rings */
uint64_t qp_trace_newest(uint64_t until);

#endif
