/* cover.h: the coverage of one run or of several: files, functions, lines, blocks, branches,
 * and the contexts that reached them.
 *
 * Two steps. A qp_cover_set holds counters as they were recorded, of any number of profiles: it
 * is what merging adds up and what can be written as a profile again. qp_cover_derive() makes
 * the coverage report of it that commands and exports show; the report never changes. */
#ifndef QP_MODEL_COVER_COVER_H
#define QP_MODEL_COVER_COVER_H

#include "base/containers/alloc.h"
#include "base/text/error.h"
#include "base/text/out.h"
#include "model/figures/figures.h"
#include "model/model.h"

/* ---- counters as recorded ---------------------------------------------------------------- */

/* A context's part of a method's counters. What is in no share has no context. Signed: see
 * QP_COUNTER_BLOCK_SHARE. */
typedef struct {
    uint32_t context; /* index into qp_cover_set.contexts */
    int64_t calls;
    int64_t *values; /* [n_values] of the method */
} qp_cover_share;

typedef struct {
    const char *name; /* display name, as qp_model_method.name */
    const char *bare_name, *class_name, *module, *file;
    uint32_t flags; /* QP_METHOD_* */
    uint32_t n_blocks;
    const qp_line *lines;  /* [n_blocks] */
    const qp_jumps *jumps; /* what the values count; NULL: blocks */
    uint64_t calls, skips; /* recorded ones, and those while recording was off */
    bool is_seen;          /* called, or on a stack: qp_figures_is_seen() */
    uint64_t entries; /* executions of block 0 that no jump counts: calls, and entries while
                       * recording was stopped; 0 where a jump is a QP_JUMP_ENTRY */
    bool is_counted;  /* blocks that `values` do not have were never executed; else they are not
                       * known: the method was called, and its host does not count its blocks */
    uint32_t n_values;
    uint64_t *values; /* [n_values], all threads; NULL: nothing was counted */
    qp_cover_share *shares;
    size_t n_shares;
} qp_cover_method;

typedef struct {
    const char *path; /* as registered */
    uint64_t digest;  /* of the text when it was loaded; 0: not known */
    uint64_t n_bytes;
    uint32_t run; /* that it came with: index */
} qp_cover_text;

/* A run that was added. */
typedef struct {
    const char *what;                              /* file name */
    const char *program, *label, *script, *labels; /* as in qp_run_info */
    uint64_t started_at;                           /* ns since 1970 */
    uint64_t pid;
} qp_cover_run;

typedef struct {
    qp_cover_method *methods;
    size_t n_methods;
    const char **contexts; /* [n_contexts] no two are equal; "" is: no context */
    size_t n_contexts;
    qp_cover_text *texts;
    size_t n_texts;
    qp_cover_run *runs;
    size_t n_runs;
    qp_grain grain;   /* the coarsest of all */
    bool is_once;     /* some run says whether, not how often */
    bool is_coverage; /* all runs registered also what was never called */
    bool has_calls;   /* all runs counted calls; else a function may be a file: luacov's */
    char **warnings;  /* one line each: functions that were left out, and why */
    size_t n_warnings;
    struct qp_cover_set_private *own;
} qp_cover_set;

typedef struct {
    bool is_forced;  /* different versions of a source: keep the figures of the first */
    bool is_layered; /* what no context has belongs to a context named after the run */
} qp_cover_add_options;

/** An empty set. @return NULL: no memory. Free with qp_cover_set_free(), which takes NULL */
qp_cover_set *qp_cover_set_new(void);
void qp_cover_set_free(qp_cover_set *s);

/** Add the counters of a profile: methods that agree in names, file and line table add up.
 *
 * A source whose text differs from the one that the set has of it (by digest, else by the line
 * tables of its methods) is refused, unless o->is_forced: then methods whose blocks differ keep
 * the figures that came first, and a warning says so.
 * @param m  may be freed afterwards: everything is copied. @param what  its name in messages
 * @return false: nothing was added, see error (one line) */
bool qp_cover_set_add(qp_cover_set *s, const qp_model *m, const char *what,
                      const qp_cover_add_options *o, qp_error *error);

/** Write a set as a profile that can be read and merged again; whole or not at all.
 * @return false: see error; no file is left */
