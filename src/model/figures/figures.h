/* figures.h: what is derived from a model: callers and callees, stack suffixes, blocks and
 * lines, attribution by call patterns, collapsed views, and checks of what must hold. */
#ifndef QP_MODEL_FIGURES_FIGURES_H
#define QP_MODEL_FIGURES_FIGURES_H

#include <stdbool.h>

#include "base/containers/alloc.h"
#include "base/text/error.h"
#include "format/layout.h"
#include "model/model.h"

/* ---- the tree ---------------------------------------------------------------------------- */

/* The call paths below a root as a row of steps: each is entered after its caller, and left after
 * everything below it. No recursion: paths may be millions of calls deep.
 *
 *     for (qp_walk w = {.m = m}; qp_walk_next(&w);) */
typedef struct {
    const qp_model *m;
    uint32_t root; /* of a thread, which is a path of the walk; QP_ROOT_NODE: all threads */
    uint32_t node; /* of the step */
    bool is_entry;
} qp_walk;
bool qp_walk_next(qp_walk *w); /* @return false: that was all */

/* Add what a path has itself: times and counts, or its calls. */
void qp_figures_add_self(qp_figures *to, const qp_figures *f);
void qp_memory_add(qp_memory *to, const qp_memory *more);
void qp_figures_add_calls(qp_figures *to, const qp_figures *f);
/* Estimates, totals, figures of methods. @return false: no memory */
bool qp_derive(qp_model_private *own);
/* Show what was allocated in place of time; the unit is bytes or objects then. Not of profiles of other
 * tools. @param value  bytes, objects, or as pprof calls them; time: nothing changes
 * @return false: see error, one line; without memory the model can only be freed */
bool qp_model_choose(qp_model *m, const char *value, qp_error *error);
/* The same with a metric of the host, in its unit. @param is_beside  times stay, and qp_figures.metric has it */
bool qp_model_choose_metric(qp_model *m, const char *name, bool is_beside, qp_error *error);
/* Totals and figures of methods, of self times that are final. */
bool qp_derive_totals(qp_model_private *own);
/* Calls that only counter blocks know; after qp_load_counter_blocks(). */
bool qp_derive_calls(qp_model_private *own);
/* Executed instructions of methods, once their calls and counters are known. @return false: no memory */
bool qp_derive_instructions(qp_model_private *own);

/* ---- requests ---------------------------------------------------------------------------- */

/* An endpoint and its requests. A request counts when it is over. */
typedef struct {
    uint32_t method;
    uint64_t requests, failed,
        cut;       /* failed and cut: of requests. Cut: left open by what began it */
    uint64_t open; /* not over yet */
    uint64_t timed,
        elapsed_ns; /* how many of them were timed, from begin to end, and their times */
    uint64_t slowest_ns, slowest_at; /* at: when it began, ns since 1970. 0: none was timed */
    bool has_trace;
    uint8_t trace[16], span[8]; /* of the slowest */
} qp_endpoint;

/** List the endpoints of a run, in the order of their first requests.
 * @param m    collapsed or not
 * @param out  [*n] free with qp_free() @return false: no memory */
bool qp_model_endpoints(const qp_model *m, qp_endpoint **out, size_t *n);

/** A request that was kept whole: -slowest. */
typedef struct {
    const char *endpoint, *thread; /* their names; valid as the model */
    uint64_t thread_ordinal;
    uint32_t node; /* of its path */
    bool has_failed, is_cut, has_trace;
    uint32_t window;   /* number of the window in which it ended, from 0 */
    uint64_t begun_ns; /* since the run began */
    uint64_t begun_at; /* ns since 1970 */
    uint64_t elapsed_ns;
    uint64_t off_ns, suspended_ns; /* parts of it: off the processor; its thread was suspended,
                                    * or not recorded */
    uint64_t n_calls;              /* that began in it */
    uint64_t n_before,
        n_after; /* entries and exits that are missing at its begin, at its end */
    uint8_t trace[16], span[8];
    qp_cell cell;
} qp_kept_request;

