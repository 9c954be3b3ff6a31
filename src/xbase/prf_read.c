/* prf_read.c: rows of a trace, one after the other, and packets joined to one file. Read
 * qp_prf_reader_next first.
 *
 * A row begins where the previous one ends, so that only damaged rows are lost. A table ends at its
 * mark or with the file, and the count in its header is ignored: a table that is being written has
 * more rows, one whose packets were removed has fewer. */
#include "xbase/xbase.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/file.h"

enum { CHUNK = 16 * 1024 };

/* ---- packets: the next few at a time, however many there are --------------------------------- */

/* The number in the name of a packet: six digits, or more if need be. @return 0: it is none */
static uint64_t number_of(const char *name, const char *trace)
{
    size_t n_trace = strlen(trace), n_digits;
    uint64_t number = 0;
    if (strncmp(name, trace, n_trace) != 0 || name[n_trace] != '.')
        return 0;
    const char *digits = name + n_trace + 1;
    for (n_digits = 0; digits[n_digits] >= '0' && digits[n_digits] <= '9'; n_digits++)
        number = n_digits < 19 ? number * 10 + (unsigned)(digits[n_digits] - '0') : 0;
    bool is_padded = n_digits == 6 || (n_digits > 6 && *digits != '0');
    return is_padded && !digits[n_digits] ? number : 0;
}

/* Insert a number; the smallest ones are kept. */
static void keep(qp_prf_packets *p, uint64_t number)
{
    unsigned i = p->n;
    if (i < QP_PRF_PACKETS_AHEAD)
        p->n++;
    else if (p->numbers[--i] < number)
        return;
    for (; i && p->numbers[i - 1] > number; i--)
        p->numbers[i] = p->numbers[i - 1];
    p->numbers[i] = number;
}

static void look_ahead(qp_prf_packets *p, const char *path)
{
    char folder[QP_PRF_PATH_BYTES];
    const char *slash = strrchr(path, '/'), *trace = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(trace - path) : 1,
             slash ? path : ".");
    p->n = p->next = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        uint64_t number = number_of(e->d_name, trace);
        if (number > p->last)
            keep(p, number);
    }
    if (d)
        closedir(d);
}

/* @return number of the next packet beside a trace; 0: no more, for now */
static uint64_t next_packet(qp_prf_packets *p, const char *path)
{
    if (p->next == p->n)
        look_ahead(p, path);
    if (p->next == p->n)
        return 0;
    p->last = p->numbers[p->next++];
    return p->last;
}

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

/* Read more bytes after those that are left. @return false: end of the file */
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

/* Continue with the next packet, unless it has been removed. */
static void begin_packet(qp_prf_reader *r)
{
    char path[QP_PRF_PATH_BYTES];
    const char *unused;
    qp_prf_packet_path(r->path, r->pending, path);
    r->pending = 0;
    int fd = qp_file_open_beside(path, &unused);
    if (fd < 0) {
        r->n_unread_packets += access(path, F_OK) == 0;
        return;
    }
    r->n_damaged += r->n != 0 || r->is_skipping;
    use_file(r, fd, 0);
}

/* Continue after the end of a file. A packet is complete once a next one exists, so its end is read
 * once more then. @return false: there is nothing more */
static bool next_file(qp_prf_reader *r)
{
    if (r->pending) {
        begin_packet(r);
        return true;
    }
    r->pending = r->is_packets ? next_packet(&r->packets, r->path) : 0;
    return r->pending != 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void open_memo(qp_prf_reader *r)
{
    char path[QP_PRF_PATH_BYTES];
    unsigned char head[QP_MEMO_HEAD_BYTES];
    const char *unused;
    qp_prf_memo_path(r->path, path);
    r->memo_fd = qp_file_open_beside(path, &unused);
    if (r->memo_fd >= 0 && qp_file_read_at(r->memo_fd, head, sizeof head, 0) == sizeof head)
        r->memo_block_bytes = qp_memo_block_bytes(head);
}

/* @return false: not a table of a trace */
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
    bool is_read = at && r->memo_fd >= 0 &&
                   qp_file_read_at(r->memo_fd, head, sizeof head, at) == sizeof head;
    size_t n_bytes = is_read ? qp_memo_text_bytes(head) : 0;
    n_bytes = n_bytes < sizeof r->texts ? n_bytes : sizeof r->texts;
    if (is_read)
        row->params_bytes = qp_file_read_at(r->memo_fd, r->texts, n_bytes, at + sizeof head);
    r->n_unread_texts += !is_read || row->params_bytes < n_bytes;
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

/* Take the next valid row out of what was read. @return false: none */
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

/* Copy a quoted text to *to, which is advanced. */
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

bool qp_prf_reader_next(qp_prf_reader *r, qp_prf_row *row)
{
    do {
        if (r->is_text ? take_line(r, row) : take_record(r, row)) {
            r->n_rows++;
            return true;
        }
    } while (fill(r) || next_file(r));
    r->n_rest = r->n;
    return false;
}

/* Take the columns of delimited text from its first row. */
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
    if (next_file(r))
        begin_packet(r);
    bool is_empty = !r->n_bytes;
    if (!is_empty && (!r->is_text || peek(r)))
        return true;
    qp_prf_reader_close(r);
    *why = is_empty ? "the file is empty"
                    : "not a trace: neither a .qtrace file nor a profile, a table with the "
                      "fields THREAD, OP "
                      "and CALL, or delimited text; packets are read with their header packet";
    return false;
}

