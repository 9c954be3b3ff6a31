/* fuzz_trace_pack.c: any bytes as the payload of a packet: what they say comes back the same
 * when it is packed again. */
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"

/* A dictionary: every path with a low bit is known. */
static qp_pack_path path_of(void *unused, qp_cell path)
{
    (void)unused;
    return path & 1 ? (qp_pack_path){path / 2, path % 7 + 1} : (qp_pack_path){0, 0};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const qp_pack_paths paths = {path_of, NULL};
    qp_pack_state s = {n_bytes, 3, 3};
    unsigned char *copy = malloc(n_bytes + 1); /* of this size: one byte too far is found */
    memcpy(copy, bytes, n_bytes);
    for (size_t at = 0, n; at < n_bytes; at += n) {
        unsigned char packed[QP_PACKED_MAX];
        const qp_pack_state before = s;
        qp_pack_state there = before, back = before;
        qp_trace_record r, again;
        n = qp_unpack_record(&s, copy + at, n_bytes - at, &paths, &r);
        if (!n)
            break;
        size_t n_packed = qp_pack_record(&there, &r, &paths, packed);
        if (n_packed > sizeof packed ||
            qp_unpack_record(&back, packed, n_packed, &paths, &again) != n_packed ||
            memcmp(&r, &again, sizeof r) != 0 || memcmp(&there, &s, sizeof s) != 0)
            abort();
    }
    free(copy);
    return 0;
}
