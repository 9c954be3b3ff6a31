/* cover.h: the commands of `qprof cover`, and what they share: opening profiles, the pieces of a
 * report, limits, rows of a table, notes for a CI. */
#ifndef QP_CLI_COVER_COVER_H
#define QP_CLI_COVER_COVER_H

#include "base/text/error.h"
#include "base/text/table_text.h"
#include "cli/core/cli.h"
#include "model/cover/cover.h"

extern const qp_command qp_command_cover_report, qp_command_cover_annotate,
    qp_command_cover_merge, qp_command_cover_diff, qp_command_cover_check,
    qp_command_cover_context, qp_command_cover_adjust, qp_command_cover_export,
    qp_command_cover_summary;

/* ---- opening profiles ------------------------------------------------------------------------ */

/* Separate the profiles among the operands from at most one other name, which may be anywhere.
 * Profiles are moved to the front of args.operands.
 * @param name  receives the name, or NULL
 * @return false: wrong usage, a message was printed */
bool qp_cover_operands(qp_cli *cli, const char **name);

/* Read profiles into one set; files [n] may be 0: the newest of the folder.
 * @param set  free with qp_cover_set_free()
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED or QP_EXIT_UNUSABLE (no set), with a message */
int qp_cover_read(qp_cli *cli, char *const *files, int n, qp_cover_set **set);

/* Add one that cli loaded. @return as qp_cover_read() */
int qp_cover_add(const qp_cli *cli, const qp_model *m, qp_cover_set *set);

/* Make the coverage report of some profiles, as the flags ask; remarks go to standard error.
 * @param cover  free with qp_cover_free() @return as qp_cover_read() */
int qp_cover_open(qp_cli *cli, char *const *files, int n, qp_cover **cover);

/* Open the operands and pass the coverage report to `show`, which returns an exit status.
 * @return the worse status of the two */
int qp_cover_show(qp_cli *cli, int (*show)(qp_cli *cli, const qp_cover *c, void *data),
                  void *data);

/* Find a file by its path, or the end of it. @return NULL: a message was printed */
const qp_cover_file *qp_cover_find_file(const qp_cli *cli, const qp_cover *c, const char *name);

/* ---- pieces of a report ---------------------------------------------------------------------- */

/* Print a few lines above a report: the runs, the chosen contexts; then an empty line. */
void qp_cover_header(const qp_cli *cli, const qp_cover *c);

/* "(no context)" for "". */
const char *qp_cover_context_name(const char *name);

/* Cells of a table: hit/all, optionally missed, and percent. */
void qp_cover_add_share(qp_table *t, uint64_t n_hit, uint64_t n, bool has_missed);

/* The style of a percentage. */
qp_style qp_cover_percent_style(uint64_t n_hit, uint64_t n);

/* Call show() with first and last line of each range of lines that wants() accepts; lines without
 * code do not interrupt a range. @return the number of ranges */
typedef bool qp_cover_wants(const void *data, const qp_cover_file *f, size_t line /* index */);
typedef void qp_cover_take(void *to, const qp_cover_file *f, uint32_t first, uint32_t last);
size_t qp_cover_each_range(const qp_cover_file *f, qp_cover_wants *wants, const void *data,
                           qp_cover_take *show, void *to);

/* A qp_cover_wants: the line has code that was never executed and is not marked dead. */
bool qp_cover_is_missed(const void *unused, const qp_cover_file *f, size_t line);

/* Items in lines that fit the screen: "12-14, 20". */
typedef struct {
    const qp_screen *s;
    unsigned indent, column; /* column 0: nothing was written yet */
    const char *title;       /* a line before the first item; NULL: none */
} qp_cover_list;
void qp_cover_show_item(qp_cover_list *list, const char *text);
/* A qp_cover_take, to a qp_cover_list. */
void qp_cover_show_range(void *list, const qp_cover_file *f, uint32_t first, uint32_t last);

/* Was the branch reached, and this way of it never taken? */
bool qp_cover_is_way_missed(const qp_cover_branch *b);
/* "line 12 never continues at line 15": of a way that was never taken. @return to */
char *qp_cover_way_text(const qp_cover_branch *b, char *to, size_t n_bytes);

/* ---- figures and limits ---------------------------------------------------------------------- */

/* Figures that can have a limit. */
#define QP_FIGURE_WORDS "lines|branches|functions"
typedef enum {
    QP_FIGURE_LINES,
    QP_FIGURE_BRANCHES,
    QP_FIGURE_FUNCTIONS,
    QP_N_FIGURES
} qp_figure;
extern const char *const qp_figure_names[QP_N_FIGURES];
void qp_figure_of(const qp_cover_totals *t, qp_figure figure, uint64_t *n_hit, uint64_t *n);

/* Is it at least `limit` percent? A figure of nothing never is.
 * @param why  "81.25 % of 16 lines were hit, 3.75 below 85" */
bool qp_figure_reaches(const qp_cover_totals *t, qp_figure figure, double limit, qp_error *why);

/* Print a message for each figure of `t` that is below its limit of --fail-under.
 * @return QP_EXIT_CLEAN or QP_EXIT_FAILED */
int qp_cover_judge(const qp_cli *cli, const qp_cover_totals *t);

/* ---- rows of a table: all, folders or modules, files, functions ------------------------------- */

