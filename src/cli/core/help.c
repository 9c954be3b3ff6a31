/* help.c: `qprof help`: help, the man page and the completion of the shell, made from the tables of flags. */
#include "cli/core/cli.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 26, TEXT_LEAST = 20, DEFAULT_COLUMNS = 80, NAME_COLUMNS = 9 };

/* ---- names of commands ---------------------------------------------------------------------- */

/* "report" of "cover report" */
static const char *last_word(const qp_command *command)
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
        qp_args_add_word(words, last_word(*c));
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
        while (*c && strcmp(last_word(*c), words[*n_taken]) != 0)
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

/* "-o, --output=FILE" */
static int print_flag_name(char *to, size_t n_bytes, const qp_flag *f)
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
    int n = print_flag_name(name, sizeof name, f) + 2;
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

static const char *const concepts =
    "FILE is a profile or the process id of a program that is recording; without one it is\n"
    "the newest *.qprof or *.pcv of the current folder. Live and crashed profiles are read "
    "like\n"
    "finished ones.\n"
    "Exit status: 0 clean; 1 the profile was damaged, or a check failed; 2 unusable input\n"
    "or wrong usage.";

void qp_help_all(const qp_cli *cli)
{
    const qp_screen *s = &cli->screen;
    qp_out_text(s->out, "qprof shows where a program of an interpreter spends its time.\n\n");
    qp_screen_text(s, QP_STYLE_HEAD, "Usage:");
    qp_out_text(s->out, " qprof COMMAND [options] [FILE]\n\n");
    print_commands(s, cli->commands);
    qp_out_format(s->out, "\n%s\n\n", concepts);
    qp_screen_text(s, QP_STYLE_HEAD, "Start here:\n");
    qp_out_text(s->out, "  qprof run -- qlua script.lua    record a program\n"
                        "  qprof report                    where the time went\n"
                        "  qprof COMMAND --help            options and examples\n");
}

/* ---- man page ------------------------------------------------------------------------------ */

/* Text of a man page: a backslash, and a dot or quote at the beginning of a line, are commands there. */
static void print_roff(qp_out *out, const char *text)
{
    bool is_begin = true;
    for (; *text; text++) {
        if (is_begin && (*text == '.' || *text == '\''))
            qp_out_text(out, "\\&");
        if (*text == '\\')
            qp_out_text(out, "\\e");
        else if (*text == '-')
            qp_out_text(out, "\\-");
        else
            qp_out_char(out, *text);
        is_begin = *text == '\n';
    }
    qp_out_char(out, '\n');
}

static void print_man_command(qp_out *out, const qp_command *c)
{
    char name[128];
    qp_out_format(out, ".SS qprof %s %s%s\n", c->name, c->subs ? "" : "[options] ",
                  c->operands);
    print_roff(out, c->about);
    for (const qp_flag *f = c->flags; f && f->name; f++) {
        print_flag_name(name, sizeof name, f);
        qp_out_text(out, ".TP\n.B ");
        print_roff(out, name);
        print_roff(out, f->help);
    }
    qp_out_text(out, ".PP\n.nf\n");
    print_roff(out, c->examples);
    qp_out_text(out, ".fi\n");
    for (const qp_command *const *sub = c->subs; sub && *sub; sub++)
        print_man_command(out, *sub);
}

static void print_man(qp_out *out, const qp_command *const *commands)
{
    qp_out_text(out, ".TH QPROF 1 \"\" \"qprof " QPROF_VERSION_TEXT "\" \"User commands\"\n"
                     ".SH NAME\nqprof \\- profiler for interpreters\n"
                     ".SH SYNOPSIS\n.B qprof\n.I COMMAND\n[options] [\\fIFILE\\fR]\n"
                     ".SH DESCRIPTION\n");
    print_roff(out, concepts);
    qp_out_text(out, ".SH COMMANDS\n");
    for (const qp_command *const *c = commands; *c; c++)
        print_man_command(out, *c);
    qp_out_text(out, ".SH ENVIRONMENT\n.TP\n.B QPROF\nOptions of the recorder.\n"
                     ".TP\n.B NO_COLOR\nNo colours, if not empty.\n");
}

/* ---- completion ---------------------------------------------------------------------------- */

/* The last words of commands' names. */
static void print_words(qp_out *out, const qp_command *const *c)
{
    for (; *c; c++)
        qp_out_format(out, "%s ", last_word(*c));
}

/* A case of the name, or of both words of it, for each command. */
static void print_cases(qp_out *out, const qp_command *const *c)
{
    for (; *c; c++) {
        if ((*c)->subs) {
            qp_out_format(out, "    %s\\ *) words='", (*c)->name);
            print_words(out, (*c)->subs);
            qp_out_text(out, "' ;;&\n");
            print_cases(out, (*c)->subs);
            continue;
        }
        const char *blank = strchr((*c)->name, ' ');
        if (blank)
            qp_out_format(out, "    %.*s\\ %s) words= flags='", (int)(blank - (*c)->name),
                          (*c)->name, blank + 1);
        else
            qp_out_format(out, "    %s\\ *) flags='", (*c)->name);
        for (const qp_flag *f = (*c)->flags; f->name; f++)
            qp_out_format(out, "--%s%s ", f->name, f->value ? "=" : "");
        qp_out_text(out, "' ;;\n");
    }
}

static void print_completion(qp_out *out, const qp_command *const *commands)
{
    qp_out_text(out,
                "# bash completion of qprof\n_qprof() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} flags= words=\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    print_words(out, commands);
    qp_out_text(out, "--help --version' -- \"$word\"))\n        return\n    fi\n"
                     "    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    print_cases(out, commands);
    qp_out_text(out, "    esac\n"
                     "    [ \"$COMP_CWORD\" -eq 2 ] || words=\n"
                     "    case $word in\n"
                     "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
                     "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                     "       [ -n \"$words\" ] || COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                     "    esac\n}\ncomplete -o nospace -F _qprof qprof\n");
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
    if (cli->args.is_man) {
        print_man(&cli->out, cli->commands);
        return QP_EXIT_CLEAN;
    }
    if (cli->args.is_completion) {
        print_completion(&cli->out, cli->commands);
        return QP_EXIT_CLEAN;
    }
    const char *schema = cli->args.schema;
    if (schema)
        return print_schema(cli, cli->commands, schema)
                   ? QP_EXIT_CLEAN
                   : qp_cli_fail(cli, "--schema=%s: no such document; docs/json.md lists them",
                                 schema);
    if (!n) {
        qp_help_all(cli);
        return QP_EXIT_CLEAN;
    }
    const qp_command *command = qp_cli_command(cli, n, cli->args.operands, &n_taken);
    if (!command)
        return QP_EXIT_UNUSABLE;
    qp_help_command(&cli->screen, command);
    return QP_EXIT_CLEAN;
}

static const qp_flag flags[] = {
    QP_YES("man", 0, is_man, "the man page, for man -l -"),
    QP_YES("completion", 0, is_completion, "completion for bash"),
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
                                                "source <(qprof help --completion)",
                                    .run = run_help};
