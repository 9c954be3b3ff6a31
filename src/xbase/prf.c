/* prf.c: rows to bytes, and bytes to files. Memos reach the disk first, then records, then the count
 * of records, so that a reader never finds a reference to what is not there. */
#include "xbase/xbase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"

enum {
    HEAD_BYTES = QP_DBF_HEAD_BYTES + QP_PRF_FIELDS * QP_DBF_FIELD_BYTES + 1 + QP_DBF_LINK_BYTES,
    THREAD_WIDTH = 5,
    NUMBER_WIDTH = 8, /* of times and lines */
    BLOCK_WIDTH = 4,
    ROW_BYTES = 1 + THREAD_WIDTH + NUMBER_WIDTH + 1 + 254 + NUMBER_WIDTH + BLOCK_WIDTH,
    FIRST_MEMO = QP_MEMO_HEAD_BYTES / QP_MEMO_BLOCK_BYTES,
    STALE_GAP = 1000
};

/* ---- files: each function returns 0 or an errno value ---------------------------------------- */

static int open_plain(const char *path, int flags, int *fd)
{
    struct stat st;
    int low =
        open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0600);
    if (low < 0)
        return errno;
    if (fstat(low, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(low);
        return EINVAL;
    }
    *fd = qp_file_raise(low);
    return 0;
}

/* Begin the file at f->path. Only a plain file is replaced. */
static int file_open(qp_prf_file *f)
{
    f->at = 0;
    f->n_bytes = 0;
    return open_plain(f->path, O_TRUNC, &f->fd);
}

static int file_flush(qp_prf_file *f)
{
    size_t done;
    int error = qp_file_write_at(f->fd, f->bytes, f->n_bytes, f->at, &done);
    f->at += done;
    f->n_bytes -= done;
    memmove(f->bytes, f->bytes + done, f->n_bytes);
    return error;
}

static int file_add(qp_prf_file *f, const void *bytes, size_t n_bytes)
{
    const char *from = bytes;
    while (n_bytes) {
        int error = f->n_bytes == sizeof f->bytes ? file_flush(f) : 0;
        if (error)
            return error;
        size_t room = sizeof f->bytes - f->n_bytes, n = n_bytes < room ? n_bytes : room;
        memcpy(f->bytes + f->n_bytes, from, n);
        f->n_bytes += n;
        from += n;
        n_bytes -= n;
    }
    return 0;
}

/* Write over its beginning. */
static int file_head(qp_prf_file *f, const void *bytes, size_t n_bytes)
{
    size_t unused;
    return qp_file_write_at(f->fd, bytes, n_bytes, 0, &unused);
}

static int file_cut(qp_prf_file *f, uint64_t n_bytes)
{
    f->n_bytes = 0;
    f->at = n_bytes;
    return ftruncate(f->fd, (off_t)n_bytes) == 0 ? 0 : errno;
}

static int file_close(qp_prf_file *f)
{
    int error = f->fd < 0 || close(f->fd) == 0 ? 0 : errno;
    f->fd = -1;
    return error;
}

int qp_prf_file_write(const char *path, bool is_new, const void *bytes, size_t n_bytes)
{
    int fd;
    size_t unused;
    int error = open_plain(path, is_new ? O_TRUNC : 0, &fd);
    if (error)
        return error;
    error = qp_file_write_at(fd, bytes, n_bytes, 0, &unused);
    return close(fd) == 0 || error ? error : errno;
}

/* ---- names ----------------------------------------------------------------------------------- */

qp_prf_options qp_prf_options_of(const qp_pri *p)
{
    uint32_t mode = p->number[QP_PRI_OPERATIONMODE];
    return (qp_prf_options){
        .is_text = p->number[QP_PRI_HUMANREADABLE] != 0,
        .has_time = p->number[QP_PRI_TIMELINE] != 0,
        .has_line = p->number[QP_PRI_LINENUMBERS] != 0,
        .has_params = p->number[QP_PRI_PARAMLIST] != 0,
        .symbol_bytes = (uint8_t)p->number[QP_PRI_SYMBOLSIZE],
        .is_flushed = (mode & (QP_PRI_FLUSH | QP_PRI_PACKETS)) != 0,
        .is_packets = (mode & QP_PRI_PACKETS) != 0,
        .flush_every = p->number[QP_PRI_OUTFLUSHEVERY],
    };
}

void qp_prf_memo_path(const char *path, char *to)
{
    size_t n = strlen(path);
    bool has_ending = n > 4 && strncasecmp(path + n - 4, ".prf", 4) == 0;
    snprintf(to, QP_PRF_PATH_BYTES, "%s%s", path, has_ending ? "" : ".PRV");
    if (has_ending)
        to[n - 1] = path[n - 1] == 'F' ? 'V' : 'v';
}

void qp_prf_packet_path(const char *path, uint64_t packet, char *to)
{
    snprintf(to, QP_PRF_PATH_BYTES, "%s.%06llu", path, (unsigned long long)packet);
}

/* ---- heads --------------------------------------------------------------------------------- */

