/* help.c: `qprof help`, made from the tables of commands and flags. Man pages: manual.c. */
#include "cli/core/cli.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 26, TEXT_LEAST = 20, DEFAULT_COLUMNS = 80, NAME_COLUMNS = 9 };

/* ---- names of commands ---------------------------------------------------------------------- */

const char *qp_command_word(const qp_command *command)
{
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

static void refuse_command(const qp_cli *cli, const qp_command *group, const char *name)
{
    char words[QP_WORDS_BYTES] = "", before[64] = "", hint[QP_HINT_BYTES], otherwise[80];
    if (group)
        snprintf(before, sizeof before, "%s ", group->name);
    for (const qp_command *const *c = group ? group->subs : cli->commands; *c; c++)
        qp_args_add_word(words, qp_command_word(*c));
    snprintf(otherwise, sizeof otherwise, "see qprof help%s%s", group ? " " : "",
             group ? group->name : "");
    qp_cli_fail(cli, "unknown command %s%s%s", before, name,
                qp_args_hint(hint, words, name, strlen(name), before, otherwise));
}

const qp_command *qp_cli_command(const qp_cli *cli, int n, char *const *words, int *n_taken)
{
    const qp_command *found = NULL;
    *n_taken = 0;
    while (*n_taken < n && (!found || found->subs)) {
        const qp_command *const *c = found ? found->subs : cli->commands;
        if (found && words[*n_taken][0] == '-')
            return found;
        while (*c && strcmp(qp_command_word(*c), words[*n_taken]) != 0)
            c++;
        if (!*c) {
            refuse_command(cli, found, words[*n_taken]);
            return NULL;
        }
        found = *c;
        ++*n_taken;
    }
    return found;
}

/* ---- help of a command ---------------------------------------------------------------------- */

int qp_flag_name(char *to, size_t n_bytes, const qp_flag *f)
{
    char letter[8] = "";
    if (f->letter)
        snprintf(letter, sizeof letter, "-%c, ", f->letter);
    return snprintf(to, n_bytes, "%s--%s%s%s", letter, f->name, f->value ? "=" : "",
                    f->value ? f->value : "");
}

void qp_help_text(const qp_screen *s, const char *text, unsigned indent, unsigned column)
{
    unsigned most = s->n_columns > indent + TEXT_LEAST ? s->n_columns : DEFAULT_COLUMNS;
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (column > indent && column + 1 + n > most) {
            qp_out_char(s->out, '\n');
            column = 0;
        } else if (column > indent) {
            qp_out_char(s->out, ' ');
            column++;
        }
        if (column < indent) {
            qp_out_repeat(s->out, ' ', indent - column);
            column = indent;
        }
        qp_out_bytes(s->out, text, n);
        column += (unsigned)n;
        text += n + (text[n] != '\0');
    }
    qp_out_char(s->out, '\n');
}

static void print_flag(const qp_screen *s, const qp_flag *f)
{
    char name[128], text[512];
    int n = qp_flag_name(name, sizeof name, f) + 2;
    snprintf(text, sizeof text, f->initial ? "%s (default %s)" : "%s", f->help, f->initial);
    qp_out_text(s->out, "  ");
    qp_screen_text(s, QP_STYLE_HEAD, name);
    if (n + 2 > TEXT_COLUMN) {
        qp_out_char(s->out, '\n');
        n = 0;
    }
    qp_help_text(s, text, TEXT_COLUMN, (unsigned)n);
}

/* Lines of text, indented by two. */
static void print_lines(const qp_screen *s, const char *text)
{
    while (*text) {
        const char *end = strchr(text, '\n');
        size_t n = end ? (size_t)(end - text) : strlen(text);
        qp_out_text(s->out, "  ");
        qp_out_bytes(s->out, text, n);
        qp_out_char(s->out, '\n');
        text += n + (end != NULL);
    }
}

static void print_commands(const qp_screen *s, const qp_command *const *c)
{
    qp_screen_text(s, QP_STYLE_HEAD, "Commands:\n");
    for (; *c; c++)
        qp_out_format(s->out, "  %-*s %s\n",
                      NAME_COLUMNS + 6 * (strchr((*c)->name, ' ') != NULL), (*c)->name,
                      (*c)->summary);
}

void qp_help_command(const qp_screen *s, const qp_command *command)
{
    qp_screen_text(s, QP_STYLE_HEAD, "Usage:");
    qp_out_format(s->out, " qprof %s %s%s\n\n", command->name,
                  command->subs ? "" : "[options] ", command->operands);
    qp_help_text(s, command->about, 0, 0);
    qp_out_char(s->out, '\n');
    if (command->subs) {
        print_commands(s, command->subs);
    } else {
        qp_screen_text(s, QP_STYLE_HEAD, "Options:\n");
        for (const qp_flag *f = command->flags; f->name; f++)
            print_flag(s, f);
    }
    if (command->print_more)
        command->print_more(s);
    qp_screen_text(s, QP_STYLE_HEAD, "\nExamples:\n");
    print_lines(s, command->examples);
}

