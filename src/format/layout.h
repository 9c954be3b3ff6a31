/* layout.h: what the bytes of a profile file mean. Each byte is described in docs/formats/qprof.md.
 *
 * A file is a head and extents. Everything is addressed by cells of 64 bytes, counted from the
 * file's first byte: a 32-bit index reaches 256 GiB. Texts and line tables are addressed by units
 * of 8 bytes (qp_ref). Index 0 is "none". A live file, one left by a crash and a sealed one have
 * the same layout; a record is filled before it is published, so that all that is published can be
 * read. A reader compares each index and each length with the file's size before it uses it. */
#ifndef QP_FORMAT_LAYOUT_H
#define QP_FORMAT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    QP_MAJOR = 2,     /* a reader refuses another one */
    QP_MAJOR_CUT = 3, /* of a cut of a spool: two states, the later one first */
    QP_MINOR = 2,     /* a reader accepts any */
    QP_CELL = 64,
    QP_HEAD_CELLS = 64,
    QP_HEAD_BYTES = QP_HEAD_CELLS * QP_CELL,
    QP_NIL_NODE = 48,   /* cell in the head: the node that matches no method */
    QP_NIL_METHOD = 49, /* the same: its method, whose id is 0 */
    QP_N_DIAGNOSTICS = 64,
    QP_N_FINDINGS = 24,
    QP_MAX_DEPTH_STORED = 1 << 24
};

typedef uint32_t qp_cell; /* file offset / 64 */
typedef uint32_t qp_ref;  /* file offset / 8 */

#define QP_MAGIC        "QPROF\r\n\x1a"
#define QP_ENDIAN       0x01020304u
#define QP_EXTENT_MAGIC 0x54584551u /* "QEXT" */

/* ---- the head ------------------------------------------------------------------------------ */

typedef enum { QP_LIVE = 0, QP_SNAPSHOT = 1, QP_SEALED = 2 } qp_file_state;
typedef enum { QP_TIME_EXACT, QP_TIME_ADAPTIVE, QP_TIME_SAMPLED, QP_TIME_NONE } qp_time_mode;

/* What is measured. The unit of the ticks in the file: see qp_clock_source. */
typedef enum {
    QP_CLOCK_ELAPSED,
    QP_CLOCK_USER,
    QP_CLOCK_KERNEL,
    QP_CLOCK_USER_KERNEL,
    QP_CLOCK_COUNTS,
    QP_CLOCK_CONTEXT_SWITCHES,
    QP_CLOCK_SOFT_PAGE_FAULTS,
    QP_CLOCK_HARD_PAGE_FAULTS,
    QP_CLOCK_PAGE_FAULTS,
    QP_CLOCK_MISPREDICTED_BRANCHES,
    QP_CLOCK_CACHE_MISSES,
    QP_CLOCK_IGNORE /* of a class of methods: reports 0 */
} qp_clock_kind;

typedef enum {
    QP_SOURCE_TSC,   /* ticks of the processor's counter: convert with head.tick_*, head.ns_* */
    QP_SOURCE_NS,    /* nanoseconds */
    QP_SOURCE_UNITS, /* counts, faults, switches, misses */
    QP_SOURCE_HOST   /* nanoseconds of the clock that the host set */
} qp_clock_source;

enum {                               /* head.flags */
       QP_FLAG_VIRTUAL = 1u << 0,    /* threads are virtual threads */
       QP_FLAG_MIN_MAX = 1u << 1,    /* minimum and maximum are to be shown */
       QP_FLAG_NO_FILE = 1u << 2,    /* recorded in anonymous memory: no crash safety */
       QP_FLAG_RECORDING = 1u << 3,  /* the recording flag is set */
       QP_FLAG_AT_EXIT = 1u << 4,    /* sealed by the exit handler */
       QP_FLAG_DISABLED = 1u << 5,   /* recording is off for good */
       QP_FLAG_MERGED = 1u << 6,     /* sums of several runs, made by the tool */
       QP_FLAG_IMPORTED = 1u << 7,   /* made by the tool of another tool's profile ... */
       QP_FLAG_NO_CALLS = 1u << 8,   /* ... that does not know how often anything was called */
       QP_FLAG_FROM_EDGES = 1u << 9, /* ... that knows callers and callees and no call paths */
       QP_FLAG_CLOSED = 1u << 10,    /* the global gate is closed */
       QP_FLAG_TURNED = 1u << 11, /* a thread was disabled for a time, by triggers or actions */
       /* Reads of the processor's counter and earlier loads; neither: not measured. */
       QP_FLAG_READS_OVERLAP = 1u << 12,
       QP_FLAG_READS_WAIT = 1u << 13,
       QP_FLAG_WAITS = 1u << 14,    /* qp_node_metrics.off is known */
       QP_FLAG_CHECKSUMS = 1u << 15 /* the head and all extents have sums */
};

enum {                               /* head.collect */
       QP_COLLECT_PROFILE = 1u << 0, /* call paths and times */
       QP_COLLECT_COVERAGE =
           1u << 1,                  /* every method that exists is registered, called or not */
       QP_COLLECT_ONCE = 1u << 2,    /* a counter says whether, not how often */
       QP_COLLECT_SAMPLES = 1u << 3, /* PC samples */
       QP_COLLECT_STACK = 1u << 4,   /* the stack alone, for others to look at */
       QP_COLLECT_TRACE = 1u << 5,   /* events in their order, in rings */
       QP_COLLECT_MEMORY = 1u << 6   /* what call paths allocate and free */
};

