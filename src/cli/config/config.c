/* config.c: `qprof config`: checks, shows and applies configuration files. */
#include <stdio.h>
#include <string.h>

#include "base/text/table_text.h"
#include "base/text/unit.h"
#include "cli/config/config.h"
#include "config/config.h"

enum { ENABLED_MAX = 50 };

/* ---- check --------------------------------------------------------------------------------- */

/* Warn of what is valid and probably not intended. */
static void warn_of(const qp_cli *cli, const qp_config_file *f, const char *path)
{
    if (f->initial_status == QP_SETTING_NO && f->has_active && !f->turns_on)
        qp_cli_warn(
            cli,
            "%s: profiling may be off for the whole run: threads begin disabled, and no "
            "checked trigger or action enables them",
            path);
    if (f->initial_status == QP_SETTING_NO && !f->has_active)
        qp_cli_warn(cli,
                    "%s: initial-status off does nothing: it needs a checked trigger, or an "
                    "action that enables threads",
                    path);
    if (f->triggers.n && f->triggering != QP_SETTING_YES)
        qp_cli_warn(cli,
                    "%s: no line triggering on: event triggers do nothing until the program "
                    "enables them",
                    path);
}

/* Print ", 2 triggers, 1 area". */
static void count_objects(const qp_screen *s, const qp_config_file *f)
{
    static const char *const kinds[] = {"trigger", "action", "area"};
    const qp_config_object *all = f->objects.items;
    char text[QP_NUMBER_BYTES];
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t n = 0;
        for (size_t i = 0; i < f->objects.n; i++)
            n += strcmp(all[i].kind, kinds[k]) == 0;
        if (n)
            qp_out_format(s->out, ", %s", qp_unit_things(text, n, kinds[k]));
    }
    if (f->triggers.n)
        qp_out_format(s->out, ", %s", qp_unit_things(text, f->triggers.n, "event trigger"));
    if (f->n_options)
        qp_out_format(s->out, ", %s", qp_unit_things(text, f->n_options, "line"));
    if (f->n_options)
        qp_out_text(s->out, " of options");
}

static int run_check(qp_cli *cli)
{
    qp_config_file f;
    if (cli->args.n_operands != 1)
        return qp_cli_fail(cli, "usage: qprof config check FILE");
    const char *path = cli->args.operands[0];
    int status = qp_config_file_read(cli, path, &f);
    if (status == QP_EXIT_CLEAN) {
        warn_of(cli, &f, path);
        qp_screen_name(&cli->screen, path, 0);
        qp_out_text(cli->screen.out, ": no mistakes");
        count_objects(&cli->screen, &f);
        qp_out_char(cli->screen.out, '\n');
    }
    qp_config_file_fini(&f);
    return status;
}

/* ---- show ---------------------------------------------------------------------------------- */

/* Options, the initial status of threads and of the gate, pc, trace and pri, and predefined areas, as lines of
 * a file. */
static void show_lines(const qp_screen *s, const qp_config_file *f)
{
    const qp_config_line *all = f->lines.items;
    if (f->initial_status != QP_SETTING_NONE)
        qp_out_format(s->out, "initial-status %s\n",
                      f->initial_status == QP_SETTING_YES ? "on" : "off");
    if (f->profiling != QP_SETTING_NONE)
        qp_out_format(s->out, "profiling %s\n", f->profiling == QP_SETTING_YES ? "on" : "off");
    for (size_t i = 0; i < f->lines.n; i++) {
        qp_out_text(s->out, all[i].kind);
        qp_screen_name(s, all[i].text, 0);
        qp_out_char(s->out, '\n');
    }
    if (f->lines.n || f->initial_status != QP_SETTING_NONE || f->profiling != QP_SETTING_NONE)
        qp_out_char(s->out, '\n');
}

/* A row for each object, and one for each further name. */
static bool show_objects(const qp_screen *s, const qp_config_file *f)
{
    const qp_config_object *all = f->objects.items;
    enum { N_BEFORE_NAMES = 4 };
    static const qp_column columns[] = {{"Kind", QP_ALIGN_LEFT, 0},
                                        {"Name", QP_KEEP_BEGIN, 0},
                                        {"What", QP_KEEP_BEGIN, 0},
                                        {"Checked", QP_ALIGN_LEFT, 1},
                                        {"Names", QP_KEEP_BEGIN, 0}};
    const char *const *words = f->words.items;
    char what[160];
    qp_table t;
    if (!f->objects.n)
        return true;
    qp_table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < f->objects.n; i++) {
        qp_table_plain(&t, QP_STYLE_PLAIN, all[i].kind);
        qp_table_name(&t, QP_STYLE_PLAIN, all[i].name);
        snprintf(what, sizeof what, "%s%s", all[i].what,
                 all[i].has_parameters ? ", parameters" : "");
        qp_table_plain(&t, QP_STYLE_PLAIN, what);
        qp_table_plain(&t, QP_STYLE_PLAIN, all[i].is_checked ? "yes" : "no");
        for (uint32_t k = 0; k < all[i].n_names; k++) {
            for (unsigned c = 0; k && c < N_BEFORE_NAMES; c++)
                qp_table_plain(&t, QP_STYLE_PLAIN, "");
            qp_table_name(&t, QP_STYLE_PLAIN, words[all[i].first_word + k]);
        }
    }
    bool is_good = qp_table_end(&t, s, 0);
    qp_out_char(s->out, '\n');
    return is_good;
}

