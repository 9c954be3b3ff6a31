/* unzstd.h: files that zstd has packed. */
#ifndef QP_REPLAY_UNZSTD_H
#define QP_REPLAY_UNZSTD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"

/* Do these first bytes of a file begin such a file? 4 will do. */
bool qp_unzstd_fits(const void *bytes, size_t n_bytes);

/** Unpack a file into one that has no name and goes with its descriptor. What is cut or damaged ends
 * where it is.
 * @param why  receives what is wrong, static text
 * @return a descriptor; -1: see why */
int qp_unzstd(int fd, const char **why);

/** Pack the rest of a file. @return false: see why; errors of writing stay in `out` */
bool qp_zstd(int fd, qp_out *out, const char **why);

#endif
