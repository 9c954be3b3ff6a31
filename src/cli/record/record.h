/* record.h: options for the recorder that `qprof run` gives to a program. */
#ifndef QP_CLI_RECORD_RECORD_H
#define QP_CLI_RECORD_RECORD_H

#include <sys/types.h>

#include "cli/core/cli.h"
#include "format/options.h"

/* Options that the program gets in the variable QPROF. */
typedef struct {
    char words[8192];  /* value of QPROF: the user's own options, then ours */
    char output[4096]; /* absolute, with its conversions */
} qp_recorder_words;

/* Take the options of the flags and the variable. @return false: a message was printed */
bool qp_recorder_parse(const qp_cli *cli, qp_recorder_words *words);

/* Is it a PC command? @return false: a message was printed, with a caret at the mistake */
bool qp_recorder_check_pc(const qp_cli *cli, const char *command);

/* A pattern for glob() that matches the name of the profile of process `pid`. */
void qp_recorder_glob(const qp_recorder_words *words, pid_t pid, char *to, size_t n_bytes);

/* The name that the recorder would give to the profile. */
void qp_recorder_path(const qp_recorder_words *words, const qp_name_facts *facts, char *to,
                      size_t n_bytes);

/* Print every option of the recorder with its default. */
void qp_recorder_list(const qp_screen *s);

#endif
