/* manual.c: man pages, made from the tables of commands and flags and of the recorder's options. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/os/new_file.h"
#include "cli/core/cli.h"
#include "format/options.h"

/* ---- roff ------------------------------------------------------------------------------------ */

/* Some bytes as text: characters that roff would interpret are spelled. */
static void print_bytes(qp_out *out, const char *text, size_t n)
{
    static const char *const spelled[] = {['\\'] = "\\e",  ['-'] = "\\-",   ['\''] = "\\(aq",
                                          ['`'] = "\\(ga", ['^'] = "\\(ha", ['~'] = "\\(ti"};
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '.' && (i == 0 || text[i - 1] == '\n'))
            qp_out_text(out, "\\&");
        if (c < sizeof spelled / sizeof *spelled && spelled[c])
            qp_out_text(out, spelled[c]);
        else
            qp_out_char(out, (char)c);
        if (c == '|')
            qp_out_text(out, "\\:"); /* a line may end here */
    }
}

static void print_text(qp_out *out, const char *text)
{
    print_bytes(out, text, strlen(text));
}

static void print_paragraph(qp_out *out, const char *text)
{
    print_text(out, text);
    qp_out_char(out, '\n');
}

/* Lines as they are. */
static void print_lines(qp_out *out, const char *text, size_t n)
{
    qp_out_text(out, ".nf\n");
    print_bytes(out, text, n);
    qp_out_text(out, n && text[n - 1] == '\n' ? ".fi\n" : "\n.fi\n");
}

/* "qprof\-report", or "qprof": the name of a page. @param part  NULL: none */
static void print_name(qp_out *out, const char *part)
{
    qp_out_text(out, part ? "qprof\\-" : "qprof");
    print_text(out, part ? part : "");
}

static void print_head(qp_out *out, const char *part, int section, const char *what)
{
    char upper[64] = "";
    for (size_t i = 0; part && part[i] && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)part[i]);
    qp_out_format(
        out, ".TH QPROF%s%s %d \"\" \"qprof " QPROF_VERSION_TEXT "\" \"%s\"\n.ad l\n.SH NAME\n",
        part ? "-" : "", upper, section, section == 1 ? "User commands" : "Options");
    print_name(out, part);
    qp_out_text(out, " \\- ");
    print_paragraph(out, what);
}

/* ---- commands -------------------------------------------------------------------------------- */

static void print_flag(qp_out *out, const qp_flag *f)
{
    char name[128];
    qp_flag_name(name, sizeof name, f);
    qp_out_text(out, ".TP\n.B ");
    print_paragraph(out, name);
    print_text(out, f->help);
    if (f->initial) {
        qp_out_text(out, " (default ");
        print_text(out, f->initial);
        qp_out_char(out, ')');
    }
    qp_out_char(out, '\n');
}

static void print_synopsis(qp_out *out, const qp_command *c)
{
    qp_out_text(out, ".B qprof ");
    print_paragraph(out, c->name);
    if (!c->subs)
        qp_out_text(out, "[options]\n");
    if (*c->operands)
        print_paragraph(out, c->operands);
}

static void print_options(qp_out *out, const qp_command *c)
{
    static qp_out more; /* it is kept in its buffer */
    for (const qp_flag *f = c->flags; f && f->name; f++)
        print_flag(out, f);
    if (!c->print_more)
        return;
    qp_out_init(&more, -1);
    c->print_more(&(qp_screen){.out = &more});
    size_t blank = more.n_bytes && more.bytes[0] == '\n';
    qp_out_text(out, ".PP\n");
    print_lines(out, more.bytes + blank, more.n_bytes - blank);
}

static void print_commands(qp_out *out, const qp_command *const *c)
{
    for (; *c; c++) {
        qp_out_text(out, ".TP\n.BR ");
        print_name(out, (*c)->name);
        qp_out_text(out, " (1)\n");
        print_paragraph(out, (*c)->summary);
    }
}

static void print_all(const qp_cli *cli, qp_out *out)
{
    print_head(out, NULL, 1, "record programs of interpreters, and show profiles");
    qp_out_text(out, ".SH SYNOPSIS\n.B qprof\n.I COMMAND\n[options] [\\fIFILE\\fR]\n"
                     ".SH DESCRIPTION\n");
    print_paragraph(out, qp_help_concepts);
    qp_out_text(out, ".SH COMMANDS\n");
    print_commands(out, cli->commands);
    qp_out_text(out, ".SH ENVIRONMENT\n.TP\n.B QPROF\n"
                     "options of the recorder, see\n.BR qprof\\-options (7).\n"
                     "If it is set, hosts record without\n.BR \"qprof run\" .\n"
                     ".TP\n.B NO_COLOR\nno colours, if it is not empty\n"
                     ".SH EXAMPLES\n.nf\nqprof run \\-\\- qlua script.lua\nqprof report\n"
                     "qprof tree \\-\\-hottest\nqprof html\n.fi\n"
                     ".SH SEE ALSO\n.BR qlua (1),\n.BR qprof\\-options (7)\n");
}