static void show_triggers(const qp_screen *s, const qp_config_file *f)
{
    const qp_config_event_trigger *all = f->triggers.items;
    char line[QP_SHOWN_BYTES];
    qp_show_head(line);
    qp_screen_text(s, QP_STYLE_HEAD, line);
    qp_out_char(s->out, '\n');
    for (size_t i = 0; i < f->triggers.n; i++) {
        const qp_shown shown = {.trigger = all[i], .is_initially_enabled = all[i].is_enabled};
        qp_show_line(&shown, line);
        qp_out_format(s->out, "%s\n", line);
    }
    qp_show_foot(f->n_enabled, ENABLED_MAX, f->triggering == QP_SETTING_YES, 0, line);
    qp_out_format(s->out, "%s\n", line);
}

static int run_show(qp_cli *cli)
{
    qp_config_file f;
    if (cli->args.n_operands != 1)
        return qp_cli_fail(cli, "usage: qprof config show FILE");
    int status = qp_config_file_read(cli, cli->args.operands[0], &f);
    if (status == QP_EXIT_CLEAN)
        show_lines(&cli->screen, &f);
    if (status == QP_EXIT_CLEAN && !show_objects(&cli->screen, &f))
        status = qp_cli_fail_memory(cli);
    if (status == QP_EXIT_CLEAN)
        show_triggers(&cli->screen, &f);
    qp_config_file_fini(&f);
    return status;
}

/* ---- apply --------------------------------------------------------------------------------- */

static int run_apply(qp_cli *cli)
{
    qp_config_file f;
    if (cli->args.n_operands != 2)
        return qp_cli_fail(cli, "usage: qprof config apply PID FILE");
    int status = qp_config_file_read(cli, cli->args.operands[1], &f);
    if (status == QP_EXIT_CLEAN)
        status = qp_config_apply(cli, cli->args.operands[0], cli->args.operands[1]);
    qp_config_file_fini(&f);
    return status;
}

/* ---- the group ----------------------------------------------------------------------------- */

static const qp_command command_check = {
    .name = "config check",
    .operands = "FILE",
    .summary = "mistakes in a configuration file",
    .about = "Reads the file as a run does, and applies nothing. A mistake is reported with "
             "its line, its column and what was expected there; the exit status is 1 then.",
    .flags = qp_flags_common,
    .examples = "qprof config check qprof.conf",
    .run = run_check};

static const qp_command command_show = {
    .name = "config show",
    .operands = "FILE",
    .summary = "contents of a configuration file",
    .about =
        "Lists the initial status of threads and of the gate, options, pc, trace and pri "
        "lines, settings of predefined areas, then triggers, actions and areas with their "
        "names, then event triggers as "
        "qprof_trg_show() lists those of a run. They do not exist yet: ids are not set, and "
        "there are no hits.",
    .flags = qp_flags_common,
    .examples = "qprof config show qprof.conf",
    .run = run_show};

static const qp_command command_apply = {
    .name = "config apply",
    .operands = "PID FILE",
    .summary = "application of a configuration file to a running program",
    .about = "Triggers, actions, areas and event triggers of the file replace those of earlier "
             "files; those that the program made stay. A file with a mistake changes nothing. "
             "Options can be set only before the first call, and are refused later. The "
             "program must have been started with -config=FILE or -apply.",
    .flags = qp_flags_common,
    .examples = "qprof run --apply -- qlua server.lua &\n"
                "qprof config apply $! narrow.conf",
    .run = run_apply};

static const qp_command *const subs[] = {&command_check, &command_show, &command_apply, NULL};

const qp_command qp_command_config = {
    .name = "config",
    .operands = "COMMAND ...",
    .summary = "configuration files: triggers, actions, areas, event triggers",
    .about = "A configuration file chooses when and where to record: docs/config.md. A run "
             "reads it with -config=FILE (qprof run --config=FILE).",
    .examples = "qprof config check qprof.conf\n"
                "qprof config apply 4242 qprof.conf",
    .subs = subs};
