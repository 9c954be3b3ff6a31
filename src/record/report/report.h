/* report.h: short reports that the recorder prints itself. Under the control lock. */
#ifndef QP_RECORD_REPORT_REPORT_H
#define QP_RECORD_REPORT_REPORT_H

#include "record/run/run.h"

/* Print the hottest methods and the losses, if -summary asks for it.
 * @param file  the dataset; "": none was written */
void qp_summary_print(const char *file);

/* Open a report for appending; other kinds of files are refused. @return -1: cannot be
 * opened */
int qp_summary_open(const char *name);

/* Print a row a module: how much of it has been called so far. In a run; others may record. */
void qp_live_summary_print(int fd);

/* Print the report of the PC command. @return 0, QPROF_E_MEMORY */
int qp_pc_list(int fd);

#endif