void qp_manual_page(const qp_cli *cli, qp_out *out, const qp_command *c)
{
    if (!c) {
        print_all(cli, out);
        return;
    }
    print_head(out, c->name, 1, c->summary);
    qp_out_text(out, ".SH SYNOPSIS\n");
    print_synopsis(out, c);
    qp_out_text(out, ".SH DESCRIPTION\n");
    print_paragraph(out, c->about);
    if (c->subs)
        qp_out_text(out, ".SH COMMANDS\n");
    for (const qp_command *const *sub = c->subs; sub && *sub; sub++) {
        qp_out_text(out, ".SS qprof ");
        print_paragraph(out, (*sub)->name);
        print_synopsis(out, *sub);
        qp_out_text(out, ".PP\n");
        print_paragraph(out, (*sub)->about);
        print_options(out, *sub);
        qp_out_text(out, ".PP\n");
        print_lines(out, (*sub)->examples, strlen((*sub)->examples));
    }
    if (!c->subs) {
        qp_out_text(out, ".SH OPTIONS\n");
        print_options(out, c);
    }
    qp_out_text(out, ".SH EXAMPLES\n");
    print_lines(out, c->examples, strlen(c->examples));
    qp_out_text(out, ".SH SEE ALSO\n.BR qprof (1)");
    qp_out_text(out, c->takes_rest ? ",\n.BR qprof\\-options (7)\n" : "\n");
}

void qp_manual_options(qp_out *out)
{
    print_head(out, "options", 7, "options of a recording");
    qp_out_text(out, ".SH SYNOPSIS\n.B qprof run\n\\-\\-NAME=VALUE ... \\-\\- PROGRAM\n.br\n"
                     "QPROF=\"\\-NAME=VALUE ...\"\nPROGRAM\n.SH DESCRIPTION\n"
                     "A program that uses libqprof takes its options from the variable QPROF,\n"
                     "separated by spaces, a value with spaces in quotes;\n.B qprof run\n"
                     "sets it.\n.SH OPTIONS\n");
    for (unsigned i = 0; i < QP_N_OPTIONS; i++) {
        const qp_option which = (qp_option)i;
        qp_out_text(out, ".TP\n.B \\-");
        print_text(out, qp_option_name(which));
        qp_out_char(out, '=');
        print_paragraph(out, qp_option_kind_of(which) == QP_OPTION_BOOL
                                 ? "yes|no"
                                 : qp_option_values(which));
        print_text(out, qp_option_help[i]);
        if (*qp_option_initial(which)) {
            qp_out_text(out, " (default ");
            print_text(out, qp_option_initial(which));
            qp_out_char(out, ')');
        }
        qp_out_char(out, '\n');
    }
    qp_out_text(out, ".SH SEE ALSO\n.BR qprof\\-run (1)\n");
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const qp_command *command; /* NULL: none */
    const char *shell;         /* of a completion; NULL: a man page */
    bool is_options;
} page;

static int write_page(const qp_cli *cli, const char *folder, const page *p)
{
    static qp_new_file file; /* 72 KiB: not on the stack */
    char path[QP_NEW_FILE_PATH_BYTES];
    const char *why;
    snprintf(path, sizeof path, "%s/%s", folder, p->name);
    bool is_good = qp_new_file_begin(&file, path, &why);
    if (!is_good)
        return qp_cli_fail(cli, "%s: %s", path, why);
    if (p->shell)
        qp_completion_script(&file.out, p->shell);
    else if (p->is_options)
        qp_manual_options(&file.out);
    else
        qp_manual_page(cli, &file.out, p->command);
    return qp_new_file_end(&file, &why) ? QP_EXIT_CLEAN : qp_cli_fail(cli, "%s: %s", path, why);
}

int qp_manual_files(const qp_cli *cli, const char *folder)
{
    static const page others[] = {{.name = "qprof.1"},
                                  {.name = "qprof-options.7", .is_options = true},
                                  {.name = "qprof.bash", .shell = "bash"},
                                  {.name = "_qprof", .shell = "zsh"},
                                  {.name = "qprof.fish", .shell = "fish"}};
    int status = QP_EXIT_CLEAN;
    for (size_t i = 0; !status && i < sizeof others / sizeof *others; i++)
        status = write_page(cli, folder, &others[i]);
    for (const qp_command *const *c = cli->commands; !status && *c; c++) {
        char name[64];
        snprintf(name, sizeof name, "qprof-%s.1", (*c)->name);
        status = write_page(cli, folder, &(page){.name = name, .command = *c});
    }
    return status;
}
