/* data.h: starting, stopping, clearing and saving, for the whole run. Under the control lock. */
#ifndef QP_RECORD_DATA_H
#define QP_RECORD_DATA_H

#include "record/session.h"

bool qp_data_is_recording(void);

/* @return true: it changed */
bool qp_data_start(void);
bool qp_data_stop(void);
void qp_data_disable(void);

/* The global gate. @param open  -1: only ask. @return is it open now? */
bool qp_data_gate(int open);

/* The calling thread learns of what changed, and is charged up to now. */
void qp_data_sync_here(void);

/* Zero all figures. The calling thread does its part at once, others at their next event. */
void qp_data_clear(void);

/* Write a dataset. @param name  NULL: the run's, numbered; else a pattern of its own
 * @return false: nothing to write, or a file error, which is counted and logged */
bool qp_data_save(const char *name, const char *label);

#endif
