/* cover.h: what the commands of `qprof cover` share: their table, loading, the head of a report. */
#ifndef QP_CLI_COVER_H
#define QP_CLI_COVER_H

#include "cli/cli.h"
#include "model/cover.h"

extern const qp_command qp_command_cover_report, qp_command_cover_annotate,
    qp_command_cover_merge, qp_command_cover_diff, qp_command_cover_check,
    qp_command_cover_context, qp_command_cover_adjust, qp_command_cover_export,
    qp_command_cover_summary;

/* Tell the profiles among the operands from at most one name of something in them; with none, the
 * newest profile of the folder is meant. Profiles are moved to the front of args.operands.
 * @param name  NULL: the command takes none
 * @return false: wrong usage, a message was printed */
bool qp_cover_operands(qp_cli *cli, const char **name);

/* Read profiles into one set; files [n] may be 0: the newest of the folder.
 * @param set  free with qp_cover_set_free()
 * @return QP_EXIT_CLEAN; QP_EXIT_SALVAGED, said so; QP_EXIT_UNUSABLE: no set, said why */
int qp_cover_read(qp_cli *cli, char *const *files, int n, qp_cover_set **set);

/* Add one that cli loaded. @return as qp_cover_read() */
int qp_cover_add(const qp_cli *cli, const qp_model *m, qp_cover_set *set);

/* The picture of some profiles, as the flags want it; remarks go to standard error.
 * @param cover  free with qp_cover_free() @return as qp_cover_read() */
int qp_cover_open(qp_cli *cli, char *const *files, int n, qp_cover **cover);

/* A few lines above a report: the runs, and the figures of all; then an empty line. */
void qp_cover_header(const qp_cli *cli, const qp_cover *c);

/* The source of a file, if it is still the one that was recorded.
 * @param error  why not, one line
 * @return false: there is none */
bool qp_cover_source(const qp_cli *cli, const qp_cover_file *file, qp_source *source,
                     char error[QP_ERROR_BYTES]);

/* "no context" for "". */
const char *qp_cover_context_name(const char *name);

/* The context whose name was typed. @return its index; n_contexts: a message was printed */
size_t qp_cover_context_named(const qp_cli *cli, const qp_cover *c, const char *name);

/* Figures of which a limit can be set. */
typedef enum {
    QP_FIGURE_LINES,
    QP_FIGURE_BRANCHES,
    QP_FIGURE_FUNCTIONS,
    QP_N_FIGURES
} qp_figure;
#define QP_FIGURE_WORDS "lines|branches|functions"
extern const char *const qp_figure_names[QP_N_FIGURES];
void qp_figure_of(const qp_cover_totals *t, qp_figure figure, uint64_t *n_hit, uint64_t *n);
double qp_figure_percent(const qp_cover_totals *t, qp_figure figure);

/* Is it `limit` percent at least? A figure of nothing never is.
 * @param why  "81.25 % of 16 lines were hit, 3.75 below 85" */
bool qp_figure_reaches(const qp_cover_totals *t, qp_figure figure, double limit,
                       char why[QP_ERROR_BYTES]);

/* --fail-under…: a message for each figure of `t` that is below its limit.
 * @return status, or QP_EXIT_FAILED */
int qp_cover_judge(const qp_cli *cli, const qp_cover_totals *t, int status);

/* The colour that goes with a percentage. */
qp_style qp_cover_percent_style(uint64_t n_hit, uint64_t n);

/* "12-14, 20" of lines for which wants() says so; lines without code do not interrupt a range.
 * @param show  called with first and last line of each */
typedef struct {
    bool (*wants)(const void *data, const qp_cover_file *f, size_t line); /* index into lines */
    void (*show)(void *to, const qp_cover_file *f, uint32_t first, uint32_t last);
    const void *data;
    void *to;
} qp_cover_ranges;
size_t qp_cover_each_range(const qp_cover_file *f, const qp_cover_ranges *r);

/* "line 12 never goes on at line 15": of a way that was never taken. @return to */
char *qp_cover_way_text(const qp_cover_branch *b, char *to, size_t n_bytes);

/* Ready for qp_cover_ranges.wants: has code that was never executed and nobody excused. */
bool qp_cover_is_missed(const void *data, const qp_cover_file *f, size_t line);

/* Ready for qp_cover_ranges.show, to a qp_cover_list: "12-14, 20", broken to lines. */
typedef struct {
    const qp_screen *s;
    unsigned indent, column; /* column 0: nothing was written yet */
    const char *title;       /* a line before the first item; NULL: none */
} qp_cover_list;
void qp_cover_show_range(void *list, const qp_cover_file *f, uint32_t first, uint32_t last);
void qp_cover_show_item(qp_cover_list *list, const char *text);

/* ---- flags of several commands --------------------------------------------------------------- */

#define QP_COVER_AT(field) (offsetof(qp_args, cover) + offsetof(qp_cover_args, field))
/* clang-format off */ /* a flag is two lines */
#define QP_COVER_FLAGS_FILES                                                                   \
    {"root", 0, QP_FLAG_TEXT, "DIR", QP_COVER_AT(root), NULL,                                  \
     "folder that paths are relative to; files outside it are left out"},                      \
    {"include", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(include), NULL,                    \
     "only files whose path fits: * ? [ ], and ** for folders; may be repeated"},              \
    {"exclude", 0, QP_FLAG_LIST, "GLOB[:GLOB]", QP_COVER_AT(exclude), NULL,                    \
     "no files whose path fits; may be repeated"},                                             \
    {"context", 0, QP_FLAG_NAMES, "GLOB", QP_COVER_AT(contexts), NULL,                         \
     "count only what the contexts hit whose name fits; may be repeated"}
#define QP_COVER_FLAGS_ADJUST                                                                  \
    {"no-adjust", 0, QP_FLAG_YES, NULL, QP_COVER_AT(is_unadjusted), NULL,                      \
     "pay no heed to purecov: markers and to adjustments files"},                              \
    {"adjustments", 0, QP_FLAG_TEXT, "FILE", QP_COVER_AT(adjustments), NULL,                   \
     "dead, tested and inspected lines; made by qprof cover adjust"},                          \
    {"mark-partial-lines", 0, QP_FLAG_WORD, "executed|not-executed", QP_COVER_AT(partial),     \
     NULL, "what lines of which a part was executed count as (default executed)"},             \
    QP_FLAG_SOURCE_PATH
#define QP_COVER_FLAGS_LIMITS                                                                  \
    {"fail-under", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(lines_under), NULL,              \
     "exit status 1 if fewer of the lines were hit"},                                          \
    {"fail-under-branches", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(branches_under), NULL,  \
     "the same of branches"},                                                                  \
    {"fail-under-functions", 0, QP_FLAG_PERCENT, "PERCENT", QP_COVER_AT(functions_under),      \
     NULL, "the same of functions"}
#define QP_COVER_FLAG_FORMAT                                                                   \
    {"format", 0, QP_FLAG_WORD, "text|json", QP_FLAG_AT(format), NULL, "form of the output"}
#define QP_COVER_FLAG_FORCE                                                                    \
    {"force", 'f', QP_FLAG_YES, NULL, QP_COVER_AT(is_forced), NULL,                            \
     "add up versions of a source that differ, too: what does not agree "                     \
     "keeps the figures of the first"}
/* clang-format on */

#endif
