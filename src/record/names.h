/* names.h: where files go, and what they are called. */
#ifndef QP_RECORD_NAMES_H
#define QP_RECORD_NAMES_H

#include "record/session.h"

/* Program, working directory, process. */
void qp_names_begin(void);

/* The name of a dataset: the pattern with its conversions, absolute.
 * @param pattern  as -output; NULL: -counts-file, -output, or -filename-prefix with the suffix
 * @return QPROF_E_OPTION: an unknown conversion or too long, said in *error */
int qp_names_dataset(const char *pattern, uint32_t dataset, char *out, size_t n_bytes,
                     qp_parse_error *error);

/* The name of a trace beside the next dataset: that of the dataset, with .qtrace for its suffix. */
int qp_names_trace(char *out, size_t n_bytes, qp_parse_error *error);

/* Expand a command; %b is the dataset's file. @return false: too long, or unknown conversion */
bool qp_names_command(const char *pattern, const char *dataset_file, char *out, size_t n_bytes);

/* Can a file be made there? @return 0, or an errno value with a reason in *error */
int qp_names_check_output(const char *path, qp_parse_error *error);

/* The i-th place for the live file, its folder made. @return false: no such place, try the next;
 * i past the last: *out is "" */
bool qp_names_live(unsigned i, const char *output, char *out, size_t n_bytes);

/* Field 22 of /proc/self/stat: when the process started. */
uint64_t qp_names_process_start(void);

#endif
