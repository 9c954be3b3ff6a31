/* prf_file.h: a file of a trace that is being written. */
#ifndef QP_XBASE_PRF_FILE_H
#define QP_XBASE_PRF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QP_PRF_PATH_BYTES = 4096, QP_PRF_BUFFER_BYTES = 64 * 1024 };

typedef struct {
    char path[QP_PRF_PATH_BYTES];
    int fd;         /* -1: none is open */
    uint64_t at;    /* bytes that reached the system */
    size_t n_bytes; /* that wait */
    char bytes[QP_PRF_BUFFER_BYTES];
} qp_prf_file;

/* All of them return 0 or an errno value. */

/* Begin the file at `path`, which is f->path. Nothing but a plain file is replaced. */
int qp_prf_file_open(qp_prf_file *f);
/* Add bytes at its end. */
int qp_prf_file_add(qp_prf_file *f, const void *bytes, size_t n_bytes);
int qp_prf_file_flush(qp_prf_file *f);
/* Write over its beginning. */
int qp_prf_file_head(qp_prf_file *f, const void *bytes, size_t n_bytes);
int qp_prf_file_cut(qp_prf_file *f, uint64_t n_bytes);
int qp_prf_file_close(qp_prf_file *f);

/* The beginning of a file, which is made if it is not there. @param is_new  and all of it */
int qp_prf_file_write(const char *path, bool is_new, const void *bytes, size_t n_bytes);

/* @return false: there was none */
bool qp_prf_file_remove(const char *path);

#endif
