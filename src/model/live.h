/* live.h: where the profiles of running processes are. */
#ifndef QP_MODEL_LIVE_H
#define QP_MODEL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Path of the live profile of a process.
 * @param may_have_died  else what an earlier process of the same id left is not meant
 * @return false: there is none; `path` is "" then */
bool qp_live_path(uint64_t pid, bool may_have_died, char *path, size_t n_bytes);

/** The newest profile that a process of this user left when it was killed.
 * @return false: there is none; `path` is "" then */
bool qp_live_left(char *path, size_t n_bytes);

/** Why there is none that can be read, as the system says it: one line. */
void qp_live_why(uint64_t pid, char *to, size_t n_bytes);

/** Is the process that wrote a file alive? @param start  field 22 of /proc/PID/stat */
bool qp_live_is_running(uint64_t pid, uint64_t start);

typedef struct {
    uint64_t pid;
    char path[512];
} qp_live_file;

/** All live profiles of this user whose process runs. @param out  [*n] free with qp_free()
 * @return false: no memory */
bool qp_live_list(qp_live_file **out, size_t *n);

#endif
