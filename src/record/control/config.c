/* config.c: reading options and configuration files, and making what they say. Read apply_source and
 * making first. */
#include "record/control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/file.h"
#include "base/os/mapping.h"
#include "base/os/system.h"
#include "record/stream/stream.h"

enum { FILE_MAX = 256 << 20, UNKNOWN_MAX = 16 };

/* What is counted as soon as the file exists. */
static struct {
    unsigned n_clamped, n_unknown, n_of_environment; /* unknown ones that come first */
    bool env_ignored, is_environment;                /* being read */
    char unknown[UNKNOWN_MAX][32];
} pending;

static void note_unknown(QP_UNUSED void *unused, const char *name)
{
    if (pending.n_unknown < UNKNOWN_MAX)
        snprintf(pending.unknown[pending.n_unknown], sizeof pending.unknown[0], "%s", name);
    pending.n_unknown++;
}

static void note_clamped(QP_UNUSED void *unused, QP_UNUSED const char *name)
{
    pending.n_clamped++;
}

static const qp_option_events in_file = {.unknown = note_unknown, .clamped = note_clamped};

/* ---- triggers, actions, areas ------------------------------------------------------------ */

/* "profiling on|off" of the file. */
static qp_config_setting profiling;

static int on_switch(QP_UNUSED void *unused, qp_config_switch which, bool is_on,
                     QP_UNUSED qp_error *error)
{
    qp_config_setting setting = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    if (which == QP_SWITCH_INITIAL_STATUS)
        qp_triggers_initial_status(is_on);
    else if (which == QP_SWITCH_PROFILING)
        profiling = setting;
    else
        qp_event_triggers.triggering = setting;
    return 0;
}

static int make(qp_trigger_kind kind, const char *name, unsigned type, unsigned when,
                qp_config_list list, qp_trigger **trigger, qp_error *error)
{
    *trigger = qp_trigger_create(kind, name, type, when);
    if (!*trigger && qp_trigger_find(kind, name))
        return qp_error_set(error, QPROF_E_ARG,
                            "%.80s: this name is already used for this kind of object", name);
    int code = *trigger ? 0 : QPROF_E_STATE;
    for (qp_config_element e; !code && qp_config_next(&list, &e);)
        code = qp_trigger_add(*trigger, &e);
    if (code)
        qp_error_set(error, code, "%.80s: cannot be made: no memory, or only stacks are kept",
                     name);
    return code;
}

static int on_trigger(QP_UNUSED void *unused, const qp_config_trigger *t, qp_error *error)
{
    qp_trigger *trigger;
    unsigned type = t->is_on ? QPROF_TRIGGER_ON : QPROF_TRIGGER_OFF;
    QP_TRY(make(QP_KIND_TRIGGER, t->name, type, 0, t->routines, &trigger, error));
    qp_store(&trigger->pass, t->pass);
    qp_store(&trigger->work, t->work);
    qp_store(&trigger->is_cycling, t->is_cycling);
    qp_store(&trigger->is_for_all, t->is_for_all_threads);
    qp_trigger_set_checked(trigger, t->is_checked);
    return 0;
}

static int on_action(QP_UNUSED void *unused, const qp_config_action *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned when = a->is_at_exit ? QPROF_ON_EXIT : QPROF_ON_ENTER;
    int code = make(QP_KIND_ACTION, a->name, a->kind, when, a->routines, &trigger, error);
    if (!code)
        qp_trigger_set_checked(trigger, a->is_checked);
    return code;
}

