/* pm.c: `qprof pm`: the prompt of MAINPM. Read the table `commands` first.
 *
 * The statistics are a list of profiles. The settings become words of command lines of the tool:
 * LIST is `qprof list`, SAVE `qprof merge`, EXECUTE `qprof run`. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/new_file.h"
#include "cli/config/config.h"
#include "cli/show/show.h"
#include "model/figures/figures.h"

enum { LINE_BYTES = 1 << 16, INCLUDES_MOST = 8, WORDS_MOST = 512, SHOWN = 60 };

/* The prompt: its settings. */
typedef struct {
    qp_cli *cli;
    qp_config_file config; /* of --config: its areas alone */
    qp_arena texts;
    unsigned n_includes;
    const char *files[QP_LIST_MOST]; /* [n_files] the statistics */
    size_t n_files;
    char command[QP_ATTRIBUTION_COMMAND_BYTES]; /* PC command of their samples; "": none */
    qp_list modules, no_modules, areas, no_areas;
    const char *pc;     /* NULL: none */
    const char *report; /* NULL: the screen */
    bool has_calls, has_counts, by_module;
    bool has_failed, must_quit;
} prompt;

/* ---- messages -------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void complain(prompt *p, const char *format, ...)
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

static void print_line(prompt *p, const char *label, const char *name)
{
    qp_out_text(&p->cli->out, label);
    qp_screen_name(&p->cli->screen, name, 0);
    qp_out_char(&p->cli->out, '\n');
}

/* A text that stays. */
static const char *keep(prompt *p, const char *text)
{
    const char *kept = qp_arena_text(&p->texts, text);
    if (!kept)
        complain(p, "not enough memory");
    return kept;
}

/* ---- commands of the tool ---------------------------------------------------------------------- */

/* The words of a command line. */
typedef struct {
    char *items[WORDS_MOST]; /* [n] */
    int n;
    bool has_failed;
} words;

static void add(prompt *p, words *w, const char *flag, const char *value)
{
    char *word =
        w->n < WORDS_MOST ? qp_arena_format(&p->texts, "%s%s", flag, value ? value : "") : NULL;
    w->has_failed |= !word;
    if (word)
        w->items[w->n++] = word;
}

static void add_all(prompt *p, words *w, const char *flag, const qp_list *values)
{
    for (size_t i = 0; i < values->n; i++)
        add(p, w, flag, values->items[i]);
}

/* Run a command on a screen. @param path  receives the profile that it was about; may be NULL
 * @return its exit status */
static int run_words(prompt *p, const qp_command *command, words *w, const qp_screen *screen,
                     char *path)
{
    static qp_cli sub; /* 64 KiB of buffers: not on the stack */
    qp_error error = {.text = "not enough memory"};
    sub.command = command;
    sub.line = p->cli->line;
    sub.screen = *screen;
    sub.path[0] = '\0';
    sub.has_options = p->cli->has_options;
    qp_out_init(&sub.out, STDOUT_FILENO);
    if (sub.screen.out == &p->cli->out) /* after what was written here */
        sub.screen.out = &sub.out;
    qp_out_flush(&p->cli->out);
    if (w->has_failed || !qp_args_parse(command, w->n, w->items, &sub.args, &error)) {
        complain(p, "%s", error.text);
        return QP_EXIT_UNUSABLE;
    }
    int status = command->run(&sub);
    qp_out_close(&sub.out);
    p->cli->has_options = sub.has_options;
    if (path)
        snprintf(path, sizeof sub.path, "%s", sub.path);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Read a profile once.
 * @param command  [QP_ATTRIBUTION_COMMAND_BYTES] receives the PC command of its samples, "": none
 * @return its name; NULL: a message was printed */
static const char *read_file(prompt *p, const char *file, char *command)
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

static void run_add(prompt *p, const char *rest)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    if (p->n_files == QP_LIST_MOST) {
        complain(p, "%d files are in the statistics; SAVE them and LOAD the sum", QP_LIST_MOST);
        return;
    }
    const char *file = read_file(p, rest, command);
    if (file && *command && *p->command && strcmp(command, p->command) != 0) {
        complain(
            p,
            "%s: PC %s differs from PC %s of the statistics; their PC samples do not add up "
            "(LOAD takes it alone)",
            rest, command, p->command);
    } else if (file) {
        p->files[p->n_files++] = file;
        if (*command)
            memcpy(p->command, command, sizeof command);
    }
}

