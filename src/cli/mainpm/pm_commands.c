/* pm_commands.c: what the commands of `qprof pm` do.
 *
 * The statistics are a list of profiles, and the settings are what the commands of the tool are told:
 * LIST is `qprof list`, SAVE `qprof merge`, EXECUTE `qprof run`. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/new_file.h"
#include "cli/mainpm/mainpm.h"
#include "model/figures/figures.h"

enum { WORDS_MOST = 512, SHOWN = 60 };

/* ---- messages -------------------------------------------------------------------------------- */

void qp_pm_complain(qp_pm *p, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    qp_out_flush(&p->cli->out); /* in the order in which things happened */
    qp_cli_fail(p->cli, "%s", text);
    p->has_failed = true;
}

static void say(qp_pm *p, const char *label, const char *name)
{
    qp_out_text(&p->cli->out, label);
    qp_screen_name(&p->cli->screen, name, 0);
    qp_out_char(&p->cli->out, '\n');
}

/* A text that stays. */
static const char *keep(qp_pm *p, const char *text)
{
    const char *kept = qp_arena_text(&p->texts, text);
    if (!kept)
        qp_pm_complain(p, "there is not enough memory");
    return kept;
}

/* ---- commands of the tool ---------------------------------------------------------------------- */

/* The words of a command line. */
typedef struct {
    char *items[WORDS_MOST]; /* [n] */
    int n;
    bool has_failed;
} words;

static void add(qp_pm *p, words *w, const char *flag, const char *value)
{
    char *word =
        w->n < WORDS_MOST ? qp_arena_format(&p->texts, "%s%s", flag, value ? value : "") : NULL;
    w->has_failed |= !word;
    if (word)
        w->items[w->n++] = word;
}

static void add_all(qp_pm *p, words *w, const char *flag, const qp_list *values)
{
    for (size_t i = 0; i < values->n; i++)
        add(p, w, flag, values->items[i]);
}

/* Run a command on a screen. @param path  receives the profile that it was about; may be NULL
 * @return its exit status */
static int run_words(qp_pm *p, const qp_command *command, words *w, const qp_screen *screen,
                     char *path)
{
    static qp_cli sub; /* 64 KiB of buffers: not on the stack */
    qp_error error = {.text = "not enough memory"};
    sub.command = command;
    sub.line = p->cli->line;
    sub.screen = *screen;
    sub.path[0] = '\0';
    qp_out_init(&sub.out, STDOUT_FILENO);
    if (sub.screen.out == &p->cli->out) /* what it writes comes behind what we wrote */
        sub.screen.out = &sub.out;
    qp_out_flush(&p->cli->out);
    if (w->has_failed || !qp_args_parse(command, w->n, w->items, &sub.args, &error)) {
        qp_pm_complain(p, "%s", error.text);
        return QP_EXIT_UNUSABLE;
    }
    int status = command->run(&sub);
    qp_out_close(&sub.out);
    if (path)
        snprintf(path, sizeof sub.path, "%s", sub.path);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Read a profile once.
 * @param command  [QP_ATTRIBUTION_COMMAND_BYTES] receives the PC command of its interrupts, "": none
 * @return its name; NULL: it said why not */
static const char *read_file(qp_pm *p, const char *file, char *command)
{
    qp_model *m;
    if (qp_cli_load(p->cli, file, &m) == QP_EXIT_UNUSABLE) {
        p->has_failed = true;
        return NULL;
    }
    qp_attribution_command(command, &m->run);
    qp_model_free(m);
    return keep(p, file);
}

void qp_pm_add(qp_pm *p, const char *rest)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    if (p->n_files == QP_LIST_MOST) {
        qp_pm_complain(p, "%d files are in the statistics; SAVE them and LOAD the sum",
                       QP_LIST_MOST);
        return;
    }
    const char *file = read_file(p, rest, command);
    if (file && *command && *p->command && strcmp(command, p->command) != 0) {
        qp_pm_complain(
            p,
            "%s: its interrupts are of PC %s, but those before of PC %s: they do not "
            "add up; LOAD takes it alone",
            rest, command, p->command);
    } else if (file) {
        p->files[p->n_files++] = file;
        if (*command)
            memcpy(p->command, command, sizeof command);
    }
}

void qp_pm_load(qp_pm *p, const char *rest)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    const char *file = read_file(p, rest, command);
    if (!file)
        return;
    memcpy(p->command, command, sizeof command);
    p->files[0] = file;
    p->n_files = 1;
}

