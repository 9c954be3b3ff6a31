/* tracks.h: traces for tests, written as a line of text.
 *
 *   f(   entry of f          )    exit of the innermost          7   ticks pass
 *   (    entry of an unregistered method
 *   !2   2 calls are unwound @3   thread 3 continues              =   the thread is suspended
 *   -    recording goes off  +    and on                         #9  9 records were lost
 *   ?f   the caller announces a call of f    ~f  and its return  *a  mark a
 *   $a=5 counter a is 5      &v   the value v of the next call
 *
 * Blanks separate words. Cells of methods begin at 1000, of paths at 2000, of threads at 100,
 * of texts at 500. */
#ifndef QP_TESTS_UNIT_TRACKS_H
#define QP_TESTS_UNIT_TRACKS_H

#include "format/trace.h"
#include "replay/read/trace.h"

enum { TRACK_NAMES = 64, TRACK_PATHS = 4096, TRACK_THREADS = 16, TRACK_DEPTH = 64 };

typedef struct {
    qp_trace_record *records; /* [n] free with track_fini() */
    size_t n, room;
    uint64_t now;
    uint32_t cells; /* added to all cells: tracks of one file differ in them */
    char methods[TRACK_NAMES][32], texts[TRACK_NAMES][32];
    unsigned n_methods, n_texts, n_threads; /* threads: 1 to that number */
    struct {
        unsigned caller, method; /* index + 1 of the caller; 0: none */
    } paths[TRACK_PATHS];
    unsigned n_paths;
    unsigned stacks[TRACK_THREADS][TRACK_DEPTH], depth[TRACK_THREADS]; /* paths, index + 1 */
    unsigned thread;
    bool has_no_paths; /* entries name none */
} track;

void track_init(track *t, uint64_t now);
void track_fini(track *t);
/* Continue with these events. Wrong words fail the test. */
void track_play(track *t, const char *events);

/* Say in `names` what the cells are. */
void track_name(const track *t, qp_names *names);

/* Where in a .qtrace file something is, for tests that damage it. */
typedef struct {
    size_t n_packets;
    uint64_t packets[512]; /* of events: bytes of the file */
    uint64_t n_bytes;
} track_places;

/* Write tracks as the OS threads of a .qtrace file, so many records a packet, in turns.
 * @param end  raw ticks of its end; 0: it was not closed. @param places  may be NULL */
void track_write(const track *const *tracks, unsigned n, const char *path, unsigned per_packet,
                 uint64_t end, track_places *places);

#endif