static bool has_memo(const qp_prf *f)
{
    return f->options.has_params && !f->options.is_text;
}

static void add_field(qp_prf *f, const char *name, char kind, unsigned width)
{
    qp_dbf_field *field = &f->fields[f->n_fields++];
    *field = (qp_dbf_field){.kind = kind, .n_bytes = (uint8_t)width};
    memcpy(field->name, name, strlen(name));
}

static void place_fields(qp_prf *f)
{
    const qp_prf_options *o = &f->options;
    add_field(f, "THREAD", 'N', THREAD_WIDTH);
    if (o->has_time)
        add_field(f, "TIME", 'N', NUMBER_WIDTH);
    add_field(f, "OP", 'C', 1);
    add_field(f, "CALL", 'C', o->symbol_bytes);
    if (o->has_line)
        add_field(f, "LINE", 'N', NUMBER_WIDTH);
    if (o->has_params)
        add_field(f, "PARAMS", 'M', BLOCK_WIDTH);
    f->record_bytes = qp_dbf_place(f->fields, f->n_fields);
}

/* Bytes before the first record in the file that records go to. */
static uint32_t begin_of_rows(const qp_prf *f)
{
    return f->options.is_packets ? 0 : qp_dbf_head_bytes(f->n_fields);
}

/* Write the header with the number of records that are on the disk. With packets it is a file of its
 * own, which may have been removed. */
static int put_head(qp_prf *f)
{
    unsigned char head[HEAD_BYTES];
    size_t n_bytes = f->options.is_text ? 0 : qp_dbf_head_bytes(f->n_fields);
    uint64_t n_rows = f->n_earlier;
    if (n_bytes && f->data.fd >= 0 && f->data.at > begin_of_rows(f))
        n_rows += (f->data.at - begin_of_rows(f)) / f->record_bytes;
    if (n_bytes)
        qp_dbf_put_head(head, f->fields, f->n_fields,
                        n_rows < UINT32_MAX ? (uint32_t)n_rows : UINT32_MAX, f->options.day);
    if (f->options.is_packets)
        return qp_prf_file_write(f->path, false, head, n_bytes);
    return n_bytes ? file_head(&f->data, head, n_bytes) : 0;
}

/* ---- the end by an error --------------------------------------------------------------------- */

/* End the trace: the file on the disk ends with a whole record, and the count is right. */
static bool fail(qp_prf *f, int error, const char *file)
{
    if (f->error || !error)
        return !f->error;
    f->error = error;
    f->wrong = file;
    uint64_t rows = begin_of_rows(f);
    if (!f->options.is_text && f->data.fd >= 0 && f->data.at > rows) {
        file_cut(&f->data, f->data.at - (f->data.at - rows) % f->record_bytes);
        put_head(f);
    }
    return false;
}