/* A call of it. Times in ns. */
typedef struct {
    const char *name;        /* of the method; valid as the model */
    uint32_t method, depth;  /* of the request itself: 0 */
    uint32_t n_below;        /* calls that it made, and they, in what follows it */
    uint64_t begin, total;   /* from the begin of the request on; callees and waits included */
    uint64_t off, suspended; /* while it was on top */
    uint64_t off_total, suspended_total; /* the same with callees */
} qp_kept_call;

/** List the requests that were kept, the slowest first. @param m  collapsed or not
 * @param out  [*n] free with qp_free() @return false: no memory */
bool qp_model_kept_requests(const qp_model *m, qp_kept_request **out, size_t *n);

/* A part of a request in which its thread waited. When it began is known by the call or return that follows it:
 * it is taken to last up to that. Times in ns. */
typedef struct {
    uint64_t begin, duration; /* from the begin of the request on */
    bool is_off;              /* off the processor; else suspended, or not recorded */
} qp_kept_wait;

/* What happened in a request. */
typedef struct {
    qp_kept_call *items; /* [n] in their order, the request itself first */
    size_t n;
    qp_kept_wait *waits; /* [n_waits] in their order */
    size_t n_waits;
} qp_kept_calls;

/** The calls of one of them, and its waits.
 * @param out  free with qp_kept_calls_fini(), also after a failure @return false: no memory */
bool qp_model_kept_calls(const qp_model *m, const qp_kept_request *r, qp_kept_calls *out);
void qp_kept_calls_fini(qp_kept_calls *calls);
/* Time of its own of a call: without callees, and without those parts in which it was suspended. */
uint64_t qp_kept_self(const qp_kept_calls *calls, size_t i);

/* Of the record of a path: how many are open, 0 or 1, and not over. */
typedef struct qp_model_requests qp_model_requests;
uint64_t qp_requests_open(const qp_model *m, const qp_model_requests *r);
/* Add up two records; the order does not matter. */
void qp_requests_add(qp_node_requests *to, const qp_node_requests *from);

/* ---- locks ------------------------------------------------------------------------------- */

/* Waits of a path, or of a function, for a lock that another one held. */
typedef struct {
    const char *lock;        /* "": others */
    uint32_t waiter, holder; /* nodes; holder 0: not known */
    uint64_t n, ns, longest_ns;
} qp_lock_waits;

/** List them, the most time first.
 * @param m         collapsed or not
 * @param by_paths  of each two paths; else of each two functions, with one of their paths
 * @param out       [*n] free with qp_free() @return false: no memory */
bool qp_model_lock_waits(const qp_model *m, bool by_paths, qp_lock_waits **out, size_t *n);
/** The innermost path at a node or above it whose function has a source file; the node itself if none has. Functions
 * of the host that wait for locks have none. @return node */
uint32_t qp_model_with_source(const qp_model *m, uint32_t node);

/* ---- callers and callees ----------------------------------------------------------------- */

/* One row of a function detail. */
typedef struct {
    uint32_t method;   /* the caller or callee; QP_ROOT_METHOD: .root. */
    bool is_recursive; /* marked *: the calls lie inside the method, or lead back to it */
    uint64_t calls;
    uint64_t time; /* ticks, see below */
    uint64_t half; /* of its 95 % interval; 0: exact */
} qp_edge;

/** Callers of a method. time: what the caller got from the method's outermost activations; the
 * times of all rows add up to the method's total. Most time first.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free()
 * @return false: no memory */
bool qp_model_callers(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n);

/** Immediate callees of a method. time: their time with descendants, less the self time of the
 * method inside (recursion), so that with the method's self it may exceed the total. The method
 * itself as a callee has time 0: it is not its own descendant. */
bool qp_model_callees(const qp_model *m, uint32_t method, uint32_t thread, qp_edge **out,
                      size_t *n);

/** All pairs of caller and callee at once, for graphs: by caller, then by callee; .root.
 * included. time: with descendants, outermost activations of the pair only. */
typedef struct {
    uint32_t caller, callee;
    bool is_recursive;
    uint64_t calls, time;
    uint64_t half; /* of the interval of time */
} qp_pair;
bool qp_model_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n);

/** The same by callee, then by caller, with the times of qp_model_callers(). */
bool qp_model_caller_pairs(const qp_model *m, uint32_t thread, qp_pair **out, size_t *n);

