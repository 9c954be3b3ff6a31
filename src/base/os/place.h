/* place.h: a file that is whole, or just begun, gets its name; an earlier one of that name is replaced or kept. */
#ifndef QP_BASE_OS_PLACE_H
#define QP_BASE_OS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* May an existing plain file be replaced? @param fd  it, open for reading */
typedef bool qp_place_judge(const void *to, int fd);

/* Move a file to its name. An existing file of that name is replaced if the judge agrees, in one step, so
 * that the name always has a whole file; else the file gets the name with .1, .2, ... appended, of which the
 * same is true. What is no plain file, and links, are kept. If another process takes the name at the
 * same moment, no file is lost: one of both gets the next name.
 * @param path         receives the name that was taken, in n_bytes
 * @param may_replace  NULL: no file is replaced
 * @return false: errno explains; the file still has its temporary name */
bool qp_place_file(const char *temporary, char *path, size_t n_bytes,
                   qp_place_judge *may_replace, const void *to);

#endif
