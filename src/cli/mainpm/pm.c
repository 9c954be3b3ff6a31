/* pm.c: `qprof pm`: the prompt of MAINPM. Read the table `commands` first. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/mainpm/mainpm.h"

enum { INCLUDES_MOST = 8, SHOWN = 60 };

static void read_commands(qp_pm *p, int fd);

static void run_include(qp_pm *p, const char *rest)
{
    if (p->n_includes == INCLUDES_MOST) {
        qp_pm_complain(p, "%s: files include each other %d deep", rest, INCLUDES_MOST);
        return;
    }
    int fd = open(rest, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        qp_pm_complain(p, "%s: %s", rest, strerror(errno));
        return;
    }
    p->n_includes++;
    read_commands(p, fd);
    p->n_includes--;
    close(fd);
}

static void run_quit(qp_pm *p, const char *rest)
{
    (void)rest;
    p->must_quit = true;
}

static void run_help(qp_pm *p, const char *rest);

/* ---- the table ------------------------------------------------------------------------------- */

typedef enum { TAKES_NOTHING, MAY_TAKE, MUST_TAKE } taking;

static const struct {
    const char *name, *operand, *help;
    taking taking;
    void (*run)(qp_pm *p, const char *rest);
} commands[] = {
    {"?", "", "this list", TAKES_NOTHING, run_help},
    {"ADD", "FILE", "add the statistics of a file", MUST_TAKE, qp_pm_add},
    {"CALLS", "", "LIST: the number of calls of procedures, too", TAKES_NOTHING, qp_pm_calls},
    {"COUNTS", "", "LIST and EXECUTE: counts of statements, too", TAKES_NOTHING, qp_pm_counts},
    {"EXECUTE", "PROGRAM ...", "run a program with the settings made so far", MUST_TAKE,
     qp_pm_execute},
    {"INCLUDE", "FILE", "read commands from a file", MUST_TAKE, run_include},
    {"INFO", "", "the settings", TAKES_NOTHING, qp_pm_info},
    {"LIST", "[FILE]", "report to a file, which LIST alone uses from then on; -: the screen",
     MAY_TAKE, qp_pm_list},
    {"LOAD", "FILE", "take the statistics of a file in place of the current ones", MUST_TAKE,
     qp_pm_load},
    {"MODULE", "", "break the report down to modules", TAKES_NOTHING, qp_pm_module},
    {"MONITORAREA", "[TITLE|?]",
     "only procedures of this area in the report; ?: the areas of --config; alone: all again",
     MAY_TAKE, qp_pm_monitorarea},
    {"MONITORMODULE", "[GLOB]", "only such modules in the report; alone: all again", MAY_TAKE,
     qp_pm_monitormodule},
    {"NOCALLS", "", "no calls", TAKES_NOTHING, qp_pm_nocalls},
    {"NOCOUNTS", "", "no counts", TAKES_NOTHING, qp_pm_nocounts},
    {"NOMONITORAREA", "[TITLE]", "no procedures of this area in the report; alone: all again",
     MAY_TAKE, qp_pm_nomonitorarea},
    {"NOMONITORMODULE", "[GLOB]", "no such modules in the report; alone: all again", MAY_TAKE,
     qp_pm_nomonitormodule},
    {"PC", "[VIRTUAL|REAL] [MICROSECONDS] [WHEN PATTERN;]", "EXECUTE: sample the program",
     MAY_TAKE, qp_pm_pc},
    {"PROCEDURE", "", "break the report down to procedures", TAKES_NOTHING, qp_pm_procedure},
    {"QUIT", "", "end", TAKES_NOTHING, run_quit},
    {"SAVE", "FILE", "write the statistics to a file", MUST_TAKE, qp_pm_save},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void run_help(qp_pm *p, const char *rest)
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

static void refuse(qp_pm *p, const char *word, size_t n_bytes, size_t n_found,
                   const char *const *names)
{
    char found[256] = "";
    for (size_t i = 0; n_found && names[i]; i++)
        if (qp_pm_begins(names[i], word, n_bytes))
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s",
                     *found ? ", " : "", names[i]);
    if (n_found)
        qp_pm_complain(p, "%.*s may be %s", (int)n_bytes, word, found);
    else
        qp_pm_complain(p, "%.*s: no such command; ? lists them",
                       (int)(n_bytes < SHOWN ? n_bytes : SHOWN), word);
}

