/* load.c: from a name to a model. Start reading at load_image(): it has the order of all
 * steps. */
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "base/text/unit.h"
#include "model/figures/figures.h"
#include "model/import/import.h"
#include "model/model.h"
#include "model/read/read.h"

enum { COPIES_MAX = 3 };

static const uint64_t default_max_bytes = 64ull << 30;

/* ---- loading ----------------------------------------------------------------------------- */

/* Read what each copy of a file that is being written needs. @return false: no memory */
static bool read_records(qp_model_private *own, const qp_load_options *o)
{
    own->index_at = qp_alloc_zeroed(own->image.n_cells, sizeof *own->index_at);
    if (!own->index_at || !qp_salvage_extents(own))
        return false;
    qp_load_run(own); /* after damaged texts were left out */
    return qp_load_methods(own, o && o->merge_same) && qp_load_threads(own);
}

static bool read_tree(qp_model_private *own, const qp_progress *progress)
{
    enum { RECORDS_PERCENT = QP_IMAGE_PERCENT + 5, NODES_PERCENT = 65, DERIVED_PERCENT = 98 };
    qp_progress_show(progress, RECORDS_PERCENT);
    qp_run_state state = own->model.run.state;
    if (!own->has_checksums && (state == QP_RUN_LIVE || state == QP_RUN_SNAPSHOT))
        /* an unfinished write is not damage */
        own->n_losses[QP_LOSS_stretches] = own->n_losses[QP_LOSS_extents] = 0;
    if (!qp_load_nodes(own) || !qp_load_creators(own) || !qp_load_frames(own))
        return false;
    qp_load_waiting(own);
    qp_progress_show(progress, NODES_PERCENT);
    if (!qp_derive(own))
        return false;
    qp_progress_show(progress, DERIVED_PERCENT);
    if (!qp_load_thread_names(own) || !qp_load_contexts(own) || !qp_load_counter_blocks(own) ||
        !qp_derive_calls(own) || !qp_derive_instructions(own) || !qp_load_sources(own) ||
        !qp_load_diagnostics(own) || !qp_load_notes(own) || !qp_load_metrics(own) ||
        !qp_load_markers(own) || !qp_salvage_words(own))
        return false;
    qp_load_sums(own);
    qp_progress_show(progress, 100);
    return true;
}

/* ---- a file that is being written -------------------------------------------------------- */

/* The progress of a thread. */
typedef struct {
    qp_cell cell;
    uint64_t top, n_ended; /* frames */
    uint64_t n_deep;
} pulse;

static pulse read_pulse(int fd, qp_cell cell)
{
    qp_thread_record r;
    memset(&r, 0, sizeof r);
    qp_file_read_at(fd, &r, sizeof r, (uint64_t)cell * QP_CELL);
    return (pulse){cell, r.top & ~QP_TOP_BUSY, r.n_exits + r.n_unwound + r.n_destroyed_live,
                   r.n_deep};
}

/* Events that may lie between two moments: each frame that ended was perhaps entered between
 * them. */
static uint64_t events_between(pulse a, pulse b)
{
    if (a.n_ended == b.n_ended && a.top == b.top && a.n_deep == b.n_deep)
        return 0;
    uint64_t opened = qp_ticks_between(a.top, b.top) / sizeof(qp_frame) +
                      qp_ticks_between(a.n_deep, b.n_deep);
    return 2 * (b.n_ended - a.n_ended) + opened + 2;
}

/* Copy once more, between two looks at all threads. @return false: see error */
static bool copy_again(qp_model_private *own, int fd, const qp_load_options *o,
                       uint64_t max_bytes, bool *is_quiet, qp_error *error)
{
    uint32_t n = own->model.n_threads;
    pulse *before = qp_alloc(n, sizeof *before);
    if (!before)
        return false;
    for (uint32_t i = 1; i < n; i++)
        before[i] = read_pulse(fd, own->extras[i].cell);
    qp_model_forget(own);
    bool is_ok = qp_image_read(&own->image, fd, max_bytes, NULL, error) && read_records(own, o);
    for (uint32_t i = 1; is_ok && i < own->model.n_threads; i++)
        own->threads[i].n_drift =
            events_between((pulse){0}, read_pulse(fd, own->extras[i].cell));
    *is_quiet = true;
    for (uint32_t i = 1; is_ok && i < n; i++) {
        uint32_t thread = qp_index_at(own, before[i].cell, QP_TAG_THREAD);
        uint64_t drift = events_between(before[i], read_pulse(fd, before[i].cell));
        own->threads[thread].n_drift = thread ? drift : 0;
        *is_quiet = *is_quiet && !drift;
    }
    qp_free(before);
    return is_ok;
}

/* ---- entry points ------------------------------------------------------------------------ */

