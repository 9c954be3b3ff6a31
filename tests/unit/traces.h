/* traces.h: a naive reader of traces, from rings of a profile and from packets of a file. */
#ifndef QP_TESTS_UNIT_TRACES_H
#define QP_TESTS_UNIT_TRACES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/layout.h"
#include "format/trace.h"

typedef struct {
    qp_trace_record r;
    qp_cell ring;
    uint64_t number; /* in the ring */
} traced;

typedef struct {
    qp_names_kind kind;
    uint64_t numbers[6]; /* cell or ref first, in the order of docs/formats/qtrace.md */
    char (*texts)[64];   /* [4]; NULL: of a path */
} trace_name;

typedef struct {
    traced *all;
    size_t n, n_room;
    trace_name *names;
    size_t n_names, n_names_room;
    qp_pack_path *paths; /* by cell */
    qp_cell n_paths;
    size_t n_packets, n_names_packets;
    uint64_t n_bytes, n_event_bytes; /* of the file, of its packets of events */
    uint64_t n_missing;              /* records between packets of one ring */
    uint64_t n_lost;                 /* by LOST records */
    uint64_t ring_lost, ring_head;   /* sums over rings */
    uint64_t n_calls;                /* of all call paths of the profile */
    bool has_end, is_damaged;
    uint64_t diagnostics[QP_D_COUNT]; /* of the last CLOCK */
} traces;

/* Packets up to the first one that is not whole. The records of a ring are together. */
traces *traces_of_file(const char *path);
/* What the rings of a profile hold from a record on. @param from 0, or what a file has
 * already */
traces *traces_of_profile(const char *path);
void traces_free(traces *t);

size_t traces_count(const traces *t, qp_trace_op op);
/* NULL: the dictionary does not have it. */
const trace_name *traces_name(const traces *t, qp_names_kind kind, uint64_t number);

/* All but NONE as words: "5 main(" entered 5 ticks after `origin`, "7 )" an exit, "7 )2!" two
 * frames unwound, "@1" a switch to the thread of ordinal 1, "park1", "gate0", "mark:text",
 * "n=5", ... */
const char *traces_text(const traces *t, uint64_t origin);

#define assert_trace(t, text) assert_string_equal(traces_text(t, 1000000000), text)

#endif