typedef enum { QP_PC_VIRTUAL = 1, QP_PC_REAL = 2 } qp_pc_kind; /* = QPROF_PC_* */

/* Granularity (-collection-granularity). */
typedef enum { QP_GRAIN_FUNCTION, QP_GRAIN_BLOCK, QP_GRAIN_LINE } qp_grain;

/* A mistake of the host that was found, and where first. */
typedef struct {
    uint64_t count;
    uint64_t n_looked;      /* occasions on which it could have happened, if they are counted */
    uint64_t wanted, found; /* depths, line numbers or the like, of the first place */
    qp_cell method;         /* of the first place; 0: unknown */
    qp_cell other;          /* the method that it was about, if that is another one */
    uint32_t depth;         /* frames open there */
    uint32_t thread;        /* ordinal; 0: unknown */
} qp_finding;

typedef struct {
    char magic[8];
    uint16_t major, minor;
    uint32_t endian;
    uint32_t head_bytes; /* 4096 */
    uint32_t state;      /* qp_file_state; published last when sealing */
    uint64_t nonce;      /* random; extents repeat it */
    uint64_t n_cells;    /* claimed, from the file's beginning; atomic */
    /* 40 */
    uint32_t flags;         /* QP_FLAG_* */
    uint32_t time_mode;     /* qp_time_mode */
    uint32_t clock_kind;    /* qp_clock_kind of -clock */
    uint32_t user_clock;    /* qp_clock_kind of methods without flags */
    uint32_t wait_clock;    /* qp_clock_kind of methods flagged BLOCKS or WAITS */
    uint32_t clock_source;  /* qp_clock_source of the ticks in the file */
    uint32_t grain;         /* qp_grain */
    uint32_t pointer_bytes; /* of the host */
    /* 72: ns = ns_0 + (tick - tick_0) * (ns_1 - ns_0) / (tick_1 - tick_0), for QP_SOURCE_TSC */
    uint64_t tick_0, ns_0; /* at start; ns of CLOCK_MONOTONIC */
    uint64_t tick_1, ns_1; /* as late as known; at least a millisecond later */
    /* 104 */
    uint64_t pid;
    uint64_t pid_start;  /* field 22 of /proc/PID/stat: tells a re-used pid */
    uint64_t started_at; /* wall clock, ns since 1970 */
    uint64_t ended_at;   /* the same; 0: not sealed */
    uint64_t end_raw;    /* raw ticks of the end; 0: not sealed, not a snapshot */
    uint64_t begun_raw;  /* raw ticks of the start */
    /* 152: a stopped recording flag stops every thread's clock */
    uint64_t stopped_total; /* raw ticks that clocks stood still, up to stopped_since */
    uint64_t stopped_since; /* raw ticks; 0: recording */
    uint64_t stop_change;   /* odd while the two are being changed */
    uint64_t clear_raw;     /* raw ticks of the last clear */
    uint32_t clear_count;   /* a thread whose clear_count differs has not done its part yet */
    uint32_t dataset;       /* number of this dataset; in a live file: of the next */
    /* 192 */
    /* Measured at start, in thousandths of a tick: what an event in line adds to its caller's self time,
     * with what the host does for it. */
    uint64_t cost_entry, cost_exit;
    uint64_t cost_inside;         /* the same: what it adds to the called method itself */
    uint64_t sample_period;       /* ns asked for; 0: no sampler */
    uint64_t n_passes, sample_ns; /* of the sampler; ns between its first and last pass */
    /* 240 */
    qp_ref program, options, host, module, label, version; /* texts */
    qp_ref notes;       /* newest qp_note: annotations and messages */
    uint32_t n_threads; /* thread records made; atomic */
    /* 272 */
    uint64_t memory_limit;
    uint64_t n_methods;      /* atomic */
    uint64_t clear_stopped;  /* stopped_total, up to clear_raw, at the last clear */
    uint32_t collect;        /* QP_COLLECT_*; 0, in files of minor 0: profile */
    qp_cell context;         /* qp_context that hits belong to now; 0: none was ever named */
    uint64_t context_clears; /* clear_count that the shares belong to */
    /* 312: the PC command */
    uint64_t pc_period;  /* ns asked for; 0: none */
    uint64_t n_critical; /* PC samples in critical sections */
    qp_ref pc_pattern;   /* text; 0: every stack counts */
    uint32_t pc_kind;    /* qp_pc_kind */
    qp_ref trace_file;   /* text: the file that its trace began in; 0: none */
    qp_ref
        spool; /* text: the last cut of -spool; of a cut: the live file; of minor 2, as cut */
    uint64_t pc_reached;    /* ns of CPU time for each interrupt; 0: as long as passes took */
    uint64_t coarse_period; /* adaptive: ticks that one of the coarse clock represents */
    /* as cost_inside: what a call whose events are out of line costs the host; native code, more */
    uint64_t cost_host, cost_native;
    uint64_t watch_ns;      /* CPU time of the recorder's threads that look at the others */
    uint32_t cut;           /* number of this cut of a spool, from 1; 0: none; of minor 2 */
    uint32_t spool_dropped; /* profiles removed because of -spool-limit; the same */
    qp_ref metrics;         /* newest qp_metric; 0: none; of minor 2 */
    uint32_t reserved0;
    uint64_t reserved[13];
    /* 504: texts */
    qp_ref script, arguments; /* what the host executes; words as a shell reads them */
    qp_ref folder;            /* the working directory at the start */
    qp_ref host_version;      /* name and version of the host */
    qp_ref labels;            /* NAME=VALUE, separated by commas */
    uint32_t checksum; /* qp_head_checksum(); of minor 1; 0 in a file that is still written */
    uint64_t diagnostics[QP_N_DIAGNOSTICS]; /* in the order of QP_DIAGNOSTICS; atomic */
    /* 1040: how another process hands in a configuration (docs/config.md) */
    uint32_t request; /* number of the last one asked for, from 1 */
    uint32_t answer;  /* number of the last one answered; stored last */
    int32_t answer_code;
    uint32_t bell; /* a shared futex that the process waits at: 1 more with each request */
    char request_file[1024];            /* absolute path */
    char answer_text[256];              /* one line */
    qp_finding findings[QP_N_FINDINGS]; /* at qp_host_mistake */
    uint64_t run_at;   /* wall clock, ns, see qp_earlier_profile(); 0: unknown */
    uint64_t n_sealed; /* cells of extents; of minor 1 */
    uint64_t reserved2[74];
} qp_head;