static bool has_statistics(qp_pm *p)
{
    if (!p->n_files)
        qp_pm_complain(p, "there are no statistics; EXECUTE a program or LOAD a file");
    return p->n_files > 0;
}

void qp_pm_save(qp_pm *p, const char *rest)
{
    words w = {.n = 0};
    if (!has_statistics(p))
        return;
    add(p, &w, "--output=", rest);
    for (size_t i = 0; i < p->n_files; i++)
        add(p, &w, p->files[i], NULL);
    p->has_failed |=
        run_words(p, &qp_command_merge, &w, &p->cli->screen, NULL) == QP_EXIT_UNUSABLE;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void list_words(qp_pm *p, words *w)
{
    if (*p->command && (p->has_calls || p->has_counts))
        add(p, w, "--samples", NULL);
    if (p->has_calls)
        add(p, w, "--calls", NULL);
    if (p->has_counts)
        add(p, w, "--counts", NULL);
    if (p->has_counts)
        add(p, w, "--not-executed", NULL);
    add(p, w, "--by=", p->by_module ? "module" : "procedure");
    if (p->cli->args.config)
        add(p, w, "--config=", p->cli->args.config);
    add_all(p, w, "--module=", &p->modules);
    add_all(p, w, "--no-module=", &p->no_modules);
    add_all(p, w, "--area=", &p->areas);
    add_all(p, w, "--no-area=", &p->no_areas);
    add(p, w, "--", NULL);
    for (size_t i = 0; i < p->n_files; i++)
        add(p, w, p->files[i], NULL);
}

static int list_into_file(qp_pm *p, words *w)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    qp_screen screen;
    const char *why = NULL;
    int status = QP_EXIT_UNUSABLE;
    if (!qp_new_file_begin(&file, p->report, &why)) {
        qp_pm_complain(p, "%s: %s", p->report, why);
        return status;
    }
    qp_screen_init(&screen, &file.out);
    screen.is_terminal = screen.has_color = false;
    screen.n_columns = 0;
    status = run_words(p, &qp_command_list, w, &screen, NULL);
    if (status == QP_EXIT_UNUSABLE)
        qp_new_file_drop(&file);
    else if (qp_new_file_end(&file, &why))
        say(p, "written to ", p->report);
    else
        qp_pm_complain(p, "%s: %s", p->report, why);
    return status;
}

void qp_pm_list(qp_pm *p, const char *rest)
{
    words w = {.n = 0};
    if (!has_statistics(p))
        return;
    if (*rest)
        p->report = strcmp(rest, "-") == 0 ? NULL : keep(p, rest);
    list_words(p, &w);
    int status = p->report ? list_into_file(p, &w)
                           : run_words(p, &qp_command_list, &w, &p->cli->screen, NULL);
    p->has_failed |= status == QP_EXIT_UNUSABLE;
}

void qp_pm_calls(qp_pm *p, const char *rest)
{
    (void)rest;
    p->has_calls = true;
}

void qp_pm_counts(qp_pm *p, const char *rest)
{
    (void)rest;
    p->has_counts = true;
}

void qp_pm_nocalls(qp_pm *p, const char *rest)
{
    (void)rest;
    p->has_calls = false;
}

void qp_pm_nocounts(qp_pm *p, const char *rest)
{
    (void)rest;
    p->has_counts = false;
}

void qp_pm_module(qp_pm *p, const char *rest)
{
    (void)rest;
    p->by_module = true;
}

void qp_pm_procedure(qp_pm *p, const char *rest)
{
    (void)rest;
    p->by_module = false;
}

static void add_name(qp_pm *p, qp_list *names, const char *rest)
{
    const char *kept = names->n < QP_LIST_MOST ? keep(p, rest) : NULL;
    if (names->n == QP_LIST_MOST)
        qp_pm_complain(p, "%d were named already", QP_LIST_MOST);
    else if (kept)
        names->items[names->n++] = kept;
}

/* Without a name, all that were named before are forgotten. */
static void add_module(qp_pm *p, qp_list *modules, const char *rest)
{
    if (*rest)
        add_name(p, modules, rest);
    else
        modules->n = 0;
}

void qp_pm_monitormodule(qp_pm *p, const char *rest)
{
    add_module(p, &p->modules, rest);
}

void qp_pm_nomonitormodule(qp_pm *p, const char *rest)
{
    add_module(p, &p->no_modules, rest);
}

