/* profile.h: profiles in the formats of others: the struct behind which every exporter stands.
 *
 * An exporter is a file src/export/profile_NAME.c that defines qp_export_NAME, and a word in the
 * list below. It writes the model that it is given and asks for nothing else, so the same profile
 * gives the same bytes. Exporters do not know each other. */
#ifndef QP_EXPORT_PROFILE_H
#define QP_EXPORT_PROFILE_H

#include "base/out.h"
#include "export/measure.h"
#include "export/timeline.h"

typedef struct {
    uint32_t thread;    /* index, or QP_ALL_THREADS */
    qp_measure measure; /* formats of one value: what was asked for, see qp_export_measure() */
    bool has_jumps; /* callgrind only: jumps between lines, which not all of its readers know */
    /* pages only; NULL: not given */
    const char *name;     /* of the profile: its path */
    const qp_model *base; /* a run to compare with, which fits: model/diff.h */
    const char *base_name;
    const qp_timeline *timeline; /* of the run */
    const char *root;            /* absolute: sources below it may be shown */
    const char *source_path;     /* where sources are, see qp_source_read() */
} qp_export_options;

typedef struct {
    const char *name;    /* of export --to= */
    const char *suffix;  /* of a file in this format, with its dot */
    const char *summary; /* who reads it; no capital, no full stop */
    const char *limits;  /* what we know and it cannot hold: nouns; "": nothing */
    bool is_binary;      /* not for a terminal */
    bool has_measure;    /* of one value: `measure` says which */
    bool has_samples;    /* ... also samples, or interrupts */
    bool has_functions;  /* also those that are on no call path: of coverage alone */
    /* @return false: it can not be written at all, see error (one line). Whether all of it reached
     * the sink is known to qp_out_close() alone. */
    bool (*write)(const qp_model *m, qp_out *out, const qp_export_options *o,
                  char error[QP_ERROR_BYTES]);
} qp_exporter;

#define QP_EXPORTERS(X)                                                                        \
    X(pprof)                                                                                   \
    X(callgrind)                                                                               \
    X(folded)                                                                                  \
    X(speedscope)                                                                              \
    X(dot)                                                                                     \
    X(quantify)                                                                                \
    X(csv)                                                                                     \
    X(json)                                                                                    \
    X(cpuprofile)                                                                              \
    X(chrome)                                                                                  \
    X(firefox)                                                                                 \
    X(perfetto)                                                                                \
    X(sqlite)                                                                                  \
    X(html)

#define QP_EXPORTER(name) extern const qp_exporter qp_export_##name;
QP_EXPORTERS(QP_EXPORTER)
#undef QP_EXPORTER

extern const qp_exporter *const qp_exporters[]; /* as listed; ends with NULL */

/** @return NULL: there is none of that name */
const qp_exporter *qp_exporter_named(const char *name);

/* ---- what several formats need --------------------------------------------------------------- */

/* Frames of a path at most, in formats that write all frames of every path. */
enum { QP_EXPORT_FRAMES = 1024 };

/* What a call path itself has; deeper ones count for the path of its first QP_EXPORT_FRAMES frames. */
typedef struct {
    uint32_t node;
    qp_figures f; /* calls, self, samples, interrupts */
} qp_export_path;

/** The paths of a thread, or of all, that have something of their own; parents before children.
 * @param out  [*n] free with qp_free() @return false: no memory */
bool qp_export_paths(const qp_model *m, uint32_t thread, qp_export_path **out, size_t *n);

/** The methods of a path. @param frames  receives them, innermost first
 * @return how many */
uint32_t qp_export_frames(const qp_model *m, uint32_t node, uint32_t frames[QP_EXPORT_FRAMES]);

/** Functions that are on a path with figures, of their own or of what they called: whoever lists
 * functions and their callers lists these, or a caller is named that is nowhere.
 * @param out  [n_methods] free with qp_free() @return false: no memory */
bool qp_export_methods(const qp_model *m, uint32_t thread, bool **out);

/** Numbers of functions, for formats that list those, too, that nobody called: .root. is 0, the others
 * count from 1. The recorder's placeholders, the function without a name and <overflow>, have one
 * where they were needed.
 * @param out  [n_methods] 0: not to be listed, of .root. alone its number; free with qp_free()
 * @return false: no memory */
bool qp_export_numbers(const qp_model *m, uint32_t thread, uint32_t **out);

/* What a format of one value shows: calls in place of times that there are none of. */
qp_measure qp_export_measure(const qp_model *m, const qp_export_options *o);

/* All that the run has, for formats of several values: time is the last. Where interrupts are all
 * there is they are the samples, from which times are estimated.
 * @return how many, >= 1 */
uint32_t qp_export_measures(const qp_model *m, qp_measure out[QP_MEASURES]);

/* Has the thread anything to show? */
bool qp_export_has_thread(const qp_model *m, uint32_t thread, const qp_export_options *o);

/* What pprof, Perfetto and callgrind call it: calls, samples, interrupts; wall, cpu or counts. */
const char *qp_export_measure_name(const qp_model *m, qp_measure measure);

/* What a writer returns when it has no memory. @return false */
bool qp_export_fails(char error[QP_ERROR_BYTES]);

#endif