/* A text: length, bytes, NUL, padded to 8. At a qp_ref. */
typedef struct {
    uint32_t n_bytes;
    char bytes[4]; /* and more */
} qp_text;

/* A line table at a qp_ref. offset ascends unless the host's did not (index order is kept). Below 0:
 * no code of its own, but where the method is declared; executed at each call. */
typedef struct {
    int32_t code_offset, line;
} qp_line;
typedef struct {
    uint32_t n_lines;
    uint32_t flags; /* QP_LINES_* */
    qp_line lines[1];
} qp_lines;
enum {
    QP_LINES_UNSORTED = 1u,
    QP_LINES_CUT = 2u,
    QP_LINES_SIZED = 4u /* n_lines numbers of 4 bytes follow: a block's instructions */
};

/* How blocks follow each other, at a qp_ref: n_jumps pairs, then n_blocks bytes (falls). */
typedef struct {
    int32_t from_block, to_block; /* from QP_JUMP_* or a block */
} qp_jump;
enum {
    QP_JUMP_LEFT = -1,  /* the method is left in mid-block, where to_block says */
    QP_JUMP_ENTRY = -2, /* the method is entered: block 0 has these executions, not the calls */
    QP_JUMP_JOINED = -3 /* it is counted from mid-block on, where to_block says */
};
typedef struct {
    uint32_t n_jumps, n_blocks;
    qp_jump jumps[1];
} qp_jumps;

/* A note, newest first by `next`. At a qp_ref. */
typedef enum { QP_NOTE_ANNOTATION, QP_NOTE_MESSAGE } qp_note_kind;
typedef struct {
    qp_ref next;
    qp_ref text;
    uint32_t kind;
    uint32_t dataset; /* the one it belongs to */
    uint64_t at;      /* raw ticks of the run's elapsed clock; 0: not known; of minor 2 */
} qp_note;

/* A metric that the host defined, newest first by `next`. At a qp_ref. */
typedef struct {
    qp_ref next;
    qp_ref name, unit; /* texts; unit 0: none */
    uint32_t number;   /* from 1, see qp_node_values */
} qp_metric;

/* ---- extents ------------------------------------------------------------------------------- */

typedef enum {
    QP_EXTENT_FREE,
    QP_EXTENT_METHODS,  /* qp_method, a cell each */
    QP_EXTENT_THREADS,  /* qp_thread_record, 4 cells each */
    QP_EXTENT_NODES,    /* qp_node, a cell each; owner: thread record */
    QP_EXTENT_FRAMES,   /* qp_frame, a cell each: a chunk of a stack; owner: thread record */
    QP_EXTENT_BANKS,    /* qp_counter_block, any number of cells; owner: thread record */
    QP_EXTENT_AUX,      /* qp_node_more, index cells, parked threads, a cell each; owner or 0 */
    QP_EXTENT_BLOBS,    /* texts, line tables, jumps, notes: reached by qp_ref */
    QP_EXTENT_SOURCES,  /* qp_source_record, a cell each */
    QP_EXTENT_CONTEXTS, /* qp_context, a cell each */
    QP_EXTENT_SHARES, /* qp_counter_block of the kinds SHARE, SEEN, BASE, any number of cells */
    QP_EXTENT_MARKERS, /* qp_marker, a cell each */
    QP_EXTENT_EVENTS,  /* qp_event_count, a cell each */
    QP_EXTENT_RING,    /* qp_ring, then qp_trace_record, see format/trace.h */
    QP_EXTENT_WAITING, /* qp_waiting, a cell each */
    QP_EXTENT_KEPT     /* qp_kept and what continues it, 8 cells each; of minor 2 */
} qp_extent_kind;

/* First cell of every extent. Extents follow each other without a gap up to head.n_cells; a gap
 * (killed between claiming and writing it) is skipped cell by cell up to the next header whose
 * magic, self and nonce fit. */
typedef struct {
    uint32_t magic;
    qp_cell self;
    uint32_t n_cells;    /* with this one */
    uint32_t kind;       /* qp_extent_kind */
    qp_cell owner;       /* thread record; 0: shared */
    uint32_t n_used;     /* cells published after this one; FRAMES: see qp_thread_record.top;
                       * METHODS, THREADS: all, and each record says whether it is published */
    qp_cell prev;        /* the owner's extent of this kind before this one; 0: none */
    qp_cell next;        /* FRAMES: the chunk that was used after this one; 0: none */
    uint64_t nonce;      /* head.nonce ^ self */
    uint64_t base_depth; /* FRAMES: frames in the chunks before this one, less the root */
    qp_cell moved_from;  /* FRAMES: the smaller chunk that this one replaced; 0: none */
    uint32_t checksum, reserved[2]; /* qp_extent_checksum(); of minor 1; 0: none */
} qp_extent;

