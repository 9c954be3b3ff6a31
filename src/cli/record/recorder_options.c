/* recorder_options.c: options for the recorder, checked before the program runs. */
#include "cli/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/buf.h"
#include "cli/config/config.h"
#include "format/options.h"
#include "model/figures/figures.h"

/* Append one word, quoted if it needs to be. @return false: no room */
static bool add_word(qp_recorder_words *w, const char *name, const char *value)
{
    size_t n = strlen(w->words), room = sizeof w->words;
    n += (size_t)snprintf(w->words + n, room - n, "%s-%s%s", n ? " " : "", name,
                          value ? "=\"" : "");
    for (const char *at = value; at && *at && n + 4 < room; at++) {
        if (*at == '"' || *at == '\\')
            w->words[n++] = '\\';
        w->words[n++] = *at;
    }
    if (n + 4 >= room)
        return false;
    strcpy(w->words + n, value ? "\"" : "");
    return true;
}

/* Add "NAME=VALUE", given with one hyphen or two. @return false: a message was printed */
static bool add_raw(const qp_cli *cli, qp_recorder_words *w, const char *word,
                    const char **output)
{
    const char *name = word + (word[1] == '-' ? 2 : 1), *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    qp_option which = qp_option_find(name, n);
    if (which == QP_N_OPTIONS) {
        char known[QP_WORDS_BYTES] = "", hint[QP_HINT_BYTES];
        for (unsigned i = 0; i < QP_N_OPTIONS; i++)
            qp_args_add_word(known, qp_option_name((qp_option)i));
        for (const qp_flag *f = cli->command->flags; f->name; f++)
            qp_args_add_word(known, f->name);
        return qp_cli_refuse(
            cli, "unknown option %s%s", word,
            qp_args_hint(hint, known, name, n, "--", "see qprof run --options"));
    }
    if (which == QP_OPT_output) {
        *output = equals ? equals + 1 : "";
        return true;
    }
    return add_word(w, qp_option_name(which), equals ? equals + 1 : NULL);
}

/* Check the file of -config=FILE and print its mistakes. */
static qp_parse check_file(void *cli, qp_options *unused, const char *path, qp_error *error)
{
    qp_config_file file;
    int status = qp_config_file_read(cli, path, &file);
    (void)unused;
    qp_config_file_fini(&file);
    error->text[0] = '\0';
    return status == QP_EXIT_CLEAN ? QP_PARSE_OK : QP_PARSE_SYNTAX;
}

bool qp_recorder_check_pc(const qp_cli *cli, const char *command)
{
    qp_error error;
    if (qp_attribution_is_command(command, &error))
        return true;
    qp_cli_fail(cli, "--pc: column %u: %s", error.column, error.text);
    qp_cli_point(command, error.column);
    return false;
}

static bool check_words(const qp_cli *cli, const char *words)
{
    static qp_options o;
    qp_option_events events = {.config = check_file, .to = (void *)(uintptr_t)cli};
    qp_error error = {0};
    qp_options_init(&o);
    bool is_good = qp_options_parse(&o, words, &events, &error) == QP_PARSE_OK;
    if (!is_good && error.text[0])
        qp_cli_fail(cli, "%s; see qprof run --options", error.text);
    return is_good && qp_recorder_check_pc(cli, qp_option_text(&o, QP_OPT_pc));
}

/* Make the name absolute: the program may change its folder. A % in the folder's name is doubled.
 * @return false: a message was printed */
static bool set_output(const qp_cli *cli, qp_recorder_words *w, const char *output)
{
    char folder[2048] = "";
    size_t n = 0;
    if (!(output && output[0] == '/')) {
        if (!getcwd(folder, sizeof folder))
            return qp_cli_refuse(cli,
                                 "the current folder: %s (change to another one, or use "
                                 "-o FILE with the whole path)",
                                 strerror(errno));
        for (const char *at = folder; *at && n + 3 < sizeof w->output; at++) {
            if (*at == '%')
                w->output[n++] = '%';
            w->output[n++] = *at;
        }
        w->output[n++] = '/';
    }
    qp_text_format(w->output + n, sizeof w->output - n, "%s", output ? output : "%v.%p.qprof");
    return true;
}