static bool has_name(const qp_list *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static void print_areas(qp_pm *p)
{
    const qp_config_object *all = p->config.objects.items;
    if (!p->config.objects.n)
        say(p, "no areas in ", p->cli->args.config);
    for (size_t i = 0; i < p->config.objects.n; i++)
        say(p,
            has_name(&p->no_areas, all[i].name) ? "left out  "
            : has_name(&p->areas, all[i].name)  ? "selected  "
                                                : "          ",
            all[i].name);
}

/* Without a title both commands are undone. */
static void add_area(qp_pm *p, qp_list *areas, const char *rest)
{
    char why[1024];
    if (!*rest)
        p->areas.n = p->no_areas.n = 0;
    else if (!p->cli->args.config)
        qp_pm_complain(p, "areas are those of a configuration file; name it when you begin: "
                          "qprof pm --config=FILE");
    else if (strcmp(rest, "?") == 0)
        print_areas(p);
    else if (!qp_list_area(&p->config, rest, why, sizeof why))
        qp_pm_complain(p, "%s", why);
    else
        add_name(p, areas, rest);
}

void qp_pm_monitorarea(qp_pm *p, const char *rest)
{
    add_area(p, &p->areas, rest);
}

void qp_pm_nomonitorarea(qp_pm *p, const char *rest)
{
    add_area(p, &p->no_areas, rest);
}

/* ---- running --------------------------------------------------------------------------------- */

void qp_pm_pc(qp_pm *p, const char *rest)
{
    qp_error error;
    if (!qp_attribution_is_command(rest, &error)) {
        qp_pm_complain(p, "PC: column %u: %s", error.column, error.text);
        qp_cli_point(rest, error.column);
        return;
    }
    p->pc = keep(p, *rest ? rest : "PC");
}

void qp_pm_execute(qp_pm *p, const char *rest)
{
    words w = {.n = 0};
    char path[sizeof p->cli->path];
    if (p->pc)
        add(p, &w, "--pc=", p->pc);
    if (p->has_counts)
        add(p, &w, "-cover=hits", NULL);
    add(p, &w, "--", NULL);
    while (*(rest += strspn(rest, " \t"))) {
        char quote = *rest == '"' || *rest == '\'' ? *rest : '\0';
        const char *from = rest + (quote != '\0');
        size_t n = quote ? strcspn(from, quote == '"' ? "\"" : "'") : strcspn(from, " \t");
        char *word = qp_arena_format(&p->texts, "%.*s", (int)n, from);
        add(p, &w, word ? word : "", NULL);
        rest = from + n + (quote && from[n]);
    }
    int n_taken, status = QP_EXIT_UNUSABLE;
    char name[] = "run", *const command[] = {name}; /* of a room above this one */
    const qp_command *run = qp_cli_command(p->cli, 1, command, &n_taken);
    if (run)
        status = run_words(p, run, &w, &p->cli->screen, path);
    if (*path)
        qp_pm_load(p, path);
    p->has_failed |= status != QP_EXIT_CLEAN;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void print_list(qp_pm *p, const char *label, const char *const *items, size_t n)
{
    qp_out_text(&p->cli->out, label);
    for (size_t i = 0; i < n; i++) {
        qp_out_text(&p->cli->out, i ? ", " : "");
        qp_screen_name(&p->cli->screen, items[i], SHOWN);
    }
    qp_out_text(&p->cli->out, n ? "\n" : "none\n");
}

static void print_names(qp_pm *p, const char *label, const qp_list *names)
{
    if (names->n)
        print_list(p, label, names->items, names->n);
}

void qp_pm_info(qp_pm *p, const char *rest)
{
    qp_out *out = &p->cli->out;
    (void)rest;
    print_list(p, "statistics     ", p->files, p->n_files);
    say(p, "report         ", p->report ? p->report : "the screen");
    qp_out_format(out, "broken down to %s\n", p->by_module ? "modules" : "procedures");
    qp_out_format(out, "calls          %s\n", p->has_calls ? "yes" : "no");
    qp_out_format(out, "counts         %s\n", p->has_counts ? "yes" : "no");
    say(p, "PC             ", p->pc ? p->pc : "none");
    print_names(p, "modules        ", &p->modules);
    print_names(p, "not modules    ", &p->no_modules);
    print_names(p, "areas          ", &p->areas);
    print_names(p, "not areas      ", &p->no_areas);
}
