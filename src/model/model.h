/* model.h: a profile in memory, read only: live, crashed, snapshot or sealed, all the same.
 *
 * qp_model_load() reads everything once, checks every index and length, adds the open frames
 * and derives totals; afterwards the structures below never change. Times are ticks of the
 * run's clock; qp_model_ns() converts them. A text is never NULL, ends with NUL and has the
 * host's bytes: escape it where it is printed. What can be derived from a model:
 * model/figures/figures.h. */
#ifndef QP_MODEL_MODEL_H
#define QP_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"
#include "format/layout.h" /* qp_time_mode, qp_clock_kind, qp_grain, QP_METHOD_* */

enum {
    QP_ALL_THREADS = 0, /* where a thread is asked for */
    QP_ROOT_NODE = 0,   /* parent of the threads' root nodes; the whole run */
    QP_ROOT_METHOD = 0  /* "method" of root nodes, shown as .root. */
};

/* ---- the run ----------------------------------------------------------------------------- */

typedef enum {
    QP_RUN_LIVE,    /* its process is alive: figures up to the moment of reading */
    QP_RUN_CRASHED, /* never sealed and the process is gone: up to each thread's last event */
    QP_RUN_SNAPSHOT,
    QP_RUN_SEALED
} qp_run_state;

typedef struct {
    const char *name; /* as in qprof_diagnostic() */
    char kind;        /* L loss, R repaired, H mistake of the host, E environment, N normal */
    const char *text; /* what it counts */
    uint64_t count;
} qp_run_diagnostic;

/* What the host counts by call path. */
typedef struct {
    const char *name, *unit; /* unit "": none */
    uint64_t sum;            /* of the run */
} qp_run_metric;

typedef struct {
    bool is_message; /* of the recorder; else an annotation of the host */
    const char *text;
    bool has_moment; /* `at` is known */
    uint64_t at;     /* ticks from the run's start */
} qp_run_note;

/* A moment that was marked: by the host, or because a trigger or an action fired. */
typedef struct {
    const char *kind;   /* "user", "trigger", "action", "event-trigger" */
    const char *name;   /* of the trigger, or the host's text */
    uint64_t at;        /* ticks from the run's start */
    uint32_t thread;    /* index; QP_ALL_THREADS: none */
    uint32_t event;     /* event triggers: which one it was, qp_event; else 0 */
    uint64_t object;    /* id of a method or of a thread; 0: none */
    const char *method; /* name of the method that is the object; "": it is none */
    uint64_t value;     /* of the event: see value_unit */
    const char
        *value_unit; /* "ns" a call took, "frames" open, "%" of memory used; "": no value */
} qp_run_marker;

/* How often the host raised one of its events while it was recorded. */
typedef struct {
    uint32_t event;
    uint64_t count;
} qp_run_event;

