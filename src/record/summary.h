/* summary.h: the short result that shutdown shows when -summary asks for it. */
#ifndef QP_RECORD_SUMMARY_H
#define QP_RECORD_SUMMARY_H

#include "record/session.h"

/* Print the hottest methods and the losses. @param file  the dataset; "": none was written */
void qp_summary_print(const char *file);

/* Open a report: it is appended to, nobody's file is emptied. @return -1: it cannot be had */
int qp_summary_open(const char *name);

#endif
