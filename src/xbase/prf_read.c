/* prf_read.c: rows of a trace, one after the other. Read qp_prf_reader_next first.
 *
 * A row begins where the one before ended: what is damaged costs itself alone. A table ends at
 * its mark or with the file, whatever its header says of the count: one that is being written has
 * more, one whose packets were removed has less. */
#include "xbase/prf_read.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"

/* ---- files --------------------------------------------------------------------------------- */

static void use_file(qp_prf_reader *r, int fd, uint64_t begin)
{
    const char *unused;
    uint64_t n_bytes = 0;
    if (r->fd >= 0)
        close(r->fd);
    qp_file_is_plain(fd, &n_bytes, &unused);
    r->fd = fd;
    r->at = begin;
    r->begin = r->n = 0;
    r->is_skipping = false;
    r->n_bytes += n_bytes;
    r->n_read += begin;
}

/* More bytes behind those that are left. @return false: there are none */
static bool fill(qp_prf_reader *r)
{
    memmove(r->bytes, r->bytes + r->begin, r->n);
    r->begin = 0;
    size_t got = qp_file_read_at(r->fd, r->bytes + r->n, sizeof r->bytes - r->n, r->at);
    r->n += got;
    r->at += got;
    r->n_read += got;
    return got != 0;
}

static void skip(qp_prf_reader *r, size_t n_bytes)
{
    r->begin += n_bytes;
    r->n -= n_bytes;
}

/* Go on with the packet that comes next. One that is gone by now is passed over. */
static void begin_packet(qp_prf_reader *r)
{
    char path[QP_PRF_PATH_BYTES];
    const char *unused;
    qp_prf_packet_path(r->path, r->pending, path);
    r->pending = 0;
    int fd = qp_file_open(path, &unused);
    if (fd < 0)
        return;
    r->n_damaged += r->n != 0 || r->is_skipping;
    use_file(r, fd, 0);
    r->n_packets++;
}

/* At the end of a file. A packet is complete once there is a next one, so its end is looked at once
 * more then. @return false: there is nothing more */