typedef struct {
    qp_run_state state;
    const char *state_text; /* "live", "unsealed", "snapshot", "sealed" */
    const char *program, *options, *host, *module, *label, *version;
    const char *script,
        *arguments; /* what the host executed, words as a shell reads them; "" */
    const char *folder, *host_version, *labels; /* labels: NAME=VALUE, separated by commas */
    uint64_t pid;
    uint64_t started_at, ended_at; /* ns since 1970; ended_at 0: unknown */
    uint64_t wall;                 /* ticks from start to end, stops included */
    uint64_t stopped;              /* ticks of it while recording was stopped */
    uint32_t dataset;
    uint32_t pointer_bytes;
    bool is_virtual;   /* threads are virtual threads */
    bool has_min_max;  /* minimum and maximum are to be shown */
    bool is_recording; /* the recording flag at the end */
    bool is_at_exit;   /* sealed by the exit handler, without qprof_shutdown() */
    bool is_estimated; /* times are estimates with an interval: adaptive, sampled */
    bool has_times;    /* not -time=none */
    bool is_merged;    /* sums of several runs */
    uint64_t n_stored; /* profiles of a store that were added up; 0: it is of a file */
    bool is_imported;  /* made of a profile of another tool; `version` says which */
    bool has_calls;   /* entries were counted; else calls, hits, skips are 0 and mean nothing */
    bool has_paths;   /* call paths were recorded; else they are estimated, or missing */
    bool is_profile;  /* call paths were recorded; else calls are below their threads' roots */
    bool is_coverage; /* every method that existed is there, called or not */
    bool is_once;     /* counts of blocks are 0 or 1 */
    bool has_memory;  /* allocations and frees were recorded */
    bool has_instructions;  /* blocks were counted, and the host told their instructions */
    bool is_stack_only;     /* samples alone, without call counts */
    bool is_pc_real;        /* PC samples by the wall clock; else by CPU time */
    uint64_t pc_period_ns;  /* between PC samples, as asked for; 0: no PC command */
    const char *pc_pattern; /* which stacks count; "": all */
    uint64_t n_critical;    /* PC samples in critical sections */
    const char *trace_file; /* that its trace began in; "": none */
    qp_time_mode time_mode;
    const char *time_mode_text; /* "exact", "adaptive", "sampled", "none" */
    qp_clock_kind clock_kind;
    const char *clock_text;  /* "elapsed", "user+kernel", "counts", … */
    const char *source_text; /* where ticks come from: "tsc", "monotonic", "host", "counter" */
    const char
        *reads_text;  /* of the processor's counter: "overlap" or "wait", for earlier loads;
                             * "not-measured" */
    const char *unit; /* of qp_model_ns(): "ns", or "counts", "faults", "switches", "misses" */
    bool has_waits;   /* time off the processor is known */
    qp_grain grain;
    const char *grain_text; /* "function", "basic-block", "line" */
    uint64_t total;         /* ticks charged to methods, all threads */
    uint64_t off;           /* of total: off the processor; where has_waits */
    /* of a model of qp_model_join_threads(): the thread below whose root all paths are; else 0 */
    uint32_t joined;
    /* of a collapsed model, see qp_model_collapse(); else "", 0 and total */
    const char *focus;       /* the method whose calls are the run */
    const char *when;        /* the call pattern that attributes the paths */
    uint32_t n_hidden;       /* methods that were called and are not shown */
    uint64_t unfolded_total; /* ticks of the whole run */
    uint64_t calls;          /* entries, all threads */
    uint64_t
        calls_lost; /* entries that no method counts: no memory, or too deep; not in calls */
    /* ticks in the garbage collector, and with the finalizers that it called; of a model without its
     * row, see qp_model_charge_collector(), what it had */
    uint64_t collector, collector_total, collector_half;
    bool is_collector_charged; /* its time belongs to its callers */
    /* what recording costs, measured at the start of the run: thousandths of a tick a call */
    uint64_t cost_caller_milliticks; /* added to the caller's time by a call (entry and exit) */
    uint64_t cost_inside_milliticks; /* added to the called method's own time */
    uint64_t cost_total;             /* ticks: both, of all hits; already inside `total` */
    uint64_t cost_skipped;           /* ticks: of all skips, which no time contains */
    uint64_t sample_period_ns;       /* asked for; 0: no sampler */
    uint64_t n_passes;               /* of the sampler */
    double coarse_period; /* adaptive: ticks that one of the coarse clock represents */
    uint64_t sample_period_reached_ns; /* on average; 0: unknown */
    uint64_t memory_limit_bytes, file_bytes;
    const qp_run_diagnostic *diagnostics; /* the ones that are not 0, identity terms included */
    size_t n_diagnostics;
    const qp_run_metric *metrics; /* by number */
    size_t n_metrics;
    const qp_run_metric *metric; /* that qp_figures.metric has beside times; NULL: none */
    const qp_run_note *notes;    /* oldest first */
    size_t n_notes;
    const qp_run_marker *markers; /* in the order of their time */
    size_t n_markers;
    const qp_run_event *events; /* those that were raised, in the order of their numbers */
    size_t n_events;
} qp_run_info;

/* ---- figures ----------------------------------------------------------------------------- */

/* What was allocated and freed. */
typedef struct {
    uint64_t bytes, objects, freed_bytes, freed_objects;
} qp_memory;

/* Of a node, or of a method. An interval is half its width: the value lies within value ± half
 * with 95 % confidence. 0 where times are exact. */
