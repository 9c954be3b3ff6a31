/* save.h: copying the profile out of memory: datasets while running, the sealed file at the end. */
#ifndef QP_RECORD_SAVE_H
#define QP_RECORD_SAVE_H

#include "record/session.h"

/* Was anything recorded since the start or the last clear, or annotated? */
bool qp_save_has_data(void);

/* Write the profile as it is. @param path  expanded; an existing name gets .1 to .999 appended,
 * and path is changed to what was used
 * @return 0 or QPROF_E_IO; nothing is left behind then */
int qp_save_copy(char *path, size_t n_bytes, qp_file_state state, const char *label);

/* Write all of it. @return false: errno says why */
bool qp_save_bytes(int fd, const void *bytes, uint64_t n);

/* Run a shell command and wait; its status is logged. */
void qp_save_run(const char *pattern, const char *file);

#endif
