/* coverage.h: what writers of coverage share: what an exporter is, folders, and names of functions.
 *
 * An exporter writes the coverage that it is given and reads nothing else, no clock and no folder, so
 * the same coverage gives the same bytes. */
#ifndef QP_EXPORT_SHARED_COVERAGE_H
#define QP_EXPORT_SHARED_COVERAGE_H

#include "base/text/error.h"
#include "base/text/out.h"
#include "export/shared/profile.h"
#include "model/cover/cover.h"

typedef struct {
    /* Absolute: shown paths are relative to it. Formats whose readers want absolute paths put it
     * before them. NULL: they stay as shown. */
    const char *root;
    const char *test; /* of formats that name the test; NULL: the program of the first run */
    qp_page_sources sources;
    bool is_lcov2;  /* what lcov 2 understands and lcov 1 does not */
    bool is_gcovr7; /* the format of gcovr 7, instead of that of 5 */
} qp_cover_export_options;

/* @return false: it cannot be written at all, see error (one line). Whether all of it reached the
 * sink is known to qp_out_close() alone. */
typedef bool qp_cover_write(const qp_cover *c, qp_out *out, const qp_cover_export_options *o,
                            qp_error *error);

/* All formats, in the order of the help; a writer is qp_cover_NAME. */
#define QP_COVER_EXPORTERS(X)                                                                  \
    X(lcov)                                                                                    \
    X(cobertura)                                                                               \
    X(gcovr)                                                                                   \
    X(sonarqube)                                                                               \
    X(luacov)                                                                                  \
    X(json)                                                                                    \
    X(purecov)                                                                                 \
    X(html)

#define QP_COVER_EXPORTER(name) qp_cover_write qp_cover_##name;
QP_COVER_EXPORTERS(QP_COVER_EXPORTER)
#undef QP_COVER_EXPORTER

/* ---- what several formats need --------------------------------------------------------------- */

/* How often, where a format has a number alone: what counts as hit without having run (marked
 * tested or inspected) ran once, what counts as missed ran never. So a reader that counts numbers
 * above 0 arrives at our totals. */
static inline uint64_t qp_cover_hits(bool is_hit, uint64_t count)
{
    return !is_hit ? 0 : count ? count : 1;
}

/* Lines marked deadcode are in no total and in no export that has totals. */
static inline bool qp_cover_is_live(const qp_cover_line *l)
{
    return l->annotation != QP_ANNOTATION_DEADCODE;
}

/* What formats with a test name call it. */
const char *qp_cover_test_name(const qp_cover *c, const qp_cover_export_options *o);

/* Newest start of a run, seconds since 1970. */
uint64_t qp_cover_timestamp(const qp_cover *c);

/* For formats whose folders are a list: files in the order of their folders, then of their paths.
 * @return [n_files] indices into c->files. Free with qp_free(). NULL: no memory */
uint32_t *qp_cover_by_dir(const qp_cover *c);

/* The files from order[at] on that lie in one folder. @param totals  receives their sum
 * @return index into order after them */
size_t qp_cover_dir_end(const qp_cover *c, const uint32_t *order, size_t at,
                        qp_cover_totals *totals);

/* Where a function begins: its first line that is live. 0: it has none, or is dead as a whole */
uint32_t qp_cover_start_line(const qp_cover_file *f, const qp_cover_function *x);

/* Distinct names of the functions of a file, for formats that identify functions by name:
 * where several have one name, its line follows, "f:12", and where even that is the
 * same a number, "f:12#2".
 * @return [n_functions] free with qp_cover_names_free(). NULL: no memory */
const char **qp_cover_names(const qp_cover_file *f);
void qp_cover_names_free(const qp_cover_file *f, const char **names); /* takes NULL */

#endif