bool qp_cover_set_write(const qp_cover_set *s, const char *path, qp_error *error);

/* ---- the coverage report ----------------------------------------------------------------- */

typedef struct {
    uint64_t files, dirs; /* of a folder: below it, itself not counted */
    uint64_t functions, functions_hit;
    uint64_t lines, lines_hit, lines_partial; /* hit includes the partial ones */
    uint64_t blocks, blocks_hit;
    uint64_t branches, branches_hit; /* ways of conditional jumps; marks tested and inspected
                                      * make lines and blocks hit, but no ways */
    uint64_t calls, skips;
} qp_cover_totals;

typedef enum {
    QP_ANNOTATION_NONE,
    QP_ANNOTATION_DEADCODE,
    QP_ANNOTATION_TESTED,
    QP_ANNOTATION_INSPECTED
} qp_annotation;

typedef struct {
    uint32_t line;
    uint32_t function; /* index into the file's functions */
    uint64_t count;
    bool is_missed;
} qp_cover_block;

/* One way of a conditional jump. */
typedef struct {
    uint32_t line;
    uint32_t block; /* number of the branching block on the line, from 0 */
    uint32_t way; /* of that block, from 0; the last is the one without a jump, if it has one */
    uint32_t to_line; /* where it leads to; 0: not known */
    uint32_t function;
    uint64_t count;
    bool is_reached; /* the block was executed at all */
} qp_cover_branch;

/* A line that has code. Adjustments are in `annotation`; counts stay true. */
typedef struct {
    uint32_t line;
    uint64_t count, sum; /* of its highest block, of all its blocks */
    uint32_t first_block, n_blocks, n_blocks_hit;
    uint32_t first_branch, n_branches, n_branches_hit;
    bool is_hit;              /* count > 0, or marked tested or inspected */
    bool is_partial;          /* some blocks hit, some not */
    qp_annotation annotation; /* deadcode: in no total */
} qp_cover_line;

/* Hits of a line that a context has. */
typedef struct {
    uint32_t line; /* index into the file's lines */
    uint32_t context;
    uint64_t count;
} qp_cover_touch;

typedef struct {
    const char *name, *module; /* display name */
    const char *bare_name, *class_name;
    uint32_t first_line, last_line; /* of its line table, its declaration included; 0: none */
    uint64_t calls, skips;
    bool is_hit;
    bool is_dead;           /* all its lines are marked deadcode: in no total */
    qp_cover_totals totals; /* functions: itself */
} qp_cover_function;

typedef struct {
    const char *path; /* as shown: relative to the root where it lies below it; '/' only */
    const char *name; /* the path without the folder's */
    const char *file; /* as registered */
    uint32_t dir;     /* index into qp_cover.dirs */
    const qp_cover_function *functions; /* [n_functions] by first line, then name */
    const qp_cover_line *lines;         /* [n_lines] ascending */
    const qp_cover_block *blocks;    /* [n_blocks] by line; in a line: by function and index */
    const qp_cover_branch *branches; /* [n_branches] by line, block, way */
    const qp_cover_touch *touches;   /* [n_touches] by line, then context */
    uint32_t n_functions, n_lines, n_blocks, n_branches;
    size_t n_touches;
    qp_cover_totals totals;
    uint64_t digest; /* of the text that was loaded; 0: not known */
} qp_cover_file;

/* Parents before children, a folder's folders by name. */
typedef struct {
    const char *path;       /* "" is the root; no '/' at its end */
    uint32_t parent;        /* index; the root's is 0 */
    uint32_t depth;         /* the root's is 0 */
    qp_cover_totals totals; /* of everything below it */
} qp_cover_dir;

typedef struct {
    qp_cover_totals totals;
    const qp_cover_file *files; /* [n_files] by path, '/' before all other characters */
    size_t n_files;
    const qp_cover_dir *dirs; /* [n_dirs] */
    size_t n_dirs;
    const char *const *contexts; /* [n_contexts] by name; "" is: no context */
    size_t n_contexts;
    const qp_cover_run *runs;
    size_t n_runs;
    qp_grain grain;
    bool is_once, is_coverage, has_calls;
    const char *const *warnings; /* [n_warnings] one line each */
    size_t n_warnings;
    struct qp_cover_private *own;
} qp_cover;

