/* prf.h: one output of an Xbase++ trace: a table (.PRF with .PRV) or delimited text, as one file,
 * flushed, or cut into packets.
 *
 * An error of the system ends it: what is on the disk stays readable as far as it goes, further
 * rows are counted and dropped. Nothing is allocated. */
#ifndef QP_XBASE_PRF_H
#define QP_XBASE_PRF_H

#include "xbase/dbf.h"
#include "xbase/prf_file.h"
#include "xbase/pri.h"

enum { QP_PRF_FIELDS = 6 };

/* One record. Texts need no NUL. What the file does not have is 0 or empty. */
typedef struct {
    uint32_t thread; /* ordinal, from 1 */
    uint32_t line;
    uint64_t time_ms;
    char op; /* i I O o */
    const char *call;
    size_t call_bytes;
    const char *params;
    size_t params_bytes;
} qp_prf_row;

typedef struct {
    bool is_text; /* delimited */
    bool has_time, has_line, has_params;
    uint8_t symbol_bytes;
    bool is_flushed, is_packets;
    uint32_t flush_every; /* rows; >= 1 */
    qp_dbf_day day;       /* for the header */
} qp_prf_options;

/* What the settings say of an output; but for the day. */
qp_prf_options qp_prf_options_of(const qp_pri *p);

/* 136 KiB: not on the stack. */
typedef struct {
    qp_prf_options options; /* is_flushed and flush_every may be changed */
    char path[QP_PRF_PATH_BYTES];
    qp_prf_file data, memo;
    qp_dbf_field fields[QP_PRF_FIELDS];
    unsigned n_fields;
    uint32_t record_bytes;
    uint64_t n_rows;        /* taken */
    uint64_t n_lost;        /* dropped after the error */
    uint64_t n_earlier;     /* rows in the packets before this one */
    uint32_t n_since_flush; /* rows */
    uint32_t packet;        /* number of the last one */
    uint32_t memo_block;    /* the next free one */
    bool is_clamped;        /* a number did not fit its field: the largest one is there */
    int error;              /* errno of what ended it; 0: none did */
    const char *wrong;      /* the file that it is about */
} qp_prf;

/* Begin a trace. A file that was there is replaced; packets that were there are removed, as far as
 * there is no gap of a thousand.
 * @return 0 or an errno value: nothing is open then, and f->wrong is the file */
int qp_prf_open(qp_prf *f, const char *path, const qp_prf_options *options);

/* Add a row. @return false: the output has ended, see f->error */
bool qp_prf_put(qp_prf *f, const qp_prf_row *row);

/* Hand everything to the system; a packet is not ended by it. @return false: see f->error */
bool qp_prf_flush(qp_prf *f);

/* Write what is left, the counts and the end. @return f->error */
int qp_prf_close(qp_prf *f);

/* Forget it in a forked child: nothing is written. */
void qp_prf_forget(qp_prf *f);

/* The name of the memo file, which stands beside the table. @param to [QP_PRF_PATH_BYTES] */
void qp_prf_memo_path(const char *path, char *to);

/* The name of a packet. @param to [QP_PRF_PATH_BYTES] */
void qp_prf_packet_path(const char *path, uint64_t packet, char *to);

#endif
