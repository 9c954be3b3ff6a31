/* report.h: short reports that the recorder prints itself. Under the control lock. */
#ifndef QP_RECORD_REPORT_REPORT_H
#define QP_RECORD_REPORT_REPORT_H

#include "record/run/run.h"

/* Print the hottest methods and the losses, if -summary asks for it.
 * @param file  the dataset; "": none was written */
void qp_summary_print(const char *file);

/* Open a report for appending; only plain files are opened. @param file  "-": stdout; NULL: as
 * -summary says. @return a descriptor; 0: no report is wanted; -1: the file cannot be opened */
int qp_report_open(const char *file);

/* Print for each module how much of it has been called so far. Other threads may record. */
void qp_live_summary_print(int fd);

/* Print the report of the PC command. @return 0, QPROF_E_MEMORY */
int qp_pc_list(int fd);

#endif