uint64_t qp_prf_reader_cut(const qp_prf_reader *r)
{
    bool is_end = r->n_rest == 1 && r->bytes[r->begin] == QP_DBF_END;
    uint64_t n_rows = r->n_rows + r->n_damaged + r->n_deleted;
    uint64_t n_rest = is_end ? 0 : r->n_rest;
    return r->is_text || r->is_packets || r->table.n_records <= n_rows
               ? n_rest
               : (r->table.n_records - n_rows) * r->table.record_bytes - n_rest;
}

void qp_prf_reader_close(qp_prf_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->memo_fd >= 0)
        close(r->memo_fd);
    r->fd = r->memo_fd = -1;
}

/* ---- joining: all packets after their header, in the order of their numbers ------------------- */

typedef struct {
    const char *path;
    qp_out *out;           /* NULL: only count */
    uint32_t record_bytes; /* 0: delimited text */
    uint64_t n_left;       /* records that are still to be copied: as many as were counted */
    qp_prf_joined *joined;
} join;

/* The end of the last whole line of a text. */
static uint64_t end_of_lines(int fd, uint64_t n_bytes)
{
    char chunk[CHUNK];
    while (n_bytes) {
        uint64_t begin = n_bytes > CHUNK ? n_bytes - CHUNK : 0;
        size_t n = qp_file_read_at(fd, chunk, (size_t)(n_bytes - begin), begin);
        const char *newline = memrchr(chunk, '\n', n);
        if (newline)
            return begin + (size_t)(newline - chunk) + 1;
        n_bytes = n ? begin : 0;
    }
    return 0;
}

static void copy(qp_out *out, int fd, uint64_t begin, uint64_t end)
{
    char chunk[CHUNK];
    while (begin < end) {
        size_t wanted = end - begin < sizeof chunk ? (size_t)(end - begin) : sizeof chunk;
        size_t n = qp_file_read_at(fd, chunk, wanted, begin);
        if (!n)
            return;
        qp_out_bytes(out, chunk, n);
        begin += n;
    }
}

/* Take all whole rows of a file from `begin` on. */
static void take_file(join *j, int fd, uint64_t begin)
{
    const char *unused;
    uint64_t n_bytes = 0, end;
    qp_file_is_plain(fd, &n_bytes, &unused);
    n_bytes = n_bytes > begin ? n_bytes : begin;
    uint64_t n_rows = j->record_bytes ? (n_bytes - begin) / j->record_bytes : 0;
    if (j->out && n_rows > j->n_left)
        n_rows = j->n_left;
    end = j->record_bytes ? begin + n_rows * j->record_bytes : end_of_lines(fd, n_bytes);
    if (j->out) {
        copy(j->out, fd, begin, end);
        j->n_left -= n_rows;
        return;
    }
    char rest = '\0';
    bool is_marked =
        n_bytes - end == 1 && qp_file_read_at(fd, &rest, 1, end) == 1 && rest == QP_DBF_END;
    j->joined->n_rows += n_rows;
    j->joined->n_damaged += is_marked ? 0 : n_bytes - end;
}

static void take_packets(join *j)
{
    static qp_prf_packets packets;
    char path[QP_PRF_PATH_BYTES];
    const char *unused;
    packets.n = packets.next = 0;
    packets.last = 0;
    for (uint64_t i; (i = next_packet(&packets, j->path)) != 0;) {
        qp_prf_packet_path(j->path, i, path);
        int fd = qp_file_open_beside(path, &unused);
        if (fd < 0) {
            j->joined->n_unread += j->out == NULL && access(path, F_OK) == 0;
            continue;
        }
        take_file(j, fd, 0);
        close(fd);
        j->joined->n_packets += j->out == NULL;
    }
}

/* Called twice: to count, and to copy. */
static void take_all(join *j, int fd, uint64_t begin, bool is_packets)
{
    if (is_packets)
        take_packets(j);
    else
        take_file(j, fd, begin);
}

/* Write the header with the number of records that follow. */
static void put_head(join *j, unsigned char *head, size_t n_bytes)
{
    uint32_t n_rows = j->n_left < UINT32_MAX ? (uint32_t)j->n_left : UINT32_MAX;
    for (unsigned i = 0; i < 4; i++)
        head[4 + i] = (unsigned char)(n_rows >> (8 * i));
    qp_out_bytes(j->out, (const char *)head, n_bytes);
}

bool qp_prf_join(const char *path, qp_out *out, qp_prf_joined *joined, const char **why)
{
    static unsigned char head[UINT16_MAX];
    static qp_dbf table;
    *joined = (qp_prf_joined){0};
    uint64_t n_bytes = 0;
    int fd = qp_file_open(path, why);
    if (fd < 0)
        return false;
    size_t n_head = qp_file_read_at(fd, head, sizeof head, 0);
    bool is_text = qp_dbf_read_head(&table, head, n_head) != NULL;
    if (is_text && n_head && (head[0] < '0' || head[0] > '9')) {
        *why = "neither a FoxPro table nor delimited text";
        close(fd);
        return false;
    }
    uint64_t begin = is_text ? 0 : table.header_bytes;
    join j = {.path = path, .joined = joined, .record_bytes = is_text ? 0 : table.record_bytes};
    bool is_packets = qp_file_is_plain(fd, &n_bytes, why) && n_bytes <= begin;
    take_all(&j, fd, begin, is_packets);
    j.n_left = joined->n_rows;
    j.out = out;
    joined->n_declared = is_text ? 0 : table.n_records;
    if (!is_text)
        put_head(&j, head, begin);
    take_all(&j, fd, begin, is_packets);
    if (!is_text)
        qp_out_char(out, QP_DBF_END);
    close(fd);
    return true;
}
