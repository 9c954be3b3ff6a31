/* config.h: where the options of a run come from: defaults, the environment, the host, files. */
#ifndef QP_RECORD_CONFIG_H
#define QP_RECORD_CONFIG_H

#include "record/session.h"

/* Options of a run that begins, into qp_run.options. @return 0 or QPROF_E_OPTION, _SYNTAX, _IO */
int qp_config_begin(const char *initial_options, qp_parse_error *error);

/* Once there is a file: count and log what was unknown, moved into its range or ignored. */
void qp_config_report(void);

/* Option words, or a file of them, given later: strongest. Nothing is applied on an error. */
int qp_config_words(const char *words, qp_parse_error *error);
int qp_config_file(const char *file, qp_parse_error *error);
/* One option, whose value may hold anything. */
int qp_config_set(qp_option which, const char *value, qp_parse_error *error);

#endif