/* ---- records ------------------------------------------------------------------------------- */

enum { /* qp_method.flags: QPROF_METHOD_FLAGS_* and ours */
       QP_METHOD_BLOCKS = 1u,
       QP_METHOD_WAITS = 2u,
       QP_METHOD_INLINED = 4u,
       QP_METHOD_REGISTERED = 1u << 8, /* else a placeholder: name it UnnamedFunction<id> */
       QP_METHOD_PSEUDO = 1u << 9,     /* shown as measurement type System */
       QP_METHOD_OVERFLOW = 1u << 10,  /* the <overflow> of paths that did not fit */
       QP_METHOD_MISSED = 1u << 11,    /* entered before it was registered, if ever */
       QP_METHOD_HOOKED = 1u << 12,    /* something is done at its entries or exits */
       QP_METHOD_EXCLUDED = 1u << 13,  /* outside of the areas: it has no row */
       QP_METHOD_ROUTINE = 1u << 14,   /* in areas of routines alone: no blocks, no lines */
       QP_METHOD_VALUES = 1u << 15,    /* an area retrieves its parameters and results */
       QP_METHOD_CLAIMED = 1u << 16,   /* the recorder's own: a thread is registering it */
       QP_METHOD_ENDPOINT = 1u << 17   /* an endpoint; of minor 2 */
};

typedef struct {
    uint64_t id; /* the host's; 0: UnnamedFunction0, or unloaded */
    uint32_t flags;
    qp_ref name, class_name, file, module; /* 0: none */
    qp_ref lines;                          /* qp_lines; 0: function level only */
    qp_ref jumps;       /* qp_jumps; 0: counter k of a counter block counts block k */
    uint32_t ordinal;   /* from 1, in the order of their first mention */
    uint32_t published; /* 1: readable; stored last */
    qp_cell calls_next; /* this and the next two, for contexts: */
    uint64_t calls_now, calls_seen; /* the recorder's own, not for readers */
} qp_method;

typedef struct {      /* = qprof_node of include/qprof/inline.h */
    uint64_t n_calls; /* hits, and entries that resumed a call */
    uint64_t self;    /* exact: ticks, those of the open call up to the thread's last event
                           * included; sampled: ticks by sampling; adaptive: of timed calls with
                           * their callees, times the calls that each represents;
                           * merged: own ticks, or the sum of their estimates */
    uint64_t
        self_min; /* exact: QP_NO_MIN while no call is complete; adaptive: number of the call
                           * to be timed next; merged adaptive: the variance of total times, ticks
                           * squared, lower half ... */
    uint64_t self_max; /* adaptive, without a qp_node_timing: 1 byte, blocks are of 2^k calls, 7
                           * bytes, mean of the squared ticks of timed calls in 64ths;
                           * merged adaptive: upper half; sampled: samples; exact, of a root: ticks
                           * of finished outermost calls that have no path of their own. The self
                           * time of a root has the time outside of calls, too */
    uint64_t begun; /* of the open call: self at its entry, plus QP_NO_EXTREMES if it gives no
                           * minimum or maximum; adaptive: thread time of the last tick of the
                           * coarse clock at its entry, or with QP_BEGUN_* */
    uint64_t last;  /* the recorder's own link, a byte offset: not for readers */
    qp_cell next;   /* the same, a cell */
    qp_cell parent; /* a smaller index; 0: this is a thread's root */
    qp_cell method; /* qp_method; the root has 0 */
    qp_cell more;   /* qp_node_more; 0: none */
} qp_node;

#define QP_NO_MIN      ((uint64_t)INT64_MAX)
#define QP_NO_EXTREMES (1ull << 63)
/* In qp_node.begun with -time=adaptive: the rest is the thread time at which the call began, or at
 * which data were cleared while it was open. */
#define QP_BEGUN_TIMED (1ull << 62)
#define QP_BEGUN_OLD   (1ull << 61)

/* Adaptive: what is known of the calls of a path of which not all are timed. */
typedef struct {
    uint64_t beyond;      /* ticks of long calls, which represent no other call */
    uint64_t covered;     /* calls that the timed ones represent, themselves included */
    uint64_t n_timed;     /* timed calls */
    uint64_t variance;    /* of the estimate of total time, in 1024 ticks squared */
    uint64_t next_block;  /* the rest is the recorder's own: not for readers */
    uint64_t mean;        /* of timed calls, in 64ths of ticks */
    uint64_t mean_square; /* the same, in 64ths of ticks squared */
    uint8_t shift, next_shift;
    uint8_t reserved[6];
} qp_node_timing;

/* Timed calls from which the mean is better than each for its own block. */
enum { QP_TIMING_KNOWN = 8 };

/* The time with callees of a path with -time=adaptive: the estimate, and the variance of what was
 * drawn; 0: it is exact. */
typedef struct {
    double ticks, variance;
} qp_path_time;
/* @param t  the path's record; NULL: none
 * @param n_calls  its calls that have ended */
qp_path_time qp_path_time_of(const qp_node *n, const qp_node_timing *t, uint64_t n_calls);