static bool add(qp_prf *f, const void *bytes, size_t n_bytes)
{
    return fail(f, file_add(&f->data, bytes, n_bytes), f->data.path);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static void remove_stale_packets(qp_prf *f)
{
    unsigned gap = 0;
    for (uint64_t i = 1; gap < STALE_GAP; i++) {
        qp_prf_packet_path(f->path, i, f->data.path);
        gap = unlink(f->data.path) == 0 ? 0 : gap + 1;
    }
}

static int open_memo(qp_prf *f)
{
    const char nothing[QP_MEMO_HEAD_BYTES] =
        ""; /* 512 bytes less in the library than a constant */
    qp_prf_memo_path(f->path, f->memo.path);
    f->memo_block = FIRST_MEMO;
    int error = file_open(&f->memo);
    if (!error)
        error = file_add(&f->memo, nothing, sizeof nothing);
    return error ? error : file_flush(&f->memo);
}

static int open_data(qp_prf *f)
{
    remove_stale_packets(f);
    memcpy(f->data.path, f->path, sizeof f->path);
    int error = file_open(&f->data);
    if (error)
        return error;
    if (f->options.is_packets)
        file_close(&f->data);
    error = put_head(f);
    f->data.at = f->options.is_text ? 0 : begin_of_rows(f);
    return error;
}

int qp_prf_open(qp_prf *f, const char *path, const qp_prf_options *options)
{
    f->options = *options;
    snprintf(f->path, sizeof f->path, "%s", path);
    f->data.fd = f->memo.fd = -1;
    f->n_fields = 0;
    f->n_rows = f->n_lost = f->n_earlier = 0;
    f->n_since_flush = f->packet = 0;
    f->is_clamped = false;
    f->error = 0;
    place_fields(f);
    f->wrong = f->path;
    if (strlen(path) > QP_PRF_PATH_BYTES - 32)
        return ENAMETOOLONG;
    int error = open_data(f);
    if (!error && has_memo(f)) {
        error = open_memo(f);
        f->wrong = f->memo.path;
    }
    if (error)
        qp_prf_forget(f);
    return error;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool begin_packet(qp_prf *f)
{
    if (!f->options.is_packets || f->data.fd >= 0)
        return true;
    qp_prf_packet_path(f->path, ++f->packet, f->data.path);
    return fail(f, file_open(&f->data), f->data.path);
}

/* @return the block of the text; 0: it is empty, or was not written */
static uint32_t add_memo(qp_prf *f, const char *text, size_t n_bytes)
{
    char head[QP_MEMO_TEXT_HEAD], nothing[QP_MEMO_BLOCK_BYTES] = "";
    uint32_t block = f->memo_block, n_blocks = qp_memo_blocks(n_bytes);
    if (!n_bytes || f->memo_block > UINT32_MAX - n_blocks)
        return 0;
    qp_memo_put_text_head((unsigned char *)head, (uint32_t)n_bytes);
    int error = file_add(&f->memo, head, sizeof head);
    if (!error)
        error = file_add(&f->memo, text, n_bytes);
    if (!error)
        error = file_add(&f->memo, nothing,
                         n_blocks * (size_t)QP_MEMO_BLOCK_BYTES - sizeof head - n_bytes);
    f->memo_block += n_blocks;
    return fail(f, error, f->memo.path) ? block : 0;
}

static void put_number(qp_prf *f, char **to, unsigned width, uint64_t value)
{
    f->is_clamped |= !qp_dbf_put_number(*to, width, value);
    *to += width;
}

static bool add_record(qp_prf *f, const qp_prf_row *row)
{
    char record[ROW_BYTES], *to = record;
    uint32_t block = has_memo(f) ? add_memo(f, row->params, row->params_bytes) : 0;
    *to++ = ' ';
    put_number(f, &to, THREAD_WIDTH, row->thread);
    if (f->options.has_time)
        put_number(f, &to, NUMBER_WIDTH, row->time_ms);
    *to++ = row->op;
    qp_dbf_put_text(to, f->options.symbol_bytes, row->call, row->call_bytes);
    to += f->options.symbol_bytes;
    if (f->options.has_line)
        put_number(f, &to, NUMBER_WIDTH, row->line);
    if (f->options.has_params)
        qp_dbf_put_block(to, block);
    return !f->error && add(f, record, f->record_bytes);
}

/* Add a separator and a number to delimited text, limited as in a table. */
static void add_number(qp_prf *f, unsigned width, uint64_t value, const char *before)
{
    char digits[NUMBER_WIDTH], *from = digits, *to = digits;
    put_number(f, &to, width, value);
    while (*from == ' ')
        from++;
    if (add(f, before, strlen(before)))
        add(f, from, (size_t)(to - from));
}

static void add_quoted(qp_prf *f, const char *text, size_t n_bytes)
{
    while (n_bytes && text[n_bytes - 1] == ' ')
        n_bytes--;
    add(f, ",\"", 2);
    for (size_t i = 0; i < n_bytes && !f->error; i++)
        if (text[i] == '"')
            add(f, "\"\"", 2);
        else
            add(f, text[i] == '\r' || text[i] == '\n' ? " " : &text[i], 1);
    add(f, "\"", 1);
}

static bool add_line(qp_prf *f, const qp_prf_row *row)
{
    add_number(f, THREAD_WIDTH, row->thread, "");
    if (f->options.has_time)
        add_number(f, NUMBER_WIDTH, row->time_ms, ",");
    add_quoted(f, &row->op, 1);
    add_quoted(f, row->call, qp_dbf_cut(row->call, row->call_bytes, f->options.symbol_bytes));
    if (f->options.has_line)
        add_number(f, NUMBER_WIDTH, row->line, ",");
    if (f->options.has_params)
        add_quoted(f, row->params, row->params_bytes);
    return add(f, "\r\n", 2);
}

bool qp_prf_put(qp_prf *f, const qp_prf_row *row)
{
    bool is_put = !f->error && begin_packet(f) &&
                  (f->options.is_text ? add_line(f, row) : add_record(f, row));
    f->n_rows += is_put;
    f->n_lost += !is_put;
    if (!is_put || !f->options.is_flushed || ++f->n_since_flush < f->options.flush_every)
        return is_put;
    f->n_since_flush = 0;
    if (!qp_prf_flush(f) || !f->options.is_packets)
        return !f->error;
    f->n_earlier = f->n_rows;
    return fail(f, file_close(&f->data), f->data.path);
}

bool qp_prf_flush(qp_prf *f)
{
    unsigned char head[QP_MEMO_HEAD_BYTES];
    qp_memo_put_head(head, f->memo_block);
    if (has_memo(f) && !f->error && fail(f, file_flush(&f->memo), f->memo.path))
        fail(f, file_head(&f->memo, head, sizeof head), f->memo.path);
    if (f->data.fd >= 0 && !f->error)
        fail(f, file_flush(&f->data), f->data.path);
    return !f->error && fail(f, put_head(f), f->path);
}

int qp_prf_close(qp_prf *f)
{
    static const char end = QP_DBF_END;
    if (qp_prf_flush(f) && !f->options.is_text && !f->options.is_packets && add(f, &end, 1))
        fail(f, file_flush(&f->data), f->data.path);
    qp_prf_forget(f);
    return f->error;
}

void qp_prf_forget(qp_prf *f)
{
    file_close(&f->data);
    file_close(&f->memo);
}
