/* trace.c: opens a trace, whatever it is kept in, and answers what it is. */
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/text/wide.h"
#include "replay/read/source.h"

/* ---- opening ----------------------------------------------------------------------------- */

static void read_magic(int fd, unsigned char bytes[8])
{
    memset(bytes, 0, 8);
    qp_file_read_at(fd, bytes, 8, 0);
}

static bool is_magic(const unsigned char bytes[8], const char *magic)
{
    return memcmp(bytes, magic, strlen(magic)) == 0;
}

/* @param fd  of the file, which the trace owns now. @return false: see error */
static bool open_file(qp_trace *t, const char *what, int fd, qp_error *error)
{
    unsigned char bytes[8];
    const char *why;
    read_magic(fd, bytes);
    bool is_profile = is_magic(bytes, QP_MAGIC),
         is_packed = qp_unzstd_fits(bytes, sizeof bytes);
    if (is_packed) {
        int whole = qp_unzstd(fd, &why);
        close(fd);
        if (whole < 0)
            return qp_error_fail(error, "%s: %s", what, why);
        fd = whole;
        read_magic(fd, bytes);
    }
    if (is_magic(bytes, QP_TRACE_MAGIC))
        return qp_packets_open(t, fd, error);
    close(fd);
    if (is_packed)
        return qp_error_fail(
            error, "%s: no trace in the zstd file (damaged, or cut in its first block)", what);
    return is_profile ? qp_rings_open(t, what, error) : qp_rows_open(t, what, error);
}

static bool open_any(qp_trace *t, const char *what, qp_error *error)
{
    const char *why;
    if (*what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK) != 0)
        return qp_rings_open(t, what, error);
    int fd = qp_file_open(what, &why);
    return fd < 0 ? qp_error_fail(error, "%s: %s", what, why) : open_file(t, what, fd, error);
}

qp_trace *qp_trace_open(const char *what, qp_error *error)
{
    qp_trace *t = qp_alloc_zeroed(1, sizeof *t);
    if (!t) {
        qp_error_fail(error, "%s: not enough memory", what);
        return NULL;
    }
    t->fd = t->rings_fd = -1;
    t->info.program = "";
    qp_text_format(t->path, sizeof t->path, "%s", what);
    t->os_threads = QP_BUF(qp_trace_os_thread);
    t->heap = QP_BUF(uint32_t);
    t->failed = !qp_names_init(&t->names, NULL);
    t->paths = t->names.cache;
    bool is_open = !t->failed && open_any(t, what, error);
    if (t->failed)
        is_open = qp_error_fail(error, "%s: not enough memory", what);
    if (is_open)
        return t;
    qp_trace_close(t);
    return NULL;
}

bool qp_trace_join(qp_trace *t, const char *profile, qp_error *error)
{
    if (t->info.kind == QP_TRACE_OF_PACKETS && !t->model)
        return qp_rings_open(t, profile, error);
    return qp_error_fail(
        error, "%s: not joined (only a .qtrace file can be joined with a profile)", profile);
}

void qp_trace_close(qp_trace *t)
{
    if (!t)
        return;
    qp_trace_ahead_end(t);
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

bool qp_trace_extent(const qp_trace *t, uint64_t *first, uint64_t *end)
{
    *first = UINT64_MAX;
    *end = t->info.end_raw;
    for (uint32_t i = 0; i < t->os_threads.n; i++) {
        const qp_buf *packets = &qp_trace_os_thread_at(t, i)->packets;
        const qp_packet_place *oldest = packets->items;
        if (packets->n && oldest->first_ticks < *first)
            *first = oldest->first_ticks;
    }
    return t->info.is_ended && !t->sources[1] && *first <= *end;
}

uint64_t qp_trace_position(const qp_trace *t)
{
    return t->position;
}

static uint64_t scaled(uint64_t value, uint64_t to, uint64_t from)
{
    return qp_product_share(value, to, from / 2, from);
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