static int on_area(QP_UNUSED void *unused, const qp_config_area *a, qp_error *error)
{
    qp_trigger *trigger;
    unsigned mode = a->is_excluding ? QPROF_AREA_EXCLUDE : QPROF_AREA_INCLUDE;
    unsigned level = a->lines == QP_SETTING_NO ? QPROF_LEVEL_ROUTINES : QPROF_LEVEL_LINES;
    if (a->has_mode) {
        QP_TRY(make(QP_KIND_AREA, a->name, mode, level, a->elements, &trigger, error));
    } else {
        trigger = qp_trigger_find(QP_KIND_AREA, a->name);
        if (!trigger)
            return qp_error_set(error, QPROF_E_NOTFOUND,
                                "%.80s: no such area (expected include or exclude)", a->name);
    }
    if (a->parameters != QP_SETTING_NONE)
        qp_store(&trigger->has_parameters, a->parameters == QP_SETTING_YES);
    if (a->checked != QP_SETTING_NONE)
        qp_trigger_set_checked(trigger, a->checked == QP_SETTING_YES);
    return 0;
}

/* ---- event triggers ------------------------------------------------------------------------ */

static void begin_event_triggers(bool replaces)
{
    for (qp_event_trigger *t = NULL; replaces && (t = qp_event_trigger_next(t));) {
        if (t->origin != QP_OF_FILE)
            continue;
        qp_event_trigger_drop_name(t);
        t->origin = QP_SET_ASIDE;
    }
    qp_event_triggers.is_reading = true;
    qp_event_triggers.triggering = QP_SETTING_NONE;
    qp_event_triggers.n_wanted = 0;
}

/* Count those that will be enabled when the file is in force. */
static uint32_t count_staying(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < QPROF_TRG_MAX_ENABLED; i++) {
        uint32_t cell = qp_observe(&qp_event_triggers.slots[i]);
        n += cell && qp_event_trigger_at(cell)->origin != QP_SET_ASIDE;
    }
    return n;
}

static void describe_action(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    t->action = (uint8_t)from->action;
    t->argument = from->action_argument;
    if (from->action == QP_DO_LIBRARY)
        t->function = qp_event_action_find(from->action_name);
    if (from->action_name && !t->function)
        t->action_symbol = qp_symbol_of(QPROF_TRG_SYM_ACTION, from->action_name);
}

static void describe_condition(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    static const uint8_t kinds[] = {[QP_WHEN_FUNCTION] = QPROF_TRG_SYM_FUNC,
                                    [QP_WHEN_VARIABLE] = QPROF_TRG_SYM_VAR,
                                    [QP_WHEN_PREDICATE] = QPROF_TRG_SYM_PREDICATE};
    t->is_conditional = from->when_name != NULL;
    t->when_kind = (uint8_t)from->when_kind;
    t->when_operator = (uint8_t)from->when_operator;
    t->when_value = from->when_value;
    if (from->when_name)
        t->when_symbol = qp_symbol_of(kinds[from->when_kind], from->when_name);
}

static void describe_object(qp_event_trigger *t, const qp_config_event_trigger *from)
{
    if (from->object_kind == QP_OBJECT_NAME) {
        t->object = qp_event_target_of(from->object_name_kind, from->object_name, 0);
    } else if (from->object_kind == QP_OBJECT_NUMBER && from->object) {
        t->object_id = from->object;
        t->object = qp_event_target_of(QP_NAME_ID, "", from->object);
    }
}

static int on_event_trigger(QP_UNUSED void *unused, const qp_config_event_trigger *from,
                            qp_error *error)
{
    qp_event_trigger t = {.event = from->event,
                          .context = (uint8_t)from->context,
                          .context_id = from->context_id,
                          .is_one_shot = from->is_one_shot,
                          .is_deferred = from->is_deferred,
                          .is_initially_enabled = from->is_enabled,
                          .is_wanted = from->is_enabled,
                          .longer_ns = from->longer_ns,
                          .depth = from->depth,
                          .used = (uint32_t)from->used,
                          .most_a_second = (uint32_t)from->most_a_second,
                          .chain_line = from->chain_line,
                          .chain_column = from->chain_column,
                          .origin = QP_OF_NEW_FILE};
    if (qp_event_trigger_find(from->name))
        return qp_error_set(error, QPROF_E_ARG,
                            "%.80s: this name is already used for this kind of object",
                            from->name);
    qp_event_triggers.n_wanted += from->is_enabled;
    if (from->is_enabled &&
        count_staying() + qp_event_triggers.n_wanted > QPROF_TRG_MAX_ENABLED)
        return qp_error_set(error, QPROF_E_LIMIT, "%.80s: too many event triggers are enabled",
                            from->name);
    describe_object(&t, from);
    describe_condition(&t, from);
    describe_action(&t, from);
    if (from->chain)
        t.chain_name =
            qp_pool_text(&qp_event_triggers.others, from->chain, strlen(from->chain));
    qp_event_trigger *added = qp_event_trigger_add(&t);
    return added && qp_event_trigger_name(added, from->name) == 0
               ? 0
               : qp_error_set(error, QPROF_E_MEMORY, "%.80s: out of memory", from->name);
}