static void run_load(prompt *p, const char *rest)
{
    char command[QP_ATTRIBUTION_COMMAND_BYTES];
    const char *file = read_file(p, rest, command);
    if (!file)
        return;
    memcpy(p->command, command, sizeof command);
    p->files[0] = file;
    p->n_files = 1;
}

static bool has_statistics(prompt *p)
{
    if (!p->n_files)
        complain(p, "no statistics; EXECUTE a program or LOAD a file");
    return p->n_files > 0;
}

static void run_save(prompt *p, const char *rest)
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

static void list_words(prompt *p, words *w)
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

static int list_into_file(prompt *p, words *w)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    qp_screen screen;
    const char *why = NULL;
    int status = QP_EXIT_UNUSABLE;
    if (!qp_new_file_begin(&file, p->report, &why)) {
        complain(p, "%s: %s", p->report, why);
        return status;
    }
    qp_screen_init(&screen, &file.out);
    screen.is_terminal = screen.has_color = false;
    screen.n_columns = 0;
    status = run_words(p, &qp_command_list, w, &screen, NULL);
    if (status == QP_EXIT_UNUSABLE)
        qp_new_file_drop(&file);
    else if (qp_new_file_end(&file, &why))
        print_line(p, "written to ", p->report);
    else
        complain(p, "%s: %s", p->report, why);
    return status;
}

static void run_list(prompt *p, const char *rest)
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

static void add_name(prompt *p, qp_list *names, const char *rest)
{
    const char *kept = names->n < QP_LIST_MOST ? keep(p, rest) : NULL;
    if (names->n == QP_LIST_MOST)
        complain(p, "at most %d names", QP_LIST_MOST);
    else if (kept)
        names->items[names->n++] = kept;
}

/* Without a name, all that were named before are forgotten. */
static void add_module(prompt *p, qp_list *modules, const char *rest)
{
    if (*rest)
        add_name(p, modules, rest);
    else
        modules->n = 0;
}