static bool go_on(qp_prf_reader *r)
{
    if (r->pending) {
        begin_packet(r);
        return true;
    }
    r->pending = r->is_packets ? qp_prf_packets_next(&r->packets, r->path) : 0;
    return r->pending != 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void open_memo(qp_prf_reader *r)
{
    char path[QP_PRF_PATH_BYTES];
    unsigned char head[QP_MEMO_HEAD_BYTES];
    const char *unused;
    qp_prf_memo_path(r->path, path);
    r->memo_fd = qp_file_open(path, &unused);
    if (r->memo_fd >= 0 && qp_file_read_at(r->memo_fd, head, sizeof head, 0) == sizeof head)
        r->memo_block_bytes = qp_memo_block_bytes(head);
}

/* @return false: no table of a trace */
static bool read_table_head(qp_prf_reader *r)
{
    size_t n_bytes = qp_file_read_at(r->fd, r->bytes, sizeof r->bytes, 0);
    qp_dbf *t = &r->table;
    if (qp_dbf_read_head(t, r->bytes, n_bytes) != NULL)
        return false;
    r->thread = qp_dbf_find(t, "THREAD");
    r->time = qp_dbf_find(t, "TIME");
    r->op = qp_dbf_find(t, "OP");
    r->call = qp_dbf_find(t, "CALL");
    r->line = qp_dbf_find(t, "LINE");
    r->params = qp_dbf_find(t, "PARAMS");
    r->has_time = r->time != NULL;
    r->has_line = r->line != NULL;
    r->has_params = r->params != NULL;
    r->n_declared = t->n_records;
    if (r->has_params)
        open_memo(r);
    return r->thread && r->op && r->call;
}

static void read_params(qp_prf_reader *r, const char *record, qp_prf_row *row)
{
    char head[QP_MEMO_TEXT_HEAD];
    uint32_t block = qp_dbf_block(r->params, record);
    uint64_t at = (uint64_t)block * r->memo_block_bytes;
    if (!block)
        return;
    if (at && qp_file_read_at(r->memo_fd, head, sizeof head, at) == sizeof head) {
        size_t n_bytes = qp_memo_text_bytes(head);
        n_bytes = n_bytes < sizeof r->texts ? n_bytes : sizeof r->texts;
        row->params_bytes = qp_file_read_at(r->memo_fd, r->texts, n_bytes, at + sizeof head);
    }
    r->n_lost_params += !row->params_bytes;
}

static bool parse_record(qp_prf_reader *r, const char *record, qp_prf_row *row)
{
    uint64_t thread = 0, line = 0;
    const char *op;
    *row = (qp_prf_row){.params = r->texts};
    if (!qp_dbf_number(r->thread, record, &thread) || qp_dbf_text(r->op, record, &op) != 1 ||
        !strchr("iIOo", *op) || (r->time && !qp_dbf_number(r->time, record, &row->time_ms)) ||
        (r->line && !qp_dbf_number(r->line, record, &line)) || thread > UINT32_MAX ||
        line > UINT32_MAX)
        return false;
    row->thread = (uint32_t)thread;
    row->line = (uint32_t)line;
    row->op = *op;
    row->call_bytes = qp_dbf_text(r->call, record, &row->call);
    if (r->params)
        read_params(r, record, row);
    return true;
}

/* The next row that makes sense, of what was read. @return false: none */
static bool take_record(qp_prf_reader *r, qp_prf_row *row)
{
    while (r->n >= r->table.record_bytes && r->bytes[r->begin] != QP_DBF_END) {
        const char *record = r->bytes + r->begin;
        skip(r, r->table.record_bytes);
        if (*record == '*')
            r->n_deleted++;
        else if (*record == ' ' && parse_record(r, record, row))
            return true;
        else
            r->n_damaged++;
    }
    return false;
}

/* ---- delimited text -------------------------------------------------------------------------- */

typedef struct {
    const char *at, *end;
} cursor;

static bool take_char(cursor *c, char wanted)
{
    bool has_it = c->at < c->end && *c->at == wanted;
    c->at += has_it;
    return has_it;
}

static bool take_number(cursor *c, uint64_t *number)
{
    const char *begin = c->at;
    uint64_t value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9' && value <= UINT32_MAX; c->at++)
        value = value * 10 + (unsigned)(*c->at - '0');
    *number = value;
    return c->at > begin && value <= UINT32_MAX;
}

/* A quoted text to *to, which moves on. */
static bool take_text(cursor *c, char **to, const char **text, size_t *n_bytes)
{
    if (!take_char(c, '"'))
        return false;
    *text = *to;
    for (; c->at < c->end; *(*to)++ = *c->at++)
        if (take_char(c, '"') && !(c->at < c->end && *c->at == '"')) {
            *n_bytes = (size_t)(*to - *text);
            return true;
        }
    return false;
}

/* @param has  receives which optional columns there are */
static bool parse_columns(cursor *c, char *to, qp_prf_row *row, bool has[3])
{
    uint64_t thread, line = 0;
    const char *op;
    size_t op_bytes;
    *row = (qp_prf_row){.params = to};
    if (!take_number(c, &thread) || !take_char(c, ','))
        return false;
    has[0] = take_number(c, &row->time_ms);
    if ((has[0] && !take_char(c, ',')) || !take_text(c, &to, &op, &op_bytes) || op_bytes != 1 ||
        !strchr("iIOo", *op) || !take_char(c, ',') ||
        !take_text(c, &to, &row->call, &row->call_bytes))
        return false;
    bool has_more = take_char(c, ',');
    has[1] = has_more && take_number(c, &line);
    has_more = has[1] ? take_char(c, ',') : has_more;
    has[2] = has_more && take_text(c, &to, &row->params, &row->params_bytes);
    row->thread = (uint32_t)thread;
    row->line = (uint32_t)line;
    row->op = *op;
    return has_more == has[2] && c->at == c->end;
}

/* All rows have the columns of the first one. */
static bool parse_line(qp_prf_reader *r, const char *line, size_t n_bytes, qp_prf_row *row)
{
    bool has[3] = {false};
    cursor c = {line, line + n_bytes};
    if (!parse_columns(&c, r->texts, row, has))
        return false;
    if (!r->has_shape) {
        r->has_shape = true;
        r->has_time = has[0];
        r->has_line = has[1];
        r->has_params = has[2];
    }
    return has[0] == r->has_time && has[1] == r->has_line && has[2] == r->has_params;
}

static bool take_line(qp_prf_reader *r, qp_prf_row *row)
{
    const char *line = r->bytes + r->begin, *end;
    while ((end = memchr(line, '\n', r->n)) != NULL && *line != QP_DBF_END) {
        size_t n_bytes = (size_t)(end - line);
        bool is_whole = !r->is_skipping;
        r->is_skipping = false;
        skip(r, n_bytes + 1);
        n_bytes -= n_bytes && end[-1] == '\r';
        if (is_whole && parse_line(r, line, n_bytes, row))
            return true;
        r->n_damaged++;
        line = r->bytes + r->begin;
    }
    if (r->n == sizeof r->bytes) { /* longer than any row */
        skip(r, r->n);
        r->is_skipping = true;
    }
    return false;
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool take_row(qp_prf_reader *r, qp_prf_row *row)
{
    return r->is_text ? take_line(r, row) : take_record(r, row);
}

bool qp_prf_reader_next(qp_prf_reader *r, qp_prf_row *row)
{
    do {
        if (take_row(r, row)) {
            r->n_rows++;
            return true;
        }
    } while (fill(r) || go_on(r));
    r->n_rest = r->n;
    return false;
}

/* What the shape of delimited text is, the first row says. */
static bool peek(qp_prf_reader *r)
{
    qp_prf_row unused;
    const char *end;
    fill(r);
    end = memchr(r->bytes, '\n', r->n);
    if (!end)
        return !r->n || (r->bytes[0] >= '0' && r->bytes[0] <= '9');
    size_t n_bytes = (size_t)(end - r->bytes);
    return parse_line(r, r->bytes, n_bytes - (n_bytes && end[-1] == '\r'), &unused);
}

bool qp_prf_reader_open(qp_prf_reader *r, const char *path, const char **why)
{
    memset(r, 0, offsetof(qp_prf_reader, bytes));
    r->packets = (qp_prf_packets){.n = 0};
    r->fd = r->memo_fd = -1;
    if (snprintf(r->path, sizeof r->path, "%s", path) >= QP_PRF_PATH_BYTES - 32) {
        *why = "the name is too long";
        return false;
    }
    int fd = qp_file_open(path, why);
    if (fd < 0)
        return false;
    use_file(r, fd, 0);
    r->is_text = !read_table_head(r);
    uint64_t begin = r->is_text ? 0 : r->table.header_bytes;
    r->is_packets = r->n_bytes <= begin;
    r->at = r->n_read = begin;
    if (go_on(r))
        begin_packet(r);
    if (!r->is_text || peek(r))
        return true;
    qp_prf_reader_close(r);
    *why =
        "not a trace: neither a .qtrace file nor a profile, a table with the fields THREAD, OP "
        "and CALL, or delimited text; packets are read with their header packet";
    return false;
}

void qp_prf_reader_close(qp_prf_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->memo_fd >= 0)
        close(r->memo_fd);
    r->fd = r->memo_fd = -1;
}
