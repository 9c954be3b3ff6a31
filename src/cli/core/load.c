/* load.c: finds and loads the profile that a command is about. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/buf.h"
#include "cli/core/cli.h"
#include "format/layout.h"
#include "format/options.h"
#include "format/trace.h"
#include "model/figures/figures.h"
#include "model/import/import.h"
#include "model/model.h"

/* ---- finding the profile ------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

/* .pcv and .qv: names that coverage and profiles had in the originals. */
static bool has_profile_suffix(const char *name)
{
    return ends_with(name, ".qprof") || ends_with(name, ".pcv") || ends_with(name, ".qv");
}

bool qp_cli_is_profile(const char *text)
{
    unsigned char bytes[QP_IMPORT_SNIFF_BYTES];
    struct stat at;
    if (has_profile_suffix(text))
        return true;
    if (stat(text, &at) != 0)
        return *text && text[strspn(text, "0123456789")] == '\0';
    int fd = S_ISREG(at.st_mode) ? open(text, O_RDONLY | O_CLOEXEC) : -1;
    size_t n = fd >= 0 ? qp_file_read_at(fd, bytes, sizeof bytes, 0) : 0,
           n_magic = strlen(QP_MAGIC);
    bool is_profile =
        (n >= n_magic && memcmp(bytes, QP_MAGIC, n_magic) == 0) || qp_import_fits(bytes, n);
    if (fd >= 0)
        close(fd);
    return is_profile;
}

bool qp_cli_operands(const qp_cli *cli, const char **name, const char **file)
{
    char **operands = cli->args.operands;
    int n = cli->args.n_operands, most = name ? 2 : 1;
    *file = NULL;
    if (name)
        *name = NULL;
    if (n > most)
        return qp_cli_refuse(cli, "%s: too many operands; usage: qprof %s [options] %s",
                             operands[most], cli->command->name, cli->command->operands);
    if (n == 2) {
        int at = qp_cli_is_profile(operands[1]) || !qp_cli_is_profile(operands[0]);
        *file = operands[at];
        *name = operands[!at];
    } else if (n == 1 && (!name || qp_cli_is_profile(operands[0]))) {
        *file = operands[0];
    } else if (n == 1) {
        *name = operands[0];
    }
    return true;
}

/* NAME.qprof.2 is the third profile of its name in one run. */
static bool is_profile_name(const char *name)
{
    char stem[256];
    size_t n = strlen(name), n_digits = 0;
    while (n_digits < n && isdigit((unsigned char)name[n - n_digits - 1]))
        n_digits++;
    if (!n_digits || n_digits == n || name[n - n_digits - 1] != '.')
        return has_profile_suffix(name);
    qp_text_format(stem, sizeof stem, "%.*s", (int)(n - n_digits - 1), name);
    return has_profile_suffix(stem);
}

/* @return 0: no plain file */
static uint64_t completed_at(const char *path)
{
    qp_head head;
    const char *why;
    int fd = qp_file_open(path, &why);
    if (fd < 0)
        return 0;
    bool is_profile = qp_file_read_at(fd, &head, sizeof head, 0) == sizeof head &&
                      memcmp(head.magic, QP_MAGIC, sizeof head.magic) == 0;
    if (!is_profile)
        head = (qp_head){0};
    uint64_t moment = qp_profile_completed(&head, fd);
    close(fd);
    return moment;
}

/* The newest profile of the current folder. @return false: there is none */
static bool find_newest(char *path, size_t n_bytes)
{
    uint64_t best = 0;
    DIR *folder = opendir(".");
    if (!folder)
        return false;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        uint64_t moment = is_profile_name(entry->d_name) ? completed_at(entry->d_name) : 0;
        if (moment <= best)
            continue;
        best = moment;
        snprintf(path, n_bytes, "%s", entry->d_name);
    }
    closedir(folder);
    return best != 0;
}