/* Get the folder of the profile. @return false: it depends on a conversion */
static bool find_folder(const char *output, char *to)
{
    size_t n = 0, end = (size_t)(strrchr(output, '/') - output) + 1;
    for (size_t i = 0; i < end; i++) {
        if (output[i] == '%' && output[++i] != '%')
            return false;
        to[n++] = output[i];
    }
    to[n] = '\0';
    return true;
}

/* Refuse a name that cannot be written before the program runs.
 * @return false: a message was printed */
static bool check_output(const qp_cli *cli, const char *output, const char *given)
{
    char folder[4096];
    struct stat at;
    const char *name = strrchr(output, '/') + 1;
    const qp_name_facts unknown = {0};
    char unused[512];
    for (const char *c = strchr(output, '%'), *next; c; c = strchr(next, '%')) {
        next = c[1] == '%' ? c + 2 : qp_name_convert(&unknown, c + 1, unused, sizeof unused);
        if (!next)
            return qp_cli_refuse(cli, "%s: %%%c is not a conversion (%%%% is a percent sign)",
                                 given, c[1] ? c[1] : ' ');
    }
    if (strcmp(given, "-") == 0)
        return qp_cli_refuse(
            cli, "the recorder does not write to standard output (use -o -, or -o ./-)");
    if (!*name || (stat(output, &at) == 0 && S_ISDIR(at.st_mode)))
        return qp_cli_refuse(cli, "%s: is a folder (use --output=FILE)",
                             *given ? given : output);
    if (lstat(output, &at) == 0 && S_ISLNK(at.st_mode))
        return qp_cli_refuse(cli, "%s: is a link (name the file that it leads to)", given);
    if (lstat(output, &at) == 0 && !S_ISREG(at.st_mode))
        return qp_cli_refuse(cli, "%s: is a pipe or a device (use -o)", given);
    if (!find_folder(output, folder) || access(folder, W_OK | X_OK) == 0)
        return true;
    return qp_cli_refuse(cli, "%s: cannot write a profile there: %s", folder, strerror(errno));
}

static qp_parse pass_over(void *unused, qp_options *o, const char *file, qp_error *error)
{
    (void)unused, (void)o, (void)file, (void)error;
    return QP_PARSE_OK;
}

/* The options of the variable and of the command together.
 * @return false: a mistake, of which the recorder will say what is wrong */
static bool join_options(qp_options *o, const char *variable, const char *words)
{
    const qp_option_events events = {.config = pass_over};
    qp_error unused;
    qp_options_init(o);
    return (!variable || qp_options_parse(o, variable, &events, &unused) == QP_PARSE_OK) &&
           qp_options_parse(o, words, &events, &unused) == QP_PARSE_OK;
}

/* The name that the options give to profiles; NULL: none. */
static const char *named_by_options(const qp_options *o)
{
    static char name[4096];
    if (o->is_set[QP_OPT_output])
        return qp_option_text(o, QP_OPT_output);
    snprintf(name, sizeof name, "%s.qprof", qp_option_text(o, QP_OPT_filename_prefix));
    return o->is_set[QP_OPT_filename_prefix] ? name : NULL;
}

/* Are samples requested without saying how many? */
static bool needs_interval(const qp_options *o)
{
    enum { SAMPLES = 1 << 2 }; /* of the words of -collect */
    return o->number[QP_OPT_collect] & SAMPLES && !o->is_set[QP_OPT_pc];
}

/* Options that say how a trace is kept have no effect without one. */
static void warn_without_trace(const qp_cli *cli, const qp_options *o)
{
    static const qp_option without[] = {QP_OPT_trace_limit, QP_OPT_trace_full,
                                        QP_OPT_trace_buffer, QP_OPT_trace_memory};
    enum { TRACE = 1 << 4 }; /* of the words of -collect */
    bool is_traced = o->number[QP_OPT_collect] & TRACE || o->is_set[QP_OPT_trace_mode] ||
                     o->is_set[QP_OPT_trace_output] || o->is_set[QP_OPT_config];
    for (size_t i = 0; !is_traced && i < sizeof without / sizeof *without; i++)
        if (o->is_set[without[i]])
            qp_cli_warn(
                cli, "-%s has no effect: no trace is recorded (-trace-output=FILE records one)",
                qp_option_name(without[i]));
}

