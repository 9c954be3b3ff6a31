/* trace.c: opens a trace, whatever it is kept in, and answers what it is. */
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "replay/read/source.h"

/* ---- opening ----------------------------------------------------------------------------- */

static qp_trace *fail(qp_trace *t)
{
    qp_trace_close(t);
    return NULL;
}

static qp_trace *fail_at(qp_trace *t, const char *what, const char *why, qp_error *error)
{
    qp_error_fail(error, "%s: %s", what, why);
    return fail(t);
}

static bool begins_with(const unsigned char *bytes, size_t n, const char *magic, size_t n_magic)
{
    return n >= n_magic && memcmp(bytes, magic, n_magic) == 0;
}

/* @return whether there is a trace; what is wrong otherwise is in `error` */
static bool open_file(qp_trace *t, const char *what, int fd, qp_error *error)
{
    unsigned char bytes[16];
    const char *why;
    size_t n = qp_file_read_at(fd, bytes, sizeof bytes, 0);
    if (begins_with(bytes, n, QP_MAGIC, strlen(QP_MAGIC))) {
        close(fd);
        return qp_rings_open(t, what, error);
    }
    bool is_packed = qp_unzstd_fits(bytes, n);
    if (is_packed) {
        int whole = qp_unzstd(fd, &why);
        close(fd);
        if (whole < 0) {
            return qp_error_fail(error, "%s: %s", what, why);
        }
        fd = whole;
        n = qp_file_read_at(fd, bytes, sizeof bytes, 0);
    }
    if (begins_with(bytes, n, QP_TRACE_MAGIC, strlen(QP_TRACE_MAGIC)))
        return qp_packets_open(t, fd, error);
    close(fd);
    if (is_packed)
        qp_error_fail(error,
                      "%s: packed by zstd, but no trace: damaged, or cut in its first block",
                      what);
    return !is_packed && qp_rows_open(t, what, error);
}

qp_trace *qp_trace_open(const char *what, qp_error *error)
{
    const char *why;
    qp_trace *t = qp_alloc_zeroed(1, sizeof *t);
    if (!t)
        return fail_at(NULL, what, "not enough memory", error);
    t->fd = t->rings_fd = -1;
    t->info.program = "";
    qp_text_format(t->path, sizeof t->path, "%s", what);
    qp_buf_init(&t->os_threads, sizeof(qp_trace_os_thread));
    qp_buf_init(&t->heap, sizeof(uint32_t));
    if (!qp_names_init(&t->names, NULL))
        return fail_at(t, what, "not enough memory", error);
    bool is_pid = *what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK) != 0;
    int fd = is_pid ? -1 : qp_file_open(what, &why);
    if (!is_pid && fd < 0)
        return fail_at(t, what, why, error);
    bool is_open = is_pid ? qp_rings_open(t, what, error) : open_file(t, what, fd, error);
    if (is_open && t->failed)
        return fail_at(t, what, "not enough memory", error);
    return is_open ? t : fail(t);
}

bool qp_trace_join(qp_trace *t, const char *profile, qp_error *error)
{
    if (t->info.kind == QP_TRACE_OF_PACKETS && !t->model)
        return qp_rings_open(t, profile, error);
    return qp_error_fail(
        error, "%s: only to a .qtrace file can the rings of a profile be joined", profile);
}

void qp_trace_close(qp_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < 2 && t->sources[i]; i++)
        t->sources[i]->close(t);
    qp_trace_merge_end(t);
    qp_names_fini(&t->names);
    qp_free(t);
}

bool qp_trace_refresh(qp_trace *t)
{
    bool has_more = false;
    for (size_t i = 0; i < 2 && t->sources[i]; i++)
        has_more |= t->sources[i]->refresh(t);
    return has_more || t->info.is_live;
}

/* ---- asking ------------------------------------------------------------------------------ */

const qp_trace_info *qp_trace_about(const qp_trace *t)
{
    return &t->info;
}

const qp_trace_losses *qp_trace_lost(const qp_trace *t)
{
    return &t->losses;
}

qp_names *qp_trace_names(qp_trace *t)
{
    return &t->names;
}

bool qp_trace_failed(const qp_trace *t)
{
    return t->failed || t->names.failed;
}

uint64_t qp_trace_position(const qp_trace *t)
{
    return t->position;
}

static uint64_t scaled(uint64_t value, uint64_t to, uint64_t from)
{
    unsigned __int128 product = (unsigned __int128)value * to + from / 2;
    unsigned __int128 result = product / from;
    return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

uint64_t qp_trace_ns(const qp_trace_info *info, uint64_t ticks)
{
    return info->n_ticks && info->n_ns ? scaled(ticks, info->n_ns, info->n_ticks) : ticks;
}

uint64_t qp_trace_moment(const qp_trace_info *info, uint64_t raw)
{
    return raw > info->begun_raw ? qp_trace_ns(info, raw - info->begun_raw) : 0;
}

uint64_t qp_trace_raw(const qp_trace_info *info, uint64_t ns)
{
    uint64_t ticks = info->n_ticks && info->n_ns ? scaled(ns, info->n_ticks, info->n_ns) : ns;
    return ticks > UINT64_MAX - info->begun_raw ? UINT64_MAX : info->begun_raw + ticks;
}
