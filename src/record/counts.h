/* counts.h: the -counts-file of libcprof: one profile to which every run adds. */
#ifndef QP_RECORD_COUNTS_H
#define QP_RECORD_COUNTS_H

#include "record/session.h"

/* Is this the name of the -counts-file? */
bool qp_counts_is_file(const char *path);

/* Make a dataset that has just been written part of the counts file: it becomes that file, or what
 * the file has is added and the sum takes its place. Several processes may do so at once.
 * @param temporary  the dataset; gone afterwards
 * @return false: the counts file is as it was. The dataset stays, with a note that says why */
bool qp_counts_add(const char *temporary, const char *path);

#endif
