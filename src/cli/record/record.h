/* record.h: options for the recorder that `qprof run` gives to a program. */
#ifndef QP_CLI_RECORD_RECORD_H
#define QP_CLI_RECORD_RECORD_H

#include <sys/types.h>

#include "cli/core/cli.h"
#include "format/layout.h"
#include "format/options.h"
#include "model/model.h"

/* Options that the program gets in the variable QPROF. */
typedef struct {
    char words[8192];  /* value of QPROF: the user's own options, then ours */
    char output[4096]; /* absolute, with its conversions */
    const char *spool; /* static text, as given; "": none */
} qp_recorder_words;

/* Take the options of the flags and the variable. @return false: a message was printed */
bool qp_recorder_parse(const qp_cli *cli, qp_recorder_words *words);

/* Is it a PC command? @return false: a message was printed, with a caret at the mistake */
bool qp_recorder_check_pc(const qp_cli *cli, const char *command);

/* A pattern for glob() that matches the names of the run's profiles. */
void qp_recorder_glob(const qp_recorder_words *words, char *to, size_t n_bytes);

/* The name that the recorder would give to the profile. */
void qp_recorder_path(const qp_recorder_words *words, const qp_name_facts *facts, char *to,
                      size_t n_bytes);

/* ---- what the run wrote: run_files.c --------------------------------------------------------- */

typedef struct {
    char path[4096]; /* relative, if it is below the current folder */
    uint64_t pid, ended_at;
    bool is_own; /* of the program itself, not of a process below it */
} qp_run_file;

typedef struct {
    qp_run_file *all;  /* [n] the program's own first, then the newest */
    uint64_t *running; /* [n_running] processes of the run that still record */
    size_t n, n_running;
} qp_run_files;

/* Find the profiles of all processes of the run, and save those that killed ones have left.
 * @return false: one could not be saved, a message was printed; the others are in `to` */
bool qp_run_files_find(const qp_cli *cli, const qp_child *child, const qp_recorder_words *words,
                       qp_run_files *to);
void qp_run_files_fini(qp_run_files *files);

/* Find the newest profile of an earlier run of the same program, script and arguments, in the folder of a
 * profile. @return to; "" if there is none */
const char *qp_run_earlier(const char *path, char *to, size_t n_bytes);

/* Move the live file of a process that has ended to a profile.
 * @param path  its name; receives the one that it got @return false: a message was printed */
bool qp_live_save(const qp_cli *cli, const char *live, char *path, size_t n_bytes);

/* Copy a file to its end. @return 0, or an errno value */
int qp_copy_bytes(int in, int out);

/* "was killed by SIGSEGV" or "ended with status 1". @return to */
const char *qp_child_end(const qp_child *child, char *to, size_t n_bytes);

/* The path relative to the current folder, if it is below it. */
const char *qp_shorter_path(const char *path);

/* ---- a profile for a pipe: run_stream.c ------------------------------------------------------- */

typedef struct {
    const char *to;    /* as the command names it */
    char folder[4096]; /* where the profile lies meanwhile */
    char path[4096 + 32];
    int out;
} qp_run_stream;

/* Is it standard output, a pipe or a device? */
bool qp_run_stream_is(const char *output);
/* Let the run write to a file, cli->args.output. @return false: a message was printed */
bool qp_run_stream_begin(qp_cli *cli, qp_run_stream *s);
/* Move a profile to the stream; what else the run wrote stays.
 * @param profile  "": none @param is_running  a process of the run still records @return false: a message was printed */
bool qp_run_stream_end(const qp_cli *cli, const qp_run_stream *s, const char *profile,
                       bool is_running);

/* Print every option of the recorder with its default. */
void qp_recorder_list(const qp_screen *s);

#endif