/* The options that are about coverage. */
static void take_cover_options(qp_cover_args *a, const qp_options *o)
{
    if (a->partial == UINT_MAX && o->is_set[QP_OPT_mark_partial_lines])
        a->partial = (unsigned)o->number[QP_OPT_mark_partial_lines];
    if (!a->adjustments && !o->number[QP_OPT_apply_adjustments])
        a->is_unadjusted = true;
}

/* The settings of the configuration file are among the options. */
static qp_parse pass_over(void *unused, qp_options *o, const char *file, qp_error *error)
{
    (void)unused, (void)o, (void)file, (void)error;
    return QP_PARSE_OK;
}

/* A file may come from anybody: options that name files are not taken from it, only from the variable
 * that the recorder would read here. */
static void take_paths(qp_args *args)
{
    static qp_options o; /* the texts stay */
    const qp_option_events events = {.config = pass_over};
    const char *text = getenv("QPROF");
    qp_error error;
    qp_options_init(&o);
    if (!text || qp_options_parse(&o, text, &events, &error) != QP_PARSE_OK)
        return;
    if (!args->folders.path && o.is_set[QP_OPT_source_path])
        args->folders.path = qp_option_text(&o, QP_OPT_source_path);
    if (!args->cover.adjustments && o.is_set[QP_OPT_adjustments_file])
        args->cover.adjustments = qp_option_text(&o, QP_OPT_adjustments_file);
}

/* The run's own options are the defaults of flags that are about reports; of several runs, those of
 * the first. */
static void take_options(qp_cli *cli, const qp_model *m)
{
    static qp_options o; /* the texts stay */
    const qp_option_events events = {.config = pass_over};
    qp_error error;
    if (cli->has_options)
        return;
    cli->has_options = true;
    take_paths(&cli->args);
    qp_options_init(&o);
    if (qp_options_parse(&o, m->run.options, &events, &error) != QP_PARSE_OK)
        qp_options_init(&o); /* of a newer recorder, or damaged */
    const char *unit = qp_option_text(&o, QP_OPT_time_unit);
    if (!cli->args.unit && o.is_set[QP_OPT_time_unit] && qp_args_word(QP_UNIT_WORDS, unit) >= 0)
        cli->args.unit = unit;
    if (cli->args.percent == UINT_MAX)
        cli->args.percent =
            o.number[QP_OPT_percent_real_values] ? QP_PERCENT_OF_RUN : QP_PERCENT_OF_ROWS;
    if (cli->args.suffixes == UINT64_MAX)
        cli->args.suffixes = o.number[QP_OPT_max_route_depth];
    cli->args.has_skips |= o.number[QP_OPT_show_non_hit] == 1;
    take_cover_options(&cli->args.cover, &o);
}

/* The profile does not exist: the program's -output is written when it ends. */
static int fail_missing(const qp_cli *cli, const char *why)
{
    char left[QP_ERROR_BYTES];
    return qp_live_left(left, sizeof left)
               ? qp_cli_fail(cli, "%s (most recent crashed run: %s)", why, left)
               : qp_cli_fail(cli, "%s", why);
}

bool qp_cli_size(const qp_cli *cli, const char *flag, const char *text, uint64_t *n_bytes)
{
    static const char letters[] = "KMGT";
    char *end;
    *n_bytes = 0;
    if (!text)
        return true;
    *n_bytes = strtoull(text, &end, 10);
    const char *letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    unsigned shift = letter ? 10 * (unsigned)(letter - letters + 1) : 0;
    if (!isdigit((unsigned char)*text) || end[letter != NULL] || !*n_bytes ||
        *n_bytes > UINT64_MAX >> 1 >> shift)
        return qp_cli_refuse(cli, "--%s=%s: expected a size such as 512M or 4G", flag, text);
    *n_bytes <<= shift;
    return true;
}

bool qp_cli_max_memory(const qp_cli *cli, uint64_t *n_bytes)
{
    return qp_cli_size(cli, "max-memory", cli->args.fold.max_memory, n_bytes);
}

