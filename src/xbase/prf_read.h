/* prf_read.h: the rows of a trace, of whatever variant: a table of any of three versions with or
 * without its memo file, delimited text, one file or packets.
 *
 * The file may be damaged or somebody else's, and may be growing. Nothing is allocated, and memory
 * does not grow with the file. */
#ifndef QP_XBASE_PRF_READ_H
#define QP_XBASE_PRF_READ_H

#include "xbase/prf.h"

enum {
    QP_PRF_ROW_BYTES = 64 * 1024, /* longer rows are damaged ones, longer parameters are cut */
    QP_PRF_PACKETS_AHEAD = 8192
};

/* Packets of a trace by ascending numbers; missing ones are passed over. Begins as zeros. 64 KiB. */
typedef struct {
    unsigned n, next;
    uint64_t last; /* number of the one handed out before */
    uint64_t numbers[QP_PRF_PACKETS_AHEAD];
} qp_prf_packets;

/* @return number of the next packet beside a trace; 0: no more, for now */
uint64_t qp_prf_packets_next(qp_prf_packets *p, const char *path);

/* 270 KiB: not on the stack. */
typedef struct {
    bool is_text, has_time, has_line, has_params;
    uint64_t n_declared;    /* records by the header; 0 with delimited text */
    uint64_t n_bytes;       /* of the files that were opened so far */
    uint64_t n_read;        /* bytes of them that were read */
    uint64_t n_rows;        /* handed out */
    uint64_t n_damaged;     /* rows that make no sense; left out */
    uint64_t n_deleted;     /* rows that somebody marked as deleted; left out */
    uint64_t n_lost_params; /* parameters that the memo file does not have */
    uint64_t n_packets;     /* files of them that were opened */
    size_t n_rest;          /* bytes at the end that are no whole row yet */
    /* its own: */
    bool is_packets, has_shape, is_skipping;
    uint64_t pending; /* number of the packet that comes next; 0: not known of any */
    int fd, memo_fd;  /* -1: none */
    uint64_t at;      /* in the file: behind what is in `bytes` */
    uint32_t memo_block_bytes;
    qp_dbf table;
    const qp_dbf_field *thread, *time, *op, *call, *line, *params;
    size_t begin, n; /* what is left in `bytes` */
    char bytes[QP_PRF_ROW_BYTES];
    char texts[QP_PRF_ROW_BYTES];
    char path[QP_PRF_PATH_BYTES];
    qp_prf_packets packets;
} qp_prf_reader;

/* Open a PRF file. A header packet is read with the packets beside it.
 * @param why  receives what is wrong, static text
 * @return false: nothing is open */
bool qp_prf_reader_open(qp_prf_reader *r, const char *path, const char **why);

/* The next row; its texts are valid until the next call. @return false: no more, for now: a file
 * that is being written may have more later */
bool qp_prf_reader_next(qp_prf_reader *r, qp_prf_row *row);

void qp_prf_reader_close(qp_prf_reader *r);

#endif
