/* output.h: the file that -o names: what may not be lost stays, and it is written whole or not at
 * all. */
#ifndef QP_CLI_OUTPUT_H
#define QP_CLI_OUTPUT_H

#include "cli/cli.h"

/* "-", or not given. */
bool qp_output_is_standard(const char *path);

/* May the command write a file there? Refused are its inputs and the sources of the program, by
 * whatever name, and files of another kind: a profile where none will be written, anything else
 * where one will be. qp_cli_load() asks this of --output for whatever it loads.
 * @param input  what the command reads; NULL: nothing
 * @param m      what was loaded from it; NULL: nothing
 * @return false: a message was printed */
bool qp_output_is_free(const qp_cli *cli, const char *path, const char *input,
                       const qp_model *m);

/* Writes all of an output. @return false: see error (one line) */
typedef bool qp_output_writer(const void *data, qp_out *out, char error[QP_ERROR_BYTES]);

/* Write to a file or, as qp_output_is_standard(), to standard output.
 * @return QP_EXIT_CLEAN; QP_EXIT_UNUSABLE: a message was printed, and no file is left */
int qp_output_write(qp_cli *cli, const char *path, qp_output_writer *write, const void *data);

/* Which of `words` ("lcov|json") --to is. @return -1: none, a message was printed */
int qp_output_format(const qp_cli *cli, const char *words);

#endif