/* One command. */
static void execute(qp_pm *p, char *line)
{
    const char *names[N_COMMANDS + 1] = {NULL};
    size_t at = 0;
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    line += strspn(line, " \t\r\n");
    size_t n = *line == '?' ? 1 : strcspn(line, " \t\r\n;");
    char *rest = line + n + strspn(line + n, " \t\r\n");
    for (size_t end = strlen(rest); end && strchr(" \t\r\n", rest[end - 1]);)
        rest[--end] = '\0';
    if (!*line)
        return;
    size_t n_found = qp_pm_match(names, line, n, &at);
    if (n_found != 1)
        refuse(p, line, n, n_found, names);
    else if (commands[at].taking == MUST_TAKE && !*rest)
        qp_pm_complain(p, "%s: expected %s %s", commands[at].name, commands[at].name,
                       commands[at].operand);
    else if (commands[at].taking == TAKES_NOTHING && *rest)
        qp_pm_complain(p, "%s stands alone, without %.40s", commands[at].name, rest);
    else
        commands[at].run(p, rest);
}

/* A PC command with a WHEN goes on to its ';'. */
static bool is_open(const char *text)
{
    text += strspn(text, " \t");
    size_t n = strcspn(text, " \t\r\n");
    bool has_when = false, is_quoted = false;
    if (!qp_pm_begins("PC", text, n) || n != strlen("PC"))
        return false;
    for (text += n; *text && (is_quoted || *text != ';'); text += n) {
        n = strcspn(text, " \t\r\n");
        has_when |= !is_quoted && qp_pm_begins("WHEN", text, n);
        for (size_t i = 0; i < n; i++)
            is_quoted ^= text[i] == '"';
        if (n && !is_quoted && memchr(text, ';', n))
            return false;
        n += n == 0;
    }
    return has_when && *text != ';';
}

static void prompt_for(const qp_pm *p, const char *text)
{
    if (p->n_includes || !p->cli->screen.is_terminal || !isatty(STDIN_FILENO))
        return;
    qp_out_text(&p->cli->out, text);
    qp_out_flush(&p->cli->out);
}

static void read_commands(qp_pm *p, int fd)
{
    static char lines[INCLUDES_MOST + 1][2 * QP_PM_LINE_BYTES];
    char *line = lines[p->n_includes];
    qp_pm_source source = {.fd = fd};
    prompt_for(p, "MAINPM: ");
    while (!p->must_quit && qp_pm_read(&source, line)) {
        size_t n = strlen(line);
        for (bool has_more = true; has_more && is_open(line) && n < QP_PM_LINE_BYTES;) {
            prompt_for(p, "      > ");
            line[n++] = ' ';
            has_more = qp_pm_read(&source, line + n);
            n += strlen(line + n);
        }
        p->cli->line = p->n_includes || !p->cli->screen.is_terminal ? source.line : 0;
        if (source.is_too_long)
            qp_pm_complain(p, "the line is longer than %d bytes", QP_PM_LINE_BYTES);
        else
            execute(p, line);
        if (!p->must_quit)
            prompt_for(p, "MAINPM: ");
    }
    p->cli->line = 0;
}

static int run_prompt(qp_cli *cli)
{
    static qp_pm p; /* large */
    const char *config = cli->args.config;
    p.cli = cli;
    qp_arena_init(&p.texts);
    if (config && qp_config_file_read_areas(cli, config, &p.config) != QP_EXIT_CLEAN) {
        qp_config_file_fini(&p.config);
        return QP_EXIT_UNUSABLE;
    }
    for (int i = 0; i < cli->args.n_operands && !p.has_failed; i++)
        qp_pm_add(&p, cli->args.operands[i]);
    bool is_asked = cli->screen.is_terminal && isatty(STDIN_FILENO), is_begun = !p.has_failed;
    if (is_begun)
        read_commands(&p, STDIN_FILENO);
    if (is_begun && is_asked && !p.must_quit) /* behind the prompt that was not answered */
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

static const qp_flag flags[] = {{"config", 0, QP_FLAG_TEXT, "FILE", QP_FLAG_AT(config), NULL,
                                 "configuration file that has the areas of MONITORAREA"},
                                QP_FLAGS_COMMON};

const qp_command qp_command_pm = {
    .name = "pm",
    .operands = "[FILE...]",
    .summary = "the prompt of MAINPM: LIST, ADD, LOAD, SAVE, PC, EXECUTE, ...",
    .about =
        "Reads commands, one a line, from the terminal, a pipe or a file. Their names may be\n"
        "shortened and be in any case. FILEs are the statistics to begin with. From a pipe\n"
        "the exit status is 1 if a command failed.",
    .flags = flags,
    .examples = "qprof pm run.qprof\n"
                "printf 'pc real 1000\\nexecute qlua script.lua\\nlist\\n' | qprof pm",
    .run = run_prompt,
    .print_more = print_commands};