/* The words of --view and --sort, in the same order. */
#define QP_COVER_VIEW_WORDS "file|module"
enum { QP_VIEW_FILE, QP_VIEW_MODULE };
#define QP_COVER_SORT_WORDS "name|missed|percent|lines|calls"

typedef enum {
    QP_ROW_ALL,
    QP_ROW_FOLDER,
    QP_ROW_MODULE,
    QP_ROW_FILE,
    QP_ROW_FUNCTION
} qp_cover_row_kind;

typedef struct {
    qp_cover_row_kind kind;
    unsigned depth;
    const char *path;   /* of the folder or file; name of the module; "" of all */
    const char *parent; /* the folder above the row, "" if none */
    const qp_cover_function *function; /* of a function's row, else NULL */
    const qp_cover_totals *totals;
} qp_cover_row;

typedef struct {
    qp_cover_row *items; /* [n] the one of all is last */
    size_t n;
    void *own; /* figures of modules */
} qp_cover_rows;

/* @return false: no memory */
bool qp_cover_rows_make(qp_cover_rows *rows, const qp_args *args, const qp_cover *c);
void qp_cover_rows_free(qp_cover_rows *rows);

/* The text of the first column: below a folder, the path without the folder's. */
void qp_cover_row_name(const qp_cover_row *row, char *to, size_t n_bytes);

/* ---- annotations for a CI -------------------------------------------------------------------- */

/* The words of --annotations. */
#define QP_NOTES_WORDS "none|github|gitlab|plain"
typedef enum { QP_NOTES_NONE, QP_NOTES_GITHUB, QP_NOTES_GITLAB, QP_NOTES_PLAIN } qp_notes_form;

/* Write a note for every range of missed lines and every way of a branch that was never taken, in
 * the form of --annotations. @param wants  lines that matter, with data; NULL: all */
void qp_cover_notes(qp_cli *cli, const qp_cover *c, qp_cover_wants *wants, const void *data);

/* Is --format not given beside --annotations? @return false: a message was printed */
bool qp_cover_notes_are_alone(const qp_cli *cli);

/* ---- changed lines --------------------------------------------------------------------------- */

/* Show coverage of the lines that --git or --patch changes. @return exit status */
int qp_cover_show_changes(qp_cli *cli);
extern const qp_field qp_cover_changes_document[];
extern const qp_field qp_cover_span_fields[]; /* of a qp_patch_span: first, last */

/* ---- flags of several commands --------------------------------------------------------------- */

#define QP_COVER_AT(field) (offsetof(qp_args, cover) + offsetof(qp_cover_args, field))
/* clang-format off */ /* a flag is two lines */
#define QP_COVER_FLAGS_FILES                                                                   \
    {"root", 0, QP_FLAG_TEXT, "DIR", QP_COVER_AT(root), NULL,                                  \
     "folder that paths are relative to; files outside it are left out"},                      \
    {"include", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(include), NULL,                    \
     "only files whose path matches: * ? [ ], and ** for folders; may be repeated"},           \
    {"exclude", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(exclude), NULL,                    \
     "not the files whose path matches; may be repeated"},                                     \
    {"context", 0, QP_FLAG_NAMES, "GLOB", QP_COVER_AT(contexts), NULL,                         \
     "only hits of contexts whose name matches; may be repeated"}
#define QP_COVER_FLAGS_ADJUST                                                                  \
    {"no-adjust", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_unadjusted), NULL,                      \
     "purecov: markers and adjustments files ignored"},                                        \
    {"adjustments", 0, QP_FLAG_TEXT, "FILE", QP_COVER_AT(adjustments), NULL,                   \
     "dead, tested and inspected lines; made by qprof cover adjust"},                          \
    {"mark-partial-lines", 0, QP_FLAG_WORD, "executed|not-executed", QP_COVER_AT(partial),     \
     NULL, "status of lines that were executed in part (default executed)"},                   \
    QP_FLAG_SOURCE_PATH
#define QP_COVER_FLAGS_LIMITS                                                                  \
    {"fail-under", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(lines_under), NULL,              \
     "limit of hit lines; exit status 1 below it"},                                            \
    {"fail-under-branches", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(branches_under), NULL,  \
     "the same for branches"},                                                                 \
    {"fail-under-functions", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(functions_under),      \
     NULL, "the same for functions"}
#define QP_COVER_FLAG_FORMAT                                                                   \
    {"format", 0, QP_FLAG_WORD, "text|json", QP_FLAG_AT(format), NULL, "form of the output"}
#define QP_COVER_FLAG_FORCE_MERGE                                                              \
    {"force-merge", 'f', QP_FLAG_YES, NULL, QP_COVER_AT(is_forced), NULL,                      \
     "different versions of a source added up; where they disagree, the figures of the first"}
#define QP_COVER_FLAG_NOTES                                                                    \
    {"annotations", 0, QP_FLAG_WORD, QP_NOTES_WORDS, QP_COVER_AT(annotations), NULL,           \
     "missed lines for a CI, instead of the text: workflow commands of GitHub, code quality "  \
     "of GitLab, or FILE:LINE: ..."}
/* What commands have that show the coverage of files. */
#define QP_COVER_FLAGS                                                                         \
    QP_COVER_FLAGS_FILES, QP_COVER_FLAGS_ADJUST, QP_COVER_FLAG_FORCE_MERGE, QP_FLAG_MAX_MEMORY
/* clang-format on */

#endif