/* What is shown in place of time, or beside it. @return false: see error */
static bool choose_values(const qp_cli *cli, qp_model *m, qp_error *error)
{
    const qp_collapse_args *a = &cli->args.fold;
    if (a->sample_index && a->metric)
        return qp_error_fail(error, "--sample-index and --metric cannot be combined");
    if (a->metric)
        return qp_model_choose_metric(m, a->metric, a->keeps_times, error);
    return !a->sample_index || m->run.is_imported || qp_model_choose(m, a->sample_index, error);
}

int qp_cli_load(qp_cli *cli, const char *file, qp_model **model)
{
    qp_error error;
    uint64_t max_memory;
    *model = NULL;
    if (file)
        snprintf(cli->path, sizeof cli->path, "%s", file);
    else if (!find_newest(cli->path, sizeof cli->path))
        return fail_missing(cli, "no profile specified, and this folder has no *.qprof "
                                 "or *.pcv (make one with: qprof run -- PROGRAM)");
    qp_bar b;
    if (!qp_cli_max_memory(cli, &max_memory))
        return QP_EXIT_UNUSABLE;
    qp_load_options options = {.sample_type = cli->args.fold.sample_index,
                               .max_memory = max_memory,
                               .progress = qp_bar_begin(&b, "reading", 1)};
    qp_load_status status = cli->load ? cli->load(cli, cli->path, model, &error)
                                      : qp_model_load(cli->path, &options, model, &error);
    qp_bar_end(&b);
    if (status == QP_LOAD_UNUSABLE) {
        char whole[sizeof cli->path + sizeof error.text + 2];
        enum { SHOWN = 300 }; /* of a name in a text of the model */
        size_t n = strnlen(cli->path, SHOWN);
        bool has_name = strncmp(error.text, cli->path, n) == 0 && error.text[n] == ':';
        snprintf(whole, sizeof whole, "%s%s%s", has_name ? "" : cli->path, has_name ? "" : ": ",
                 error.text);
        return has_profile_suffix(cli->path) && access(cli->path, F_OK) != 0
                   ? fail_missing(cli, whole)
                   : qp_cli_fail(cli, "%s", whole);
    }
    take_options(cli, *model);
    if (!choose_values(cli, *model, &error)) {
        qp_model_free(*model);
        *model = NULL;
        return qp_cli_fail(cli, "%s: %s", cli->path, error.text);
    }
    if (!qp_output_is_free(cli, cli->args.output, cli->path, *model)) {
        qp_model_free(*model);
        *model = NULL;
        return QP_EXIT_UNUSABLE;
    }
    if (status == QP_LOAD_CLEAN)
        return QP_EXIT_CLEAN;
    const qp_model *m = *model;
    if (!cli->is_again)
        qp_cli_warn(cli, "%s: damaged; this is what could be saved (%s%s)", cli->path,
                    m->n_losses ? m->losses[0] : "parts are missing",
                    m->n_losses > 1 ? "; more: qprof info" : "");
    return QP_EXIT_SALVAGED;
}

bool qp_cli_thread_named(const qp_cli *cli, const qp_model *m, uint32_t *thread)
{
    const char *wanted = cli->args.thread;
    *thread = QP_ALL_THREADS;
    if (!wanted)
        return true;
    bool is_number = *wanted && wanted[strspn(wanted, "0123456789")] == '\0';
    uint64_t number = is_number ? strtoull(wanted, NULL, 10) : 0;
    for (uint32_t i = 1; i < m->n_threads && *thread == QP_ALL_THREADS; i++)
        if (is_number ? m->threads[i].ordinal == number
                      : strcmp(m->threads[i].name, wanted) == 0)
            *thread = i;
    return *thread != QP_ALL_THREADS;
}

bool qp_cli_thread(const qp_cli *cli, const qp_model *m, uint32_t *thread)
{
    bool is_found = qp_cli_thread_named(cli, m, thread);
    if (!is_found)
        qp_cli_fail(cli, "%s: no thread %s (qprof report --threads lists them)", cli->path,
                    cli->args.thread);
    return is_found;
}