/** The path of greatest totals: from a thread's outermost method down to where self time is
 * more than that of any callee.
 * @param thread  index, or QP_ALL_THREADS: begins in the thread with most time
 * @param out     [*n] nodes, outermost first; free with qp_free()
 * @return false: no memory */
bool qp_model_hottest_path(const qp_model *m, uint32_t thread, uint32_t **out, size_t *n);

/* ---- stack suffixes ---------------------------------------------------------------------- */

enum { QP_STACK_SUFFIX_MOST_FRAMES = 100 }; /* also the limit of -max-route-depth */

/* All calls of a method whose stacks agree in their innermost frames. */
typedef struct {
    uint32_t node;     /* the first of its call paths: the suffix's frames are its parents */
    uint32_t n_frames; /* with the method's own; .root. is none */
    bool is_cut;       /* some of the stacks have more frames */
    uint64_t hits;     /* calls that were recorded, of all its call paths */
} qp_stack_suffix;

/** The stack suffixes of a method, most hits first, then in the order of first calls. Skipped
 * calls are in none. Time: call paths of the method times frames; memory: some 60 bytes for
 * each of these call paths, however many frames.
 * @param thread    index, or QP_ALL_THREADS
 * @param n_frames  stacks are cut at so many frames, 1 to QP_STACK_SUFFIX_MOST_FRAMES
 * @param out       [*n] free with qp_free()
 * @return false: no memory */
bool qp_model_stack_suffixes(const qp_model *m, uint32_t method, uint32_t thread,
                             uint32_t n_frames, qp_stack_suffix **out, size_t *n);

/* Standard deviations to each side of an estimate, of which 95 % lie between. */
#define QP_INTERVAL_95 1.96

/* ---- blocks, jumps, lines, files --------------------------------------------------------- */

/* A block of a method: an entry of its line table. */
typedef struct {
    int32_t line, code_offset;
    bool is_counted;         /* the host counts blocks of this method: count is known */
    bool is_timed;           /* marked at least once: self and total are its */
    bool is_sampled;         /* it has samples, and no block of the method is timed: self is an
                             estimate, and total is not known */
    uint64_t count;          /* executions */
    uint64_t self, total;    /* ticks; total: callees included */
    uint64_t samples;        /* while it ran itself */
    uint64_t self_half;      /* ticks: half of the interval of an estimate */
    uint64_t instructions;   /* executed; where run.has_instructions */
    uint64_t bytes, objects; /* allocated; where run.has_memory */
} qp_block_figures;

/** Blocks of a method, in table order.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free(); *n is methods[method].n_blocks
 * @return false: no memory */
bool qp_model_blocks(const qp_model *m, uint32_t method, uint32_t thread,
                     qp_block_figures **out, size_t *n);

/* A jump of a method, from one of its blocks to another. */
typedef struct {
    int32_t from_line, to_line;
    bool is_conditional; /* execution may also continue elsewhere */
    uint64_t taken;
    uint64_t executed; /* the block that jumps */
} qp_jump_figures;

/** Jumps of a method, as its host registered them.
 * @param thread  index, or QP_ALL_THREADS
 * @param out     [*n] free with qp_free(); *n is 0 where jumps are not counted
 * @return false: no memory */
bool qp_model_jumps(const qp_model *m, uint32_t method, uint32_t thread, qp_jump_figures **out,
                    size_t *n);

/* A line of one source file. */
typedef struct {
    uint32_t line;
    uint32_t n_blocks; /* blocks that begin on it */
    uint32_t n_missed; /* counted ones that were never executed; 0 < n_missed < n_blocks:
                          * partially hit */
    bool is_counted, is_timed, is_sampled; /* a block of it is */
    uint64_t count;                        /* of the block that was executed most */
    uint64_t self, total;                  /* ticks: sums over its blocks */
    uint64_t samples;
    uint64_t self_half; /* ticks */
    uint64_t instructions;
    uint64_t bytes, objects; /* allocated */
} qp_line_figures;

/** Lines of a source file that have code, ascending.
 * @param file    as in qp_model_method.file
 * @param method  only this one's lines; 0: of all methods in the file
 * @return false: no memory */
bool qp_model_lines(const qp_model *m, const char *file, uint32_t method, uint32_t thread,
                    qp_line_figures **out, size_t *n);