typedef struct {
    uint64_t calls, hits, skips; /* calls = hits + skips */
    uint64_t resumes;            /* entries that continued a suspended call; no part of calls */
    uint64_t self, total;        /* ticks; total: callees included, recursion counted once */
    uint64_t min, max;           /* ticks of self time of one complete call; min > max: none */
    uint64_t off,
        off_total; /* ticks of self and total off the processor; where run.has_waits */
    uint64_t counts, counts_total; /* units of qprof_record_counts */
    uint64_t samples, samples_total;
    uint64_t pc_samples, pc_samples_total; /* of the PC command */
    qp_memory memory, memory_total;        /* where run.has_memory */
    uint64_t metric;                       /* itself, of run.metric */
    uint64_t self_half, total_half;        /* ticks */
    uint64_t cost; /* ticks of self that recording itself added; an estimate */
} qp_figures;

/* Whether it was called, or was on a sampled stack. Lists of functions or paths use this
 * instead of calls, which are 0 without run.has_calls, and 0 for a caller that --when does not
 * charge. */
bool qp_figures_is_seen(const qp_figures *f);

/* The part of self, and of total, on the processor; all of it without run.has_waits. */
uint64_t qp_figures_self_run(const qp_figures *f);
uint64_t qp_figures_total_run(const qp_figures *f);

/* Whether reports distinguish run time from elapsed time: 1 % of it was off the processor. */
bool qp_waits_are_shown(uint64_t off, uint64_t total);

/* Whether a function is the garbage collector: how often it is called is chance. */
bool qp_method_is_collector(const char *name);

/* Average self time of a call in ticks: self / hits; 0 without hits. */
uint64_t qp_figures_average(const qp_figures *f);
/* The same with callees: total / hits. In a recursion, less than the average of outermost
 * calls. */
uint64_t qp_figures_average_total(const qp_figures *f);

/* ---- methods, threads, nodes ------------------------------------------------------------- */

typedef struct {
    const char *name; /* display name: class.name, name, UnnamedFunction<hex id>, <overflow> */
    const char *bare_name, *class_name, *module, *file; /* "" where there is none */
    const char
        *type; /* measurement: Function, Line, Sys Block, Sys Wait, System, Timed, Endpoint */
    uint64_t id;
    uint32_t first_line;   /* smallest line of its table; 0: no table */
    uint32_t flags;        /* QP_METHOD_* */
    uint32_t ordinal;      /* from 1, in the order of first mention */
    uint32_t n_blocks;     /* entries of its line table */
    const qp_line *lines;  /* [n_blocks] */
    const uint32_t *sizes; /* [n_blocks] instructions of the host's machine; NULL: not told */
    qp_figures all;        /* over all threads */
    uint64_t instructions; /* executed, itself; where run.has_instructions */
    bool has_hidden;       /* its self includes callees that were collapsed into it */
} qp_model_method;

typedef struct {
    const char *name; /* as set, or .<start method>_<ordinal>. or .thread_<ordinal>. */
    uint64_t host_id, vt_id, system_id;
    uint32_t ordinal;  /* from 1 */
    bool is_alive;     /* not destroyed; in a finished run: at its end */
    bool is_suspended; /* a virtual thread that no OS thread runs */
    uint32_t n_lives;  /* threads that used this row in turn */
    uint32_t root;     /* node */
    uint32_t creator;  /* node on top where it was created, of another thread; 0: unknown */
    uint32_t depth;    /* frames open at the end, with those that are only counted */
    uint32_t n_frames; /* the ones that are stored */
    const uint32_t *frames; /* [n_frames] nodes of the open frames, outermost first */
    uint64_t total;         /* ticks charged to its methods */
    uint64_t calls, resumes;
    /* terms of the accounting identity, see qp_model_check(); events */
    uint64_t n_exits, n_unwound, n_destroyed_live, n_still_live, n_dropped;
    uint64_t n_in_tree; /* entries that the file's call paths count */
    uint64_t n_deep, n_deep_total, n_overflowed, n_cleared;
    uint64_t n_unsettled; /* ends or cleared entries in flight when the process was killed */
    uint64_t
        n_waiting; /* PC samples since its last event, included in those of the path on top */
    uint64_t n_drift; /* events during the copying: figures may differ by as many */
    uint64_t n_apart,
        apart_ticks;     /* events that the recorder handled out of line, and what they took */
    uint32_t skip_ticks; /* sixteenths: of an event while recording was off or stopped */
    bool is_salvaged;    /* some of its open frames could not be read */
} qp_model_thread;