static int check_chains(qp_error *error)
{
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));) {
        const char *name = qp_event_trigger_text(t->chain_name);
        if (t->origin != QP_OF_NEW_FILE || !name[0])
            continue;
        const qp_event_trigger *next = qp_event_trigger_find(name);
        if (!next) {
            error->line = t->chain_line;
            error->column = t->chain_column;
            return qp_error_set(error, QPROF_E_NOTFOUND, "chain=%.80s: no such event trigger",
                                name);
        }
        t->chain = qp_event_trigger_cell(next);
    }
    return 0;
}

/* Keep a new one, or restore an old one. */
static void keep(qp_event_trigger *t)
{
    if (t->origin == QP_SET_ASIDE)
        qp_event_trigger_put_name(t);
    t->origin = QP_OF_FILE;
    if (!t->is_wanted)
        return;
    qp_symbol_look(t);
    t->is_wanted = t->n_missing != 0;
    if (!t->is_wanted)
        qp_event_trigger_enable(t);
}

static void end_event_triggers(bool is_kept)
{
    bool is_on = qp_load(&qp_is_triggering),
         had_enabled = qp_load(&qp_event_triggers.n_enabled);
    unsigned dropped = is_kept ? QP_SET_ASIDE : QP_OF_NEW_FILE;
    unsigned kept = is_kept ? QP_OF_NEW_FILE : QP_SET_ASIDE;
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));)
        if (t->origin == dropped)
            qp_event_trigger_remove(t);
    for (qp_event_trigger *t = NULL; (t = qp_event_trigger_next(t));)
        if (t->origin == kept)
            keep(t);
    qp_event_triggers.is_reading = false;
    is_on = is_on && qp_event_triggers.n_listed &&
            (qp_load(&qp_event_triggers.n_enabled) || !had_enabled);
    if (is_kept && qp_event_triggers.triggering != QP_SETTING_NONE)
        is_on = qp_event_triggers.triggering == QP_SETTING_YES && qp_event_triggers.n_listed;
    qp_publish(&qp_is_triggering, is_on);
}

/* ---- a configuration ----------------------------------------------------------------------- */

/* The first pass has taken all options but -pri, which is a statement like those of the
 * trace. */
static int make_options(QP_UNUSED void *unused, const char *words, qp_error *error)
{
    static qp_options others; /* under the control lock, or before the run */
    const qp_option_events events = {.pri = qp_trace_xbase_on_pri};
    qp_options_init(&others);
    return qp_options_parse(&others, words, &events, error) == QP_PARSE_OK ? 0 : QPROF_E_OPTION;
}

/* All lines but options and pc. */
static const qp_config_sink making = {
    .on_options = QP_PRODUCT_IS_COVERAGE ? NULL : make_options,
    .on_switch = on_switch,
    .on_trigger = on_trigger,
    .on_action = on_action,
    .on_area = on_area,
    .on_event_trigger = on_event_trigger,
    .on_trace = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_trace,
    .on_pri = QP_PRODUCT_IS_COVERAGE ? NULL : qp_trace_xbase_on_pri};

/* Objects that are made between the two come into force at the end, or not at all.
 * @param replaces  drop those of earlier files then
 * @return 0 or QPROF_E_MEMORY, with *error; the end comes all the same */