/* @return false: a message was printed */
static bool check_trace(const qp_cli *cli, const qp_options *o)
{
    warn_without_trace(cli, o);
    if (strcmp(qp_option_text(o, QP_OPT_trace_output), "-") == 0)
        return qp_cli_refuse(cli,
                             "-trace-output=-: the recorder does not write to standard output "
                             "(name a file, or ./-)");
    return true;
}

bool qp_recorder_parse(const qp_cli *cli, qp_recorder_words *w)
{
    static qp_options all; /* its texts stay */
    const char *old = getenv("QPROF"), *output = NULL;
    const qp_args *a = &cli->args;
    bool has_room = true;
    w->words[0] = '\0';
    for (int i = 0; i < a->n_operands; i++)
        if (!add_raw(cli, w, a->operands[i], &output))
            return false;
    const char *const given[][2] = {{"time", a->time},
                                    {"collection-granularity", a->granularity},
                                    {"clock", a->clock},
                                    {"pc", a->pc}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        has_room &= !given[i][1] || add_word(w, given[i][0], given[i][1]);
    if (!check_words(cli, w->words))
        return false;
    bool is_clear = join_options(&all, old, w->words);
    if (is_clear && !check_trace(cli, &all))
        return false;
    if (is_clear && needs_interval(&all))
        has_room &= add_word(w, "pc", "VIRTUAL 1000");
    w->spool = is_clear ? qp_option_text(&all, QP_OPT_spool) : "";
    char own[sizeof w->words];
    strcpy(own, w->words);
    output = a->output ? a->output : output ? output : is_clear ? named_by_options(&all) : NULL;
    if (!set_output(cli, w, output) ||
        !check_output(cli, w->output, output ? output : w->output))
        return false;
    /* qprof run prints the result itself: no summary by the recorder. */
    int n = snprintf(w->words, sizeof w->words, "%s -summary=none %s", old ? old : "", own);
    has_room &= n < (int)sizeof w->words && add_word(w, "output", w->output);
    return has_room || qp_cli_refuse(cli, "too many options for the recorder");
}

/* Expand the conversions of a name. @param is_glob  make a pattern: unknown values match any text,
 * special characters of the name are escaped */
static void expand(const char *output, const qp_name_facts *facts, bool is_glob, char *to,
                   size_t n_bytes)
{
    size_t n = 0;
    *to = '\0';
    while (*output && n < n_bytes) {
        char value[512] = {*output, '\0'};
        const char *next = output + 1;
        if (*output == '%' && *next == '%') {
            next++;
        } else if (*output == '%') {
            next = qp_name_convert(facts, next, value, sizeof value);
            if (is_glob || !next)
                snprintf(value, sizeof value, "*");
        } else if (is_glob && strchr("*?[\\", *output)) {
            snprintf(value, sizeof value, "\\%c", *output);
        }
        n += (size_t)snprintf(to + n, n_bytes - n, "%s", value);
        output = next ? next : output + strlen(output);
    }
}

void qp_recorder_glob(const qp_recorder_words *words, char *to, size_t n_bytes)
{
    expand(words->output, &(qp_name_facts){0}, true, to, n_bytes);
}

void qp_recorder_path(const qp_recorder_words *words, const qp_name_facts *facts, char *to,
                      size_t n_bytes)
{
    expand(words->output, facts, false, to, n_bytes);
}

void qp_recorder_list(const qp_screen *s)
{
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        const qp_option which = (qp_option)i;
        char name[512];
        const char *values =
            qp_option_kind_of(which) == QP_OPTION_BOOL ? "yes|no" : qp_option_values(which);
        snprintf(name, sizeof name, "--%s=%s", qp_option_name(which), values);
        qp_screen_text(s, QP_STYLE_HEAD, name);
        qp_out_format(s->out, "\n    %s", qp_option_help[i]);
        if (*qp_option_initial(which))
            qp_out_format(s->out, " (default %s)", qp_option_initial(which));
        qp_out_char(s->out, '\n');
    }
}
