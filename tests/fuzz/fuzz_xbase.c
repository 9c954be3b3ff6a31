/* fuzz_xbase.c: any bytes as a trace of the Xbase++ kind and as its settings: as they are,
 * after a sound header, with a memo file, as packets, and joined. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xbase/xbase.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void write_file(const char *path, const void *head, size_t n_head, const uint8_t *data,
                       size_t n_bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, head, n_head) != (ssize_t)n_head ||
        write(fd, data, n_bytes) != (ssize_t)n_bytes)
        abort();
    close(fd);
}

/* What is read is at most what is there. */
static void read_all(const char *path, size_t n_bytes)
{
    static qp_prf_reader reader;
    const char *why;
    qp_prf_row row;
    uint64_t n_texts = 0;
    if (!qp_prf_reader_open(&reader, path, &why))
        return;
    while (qp_prf_reader_next(&reader, &row)) {
        if (row.call_bytes > QP_PRF_ROW_BYTES || row.params_bytes > QP_PRF_ROW_BYTES)
            abort();
        for (size_t i = 0; i < row.call_bytes; i++)
            n_texts += row.call[i] != '\0';
        for (size_t i = 0; i < row.params_bytes; i++)
            n_texts += row.params[i] != '\0';
    }
    if (reader.n_rows + reader.n_damaged + reader.n_deleted > n_bytes || n_texts == UINT64_MAX)
        abort();
    qp_prf_reader_close(&reader);
}

static void join(const char *path)
{
    static qp_out out;
    qp_prf_joined joined;
    const char *why;
    int fd = open("/dev/null", O_WRONLY);
    if (fd < 0)
        abort();
    qp_out_init(&out, fd);
    qp_prf_join(path, &out, &joined, &why);
    qp_out_close(&out);
    close(fd);
}

/* What was taken can be written and is taken again. */
static void read_settings(const uint8_t *data, size_t n_bytes)
{
    static qp_pri none, settings, again;
    static char text[2 * QP_PRI_BYTES], twice[2 * QP_PRI_BYTES];
    qp_error error;
    qp_pri_init(&none);
    if (!qp_pri_read(&settings, &none, (const char *)data, n_bytes, &error))
        return;
    size_t n = qp_pri_write(&settings, text, sizeof text);
    if (!qp_pri_read(&again, &none, text, n, &error) ||
        qp_pri_write(&again, twice, sizeof twice) != n || memcmp(text, twice, n) != 0 ||
        memcmp(settings.number, again.number, sizeof again.number) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const qp_prf_options options = {
        .has_time = true, .has_params = true, .symbol_bytes = 4, .flush_every = 1};
    static qp_prf trace;
    static unsigned char head[1024];
    static size_t n_head;
    if (!n_head) { /* of an empty table: what any run of ours would have */
        int fd;
        qp_prf_open(&trace, "empty.PRF", &options);
        qp_prf_close(&trace);
        fd = open("empty.PRF", O_RDONLY);
        ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
        if (n < 2)
            abort();
        n_head = (size_t)n - 1;
        close(fd);
    }
    write_file("raw.PRF", "", 0, data, n_bytes);
    write_file("raw.PRV", "", 0, data, n_bytes);
    write_file("table.PRF", head, n_head, data, n_bytes);
    write_file("table.PRV", "\0\0\0\x10\0\0\0\x40", 8, data, n_bytes);
    write_file("packets.PRF", head, n_head, data, 0);
    write_file("packets.PRF.000002", "", 0, data, n_bytes);
    read_all("raw.PRF", n_bytes);
    read_all("table.PRF", n_bytes);
    read_all("packets.PRF", n_bytes);
    join("raw.PRF");
    join("packets.PRF");
    read_settings(data, n_bytes);
    return 0;
}