/* A source file that methods name. */
typedef struct {
    const char *path; /* as registered */
    uint32_t n_methods;
    uint64_t self; /* ticks of its methods */
} qp_model_file;

/** The files, most time first. @param out  [*n] free with qp_free() @return false: no memory */
bool qp_model_files(const qp_model *m, qp_model_file **out, size_t *n);

/* ---- block flow -------------------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__
typedef __int128 qp_wide; /* no sum of 2^32 counters of 64 bits overflows it */
#else
typedef long double qp_wide; /* 32 bits: exact up to its mantissa, on x86 2^64 */
#endif

/* Counters of a method, added up. */
typedef struct {
    const qp_jumps *jumps; /* what is counted; NULL: blocks */
    uint32_t n_blocks;
    qp_wide entries;  /* executions of block 0 that no jump counts */
    qp_wide *counted; /* [jumps ? jumps->n_jumps : n_blocks] */
    /* by qp_block_flow_solve(): */
    qp_wide *blocks; /* [n_blocks] executions */
    qp_wide *falls;  /* [n_blocks] how often the next block was entered without a jump */
} qp_block_flow;

/* All figures 0. @return false: no memory. Free with qp_block_flow_fini() */
bool qp_block_flow_init(qp_block_flow *f, const qp_jumps *jumps, uint32_t n_blocks);
void qp_block_flow_fini(qp_block_flow *f);

/* Whether execution may continue in the next block. */
bool qp_block_flow_falls(const qp_block_flow *f, uint32_t block);

/* Whether this jump leads from one block to another; not an entry or an exit in mid-block. */
bool qp_block_flow_is_way(const qp_block_flow *f, uint32_t jump);

/* Find blocks and falls; nothing is below 0, even if counters contradict each other. */
void qp_block_flow_solve(qp_block_flow *f);

