/* config.h: where the options of a run come from: defaults, the environment, the host, files. */
#ifndef QP_RECORD_CONFIG_H
#define QP_RECORD_CONFIG_H

#include "record/session.h"

/* Options of a run that begins, into qp_run.options. @return 0 or QPROF_E_OPTION, _SYNTAX, _IO */
int qp_config_begin(const char *initial_options, qp_parse_error *error);

/* Once there is a file: count and log what was unknown, moved into its range or ignored. */
void qp_config_report(void);

/* A line or a file, given later: its options are the strongest, and too late after the first entry.
 * Nothing is applied on an error. @param replaces  what files before said is gone */
int qp_config_words(const char *line, qp_parse_error *error);
int qp_config_file(const char *file, bool replaces, qp_parse_error *error);
/* One option, whose value may hold anything. */
int qp_config_set(qp_option which, const char *value, qp_parse_error *error);

/* Another process may have asked for a file to be applied: do so, and answer. */
void qp_config_answer(void);

#endif