/* @param fd  of the file, which is read again if it is live; -1: none */
static qp_load_status load_image(qp_model_private *own, int fd, const qp_load_options *o,
                                 uint64_t max_bytes, qp_model **out, qp_error *error)
{
    bool is_ok = qp_image_check_head(&own->image, error) && qp_image_cut(&own->image, error) &&
                 read_records(own, o);
    bool is_quiet = fd < 0 || !is_ok || own->model.run.state != QP_RUN_LIVE;
    for (unsigned i = 0; is_ok && !is_quiet && i < COPIES_MAX; i++)
        is_ok = copy_again(own, fd, o, max_bytes, &is_quiet, error);
    if (!is_ok || !read_tree(own, o ? &o->progress : NULL)) {
        if (!error->text[0])
            qp_error_fail(error, "there is not enough memory to read it");
        qp_model_free(&own->model);
        return QP_LOAD_UNUSABLE;
    }
    *out = &own->model;
    return own->model.n_losses ? QP_LOAD_SALVAGED : QP_LOAD_CLEAN;
}

/* An import may take so much; other profiles what was asked for. import.c knows what its input needs. */
static void limit_memory(const qp_load_options *o, bool is_foreign)
{
    uint64_t n_bytes = o ? o->max_memory : 0;
    qp_alloc_limit(n_bytes || !is_foreign ? n_bytes : UINT64_MAX / 2);
}

/* If the limit is what failed, say so. */
static void explain_limit(qp_error *error)
{
    uint64_t n_bytes = qp_alloc_limit_reached();
    char limit[QP_NUMBER_BYTES];
    if (n_bytes)
        qp_error_fail(error,
                      "reading it takes more than %s of memory; --max-memory=SIZE allows more",
                      qp_unit_size(limit, n_bytes));
}

static qp_model_private *begin(qp_model **out, qp_error *error)
{
    qp_model_private *own = qp_alloc_zeroed(1, sizeof *own);
    *out = NULL;
    error->text[0] = '\0';
    if (!own)
        qp_error_fail(error, "there is not enough memory to read it");
    else
        own->model.own = own;
    return own;
}

qp_load_status qp_model_load_fd(int fd, const char *name, const qp_load_options *o,
                                qp_model **out, qp_error *error)
{
    uint64_t max_bytes = o && o->max_bytes ? o->max_bytes : default_max_bytes;
    qp_model_private *own = begin(out, error);
    qp_load_status status = QP_LOAD_UNUSABLE;
    bool is_foreign = qp_import_fits_file(fd), is_read = false;
    limit_memory(o, is_foreign);
    if (own && is_foreign)
        is_read = qp_import_read(&own->image, fd, o, max_bytes, error);
    else if (own)
        is_read = qp_image_read(&own->image, fd, max_bytes, o ? &o->progress : NULL, error);
    if (is_read)
        status = load_image(own, is_foreign ? -1 : fd, o, max_bytes, out, error);
    else if (own)
        qp_model_free(&own->model);
    if (status == QP_LOAD_UNUSABLE)
        explain_limit(error);
    qp_alloc_limit(0);
    if (error->text[0])
        qp_error_fail(error, "%.300s: %.200s", name, error->text);
    return status;
}

qp_load_status qp_model_load_bytes(const void *bytes, size_t n_bytes, const qp_load_options *o,
                                   qp_model **out, qp_error *error)
{
    qp_model_private *own = begin(out, error);
    if (!own)
        return QP_LOAD_UNUSABLE;
    bool is_foreign = qp_import_fits(bytes, n_bytes);
    limit_memory(o, is_foreign);
    bool is_read = is_foreign ? qp_import_copy(&own->image, bytes, n_bytes, o, error)
                              : qp_image_copy(&own->image, bytes, n_bytes, error);
    qp_load_status status = QP_LOAD_UNUSABLE;
    if (is_read)
        status = load_image(own, -1, o, 0, out, error);
    else
        qp_model_free(&own->model);
    if (status == QP_LOAD_UNUSABLE)
        explain_limit(error);
    qp_alloc_limit(0);
    return status;
}

/* The process id that a text is; 0: it is not a number. */
static uint64_t pid_of(const char *text)
{
    uint64_t pid = 0;
    for (; *text >= '0' && *text <= '9' && pid < 1u << 30; text++)
        pid = pid * 10 + (uint64_t)(*text - '0');
    return *text ? 0 : pid;
}

qp_load_status qp_model_load(const char *what, const qp_load_options *o, qp_model **out,
                             qp_error *error)
{
    char path[QP_ERROR_BYTES];
    const char *why = "";
    uint64_t pid = pid_of(what);
    int fd = qp_file_open(what, &why);
    *out = NULL;
    error->text[0] = '\0';
    if (fd < 0 && pid && access(what, F_OK) != 0) {
        if (qp_live_path(pid, true, path, sizeof path))
            fd = qp_file_open(path, &why);
        else
            why = "no such file or recording process";
    }
    if (fd < 0) {
        qp_error_fail(error, "%.300s: %s", what, why);
        return QP_LOAD_UNUSABLE;
    }
    qp_load_status status = qp_model_load_fd(fd, what, o, out, error);
    close(fd);
    return status;
}