/* The number to show: not below 0, at most 64 bits. */
static inline uint64_t qp_wide_count(qp_wide n)
{
    return n < 0 ? 0 : n > (qp_wide)UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

/* ---- attribution ------------------------------------------------------------------------- */

enum { QP_ATTRIBUTION_SKIPPED = UINT32_MAX };

typedef struct {
    const qp_model *m;
    /* [n_methods] qp_attribution_module_text() */
    const char **modules;
    /* [n_nodes] the path whose last frame is charged for this path; foreign if that frame is
     * not a procedure; QP_ATTRIBUTION_SKIPPED: the pattern leaves the path out */
    uint32_t *nodes;
    qp_arena texts; /* of modules */
    const bool *
        is_listed; /* [n_methods] which qp_attributions_list() lists, the caller's; NULL: all */
    char unknown[200]; /* a name in the pattern, as typed, that no procedure has; "": none */
} qp_attributions;

typedef enum {
    QP_ATTRIBUTION_OK,
    QP_ATTRIBUTION_SYNTAX, /* of the pattern: see error */
    QP_ATTRIBUTION_NO_MEMORY
} qp_attribution_status;

/** Apply a pattern.
 *
 * Memory: 4 bytes a path, and 4 for each frame of the deepest one times the names in all
 * threads that the pattern expands to. Time: a pass over the paths. Patterns that expand to
 * more than 1024 names take as much for each path as that is deep.
 * @param pattern     "": every path counts and is charged itself
 * @param only_hit    paths without PC samples need not be looked at: they are skipped perhaps
 * @param c           qp_attributions_fini() it whatever is returned */
qp_attribution_status qp_attributions_init(qp_attributions *c, const qp_model *m,
                                           const char *pattern, bool only_hit, qp_error *error);
void qp_attributions_fini(qp_attributions *c);

/* Whether a path ends in a procedure. Roots and pseudo-methods are not procedures. */
bool qp_attribution_is_procedure(const qp_model *m, uint32_t node);

typedef struct {
    const char *module, *procedure; /* procedure "": of the whole module */
    uint64_t shallow, deep;         /* PC samples */
} qp_attribution_row;

/* counted + skipped = occurred; the rows' shallow + foreign + critical = counted. */
typedef struct {
    uint64_t occurred, counted, skipped, critical, foreign;
} qp_attribution_totals;

/** Interrupts of procedures, or of modules: deep while at least one procedure of it was active.
 *
 * @param thread  or QP_ALL_THREADS: critical sections are only known of all
 * @param rows    [*n] those with PC samples, by module and procedure; free with qp_free();
 *                names live as long as c and its model
 * @param totals  are added to
 * @return false: no memory */
bool qp_attributions_list(const qp_attributions *c, uint32_t thread, bool by_module,
                          qp_attribution_row **rows, size_t *n, qp_attribution_totals *totals);

/* The module of a method in call patterns: its class or, without one, the name of its file
 * without folder and suffix. Not the module that the host registered.
 * @param n_bytes  of it; 0: it has neither @return a part of class_name or file */
const char *qp_attribution_module(const char *class_name, const char *file, size_t *n_bytes);
/* The same as a text. @return class_name, file, or of the arena; NULL: no memory */
const char *qp_attribution_module_text(qp_arena *arena, const char *class_name,
                                       const char *file);

enum { QP_ATTRIBUTION_COMMAND_BYTES = 40 };

/* "VIRTUAL 1000": kind and microseconds of the run's PC command; "": it has none. Counts of
 * different ones do not add up. @param to  [QP_ATTRIBUTION_COMMAND_BYTES] @return to */
char *qp_attribution_command(char *to, const qp_run_info *run);

/* Whether a text is a PC command without the word PC. @return false: see error */
bool qp_attribution_is_command(const char *text, qp_error *error);

/* ---- collapse ---------------------------------------------------------------------------- */

typedef struct {
    const bool *is_hidden; /* [n_methods]; NULL: none */
    uint32_t
        focus; /* only calls of this method, with what they called; 0: all. They lie directly
                     * below the roots of their threads */
    /* the same of several methods, named by run.focus; NULL: none */
    const bool *is_focus; /* [n_methods] */
    const char *name;     /* of them, borrowed */
    /* [n_nodes] of qp_attributions, without only_hit: a path's own figures are those of the
     * path that it is charged to, or left out; calls count where they are charged themselves.
     * Then nothing is hidden and there is no focus: collapse again. NULL: no pattern */
    const uint32_t *charged;
    const char *when;       /* the pattern, borrowed; "": none */
    bool charges_collector; /* is_hidden is the garbage collector alone */
    /* a call of a method inside another call of it, directly or through others, is at the outer one */
    bool joins_recursion;
    /* with a focus: what its calls created is in it, on its own thread */
    bool follows_creators;
    /* a thread below whose root all paths are placed; see qp_model_join_threads(). 0: none */
    uint32_t joined;
} qp_collapse;

/** Collapse a model: hide functions, keep one function's calls only, or what a pattern counts.
 *
 * A hidden method's time belongs to its nearest visible caller, as if its code were there;
 * visible methods that it called are called by that caller. Call paths that become equal are
 * merged. What has no visible caller belongs to the root of its thread. Times with callees do
 * not change.
 *
 * All functions but qp_model_check() accept the result: methods and threads keep their indices;
 * run.total, run.calls and those of threads are what is left. Figures of blocks and lines do
 * not change. A method or node with has_hidden has no minimum and maximum.
 * @param m  becomes the collapsed model, which owns the original; untouched without memory
 * @return false: no memory. Cost: one pass over the call paths */
bool qp_model_collapse(qp_model **m, const qp_collapse *how);

/** Add the garbage collector's time to the functions in which it began, and make the finalizers
 * that it called their callees. The run still says what it took.
 * @param m  as there; a model without a collector is left as it is
 * @return false: no memory */
bool qp_model_charge_collector(qp_model **m);

/** Join the threads of a model, before it is collapsed: those that begin with the same function, at the
 * same place, have one branch.
 *
 * The paths of a virtual thread are below the path that created it, and its time is in that path's
 * total; those of other threads are below one root, that of thread run.joined. Threads keep their own
 * calls and totals. A model in which fewer than two threads made calls does not change.
 * @return false: no memory. Cost: one pass over the call paths */
bool qp_model_join_threads(qp_model **m);

/** The same as a view beside the model, which stays as it is.
 * @return m itself if it does not change; NULL: no memory. Call qp_model_joined_end() before m is freed */
const qp_model *qp_model_joined(const qp_model *m);
void qp_model_joined_end(const qp_model *joined, const qp_model *m); /* joined: or NULL */

/* ---- functions of several runs ----------------------------------------------------------- */

/* A name without the line that it ends with, and without the number of its namesakes on that line:
 * "argument 1 of map at a.lua:12#2" and "[string from a.lua:3]" lose ":12#2" and ":3". */
typedef struct {
    const char *text;
    size_t n;              /* bytes of text */
    bool is_bracketed;     /* ']' follows */
    uint32_t line, number; /* 0: none */
} qp_name_stem;

qp_name_stem qp_name_stem_of(const char *name);
bool qp_name_stem_equals(const qp_name_stem *a, const qp_name_stem *b);

/* A function among those of its file and stem. */
typedef struct {
    const char *name; /* whole */
    uint64_t shape;   /* hash of its blocks and their distances in lines; 0: not known */
    uint64_t calls;
} qp_pair_item;

uint64_t qp_pair_shape(const qp_model_method *k);

enum { QP_PAIR_NONE = UINT32_MAX };

/** Match two lists, each in the order of the text. No two pairs cross.
 *
 * Pairs agree in shape, or in the name with its line; if several ways are possible, the one in which
 * most agree, in calls too. What is left between two pairs is matched in order if both lists have
 * equally many.
 * @param to  [n_b] the item of a for each of b, or QP_PAIR_NONE
 * @return false: no memory */
bool qp_pair_functions(const qp_pair_item *a, uint32_t n_a, const qp_pair_item *b, uint32_t n_b,
                       uint32_t *to);

/* ---- check ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;  /* "accounting_identity", … */
    const char *claim; /* what is true when it passes, one line */
    bool passed;
    uint64_t n_checked; /* things looked at: threads, nodes, … */
    uint64_t n_failed;
    char detail[160]; /* the first failure with its figures; "" when passed */
} qp_check;

