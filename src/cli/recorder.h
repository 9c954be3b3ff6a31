/* recorder.h: the words that `qprof run` hands to the recorder in the variable QPROF. */
#ifndef QP_CLI_RECORDER_H
#define QP_CLI_RECORDER_H

#include <sys/types.h>

#include "cli/cli.h"
#include "format/file_name.h"

typedef struct {
    char words[8192];  /* the user's own of QPROF, then ours; without the output */
    char output[4096]; /* absolute, with its conversions */
} qp_recorder_words;

/* Words from the flags and the variable. @return false: a word is wrong, a message was printed */
bool qp_recorder_parse(const qp_cli *cli, qp_recorder_words *words);

/* Is it a PC command? @return false: a message was printed, with the place of the mistake */
bool qp_recorder_check_pc(const qp_cli *cli, const char *command);

/* All words for process `pid`: the value of QPROF. @return false: too long */
bool qp_recorder_value(const qp_recorder_words *words, char *to, size_t n_bytes);

/* Pattern for glob() that the name of the profile of process `pid` fits. */
void qp_recorder_glob(const qp_recorder_words *words, pid_t pid, char *to, size_t n_bytes);

/* Name of the profile, as the recorder would make it now. */
void qp_recorder_path(const qp_recorder_words *words, const qp_name_facts *facts, char *to,
                      size_t n_bytes);

/* Every option of the recorder with its default. */
void qp_recorder_list(const qp_screen *s);

#endif