typedef struct {
    uint64_t n_skips;      /* entries while recording was off */
    uint64_t counts;       /* units of qprof_record_counts, own */
    uint64_t samples;      /* PC samples while this path was on top */
    uint64_t n_resumes;    /* of n_calls: entries that resumed a call */
    qp_cell counters;      /* the thread's counter block of this method; 0: none */
    qp_cell time_counters; /* the same for block times */
    qp_cell overflow;      /* the node's <overflow> child; 0: none */
    qp_cell kids;          /* the recorder's own: index of the callees once there are many */
    qp_cell ring;          /* the same: a callee, where `last` leads to none */
    qp_cell timing;        /* qp_node_timing; 0: none */
    qp_cell metrics;       /* qp_node_metrics; 0: none */
    qp_cell requests;      /* qp_node_requests; 0: none; of minor 2 */
} qp_node_more;

typedef enum { QP_REQUEST_UNCOUNTED, QP_REQUEST_COUNTED, QP_REQUEST_OLD } qp_request_state;

/* Of a path that ends in an endpoint: its requests. Two cells. A request that was begun, is open in no
 * frame and was not ended, was cut. */
typedef struct {
    uint64_t n_begun, n_ended, n_failed; /* n_failed: of n_ended */
    uint64_t n_timed;    /* of n_ended: their lengths are known, and are the next two */
    uint64_t elapsed_ns; /* from begin to end */
    uint64_t slowest_ns;
    uint64_t slowest_at;                        /* when that one began: ns since 1970 */
    uint8_t slowest_trace[16], slowest_span[8]; /* as the host gave them; 0: not given */
    /* the recorder's own, of the one that is open: not for readers */
    uint8_t trace[16], span[8];
    uint64_t begun;      /* raw ticks of the elapsed clock; 0: not known */
    uint32_t is_counted; /* qp_request_state */
    uint32_t endpoint;   /* number of what -slowest knows of its endpoint; 0: nothing yet */
    uint32_t first_step; /* of the open one; 0: it has none */
    qp_cell outer;       /* path of the next one further out that has steps; 0: none */
} qp_node_requests;

/* The part of an interval between two events that an OS thread was off the processor, in ns. What came
 * before it counts as running, but for a part that interrupts may have taken.
 * @param interval  up to the second of two readings of both clocks
 * @param elapsed, cpu  between these readings */
uint64_t qp_time_off(uint64_t interval, uint64_t elapsed, uint64_t cpu);

typedef struct { /* = qprof_metrics of include/qprof/inline.h */
    uint64_t bytes, objects, freed_bytes, freed_objects; /* while the path was on top */
    uint64_t off;                                        /* ticks of self off the processor */
    qp_cell values; /* qp_node_values; 0: none; of minor 2 */
    qp_cell waits;  /* newest qp_lock_wait; 0: none; of minor 2 */
    uint64_t reserved[2];
} qp_node_metrics;

/* The waits of a path for a lock that one other path held. A cell. */
typedef struct {
    uint64_t n, ns;      /* that are over, and their elapsed time */
    uint64_t longest_ns; /* since the start of the run */
    qp_cell next;        /* another one of the path; 0: none */
    qp_cell holder;      /* path, perhaps of another thread; 0: not known, or several */
    qp_ref lock;         /* text; 0: other locks and holders than the first QP_LOCK_WAITS */
    uint32_t reserved;
    uint64_t reserved2[3];
} qp_lock_wait;

enum { QP_LOCK_WAITS = 64 }; /* of a path, without those of other locks */

enum { QP_METRICS = 16 }; /* that a run has at most; = QPROF_METRICS */

/* What was added to the metrics of the host while the path was on top. Two cells. */
typedef struct {
    uint64_t sums[QP_METRICS]; /* by number, from 1 */
} qp_node_values;

typedef struct { /* = qprof_frame */
    uint64_t stack_id;
    uint64_t node;  /* byte offset */
    uint64_t start; /* exact: thread time of entry */
    /* block times: thread time at the last mark; of a frame with its caller's node: its method */
    uint64_t mark_at;
    uint64_t mark_self; /* block times: self of the node at the last mark */
    /* samples alone: the host's id; node is 0 until the path was sampled. With QP_FRAME_HOOKED: raw
     * ticks of the run's elapsed clock at entry */
    uint64_t method_id;
    uint32_t flags;    /* QP_FRAME_* */
    qp_cell low;       /* the recorder's own: the next frame with flags below */
    uint32_t block;    /* of the last mark, if QP_FRAME_MARKED */
    uint32_t reserved; /* the recorder's own, if QP_FRAME_CALLS */
} qp_frame;

enum {
    QP_FRAME_MARKED = 1u << 0,
    QP_FRAME_SKIP = 1u << 1, /* its entry was not recorded: n_skips has it, n_calls has not */
    QP_FRAME_OVERFLOWED = 1u << 2, /* uses its caller's node; counted in thread.n_overflowed */
    QP_FRAME_ID = 1u << 3,         /* entered with a stack id on a thread that uses tokens */
    QP_FRAME_ZERO = 1u << 4,
    QP_FRAME_FOLDED = 1u << 5,   /* one of several that share an <overflow> */
    QP_FRAME_EXCLUDED = 1u << 6, /* uses its caller's node: its method is in no area */
    QP_FRAME_HOOKED = 1u << 7,   /* its exit is looked at */
    QP_FRAME_RESTORE =
        1u << 8, /* a trigger acted: at its end the thread's status is again ... */
    QP_FRAME_RESTORE_ON = 1u << 9, /* ... enabled; else disabled */
    QP_FRAME_UNTRACED = 1u << 10,  /* its entry is not in the trace: nor will its exit be */
    QP_FRAME_SAME = 1u << 11,      /* has the stack id of its caller */
    QP_FRAME_CALLS = 1u << 12      /* announced calls that are not in the trace */
};