/** Check all invariants. In an unsealed profile each thread may have one event in flight, in a
 * live one or a snapshot as many as happened while it was copied.
 * @param out  [*n] free with qp_free()
 * @return false: no memory; else out has the failures */
bool qp_model_check(const qp_model *m, qp_check **out, size_t *n);

/* ---- findings: findings.c --------------------------------------------------------------------- */

enum { QP_FINDINGS_MOST = 5, QP_COMMAND_BYTES = 4096 };

/* A sentence about a run. */
typedef struct {
    double percent;  /* of the run: how much it weighs */
    bool is_last;    /* it comes after all others: the program can do nothing about it */
    char figure[64]; /* in the text, and in the output of the command */
    char text[600];  /* begins with a small letter or a number; names as the host wrote them */
    char command[QP_COMMAND_BYTES]; /* for a shell */
} qp_run_finding;

/** Find what to say of a run first: what weighs most, and nothing below 1 % or below its own interval.
 * @param path   of the profile, as commands name it
 * @param since  an earlier run, whose calls are compared; NULL: none. since_path: of it
 * @return how many */
size_t qp_model_findings(const qp_model *m, const char *path, const qp_model *since,
                         const char *since_path, qp_run_finding out[QP_FINDINGS_MOST]);

/* ---- mistakes of the integration: host.c ----------------------------------------------------- */

typedef struct {
    const char *name;    /* "missed_unwind", … */
    unsigned step;       /* of docs/embedding.md ... */
    const char *chapter; /* ... and its title */
    const char *what, *advice;
    uint64_t count;
    const char *method, *file; /* of the first place; "": unknown */
    uint32_t line;             /* that the method begins at; 0: unknown */
    uint32_t depth, thread;    /* frames open there, ordinal; 0: unknown */
    uint64_t wanted;           /* wrong_depth: the host's depth */
} qp_host_finding;

/** Find mistakes of the host, by the step of the guide.
 * @param folders  see qp_source_read()
 * @param out          [*n] free with qp_free(); texts are the model's
 * @return false: no memory */
bool qp_model_host(const qp_model *m, const qp_source_folders *folders, qp_host_finding **out,
                   size_t *n);
/** Count the kinds of mistakes that the recorder found, for which no file is read. */
size_t qp_model_host_recorded(const qp_model *m);
/** Was it recorded with -check-host? */
bool qp_model_host_was_checked(const qp_model *m);

#endif