typedef struct {
    const char *root;  /* folder that paths are relative to; NULL: the current one */
    bool is_only_root; /* files outside the root are left out, with a warning */
    const char *const
        *include; /* [n_include] globs on the shown path: * ? [ ] and **; none: all */
    size_t n_include;
    const char *const *exclude;
    size_t n_exclude;
    const char *const
        *contexts; /* [n_contexts] globs: only what these contexts hit; none: all */
    size_t n_contexts;
    qp_source_folders folders;
    bool is_partial_missed;  /* partial lines count as missed, not as hit */
    bool is_unadjusted;      /* no markers, no adjustments file */
    const char *adjustments; /* file name; NULL: none */
} qp_cover_options;

/** Make the report. @param o  NULL: defaults. The set may be freed afterwards.
 * @return NULL: see error. Free with qp_cover_free(), which takes NULL */
qp_cover *qp_cover_derive(const qp_cover_set *s, const qp_cover_options *o, qp_error *error);
void qp_cover_free(qp_cover *c);

/** Add figures of something else. */
void qp_cover_totals_add(qp_cover_totals *to, const qp_cover_totals *t);

/** Hit of all in percent; 100 of nothing. */
double qp_cover_percent(uint64_t n_hit, uint64_t n);

/** A file by its shown path, its registered one, or an unambiguous end of one of them.
 * @return index; n_files: none. @param n_found  how many fit; may be NULL */
size_t qp_cover_file_named(const qp_cover *c, const char *name, size_t *n_found);

/** Index of the first line with this number or a higher one; n_lines: none. */
uint32_t qp_cover_line_from(const qp_cover_file *f, uint32_t line);

/* ---- adjustments ------------------------------------------------------------------------- */

typedef struct {
    uint32_t first, last; /* lines, from 1; UINT32_MAX: to the end of the file */
    qp_annotation annotation;
    bool is_block; /* a line's own annotation overrides that of a block */
} qp_adjust_range;

typedef struct {
    const char *name; /* of the source, as written */
    uint64_t time;    /* seconds since 1970; only ranges of the newest are kept */
    qp_adjust_range *ranges;
    size_t n_ranges;
} qp_adjust_file;

typedef struct {
    qp_adjust_file *files; /* by first mention */
    size_t n_files;
    char **warnings; /* one line each: "FILE:LINE: what is wrong" */
    size_t n_warnings;
    struct qp_adjust_private *own;
} qp_adjust;

/** No adjustments. @return NULL: no memory. Free with qp_adjust_free(), which takes NULL */
qp_adjust *qp_adjust_new(void);
void qp_adjust_free(qp_adjust *a);

/** Add those of an adjustments file. Bad lines are skipped, with a warning each.
 * @return false: see error: it cannot be read, or its first line is another; nothing was
 * added */
bool qp_adjust_read(qp_adjust *a, const char *path, qp_error *error);
/** The same from memory. @param text  [n_bytes] @param name  for messages */
bool qp_adjust_read_text(qp_adjust *a, const char *text, size_t n_bytes, const char *name,
                         qp_error *error);

/** Add the markers of a source, `purecov: tested` and others.
 * @param name  of the source @param time  seconds since 1970
 * @return how many there are; a file without any is not added; SIZE_MAX: no memory */
size_t qp_adjust_scan(qp_adjust *a, const char *name, uint64_t time, const qp_source *source);

/** Number of lines of a file with an annotation. @param n_lines  of the file */
uint64_t qp_adjust_lines(const qp_adjust_file *f, qp_annotation annotation, uint32_t n_lines);

/** The annotation of a line. */
qp_annotation qp_adjust_annotation(const qp_adjust_file *f, uint32_t line);

/** Write all as an adjustments file. Names that it cannot hold (with control characters) are
 * left out. @return how many files were left out */
size_t qp_adjust_write(const qp_adjust *a, qp_out *out);

/* ---- patches ----------------------------------------------------------------------------- */

typedef struct {
    uint32_t first, last; /* lines of the new text, from 1 */
} qp_patch_span;

typedef struct {
    const char *path; /* of the new text; of the old one if is_gone. Without "a/" and "b/" */
    bool is_gone;     /* the patch removes the file */
    const qp_patch_span *spans; /* [n_spans] added or changed lines, ascending, not adjacent */
    size_t n_spans;
} qp_patch_file;