#define QP_TOP_BUSY  (1ull << 63)
#define QP_TOP_TOKEN 1u

typedef enum { QP_THREAD_ALIVE = 1, QP_THREAD_ENDED = 2 } qp_thread_state;
/* In qp_thread_record.has_host_id: no thread, but what earlier runs added to a -counts-file.
 * host_id and vt_id are nonce and clear_count of the run that may still replace it, or 0. */
enum { QP_ROW_EARLIER = 2 };

typedef struct {
    /* cell 0: qprof_pulse of include/qprof/inline.h; the owner writes it at every event */
    /* Byte offset of the top frame, or of the root frame. With QP_TOP_TOKEN: offset of the call path
     * that is open, of which no frame is kept. With QP_TOP_BUSY while an event is recorded */
    uint64_t top;
    uint64_t last;   /* thread time of the last event */
    uint64_t offset; /* thread time = raw ticks - offset (- stops not yet seen) */
    uint64_t n_exits;
    uint64_t n_unwound;
    uint64_t suspended_at; /* raw ticks; 0: its clock runs */
    uint64_t counts;       /* with QP_CLOCK_COUNTS they are the thread's raw ticks */
    uint32_t n_deep;       /* frames above the top that are only counted */
    uint32_t index;        /* the recorder's own: not for readers */
    /* cell 1 */
    uint64_t host_id; /* qprof_ThreadID */
    uint64_t vt_id;   /* VthreadID; 0 without virtual threads */
    qp_ref name;      /* 0: .<start method>_<ordinal>. */
    uint32_t ordinal; /* from 1 */
    uint32_t state;   /* qp_thread_state; 0: not published */
    uint32_t n_lives; /* threads that used this record in turn, see -thread-rows */
    qp_cell root;     /* node, always the first of the thread; 0: no event yet */
    qp_cell chunk;    /* FRAMES extent that holds top; 0: no event yet */
    qp_cell nodes, aux, counter_blocks; /* newest extents */
    uint32_t clear_count;
    uint64_t stopped_seen; /* of head.stopped_total */
    /* cell 2: the rest of the accounting identity */
    uint64_t n_destroyed_live; /* frames open when the thread was destroyed */
    uint64_t
        n_unsettled; /* ends and cleared entries that may be counted in one place and not yet in the other */
    uint64_t n_dropped;    /* entries that were seen and not recorded */
    uint64_t n_deep_total; /* entries of frames that were only counted */
    uint64_t
        n_overflowed; /* entries that no node counts: no memory, or their method is in no area */
    uint64_t n_cleared; /* entries that clears took out of the tree */
    uint64_t n_drift;   /* events while this thread was copied; else 0 */
    uint64_t system_id; /* of the OS thread: gettid */
    /* cell 3 */
    uint32_t has_host_id; /* the host announced it; or QP_ROW_EARLIER */
    uint32_t has_tokens;  /* it used tokens: n_exits and n_unwound have the other ends alone */
    uint64_t wall_at, cpu_at; /* its OS thread's clocks when both were read last, in ns:
                               * CLOCK_MONOTONIC, CPU time; 0: never */
    uint64_t off_open;        /* snapshot, sealed: ticks off the processor since ... */
    uint64_t off_since;       /* ... this moment, if it is `last` */
    uint64_t n_apart;         /* events out of line, estimated from those that were timed */
    uint64_t apart_ticks;     /* what they, switches and new methods took, estimated */
    qp_cell creator; /* node that was on top where the virtual thread was created, perhaps of
                      * another thread; 0: unknown, or none */
    uint32_t
        skip_ticks; /* sixteenths: the mean of its events while recording was off or stopped */
} qp_thread_record;

typedef enum {
    QP_COUNTER_BLOCK_COUNTS = 1,
    QP_COUNTER_BLOCK_TIMES = 2,
    QP_COUNTER_BLOCK_SHARE = 3, /* what one context has of a method's counters on all threads */
    QP_COUNTER_BLOCK_SEEN =
        4, /* what contexts have of one counter block: the recorder's own, not for readers */
    QP_COUNTER_BLOCK_BASE =
        5, /* what one counter block held at the last clear, no longer to be counted */
    QP_COUNTER_BLOCK_SAMPLES = 6, /* samples by block, from minor 1 on */
    QP_COUNTER_BLOCK_MEMORY = 7   /* what blocks allocated, from minor 1 on */
} qp_counter_block_kind;

/* Counters of one method on one thread, complete from the method's first call there on; the record
 * is 1 cell + n_values * 8 bytes, rounded up to cells. COUNTS: [block] or, with jumps, [jump].
 * TIMES: pairs [block] own ticks, ticks with callees; then bit b of the following words: block b
 * was marked. SAMPLES: [block]. MEMORY: pairs [block] bytes, objects.
 * SHARE: as COUNTS, signed: a frame that was open when the context changed is an exit
 * of the one and an entry of the other. What no share has yet belongs to head.context. */
