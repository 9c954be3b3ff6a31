/* checksum.c: see checksum.h. Read qp_checksum_add first. */
#include "base/os/checksum.h"

#include <stdbool.h>
#include <string.h>

#include "base/atomic.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* ---- sums ------------------------------------------------------------------------------------ */

typedef uint64_t __attribute__((may_alias)) word;

enum { SUM_STEP = QP_CHECKSUM_STREAMS * sizeof(word) };

static uint32_t crc_of_bytes(uint32_t crc, const unsigned char *bytes, size_t n)
{
    static const uint32_t of_nibble[16] = {0,          0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                           0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                           0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                           0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ of_nibble[crc & 15];
        crc = crc >> 4 ^ of_nibble[crc & 15];
    }
    return crc;
}

void qp_checksum_add_plainly(qp_checksum *s, const void *bytes, size_t n_bytes)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n_bytes; i += sizeof(word)) {
        uint32_t *stream = &s->streams[i / sizeof(word) % QP_CHECKSUM_STREAMS];
        *stream = crc_of_bytes(*stream, at + i, sizeof(word));
    }
}

#if defined(__x86_64__)
#define QP_TARGET_CRC                __attribute__((target("sse4.2")))
#define QP_CRC_OF_WORD(crc, of_word) __builtin_ia32_crc32di((crc), (of_word))
typedef uint64_t crc_register;
static bool look_for_instruction(void)
{
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    return (c & bit_SSE4_2) != 0;
}
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define QP_TARGET_CRC __attribute__((target("+crc")))
typedef uint32_t crc_register;
#if defined(__clang__)
#define QP_CRC_OF_WORD(crc, of_word) __builtin_arm_crc32cd((crc), (of_word))
#else
#define QP_CRC_OF_WORD(crc, of_word) __builtin_aarch64_crc32cx((crc), (of_word))
#endif
static bool look_for_instruction(void)
{
    enum { CRC32 = 1 << 7 }; /* HWCAP_CRC32 of the kernel */
    return (getauxval(AT_HWCAP) & CRC32) != 0;
}
#endif

#ifdef QP_TARGET_CRC
QP_TARGET_CRC static void add_by_instruction(qp_checksum *s, const word *words, size_t n)
{
    crc_register a = s->streams[0], b = s->streams[1], c = s->streams[2], d = s->streams[3];
    for (const word *end = words + n; words < end; words += QP_CHECKSUM_STREAMS) {
        a = QP_CRC_OF_WORD(a, words[0]);
        b = QP_CRC_OF_WORD(b, words[1]);
        c = QP_CRC_OF_WORD(c, words[2]);
        d = QP_CRC_OF_WORD(d, words[3]);
    }
    *s = (qp_checksum){{(uint32_t)a, (uint32_t)b, (uint32_t)c, (uint32_t)d}};
}

/* Asked once: in a virtual machine the question takes microseconds. */
static bool has_instruction(void)
{
    enum { UNKNOWN, ABSENT, PRESENT };
    static uint32_t answer;
    if (qp_load(&answer) == UNKNOWN)
        qp_store(&answer, look_for_instruction() ? PRESENT : ABSENT);
    return qp_load(&answer) == PRESENT;
}
#endif

void qp_checksum_begin(qp_checksum *s)
{
    memset(s, 0xff, sizeof *s);
}

void qp_checksum_add(qp_checksum *s, const void *bytes, size_t n_bytes)
{
#ifdef QP_TARGET_CRC
    if (has_instruction()) {
        add_by_instruction(s, bytes, n_bytes / sizeof(word));
        return;
    }
#endif
    qp_checksum_add_plainly(s, bytes, n_bytes);
}

/* A CRC of the four would not do: it is linear, and changes of two words that are alike cancel out. */
uint32_t qp_checksum_end(const qp_checksum *s)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < QP_CHECKSUM_STREAMS; i++)
        sum = sum * QP_CHECKSUM_FACTOR + ~s->streams[i];
    return sum;
}

uint32_t qp_checksum_of(const void *bytes, size_t n_bytes)
{
    qp_checksum s;
    qp_checksum_begin(&s);
    qp_checksum_add(&s, bytes, n_bytes);
    return qp_checksum_end(&s);
}