typedef struct {
    uint32_t parent;                    /* smaller than the node's own index */
    uint32_t first_child, next_sibling; /* 0: none; children in the order of first calls */
    uint32_t method;                    /* QP_ROOT_METHOD: root of a thread, or of the run */
    uint32_t thread;                    /* 0: root of the run */
    uint32_t depth;    /* root of the run 0, of a thread 1, outermost methods 2 */
    bool is_outermost; /* no ancestor of the same method: its total counts for the method */
    bool is_open;      /* it has an open frame */
    bool has_hidden;   /* its self includes callees that were collapsed into it */
    bool is_joined;    /* begins a thread that was created by the path above it */
    qp_figures f;
} qp_model_node;

typedef struct qp_model_private qp_model_private;

/* Index 0 of methods is .root., of threads unused (all threads), of nodes the root of the run:
 * real ones start at 1, and n_* includes index 0. */
typedef struct {
    qp_run_info run;
    const qp_model_method *methods;
    const qp_model_thread *threads;
    const qp_model_node *nodes; /* parents before children */
    uint32_t n_methods, n_threads, n_nodes;
    const char *const *losses; /* one line each: what salvage could not read */
    size_t n_losses;
    qp_model_private *own;
} qp_model;

/* ---- loading ----------------------------------------------------------------------------- */

typedef enum {
    QP_LOAD_CLEAN,
    QP_LOAD_SALVAGED, /* usable; model.losses says what is missing */
    QP_LOAD_UNUSABLE  /* no model; the reason is in `error` */
} qp_load_status;

/* How far loading is: percent ascend to 100. */
typedef struct {
    void (*show)(void *to, unsigned percent); /* NULL: not wanted */
    void *to;
} qp_progress;

static inline void qp_progress_show(const qp_progress *p, unsigned percent)
{
    if (p && p->show)
        p->show(p->to, percent);
}

typedef struct {
    bool merge_same; /* one method for all records that agree in names, file and line table */
    uint64_t max_bytes;      /* larger profiles are refused; 0: 64 GiB */
    uint64_t max_memory;     /* that reading may take; 0: enough for an honest profile */
    const char *sample_type; /* of a foreign profile: the values to read; NULL: choose */
    qp_progress progress;
} qp_load_options;

/** Read a profile.
 *
 * @param what   a path or, where no such file exists, the process id of a recording process
 * @param o      NULL: defaults
 * @param out    the model, free with qp_model_free(); NULL when unusable
 * @param error  one line without a newline; "" unless unusable
 * Never blocks, opens for reading only. Memory: at most 64 MiB + 8 times the profile's size. */
qp_load_status qp_model_load(const char *what, const qp_load_options *o, qp_model **out,
                             qp_error *error);

/** The same from a descriptor, which stays open and keeps its position; `name` for messages. */
qp_load_status qp_model_load_fd(int fd, const char *name, const qp_load_options *o,
                                qp_model **out, qp_error *error);

/** The same from memory, which is copied. */
qp_load_status qp_model_load_bytes(const void *bytes, size_t n_bytes, const qp_load_options *o,
                                   qp_model **out, qp_error *error);

void qp_model_free(qp_model *m); /* takes NULL */

/* ---- asking ------------------------------------------------------------------------------ */

/** Ticks in the run's unit (run.unit): exact to half a unit, saturating. */
uint64_t qp_model_ns(const qp_model *m, uint64_t ticks);

/** Figures of every method on one thread, or on all.
 * @param thread  index, or QP_ALL_THREADS (then the same as methods[i].all)
 * @param out     [m->n_methods] by method; .root. has the sums
 * @return false: no memory */
bool qp_model_flat(const qp_model *m, uint32_t thread, qp_figures *out);

