/* live_summary.h: how much of each module has been called so far, of a run that goes on. */
#ifndef QP_RECORD_LIVE_SUMMARY_H
#define QP_RECORD_LIVE_SUMMARY_H

/* Print a row a module. Under the control lock, in a run; others may record. */
void qp_live_summary_print(int fd);

#endif