static bool has_name(const qp_list *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static void print_areas(prompt *p)
{
    const qp_config_object *all = p->config.objects.items;
    if (!p->config.objects.n)
        print_line(p, "no areas in ", p->cli->args.config);
    for (size_t i = 0; i < p->config.objects.n; i++)
        print_line(p,
                   has_name(&p->no_areas, all[i].name) ? "left out  "
                   : has_name(&p->areas, all[i].name)  ? "selected  "
                                                       : "          ",
                   all[i].name);
}

/* Without a title both commands are undone. */
static void add_area(prompt *p, qp_list *areas, const char *rest)
{
    char why[1024];
    if (!*rest)
        p->areas.n = p->no_areas.n = 0;
    else if (!p->cli->args.config)
        complain(p,
                 "areas are those of a configuration file (start with qprof pm --config=FILE)");
    else if (strcmp(rest, "?") == 0)
        print_areas(p);
    else if (!qp_config_file_area(&p->config, rest, why, sizeof why))
        complain(p, "%s", why);
    else
        add_name(p, areas, rest);
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_pc(prompt *p, const char *rest)
{
    qp_error error;
    if (!qp_attribution_is_command(rest, &error)) {
        complain(p, "PC: column %u: %s", error.column, error.text);
        qp_cli_point(rest, error.column);
        return;
    }
    p->pc = keep(p, *rest ? rest : "PC");
}

static void run_execute(prompt *p, const char *rest)
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
        run_load(p, path);
    p->has_failed |= status != QP_EXIT_CLEAN;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void print_list(prompt *p, const char *label, const char *const *items, size_t n)
{
    qp_out_text(&p->cli->out, label);
    for (size_t i = 0; i < n; i++) {
        qp_out_text(&p->cli->out, i ? ", " : "");
        qp_screen_name(&p->cli->screen, items[i], SHOWN);
    }
    qp_out_text(&p->cli->out, n ? "\n" : "none\n");
}

static void print_names(prompt *p, const char *label, const qp_list *names)
{
    if (names->n)
        print_list(p, label, names->items, names->n);
}

static void run_info(prompt *p, const char *rest)
{
    qp_out *out = &p->cli->out;
    (void)rest;
    print_list(p, "statistics     ", p->files, p->n_files);
    print_line(p, "report         ", p->report ? p->report : "the screen");
    qp_out_format(out, "broken down to %s\n", p->by_module ? "modules" : "procedures");
    qp_out_format(out, "calls          %s\n", p->has_calls ? "yes" : "no");
    qp_out_format(out, "counts         %s\n", p->has_counts ? "yes" : "no");
    print_line(p, "PC             ", p->pc ? p->pc : "none");
    print_names(p, "modules        ", &p->modules);
    print_names(p, "not modules    ", &p->no_modules);
    print_names(p, "areas          ", &p->areas);
    print_names(p, "not areas      ", &p->no_areas);
}
/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct {
    int fd; /* borrowed */
    char bytes[4096];
    size_t n, at;
    unsigned line;    /* of the last one read, from 1 */
    bool is_too_long; /* it was cut */
} line_source;

/* @return -1: the end */
static int next_byte(line_source *s)
{
    ssize_t n;
    if (s->at == s->n) {
        while ((n = read(s->fd, s->bytes, sizeof s->bytes)) < 0 && errno == EINTR)
            continue;
        s->n = n > 0 ? (size_t)n : 0;
        s->at = 0;
    }
    return s->at < s->n ? (unsigned char)s->bytes[s->at++] : -1;
}

/* Read the next line, without its end. @param to [LINE_BYTES] @return false: there are no more */
static bool read_line(line_source *s, char *to)
{
    size_t n = 0;
    int byte = next_byte(s);
    s->is_too_long = false;
    s->line++;
    to[0] = '\0';
    if (byte < 0)
        return false;
    for (; byte >= 0 && byte != '\n'; byte = next_byte(s)) {
        s->is_too_long |= n + 1 == LINE_BYTES;
        if (!s->is_too_long && byte)
            to[n++] = (char)byte;
    }
    to[n] = '\0';
    return true;
}

/* Does the word begin this name, in any case? */
static bool begins(const char *name, const char *word, size_t n_bytes)
{
    return n_bytes && n_bytes <= strlen(name) && strncasecmp(name, word, n_bytes) == 0;
}

static void read_commands(prompt *p, int fd);

static void run_include(prompt *p, const char *rest)
{
    if (p->n_includes == INCLUDES_MOST) {
        complain(p, "%s: files include each other %d deep", rest, INCLUDES_MOST);
        return;
    }
    int fd = open(rest, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        complain(p, "%s: %s", rest, strerror(errno));
        return;
    }
    p->n_includes++;
    read_commands(p, fd);
    p->n_includes--;
    close(fd);
}

static void run_quit(prompt *p, const char *rest)
{
    (void)rest;
    p->must_quit = true;
}

static void run_help(prompt *p, const char *rest);

/* ---- the table ------------------------------------------------------------------------------- */

typedef enum { TAKES_NOTHING, MAY_TAKE, MUST_TAKE } taking;

typedef struct {
    const char *name, *operand, *help;
    taking taking;
    void (*run)(prompt *p, const char *rest);                    /* of one of three kinds */
    void (*select)(prompt *p, qp_list *names, const char *rest); /* changes a list of names */
    size_t setting; /* of the prompt: that list, or a bool that becomes `is_on` */
    bool is_on;
} command;

#define RUNS(name, operand, taking, run, help)                                                 \
    {                                                                                          \
        name, operand, help, taking, run, NULL, 0, false                                       \
    }
#define SELECTS(name, operand, select, list, help)                                             \
    {                                                                                          \
        name, operand, help, MAY_TAKE, NULL, select, offsetof(prompt, list), false             \
    }
#define SETS(name, setting, is_on, help)                                                       \
    {                                                                                          \
        name, "", help, TAKES_NOTHING, NULL, NULL, offsetof(prompt, setting), is_on            \
    }
static const command commands[] = {
    RUNS("?", "", TAKES_NOTHING, run_help, "this list"),
    RUNS("ADD", "FILE", MUST_TAKE, run_add, "add the statistics of a file"),
    SETS("CALLS", has_calls, true, "LIST: with the number of calls of procedures"),
    SETS("COUNTS", has_counts, true, "LIST and EXECUTE: with counts of statements"),
    RUNS("EXECUTE", "PROGRAM ...", MUST_TAKE, run_execute,
         "run a program with the settings made so far"),
    RUNS("INCLUDE", "FILE", MUST_TAKE, run_include, "read commands from a file"),
    RUNS("INFO", "", TAKES_NOTHING, run_info, "the settings"),
    RUNS("LIST", "[FILE]", MAY_TAKE, run_list,
         "report to a file, which LIST alone uses from then on; -: the screen"),
    RUNS("LOAD", "FILE", MUST_TAKE, run_load,
         "take the statistics of a file in place of the current ones"),
    SETS("MODULE", by_module, true, "break the report down to modules"),
    SELECTS("MONITORAREA", "[TITLE|?]", add_area, areas,
            "only procedures of this area in the report; ?: the areas of --config; alone: all "
            "again"),
    SELECTS("MONITORMODULE", "[GLOB]", add_module, modules,
            "only such modules in the report; alone: all again"),
    SETS("NOCALLS", has_calls, false, "no calls"),
    SETS("NOCOUNTS", has_counts, false, "no counts"),
    SELECTS("NOMONITORAREA", "[TITLE]", add_area, no_areas,
            "no procedures of this area in the report; alone: all again"),
    SELECTS("NOMONITORMODULE", "[GLOB]", add_module, no_modules,
            "no such modules in the report; alone: all again"),
    RUNS("PC", "[VIRTUAL|REAL] [MICROSECONDS] [WHEN PATTERN;]", MAY_TAKE, run_pc,
         "EXECUTE: sample the program"),
    SETS("PROCEDURE", by_module, false, "break the report down to procedures"),
    RUNS("QUIT", "", TAKES_NOTHING, run_quit, "end"),
    RUNS("SAVE", "FILE", MUST_TAKE, run_save, "write the statistics to a file"),
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void run_help(prompt *p, const char *rest)
{
    (void)rest;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s %s", commands[i].name, commands[i].operand);
        qp_out_format(&p->cli->out, "%-28s%s%s\n", name,
                      strlen(name) > 27 ? "\n                            " : "",
                      commands[i].help);
    }
    qp_out_text(&p->cli->out, "A name may be shortened as long as it is the only one.\n");
}

/* The command of a name, which may be shortened as long as it is the only one.
 * @return NULL: a message was printed */
static const command *find_command(prompt *p, const char *word, size_t n_bytes)
{
    const command *found = NULL;
    char names[256] = "";
    size_t n_found = 0;
    for (const command *c = commands; c < commands + N_COMMANDS; c++) {
        if (!begins(c->name, word, n_bytes))
            continue;
        if (strlen(c->name) == n_bytes)
            return c;
        found = c;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 n_found++ ? ", " : "", c->name);
    }
    if (n_found == 1)
        return found;
    if (n_found)
        complain(p, "%.*s: ambiguous: %s", (int)n_bytes, word, names);
    else
        complain(p, "%.*s: no such command; ? lists them",
                 (int)(n_bytes < SHOWN ? n_bytes : SHOWN), word);
    return NULL;
}

/* One command. */
static void execute(prompt *p, char *line)
{
    line += strspn(line, " \t\r\n");
    size_t n = *line == '?' ? 1 : strcspn(line, " \t\r\n;");
    char *rest = line + n + strspn(line + n, " \t\r\n");
    for (size_t end = strlen(rest); end && strchr(" \t\r\n", rest[end - 1]);)
        rest[--end] = '\0';
    const command *c = *line ? find_command(p, line, n) : NULL;
    if (!c)
        return;
    void *setting = (char *)p + c->setting;
    if (c->taking == MUST_TAKE && !*rest)
        complain(p, "%s: expected %s %s", c->name, c->name, c->operand);
    else if (c->taking == TAKES_NOTHING && *rest)
        complain(p, "%s takes no operand: %.40s", c->name, rest);
    else if (c->run)
        c->run(p, rest);
    else if (c->select)
        c->select(p, setting, rest);
    else
        *(bool *)setting = c->is_on;
}

/* Does the text begin a PC command with a WHEN whose ; is still missing? */
static bool is_open(const char *text)
{
    text += strspn(text, " \t");
    size_t n = strcspn(text, " \t\r\n");
    bool has_when = false, is_quoted = false;
    if (!begins("PC", text, n) || n != strlen("PC"))
        return false;
    for (text += n; *text && (is_quoted || *text != ';'); text += n) {
        n = strcspn(text, " \t\r\n");
        has_when |= !is_quoted && begins("WHEN", text, n);
        for (size_t i = 0; i < n; i++)
            is_quoted ^= text[i] == '"';
        if (n && !is_quoted && memchr(text, ';', n))
            return false;
        n += n == 0;
    }
    return has_when && *text != ';';
}

static void prompt_for(const prompt *p, const char *text)
{
    if (p->n_includes || !p->cli->screen.is_terminal || !isatty(STDIN_FILENO))
        return;
    qp_out_text(&p->cli->out, text);
    qp_out_flush(&p->cli->out);
}

static void read_commands(prompt *p, int fd)
{
    static char lines[INCLUDES_MOST + 1][2 * LINE_BYTES];
    char *line = lines[p->n_includes];
    line_source source = {.fd = fd};
    prompt_for(p, "MAINPM: ");
    while (!p->must_quit && read_line(&source, line)) {
        size_t n = strlen(line);
        for (bool has_more = true; has_more && is_open(line) && n < LINE_BYTES;) {
            prompt_for(p, "      > ");
            line[n++] = ' ';
            has_more = read_line(&source, line + n);
            n += strlen(line + n);
        }
        p->cli->line = p->n_includes || !p->cli->screen.is_terminal ? source.line : 0;
        if (source.is_too_long)
            complain(p, "the line is longer than %d bytes", LINE_BYTES);
        else
            execute(p, line);
        if (!p->must_quit)
            prompt_for(p, "MAINPM: ");
    }
    p->cli->line = 0;
}

static int run_prompt(qp_cli *cli)
{
    static prompt p; /* large */
    const char *config = cli->args.config;
    p.cli = cli;
    qp_arena_init(&p.texts);
    if (config && qp_config_file_read_areas(cli, config, &p.config) != QP_EXIT_CLEAN) {
        qp_config_file_fini(&p.config);
        return QP_EXIT_UNUSABLE;
    }
    for (int i = 0; i < cli->args.n_operands && !p.has_failed; i++)
        run_add(&p, cli->args.operands[i]);
    bool is_asked = cli->screen.is_terminal && isatty(STDIN_FILENO), is_begun = !p.has_failed;
    if (is_begun)
        read_commands(&p, STDIN_FILENO);
    if (is_begun && is_asked && !p.must_quit) /* after the prompt that was not answered */
        qp_out_char(&cli->out, '\n');
    qp_config_file_fini(&p.config);
    qp_arena_fini(&p.texts);
    return p.has_failed && !is_asked ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

static void print_commands(const qp_screen *s)
{
    qp_screen_text(s, QP_STYLE_HEAD, "\nCommands of the prompt:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        qp_out_format(s->out, "  %-16s %s\n", commands[i].name, commands[i].help);
}

const qp_command qp_command_pm = {
    .name = "pm",
    .operands = "[FILE...]",
    .summary = "the prompt of MAINPM: LIST, ADD, LOAD, SAVE, PC, EXECUTE, ...",
    .about = "Reads commands, one a line, from the terminal, a pipe or a file. Their names may "
             "be shortened and be in any case. FILEs are the statistics to begin with. From a "
             "pipe the exit status is 1 if a command failed.",
    .flags = (const qp_flag[]){QP_TEXT("config", 0, "FILE", config,
                                       "configuration file with the areas of MONITORAREA"),
                               QP_FLAG_MAX_MEMORY, QP_FLAGS_COMMON},
    .examples = "qprof pm run.qprof\n"
                "printf 'pc real 1000\\nexecute qlua script.lua\\nlist\\n' | qprof pm",
    .run = run_prompt,
    .print_more = print_commands};