typedef struct {
    const qp_patch_file *files; /* in the order of the patch */
    size_t n_files;
    struct qp_patch_private *own;
} qp_patch;

/** Read a patch: with or without context, with renames, quoted paths, any line ends.
 * @param text   [n_bytes]
 * @param error  one line: what is wrong, and in which line of the patch
 * @return NULL: see error. Free with qp_patch_free(), which takes NULL */
qp_patch *qp_patch_read(const char *text, size_t n_bytes, qp_error *error);
void qp_patch_free(qp_patch *p);

/* ---- differences ------------------------------------------------------------------------- */

typedef enum {
    QP_CHANGE_WORSE,
    QP_CHANGE_IMPROVED,
    QP_CHANGE_NEW,
    QP_CHANGE_GONE,
    QP_CHANGE_NONE /* of its share of hit lines; single functions may have changed */
} qp_cover_change;

/* A file; or a function that is hit on one side only, has other figures, or is on one side only. */
typedef struct qp_cover_diff_row {
    const char *name;                /* of a file its path */
    uint32_t line;                   /* first one of a function; 0: unknown */
    qp_cover_change change;          /* of its hit lines; without lines: of hit functions */
    const qp_cover_totals *was, *is; /* NULL: it is not on that side: NEW, GONE */
    const struct qp_cover_diff_row
        *functions; /* of a file: [n_functions] those that changed, by line */
    size_t n_functions;
} qp_cover_diff_row;

typedef struct {
    const qp_cover_diff_row
        *files; /* by change, in the order of qp_cover_change; then by path */
    size_t n_files;
    size_t n_changed[QP_CHANGE_NONE + 1]; /* how many files of each */
    /* what both reports know: the rest is not compared */
    bool has_lines, has_functions, has_branches;
    struct qp_cover_diff_private *own;
} qp_cover_diff;

/** Compare. Files agree by path, functions by name and, among namesakes, by their order.
 * @param base, now  must outlive the result
 * @return NULL: no memory. Free with qp_cover_diff_free(), which takes NULL */
qp_cover_diff *qp_cover_diff_new(const qp_cover *base, const qp_cover *now);
void qp_cover_diff_free(qp_cover_diff *d);

/* Of the lines that a patch adds or changes in one file. */
typedef struct {
    const char *path;
    const qp_patch_file *patch;
    const qp_cover_file *file; /* NULL: not in the report */
    bool is_known;             /* it is in the report */
    uint64_t n_changed;        /* lines in the patch, with code or without */
    uint64_t n_lines, n_hit;   /* with code, and not dead; hit ones */
    uint64_t n_partial;
    const qp_patch_span
        *missed; /* [n_missed] stretches without a hit line, from the first to the
                                  * last missed line; ascending */
    size_t n_missed;
} qp_cover_changed;

/** Coverage of changed lines.
 * @param p    its paths are those of the report; it and c must outlive the result
 * @param out  [*n] a row for each file of the patch that is not gone; free with qp_free(), once
 * @return false: no memory */
bool qp_cover_changes(const qp_cover *c, const qp_patch *p, qp_cover_changed **out, size_t *n);

/* ---- paths ------------------------------------------------------------------------------- */

typedef struct {
    char *folder; /* the current one, absolute */
    char *root;   /* what paths are relative to, absolute */
} qp_paths;

/* @param root  NULL: the current folder @return false: no memory */
bool qp_paths_init(qp_paths *p, qp_arena *arena, const char *root);

/* A path as it is shown: '/' only, no '.', '//' nor '..', relative to the root if it lies below
 * it, else absolute. A relative path belongs to the current folder or, where that is outside
 * the root, to the root; if it begins with '..', to the current folder alone. A name in
 * brackets, such as [string "a/b"], is not a path and does not change.
 * @param is_inside  receives: it lies below the root @return NULL: no memory */
char *qp_paths_show(const qp_paths *p, qp_arena *arena, const char *path, bool *is_inside);

/* By bytes, with '/' before all others: files of one folder are adjacent. */
int qp_paths_compare(const char *a, const char *b);

/* Bytes of the folder part of a path, without its last '/'; 0: none. */
size_t qp_paths_folder(const char *path);

#endif