/** Method by name: display name, else bare name, else the one part of display names that fits a
 * single method. @param n_found  how many fit; may be NULL
 * @return the first of them in order of ordinal; 0: none */
uint32_t qp_model_method_named(const qp_model *m, const char *name, uint32_t *n_found);

/* ---- sources ----------------------------------------------------------------------------- */

/* The text of a source file. */
typedef struct {
    char *path; /* where it was found */
    char *text;
    const char **lines; /* [n_lines] line i + 1; ends before the newline, see line_bytes */
    uint32_t *line_bytes;
    uint32_t n_lines;
    uint64_t n_bytes;
    uint64_t digest;  /* of the text; see qp_model_digest() */
    uint64_t file_id; /* the same for the same file under any name */
} qp_source;

enum { QP_SOURCE_PATH_BYTES = 4096 };

/* Where a command may find sources. */
typedef struct {
    const char *path; /* folders, ":" between them; NULL: none */
    const char *root; /* one folder more; NULL: none */
} qp_source_folders;

/** Find and read a source file: as registered, else in each of the folders as registered, with the whole
 * path below the folder, and then with ever fewer leading folders.
 *
 * A profile may come from anybody, and it names files. So only what the user of this process named is
 * read: what lies, wherever links lead, in the working directory (nothing hidden, and not if it is "/") or
 * in one of the folders; elsewhere the very text that was recorded, which the profile's maker has. Nothing
 * but a plain file is opened.
 * @param digest  see qp_model_digest(); 0: not known
 * @param error   why not, one line: not found, not a plain file, too large, not the text
 * @return false: see error */
bool qp_source_read(const char *file, uint64_t digest, const qp_source_folders *folders,
                    qp_source *out, qp_error *error);
/** Read a source that the user named. */
bool qp_source_read_own(const char *file, qp_source *out, qp_error *error);
void qp_source_fini(qp_source *s);

/** Whether a source of a profile, at any place where qp_source_read() looks, is this file. */
struct stat;
bool qp_source_is(const char *file, const qp_source_folders *folders, const struct stat *other);

/** The digest of a source file's text when its code was loaded.
 * @param file  as in qp_model_method.file
 * @return 0: the host did not give the text, or the file has several */
uint64_t qp_model_digest(const qp_model *m, const char *file);

/* ---- running processes ------------------------------------------------------------------- */

/** Find the live profile of a process.
 * @param may_have_died  the file of an earlier process of the same id will do
 * @return false: there is none; `path` is "" then */
bool qp_live_path(uint64_t pid, bool may_have_died, char *path, size_t n_bytes);

/** Find the newest profile that a killed process of this user left.
 * @return false: there is none; `path` is "" then */
bool qp_live_left(char *path, size_t n_bytes);

/** Folder i of those for a user's live profiles; "/qprof-UID": the user has none.
 * @return false: there are no more */
bool qp_live_folder(unsigned i, unsigned uid, char *path, size_t n_bytes);

/** Describe in one line why a process has no live profile that can be read. */
void qp_live_why(uint64_t pid, char *to, size_t n_bytes);

/** Whether the process that wrote a file is alive. @param start  field 22 of /proc/PID/stat */
bool qp_live_is_running(uint64_t pid, uint64_t start);

typedef struct {
    uint64_t pid;
    bool is_running; /* false: the process has ended, and left the file */
    char path[512];
} qp_live_file;

/** List the live profiles of this user.
 * @param has_left  those that ended processes have left as well
 * @param out       [*n] free with qp_free() @return false: no memory */
bool qp_live_list(bool has_left, qp_live_file **out, size_t *n);

/* ---- sums of runs that are not whole: parts.c ---------------------------------------------------- */

typedef struct {
    size_t n_runs, n_killed; /* that were added up; of these, those that were killed */
    size_t n_damaged;        /* files */
} qp_run_parts;

/* @param notes  [n] of a profile that qprof merge made */
qp_run_parts qp_run_parts_of(const qp_run_note *notes, size_t n);
enum { QP_PARTS_BYTES = 160 };
/* What every report has to say of them. @return how many of the texts there are */
size_t qp_run_parts_texts(const qp_run_parts *p, char texts[2][QP_PARTS_BYTES]);

#endif
