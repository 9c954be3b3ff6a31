/* inherit.h: what code exists, for the run of a forked child. */
#ifndef QP_RECORD_INHERIT_H
#define QP_RECORD_INHERIT_H

/* Register the methods and sources that the parent's live file has. @param fd  of it; stays open */
void qp_inherit_methods(int fd);

#endif
