/* merge.h: adding what earlier runs counted to the profile of a later one. */
#ifndef QP_COVER_MERGE_H
#define QP_COVER_MERGE_H

#include "base/text/error.h"
#include "format/space.h"

/* Add the counters of an earlier profile: calls, executions, contexts, and methods that the later
 * run has not seen. They have rows of their own beside the threads of the run, so that a run
 * that saves again takes the place of what it saved before.
 *
 * Methods agree if names, file, module, line table and jumps do. A source or a method that is
 * known to have changed is a reason to refuse, unless is_forced: then equal numbers of blocks add
 * up all the same, and other methods keep the counts of the later run alone.
 * @param to   a whole profile and room after it, in memory of the caller's; unusable on error
 * @param old  [n_bytes] may hold anything
 * @param error  what is wrong with the old one: continues "FILE ..."
 * Cost: three times both sizes in address space while it works. */
bool qp_merge_counts(qp_space *to, const char *old, uint64_t n_bytes, bool is_forced,
                     qp_error *error);

#endif
