/* fuzz_import_pprof.c: a sound profile.proto with changes, and any bytes, gzip among them:
 * read, checked, errors in one line. */
#include "fuzz/import.h"

enum { CHANGE_BYTES = 3, BYTES_MAX = 1 << 12 };

/* Two samples of main -> f with calls and time, one of them on a thread; then room for more. */
static const unsigned char sound[] =
    "\x0a\x04\x08\x01\x10\x02"                                         /* calls, count */
    "\x0a\x04\x08\x03\x10\x04"                                         /* time, nanoseconds */
    "\x12\x0e\x0a\x02\x02\x01\x12\x02\x03\x14\x1a\x04\x08\x08\x10\x09" /* f, main; 3, 20 */
    "\x12\x07\x0a\x01\x01\x12\x02\x01\x0a"                             /* main; 1, 10 */
    "\x1a\x04\x08\x01\x28\x05"                                         /* mapping: p */
    "\x22\x0a\x08\x01\x10\x01\x22\x04\x08\x01\x10\x07"                 /* location 1: main:7 */
    "\x22\x10\x08\x02\x10\x01\x22\x04\x08\x02\x10\x09\x22\x04\x08\x01\x10\x08" /* f:9 in main:8
                                                                                */
    "\x2a\x08\x08\x01\x10\x06\x20\x05\x28\x03"                                 /* main */
    "\x2a\x06\x08\x02\x10\x07\x20\x05"                                         /* f */
    "\x32\x00\x32\x05"
    "calls\x32\x05"
    "count\x32\x04"
    "wall\x32\x0b"
    "nanoseconds"
    "\x32\x01"
    "p\x32\x04"
    "main\x32\x01"
    "f\x32\x06"
    "thread\x32\x01"
    "w";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    unsigned char bytes[BYTES_MAX];
    size_t n = sizeof sound - 1;
    load(data, n_bytes);
    memcpy(bytes, sound, n);
    for (; n_bytes >= CHANGE_BYTES && n < BYTES_MAX - 64; data += 3, n_bytes -= 3) {
        size_t at = (data[0] | (size_t)(data[1] & 0x0F) << 8) % n;
        if (data[1] & 0x80) { /* a piece once more, at the end */
            size_t piece = data[2] % 32 < n - at ? data[2] % 32 : n - at;
            memmove(bytes + n, bytes + at, piece);
            n += piece;
        } else {
            bytes[at] = data[2];
        }
    }
    load(bytes, n);
    return 0;
}