static int begin_making(bool replaces, qp_error *error)
{
    profiling = QP_SETTING_NONE;
    bool is_good = qp_triggers_begin_file(replaces);
    begin_event_triggers(replaces);
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_begin();
    return is_good ? 0 : qp_error_set(error, QPROF_E_MEMORY, "out of memory");
}

/* @return 0 or QPROF_E_*: *error explains, with the place; only if is_good */
static int end_making(bool is_good, qp_error *error)
{
    int code = is_good ? check_chains(error) : 0;
    bool is_kept = is_good && !code;
    end_event_triggers(is_kept);
    qp_triggers_end_file(is_kept);
    if (qp_triggers.first)
        qp_triggers_changed();
    qp_triggers_free();
    if (!QP_PRODUCT_IS_COVERAGE)
        qp_trace_xbase_file_end(is_kept);
    if (!is_kept || profiling == QP_SETTING_NONE)
        return code;
    if (qp_recorder.space.map.base)
        qp_data_gate(profiling == QP_SETTING_YES);
    else
        qp_recorder.begins_closed = profiling == QP_SETTING_NO;
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/* Read a whole file; /dev/null is an empty one.
 * @return NULL: see *why; otherwise to be dropped with its *n_room bytes */
static char *read_file(const char *file, size_t *n_bytes, size_t *n_room, const char **why)
{
    uint64_t size = 0;
    char *text = NULL;
    int fd = qp_file_open(file, why);
    bool is_plain = fd >= 0 && qp_file_is_plain(fd, &size, why);
    if (is_plain && size > FILE_MAX) {
        *why = "is larger than 256 MiB";
    } else if (is_plain || strcmp(file, "/dev/null") == 0) {
        *n_room = (size_t)size + 1;
        text = qp_pages_take(*n_room);
        *why = "out of memory";
    }
    *n_bytes = text ? qp_file_read_at(fd, text, (size_t)size, 0) : 0;
    if (fd >= 0)
        close(fd);
    return text;
}

static int code_of(qp_parse parse)
{
    return parse == QP_PARSE_OK       ? 0
           : parse == QP_PARSE_SYNTAX ? QPROF_E_SYNTAX
                                      : QPROF_E_OPTION;
}

/* The first pass over a text checks all of it, and takes its options. */
typedef struct {
    qp_options *options;
    bool is_too_late, has_options;
} first_pass;

/* @return QPROF_E_STATE: it is too late for options */
static int begin_options(first_pass *pass, qp_error *error)
{
    pass->has_options = true;
    return pass->is_too_late
               ? qp_error_set(error, QPROF_E_STATE,
                              "options must come between qprof_initialize and the first entry")
               : 0;
}

static int on_options(void *to, const char *words, qp_error *error)
{
    first_pass *pass = to;
    QP_TRY(begin_options(pass, error));
    return code_of(qp_options_parse(pass->options, words, &in_file, error));
}

static int on_pc(void *to, const char *command, qp_error *error)
{
    first_pass *pass = to;
    QP_TRY(begin_options(pass, error));
    return code_of(qp_option_set(pass->options, QP_OPT_pc, command, error));
}

/* A text, which is read twice, so that nothing of a bad one is applied. */
typedef struct {
    const char *text, *file; /* NULL: a line from the host */
    size_t n_bytes;
} source;

static int read_source(const source *from, const qp_config_sink *sink, qp_error *error)
{
    int code = qp_config_read(from->text, from->n_bytes, sink, error);
    if (code)
        qp_error_locate(error, from->file);
    return code == QP_CONFIG_SYNTAX ? QPROF_E_SYNTAX : code;
}

/* Put options in force; on an error restore those before. */
static int apply_options(const qp_options *changed, qp_error *error)
{
    const qp_options before = qp_recorder.options;
    if (changed->number[QP_OPT_memory_limit] > qp_recorder.space.map.reserved_bytes)
        return qp_error_set(error, QPROF_E_STATE,
                            "-memory-limit: can be raised by qprof_initialize or QPROF only");
    qp_recorder.options = *changed;
    int code = qp_apply_again(error);
    if (code) {
        qp_error unused;
        qp_recorder.options = before;
        qp_apply_again(&unused);
        return code;
    }
    qp_config_report();
    return 0;
}

/* Check a text, then apply it; on an error nothing of it is applied.
 * @param before_run  receives the options of a text that is read before the run; NULL: during it */
static int apply_source(const source *from, bool replaces, qp_options *before_run,
                        qp_error *error)
{
    qp_options changed = qp_recorder.options;
    first_pass pass = {before_run ? before_run : &changed,
                       !before_run && qp_load(&qp_recorder.has_entries), false};
    const qp_config_sink checking = {.on_options = on_options, .on_pc = on_pc, .to = &pass};
    QP_TRY(read_source(from, &checking, error));
    int code = begin_making(replaces, error);
    if (!code)
        code = read_source(from, &making, error);
    if (!code && !before_run && pass.has_options)
        code = apply_options(&changed, error);
    int late = end_making(!code, error);
    if (late)
        qp_error_locate(error, from->file);
    return code ? code : late;
}

/* Read a file. @return 0 or QPROF_E_IO, with *error */
static int open_source(const char *file, source *from, size_t *n_room, qp_error *error)
{
    const char *why;
    from->file = file;
    from->text = read_file(file, &from->n_bytes, n_room, &why);
    if (from->text)
        return 0;
    return qp_error_set(error, QPROF_E_IO, "%.120s: %s", file, why);
}

/* -config=FILE, before the run begins. */
static qp_parse take_file(QP_UNUSED void *unused, qp_options *o, const char *file,
                          qp_error *error)
{
    source from;
    size_t n_room;
    if (open_source(file, &from, &n_room, error) != 0)
        return QP_PARSE_VALUE;
    int code = apply_source(&from, false, o, error);
    qp_pages_drop((void *)(uintptr_t)from.text, n_room);
    qp_recorder.has_config = true;
    if (!pending.is_environment) { /* a forked child reads that of the environment itself */
        qp_error too_long;
        qp_option_set(o, QP_OPT_config, file, &too_long);
    }
    return !code ? QP_PARSE_OK : code == QPROF_E_OPTION ? QP_PARSE_VALUE : QP_PARSE_SYNTAX;
}

static const qp_option_events anywhere = {.unknown = note_unknown,
                                          .config = take_file,
                                          .pri = qp_trace_xbase_on_pri,
                                          .clamped = note_clamped};

bool qp_config_is_asked_for(void)
{
    const char *environment = getenv(QP_PRODUCT_ENVIRONMENT);
    return environment && environment[0] && !qp_system_is_privileged();
}

int qp_config_begin(const char *initial_options, qp_error *error)
{
    memset(&pending, 0, sizeof pending);
    qp_options_init(&qp_recorder.options);
    const char *environment = getenv(QP_PRODUCT_ENVIRONMENT);
    pending.env_ignored = environment && qp_system_is_privileged();
    qp_parse parse = QP_PARSE_OK;
    pending.is_environment = true;
    if (environment && !pending.env_ignored)
        parse = qp_options_parse(&qp_recorder.options, environment, &anywhere, error);
    pending.is_environment = false;
    pending.n_of_environment = pending.n_unknown;
    if (parse == QP_PARSE_OK && initial_options)
        parse = qp_options_parse(&qp_recorder.options, initial_options, &anywhere, error);
    if (parse != QP_PARSE_OK)
        return code_of(parse);
    if (qp_recorder.options
            .is_set[QP_OPT_measure_timed_calls]) { /* an alias, with other words */
        static const unsigned same[] = {0, 2, 3, 1};
        uint64_t word = qp_recorder.options.number[QP_OPT_measure_timed_calls];
        qp_recorder.options.number[QP_OPT_time_blocking_functions] = same[word];
    }
    if (qp_recorder.options.number[QP_OPT_call_trace] == 1 &&
        !qp_recorder.options.is_set[QP_OPT_trace_mode])
        qp_recorder.options.number[QP_OPT_trace_mode] = 0; /* stream */
    return 0;
}

void qp_config_tell(const char *text, bool is_left_to_run)
{
    if (qp_config_is_asked_for() && !qp_recorder.options.number[QP_OPT_quiet] &&
        !(is_left_to_run && getenv("QPROF_RUN")))
        qp_recorder_tell(text);
}

static void report_unknown(unsigned i)
{
    qp_error line;
    bool is_of_environment = i < pending.n_of_environment;
    const char *similar = qp_option_nearest(pending.unknown[i]);
    qp_error_set(&line, 0, "unknown option %s%s%s%s%s", pending.unknown[i],
                 is_of_environment ? " in " QP_PRODUCT_ENVIRONMENT : "",
                 *similar ? " (similar: -" : "", similar, *similar ? ")" : "");
    qp_recorder_log("%s", line.text);
    if (is_of_environment && qp_recorder.epoch == 1) /* once a process */
        qp_config_tell(line.text, false);
}

/* A command that will not run, because of a conversion that is none. */
static void report_command(const char *name, qp_option which)
{
    static const qp_output_files files = {"", "", ""};
    char unused[QP_PATH_MAX];
    qp_error line;
    const char *command = qp_option_text(&qp_recorder.options, which);
    int letter = qp_output_command(command, 0, &files, unused, sizeof unused);
    if (letter <= 0)
        return;
    qp_error_set(
        &line, 0,
        "-%s: unknown conversion %%%c; the command does not run (%%%% is a percent sign)", name,
        letter);
    qp_recorder_log("%s", line.text);
    if (!qp_recorder.is_child)
        qp_config_tell(line.text, false);
}

void qp_config_report(void)
{
    report_command("run-at-save", QP_OPT_run_at_save);
    report_command("run-at-exit", QP_OPT_run_at_exit);
    for (unsigned i = 0; i < pending.n_clamped; i++)
        qp_count(&qp_recorder.space, QP_D_clamped_options);
    for (unsigned i = 0; i < pending.n_unknown; i++) {
        qp_count(&qp_recorder.space, QP_D_unknown_option);
        if (i < UNKNOWN_MAX)
            report_unknown(i);
    }
    if (pending.env_ignored)
        qp_count(&qp_recorder.space, QP_D_env_ignored);
    memset(&pending, 0, sizeof pending);
}

int qp_config_words(const char *words, qp_error *error)
{
    const source from = {words, NULL, strlen(words)};
    return apply_source(&from, false, NULL, error);
}

int qp_config_set(qp_option which, const char *value, qp_error *error)
{
    qp_options changed = qp_recorder.options;
    qp_parse parse = qp_option_set(&changed, which, value, error);
    return parse == QP_PARSE_OK ? apply_options(&changed, error) : code_of(parse);
}

int qp_config_file(const char *file, bool replaces, qp_error *error)
{
    source from;
    size_t n_room;
    QP_TRY(open_source(file, &from, &n_room, error));
    int code = apply_source(&from, replaces, NULL, error);
    qp_pages_drop((void *)(uintptr_t)from.text, n_room);
    return code;
}

/* ---- requests of other processes --------------------------------------------------------- */

void qp_config_answer(void)
{
    qp_head *h = qp_recorder_head();
    char file[sizeof h->request_file];
    qp_error error = {0};
    uint32_t request = qp_observe(&h->request);
    if (request == qp_load(&h->answer) || !qp_control_lock())
        return;
    memcpy(file, h->request_file, sizeof file - 1);
    file[sizeof file - 1] = '\0';
    int code =
        qp_state() == QP_STATE_RUNNING ? qp_config_file(file, true, &error) : QPROF_E_STATE;
    if (code)
        qp_recorder_log("%s", error.text);
    h->answer_code = code;
    snprintf(h->answer_text, sizeof h->answer_text, "%.*s", (int)sizeof h->answer_text - 1,
             error.text);
    qp_publish(&h->answer, request);
    qp_control_unlock();
}
