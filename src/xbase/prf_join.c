/* prf_join.c: a copy of all packets behind their header, in the order of their numbers. */
#include "xbase/prf_join.h"

#include <string.h>
#include <unistd.h>

#include "base/os/file.h"

enum { CHUNK = 16 * 1024 };

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

/* What is whole of a file from `begin` on. */
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
    for (uint64_t i; (i = qp_prf_packets_next(&packets, j->path)) != 0;) {
        qp_prf_packet_path(j->path, i, path);
        int fd = qp_file_open(path, &unused);
        if (fd < 0)
            continue;
        take_file(j, fd, 0);
        close(fd);
        j->joined->n_packets += j->out == NULL;
    }
}

/* Once to count, once to copy. */
static void take_all(join *j, int fd, uint64_t begin, bool is_packets)
{
    if (is_packets)
        take_packets(j);
    else
        take_file(j, fd, begin);
}

/* The header with another count. */
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