typedef struct {
    uint32_t n_cells; /* with this one */
    uint32_t kind;    /* qp_counter_block_kind; 0: not published */
    qp_cell method;
    uint32_t n_values;
    uint32_t n_blocks;
    qp_cell seen;    /* COUNTS: its block of the kind SEEN; 0: contexts have nothing of it */
    qp_cell base;    /* COUNTS: its block of the kind BASE; 0: none */
    qp_cell context; /* SHARE: whose */
    uint64_t calls;  /* SHARE: of the method */
    uint64_t
        clear_count; /* SEEN: of its thread, when it was taken. COUNTS: 1 and that of the head
                           * when a host last asked for it, to count in place; 0: none did */
    qp_cell row;     /* SHARE: the row of earlier runs whose it is; 0: of this run */
    uint32_t reserved;
    uint64_t reserved2;
    uint64_t values[1]; /* at byte 64 */
} qp_counter_block;

/* What hits belong to: a part of the run, named by qprof_context(). */
typedef struct {
    qp_ref name;      /* 0: what ran while no context was named */
    uint32_t ordinal; /* from 1 */
    uint32_t published;
    uint32_t reserved;
    uint64_t n_switches; /* how often it was begun */
    uint64_t reserved2[5];
} qp_context;

typedef enum {
    QP_MARKER_USER = 1,
    QP_MARKER_TRIGGER,
    QP_MARKER_ACTION,
    QP_MARKER_EVENT_TRIGGER,
    QP_MARKER_NOTE /* in traces alone: and qp_note_kind */
} qp_marker_kind;

/* A moment that the host or a trigger marks. */
typedef struct {
    uint64_t at;     /* raw ticks of the run's elapsed clock */
    qp_cell thread;  /* thread record; 0: none */
    uint32_t kind;   /* qp_marker_kind */
    qp_ref name;     /* of the trigger, or the host's text */
    uint32_t event;  /* EVENT_TRIGGER: id of the event */
    uint64_t object; /* method id and the like */
    uint64_t value;  /* of events with one: ns, depth, bytes */
    uint32_t published;
    uint32_t reserved;
    uint64_t reserved2[2];
} qp_marker;

/* How often a user event was raised while it was recorded. */
typedef struct {
    uint32_t id;
    uint32_t published;
    uint64_t count;
    uint64_t reserved[6];
} qp_event_count;

/* PC samples of a thread since its last event: they belong to the path of its top frame, as soon as it
 * makes the next event. Cleared data have none. */
typedef struct {
    uint64_t n_passes;  /* of the sampler */
    uint64_t ticks;     /* elapsed between them, with -time=sampled */
    uint64_t n_samples; /* of the PC command */
    qp_cell thread;     /* thread record; 0: not in use */
    uint32_t reserved;
    uint64_t off, reserved2[3]; /* off: elapsed ticks that passes found it waiting */
} qp_waiting;

/* Of -slowest: a request that is kept whole, 8 cells: what the fields leave has its steps, and what does not
 * fit is in others, which have the first three fields alone. A step: the path that is on top since then, or
 * qp_kept_step; in the upper half, ticks since the path before, or that many. */
typedef struct {
    qp_cell next;       /* the cell where the steps continue; 0: nowhere */
    uint32_t number;    /* of the kept request, from 1: the same in all of its cells */
    uint32_t n_steps;   /* in these cells */
    uint32_t published; /* 1: readable; 0: free, or what continues another */
} qp_kept_part;

typedef struct {
    qp_kept_part part;
    qp_cell path;                  /* of its endpoint */
    qp_cell thread;                /* thread record */
    uint32_t flags;                /* QP_KEPT_* */
    uint32_t window;               /* number of the one in which it ended, from 0 */
    uint64_t begun_raw, ended_raw; /* the first step counts from its begin */
    uint64_t n_before, n_after;    /* steps that are missing before the first, after the last */
    uint8_t trace[16], span[8];    /* as the host gave them; 0: not given */
    uint32_t reserved;
    qp_cell sibling; /* the recorder's own */
} qp_kept;

/* In place of a path, which would be larger. */
typedef enum {
    QP_STEP_SUSPENDED =
        1,            /* ticks for which the thread was suspended, or its clock stopped ... */
    QP_STEP_OFF = 2,  /* ... for which it was off the processor, up to the next step */
    QP_STEP_UPPER = 3 /* upper half of the ticks of the next step */
} qp_kept_step;

enum {
    QP_KEPT_FAILED = 1u << 0,
    QP_KEPT_CUT = 1u << 1,
    QP_KEPT_CELLS = 8,
    QP_KEPT_BYTES = QP_KEPT_CELLS * QP_CELL
};

/* The text that a source file had when its code was loaded, from qprof_register_source(). */
typedef struct {
    qp_ref path; /* equal to the file of its methods */
    uint32_t published;
    uint64_t digest; /* FNV-1a, 64 bits, of the bytes */
    uint64_t n_bytes;
    qp_ref map; /* the recorder's own: qp_source_map; 0: none */
    uint32_t reserved0;
    uint64_t reserved[4];
} qp_source_record;

_Static_assert(sizeof(qp_head) == QP_HEAD_BYTES, "the head is 64 cells");
_Static_assert(sizeof(qp_extent) == QP_CELL && sizeof(qp_method) == QP_CELL, "a cell each");
_Static_assert(sizeof(qp_node) == QP_CELL && sizeof(qp_node_more) == QP_CELL, "a cell each");
_Static_assert(sizeof(qp_node_timing) == QP_CELL && sizeof(qp_node_metrics) == QP_CELL,
               "cells");
