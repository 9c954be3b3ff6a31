/* output_name.c: names of datasets and traces, and the places of live files. Read
 * qp_output_name first. */
#include "record/run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/os/system.h"
#include "format/options.h"

void qp_output_begin(void)
{
    const char *given = qp_option_text(&qp_recorder.options, QP_OPT_program_name);
    char *path = qp_recorder.program_path;
    qp_system_program(path, sizeof qp_recorder.program_path);
    const char *slash = strrchr(path, '/');
    const char *name = given[0] ? given : slash ? slash + 1 : "program";
    snprintf(qp_recorder.program, sizeof qp_recorder.program, "%s", name);
    if (!qp_recorder.folder[0] &&
        !getcwd(qp_recorder.folder, sizeof qp_recorder.folder)) /* once a run */
        snprintf(qp_recorder.folder, sizeof qp_recorder.folder, "/");
    qp_names_begin();
}

typedef enum { EXPAND_OK, EXPAND_UNKNOWN, EXPAND_LONG } expansion;

/* @return NULL: not the letter of a file */
static const char *file_of(const qp_output_files *files, char letter)
{
    if (!files)
        return NULL;
    return letter == 'b'   ? files->dataset
           : letter == 's' ? files->summary
           : letter == 'x' ? files->export
                           : NULL;
}

static expansion expand(const char *pattern, uint32_t dataset, const qp_output_files *files,
                        char *out, size_t n_bytes, const char **bad)
{
    qp_name_facts facts = {.program = qp_recorder.program,
                           .program_path = qp_recorder.program_path,
                           .folder = qp_recorder.folder,
                           .pid = getpid(),
                           .thread = (pid_t)qp_system_thread_id(),
                           .dataset = dataset};
    qp_names_facts(&facts);
    size_t n = 0;
    while (*pattern) {
        char value[QP_PATH_MAX] = {*pattern++, '\0'};
        if (value[0] == '%' && *pattern == '%') {
            pattern++;
        } else if (value[0] == '%' && file_of(files, *pattern)) {
            snprintf(value, sizeof value, "%s", file_of(files, *pattern));
            pattern++;
        } else if (value[0] == '%') {
            *bad = pattern;
            pattern = qp_name_convert(&facts, pattern, value, sizeof value);
            if (!pattern)
                return EXPAND_UNKNOWN;
        }
        size_t length = strlen(value);
        if (n + length >= n_bytes)
            return EXPAND_LONG;
        memcpy(out + n, value, length);
        n += length;
    }
    out[n] = '\0';
    return EXPAND_OK;
}

int qp_output_name(const char *pattern, uint32_t dataset, char *out, size_t n_bytes,
                   qp_error *error)
{
    char relative[QP_PATH_MAX], whole[QP_PATH_MAX];
    const char *bad = "";
    const char *given = qp_option_text(&qp_recorder.options, QP_OPT_output);
    const char *counts = qp_option_text(&qp_recorder.options, QP_OPT_counts_file);
    if (!pattern && (given[0] || counts[0]))
        pattern = counts[0] ? counts : given;
    if (!pattern) {
        snprintf(whole, sizeof whole, "%s" QP_PRODUCT_SUFFIX,
                 qp_option_text(&qp_recorder.options, QP_OPT_filename_prefix));
        pattern = whole;
    }
    expansion result = expand(pattern, dataset, NULL, relative, sizeof relative, &bad);
    if (result == EXPAND_UNKNOWN) {
        return qp_error_set(error, QPROF_E_OPTION,
                            "%.80s: unknown conversion %%%c (known: %%v %%V %%s %%w %%i %%p "
                            "%%n %%T %%t %%d %%h "
                            "%%{LABEL} %%%%)",
                            pattern, *bad ? *bad : ' ');
    }
    bool is_absolute = relative[0] == '/';
    int n = result == EXPAND_OK
                ? snprintf(out, n_bytes, "%s%s%s", is_absolute ? "" : qp_recorder.folder,
                           is_absolute ? "" : "/", relative)
                : -1;
    if (n < 0 || (size_t)n >= n_bytes) {
        return qp_error_set(error, QPROF_E_OPTION, "%.80s…: file name too long", pattern);
    }
    return 0;
}

int qp_output_trace_name(char *out, size_t n_bytes, qp_error *error)
{
    static const char suffix[] = ".qtrace";
    int code =
        qp_output_name(NULL, qp_recorder.n_datasets, out, n_bytes - sizeof suffix, error);
    if (code)
        return code;
    size_t n = strlen(out), n_product = strlen(QP_PRODUCT_SUFFIX);
    if (n > n_product && strcmp(out + n - n_product, QP_PRODUCT_SUFFIX) == 0)
        n -= n_product;
    memcpy(out + n, suffix, sizeof suffix);
    return 0;
}

int qp_output_command(const char *pattern, uint32_t dataset, const qp_output_files *files,
                      char *out, size_t n_bytes)
{
    const char *bad;
    expansion result = expand(pattern, dataset, files, out, n_bytes, &bad);
    return result == EXPAND_OK     ? 0
           : result == EXPAND_LONG ? -1
           : *bad                  ? (unsigned char)*bad
                                   : ' ';
}

int qp_output_check(const char *path, qp_error *error)
{
    char folder[QP_PATH_MAX];
    struct stat st;
    const char *reason = NULL;
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    slash[slash == folder] = '\0';
    if (path[strlen(path) - 1] == '/')
        reason = "names a folder, not a file";
    else if (strlen(strrchr(path, '/') + 1) > NAME_MAX - 16)
        reason = "file name too long";
    else if (stat(folder, &st) != 0)
        reason = "its folder does not exist";
    else if (!S_ISDIR(st.st_mode))
        reason = "its folder is not a folder";
    else if (access(folder, W_OK | X_OK) != 0)
        reason = "its folder cannot be written to";
    else if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        reason = "exists, and is not a plain file";
    if (!reason)
        return 0;
    return qp_error_set(error, EINVAL, "%.140s: %s", path, reason);
}

/* Make a folder that only this user can read. */
static bool own_folder(const char *path)
{
    struct stat st;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & 077);
}

bool qp_output_live_name(unsigned i, const char *output, char *out, size_t n_bytes)
{
    const char *const parents[] = {qp_system_is_privileged() ? NULL : getenv("XDG_RUNTIME_DIR"),
                                   "/dev/shm"};
    enum { N_PARENTS = sizeof parents / sizeof *parents };
    char folder[QP_PATH_MAX], name[64], again[16] = "";
    int n = -1;
    if (qp_recorder.epoch > 1)
        snprintf(again, sizeof again, "-%u", qp_recorder.epoch);
    snprintf(name, sizeof name, "%ld.%llu%s.qprof", (long)getpid(),
             (unsigned long long)qp_system_process_start(), again);
    if (i < N_PARENTS && parents[i] && parents[i][0] == '/') {
        n = snprintf(folder, sizeof folder, "%s/qprof-%u", parents[i], (unsigned)geteuid());
        bool is_usable = n > 0 && (size_t)n < sizeof folder && own_folder(folder);
        n = is_usable ? snprintf(out, n_bytes, "%s/%s", folder, name) : -1;
    } else if (i == N_PARENTS) { /* beside the dataset */
        int n_folder = (int)(strrchr(output, '/') - output);
        n = snprintf(out, n_bytes, "%.*s/.%s-live", n_folder, output, name);
    }
    if (n > 0 && (size_t)n < n_bytes)
        return true;
    out[0] = '\0';
    return false;
}