const char *const qp_help_concepts =
    "FILE is a profile or the process id of a program that is recording; without one it is\n"
    "the newest *.qprof or *.pcv of the current folder. Live and crashed profiles are read "
    "like\n"
    "finished ones.\n"
    "Exit status: 0 clean; 1 the profile was damaged, or a check failed; 2 unusable input\n"
    "or wrong usage; 3 a check cannot tell.";

void qp_help_all(const qp_cli *cli)
{
    const qp_screen *s = &cli->screen;
    qp_out_text(s->out, "qprof shows where a program of an interpreter spends its time.\n\n");
    qp_screen_text(s, QP_STYLE_HEAD, "Usage:");
    qp_out_text(s->out, " qprof COMMAND [options] [FILE]\n\n");
    print_commands(s, cli->commands);
    qp_out_format(s->out, "\n%s\n\n", qp_help_concepts);
    qp_screen_text(s, QP_STYLE_HEAD, "Start here:\n");
    qp_out_text(s->out, "  qprof run -- qlua script.lua    record a program\n"
                        "  qprof report                    where the time went\n"
                        "  qprof COMMAND --help            options and examples\n");
}

/* ---- schemas ------------------------------------------------------------------------------- */

static bool print_schema(const qp_cli *cli, const qp_command *const *c, const char *name)
{
    char title[128];
    for (; *c; c++) {
        for (const qp_schema *x = (*c)->schemas; x && x->name; x++) {
            if (strcmp(x->name, name) != 0)
                continue;
            snprintf(title, sizeof title, "qprof %s --%s=json", (*c)->name,
                     strcmp((*c)->name, "export") == 0 ? "to" : "format");
            qp_fields_schema(cli->screen.out, x->fields, title);
            return true;
        }
        if ((*c)->subs && print_schema(cli, (*c)->subs, name))
            return true;
    }
    return false;
}

/* ---- the command --------------------------------------------------------------------------- */

static int run_help(qp_cli *cli)
{
    int n_taken, n = cli->args.n_operands;
    if (cli->args.completion) {
        qp_completion_script(&cli->out, cli->args.completion);
        return QP_EXIT_CLEAN;
    }
    if (cli->args.is_completing) {
        qp_complete(cli, n, cli->args.operands);
        return QP_EXIT_CLEAN;
    }
    if (cli->args.folder)
        return qp_manual_files(cli, cli->args.folder);
    const char *schema = cli->args.schema;
    if (schema)
        return print_schema(cli, cli->commands, schema)
                   ? QP_EXIT_CLEAN
                   : qp_cli_fail(cli, "--schema=%s: no such document; docs/json.md lists them",
                                 schema);
    if (cli->args.is_man && n == 1 && strcmp(cli->args.operands[0], "options") == 0) {
        qp_manual_options(&cli->out);
        return QP_EXIT_CLEAN;
    }
    const qp_command *command = NULL;
    if (n && !(command = qp_cli_command(cli, n, cli->args.operands, &n_taken)))
        return QP_EXIT_UNUSABLE;
    if (cli->args.is_man)
        qp_manual_page(cli, &cli->out, command);
    else if (command)
        qp_help_command(&cli->screen, command);
    else
        qp_help_all(cli);
    return QP_EXIT_CLEAN;
}

static const qp_flag flags[] = {
    QP_YES("man", 0, is_man,
           "the man page of qprof, of a command, or of \"options\"; for man -l -"),
    QP_ONE_OF("completion", 0, "bash|zsh|fish", completion, "the shell's completion of qprof"),
    QP_YES("complete", 0, is_completing,
           "what can complete the last of the words after --; the completions call this"),
    QP_TEXT("files", 0, "DIR", folder, "all man pages and completions, as files of a folder"),
    QP_TEXT(
        "schema", 0, "NAME", schema,
        "JSON Schema of what a command writes with --format=json: report, tree, cover, ..."),
    QP_FLAGS_COMMON};

const qp_command qp_command_help = {.name = "help",
                                    .operands = "[COMMAND]",
                                    .summary = "help of qprof, or of one of its commands",
                                    .about = "Shows how to use qprof, or one of its commands.",
                                    .flags = flags,
                                    .examples = "qprof help report\n"
                                                "qprof help --man | man -l -\n"
                                                "qprof help --man options | man -l -\n"
                                                "source <(qprof help --completion=bash)",
                                    .run = run_help};