_Static_assert(sizeof(qp_node_requests) == 2ul * QP_CELL &&
                   sizeof(qp_node_values) == 2ul * QP_CELL,
               "two cells");
_Static_assert(sizeof(qp_kept) == 96 && sizeof(qp_kept_part) == 16, "kept requests");
_Static_assert(sizeof(qp_lock_wait) == QP_CELL, "a cell");
_Static_assert(sizeof(qp_frame) == QP_CELL && sizeof(qp_marker) == QP_CELL, "a cell each");
_Static_assert(sizeof(qp_waiting) == QP_CELL && sizeof(qp_event_count) == QP_CELL, "cells");
_Static_assert(sizeof(qp_thread_record) == 4ul * QP_CELL, "four cells");

/* ---- lengths of tables ---------------------------------------------------------------------- */

/* The bytes that determine how long the rest is. */
enum { QP_LINES_HEAD = offsetof(qp_lines, lines), QP_JUMPS_HEAD = offsetof(qp_jumps, jumps) };

/* @param flags  of the table */
static inline uint64_t qp_lines_bytes(uint32_t n_lines, uint32_t flags)
{
    uint64_t each = sizeof(qp_line) + (flags & QP_LINES_SIZED ? sizeof(uint32_t) : 0);
    return QP_LINES_HEAD + n_lines * each;
}

/* [n_lines] instructions of each block; NULL: not known */
static inline const uint32_t *qp_lines_sizes(const qp_lines *t)
{
    const void *after = (const char *)t + qp_lines_bytes(t->n_lines, 0);
    return t->flags & QP_LINES_SIZED ? (const uint32_t *)after : NULL;
}

static inline uint64_t qp_jumps_bytes(uint32_t n_jumps, uint32_t n_blocks)
{
    return QP_JUMPS_HEAD + n_jumps * (uint64_t)sizeof(qp_jump) + n_blocks;
}

static inline bool qp_lines_agree(const qp_line *a, uint32_t n_a, const qp_line *b,
                                  uint32_t n_b)
{
    return n_a == n_b && (!n_a || memcmp(a, b, n_a * sizeof *a) == 0);
}

/* Of blocks of the same lines. NULL: not known */
static inline bool qp_sizes_agree(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    return a == b || (a && b && memcmp(a, b, n * sizeof *a) == 0);
}

/* NULL: none. */
static inline bool qp_jumps_agree(const qp_jumps *a, const qp_jumps *b)
{
    return a == b || (a && b && a->n_jumps == b->n_jumps && a->n_blocks == b->n_blocks &&
                      memcmp(a, b, qp_jumps_bytes(a->n_jumps, a->n_blocks)) == 0);
}

/* Do all jumps lead from and to blocks? */
static inline bool qp_jumps_fit(const qp_jump *jumps, uint64_t n_jumps, uint32_t n_blocks)
{
    for (uint64_t i = 0; i < n_jumps; i++)
        if (jumps[i].from_block < QP_JUMP_JOINED || jumps[i].from_block >= (int64_t)n_blocks ||
            jumps[i].to_block < 0 || jumps[i].to_block >= (int64_t)n_blocks)
            return false;
    return true;
}

/* ---- reading what may be damaged ------------------------------------------------------------ */

typedef struct {
    const char *base;
    uint64_t n_bytes;
} qp_bytes;

/* n_bytes at a ref. @return NULL: not in the file */
static inline const void *qp_bytes_at(qp_bytes b, qp_ref ref, uint64_t n_bytes)
{
    uint64_t at = (uint64_t)ref * 8;
    return at >= QP_HEAD_BYTES && at <= b.n_bytes && n_bytes <= b.n_bytes - at ? b.base + at
                                                                               : NULL;
}

/* The text, with its NUL. @return NULL: not in the file */
static inline const char *qp_bytes_text(qp_bytes b, qp_ref ref)
{
    const qp_text *t = (const qp_text *)qp_bytes_at(b, ref, sizeof *t);
    uint64_t n = t ? t->n_bytes : 0;
    const char *bytes = t ? t->bytes : NULL; /* of no fixed length */
    return t && qp_bytes_at(b, ref, offsetof(qp_text, bytes) + n + 1) && !bytes[n] ? bytes
                                                                                   : NULL;
}

/* The tables of a method. @return NULL: not in the file */
static inline const qp_lines *qp_bytes_lines(qp_bytes b, qp_ref ref)
{
    const qp_lines *t = (const qp_lines *)qp_bytes_at(b, ref, QP_LINES_HEAD);
    return t && qp_bytes_at(b, ref, qp_lines_bytes(t->n_lines, t->flags)) ? t : NULL;
}
static inline const qp_jumps *qp_bytes_jumps(qp_bytes b, qp_ref ref)
{
    const qp_jumps *t = (const qp_jumps *)qp_bytes_at(b, ref, QP_JUMPS_HEAD);
    return t && qp_bytes_at(b, ref, qp_jumps_bytes(t->n_jumps, t->n_blocks)) ? t : NULL;
}

/* Does an extent begin at this cell? Its header names its place and repeats the file's nonce. */
static inline bool qp_extent_begins(const qp_extent *e, uint64_t cell, uint64_t nonce)
{
    return e->magic == QP_EXTENT_MAGIC && e->self == cell && e->nonce == (nonce ^ cell);
}

#include "format/counters.h"
#include "format/events.h"

#endif
