/* file.c: reads a configuration file, with the checks of a run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/file.h"
#include "base/text/buf.h"
#include "cli/config/config.h"
#include "code/pattern.h"
#include "xbase/xbase.h"

enum { FILE_MAX = 256 << 20, ENABLED_MAX = 50 };

/* ---- objects ------------------------------------------------------------------------------- */

static uint64_t key_of(const char *kind, const char *name)
{
    uint64_t h = qp_hash_bytes(QP_HASH_START, kind, strlen(kind) + 1);
    return qp_hash_bytes(h, name, strlen(name));
}

static void keep_text(qp_config_file *f, const char **text)
{
    if (!*text)
        return;
    *text = qp_arena_text(&f->arena, *text);
    f->has_failed |= !*text;
}

/* Remember a name. @return false: an object of this kind has it; see *error */
static bool take_name(qp_config_file *f, const char *kind, const char *name, uint32_t number,
                      qp_error *error)
{
    uint64_t key = key_of(kind, name);
    if (qp_dict_get(&f->names, key)) {
        return qp_error_fail(error, "%.80s: this name is already used for this kind of object",
                             name);
    }
    f->has_failed |= !qp_dict_put(&f->names, key, number);
    return true;
}

/* A statement of several lines becomes one. */
static int add_line(qp_config_file *f, const char *kind, const char *text)
{
    char *copy = qp_arena_text(&f->arena, text);
    qp_config_line *line = qp_buf_add(&f->lines);
    f->has_failed |= !copy;
    if (!copy || !line)
        return 0;
    for (char *end = strchr(copy, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';
    for (size_t n = strlen(copy); n && strchr(" \t\r", copy[n - 1]); n--)
        copy[n - 1] = '\0';
    *line = (qp_config_line){kind, copy};
    return 0;
}

static int add_object(qp_config_file *f, qp_config_object object, const qp_config_list *list,
                      qp_error *error)
{
    qp_config_list names = *list;
    bool has_checked = false;
    object.first_word = (uint32_t)f->words.n;
    if (!take_name(f, object.kind, object.name, (uint32_t)f->objects.n + 1, error))
        return -1;
    for (qp_config_element e; qp_config_next(&names, &e); object.n_names++) {
        const char **word = qp_buf_add(&f->words);
        has_checked |= e.is_checked;
        if (word) {
            *word = names.word;
            keep_text(f, word);
        }
    }
    bool is_in_use = object.is_checked && has_checked;
    f->has_active |= is_in_use && strcmp(object.kind, "area") != 0;
    f->turns_on |= is_in_use && object.turns_on;
    keep_text(f, &object.name);
    qp_config_object *added = qp_buf_add(&f->objects);
    if (added)
        *added = object;
    return 0;
}

static int on_trigger(void *to, const qp_config_trigger *t, qp_error *error)
{
    qp_config_file *f = to;
    const char *what = qp_arena_format(
        &f->arena, "%s, pass %llu, work %llu%s%s", t->is_on ? "on" : "off",
        (unsigned long long)t->pass, (unsigned long long)t->work,
        t->is_cycling ? ", cycling" : "", t->is_for_all_threads ? ", all threads" : "");
    return add_object(f,
                      (qp_config_object){.kind = "trigger",
                                         .name = t->name,
                                         .what = what,
                                         .is_checked = t->is_checked,
                                         .turns_on = t->is_on},
                      &t->routines, error);
}

static int on_action(void *to, const qp_config_action *a, qp_error *error)
{
    static const char *const kinds[] = {"enable", "disable", "get-results", "clear-results"};
    qp_config_file *f = to;
    const char *what = qp_arena_format(&f->arena, "%s at %s", kinds[a->kind],
                                       a->is_at_exit ? "exit" : "entry");
    return add_object(f,
                      (qp_config_object){.kind = "action",
                                         .name = a->name,
                                         .what = what,
                                         .is_checked = a->is_checked,
                                         .turns_on = a->kind == QP_ACTION_ENABLE},
                      &a->routines, error);
}

/* @return -1: an area has this name; see *error */
static int add_area(qp_config_file *f, const qp_config_area *a, const char *what,
                    qp_error *error)
{
    qp_config_list elements = a->elements;
    qp_config_object object = {.kind = "area",
                               .name = a->name,
                               .what = what,
                               .first_name = (uint32_t)f->elements.n,
                               .is_checked = a->checked != QP_SETTING_NO,
                               .has_parameters = a->parameters == QP_SETTING_YES};
    for (qp_config_element e, *kept; qp_config_next(&elements, &e);) {
        keep_text(f, &e.name);
        if ((kept = qp_buf_add(&f->elements)) != NULL)
            *kept = e;
    }
    return add_object(f, object, &a->elements, error);
}

/* A later line about an area of the file, or one about a predefined area. */
static int change_area(qp_config_file *f, const qp_config_area *a, uint32_t number)
{
    static const char *const words[] = {
        [QP_SETTING_NO] = "no", [QP_SETTING_YES] = "yes", [QP_SETTING_NONE] = ""};
    qp_config_object *object =
        number ? (qp_config_object *)f->objects.items + number - 1 : NULL;
    if (object && a->checked != QP_SETTING_NONE)
        object->is_checked = a->checked == QP_SETTING_YES;
    if (object && a->parameters != QP_SETTING_NONE)
        object->has_parameters = a->parameters == QP_SETTING_YES;
    if (object)
        return 0;
    const char *text = qp_arena_format(
        &f->arena, "%s%s%s%s%s", a->name, *words[a->parameters] ? " parameters=" : "",
        words[a->parameters], *words[a->checked] ? " checked=" : "", words[a->checked]);
    f->has_failed |= !text;
    return text ? add_line(f, "area ", text) : 0;
}

static int on_area(void *to, const qp_config_area *a, qp_error *error)
{
    qp_config_file *f = to;
    bool is_predefined =
        strcmp(a->name, "all-lines") == 0 || strcmp(a->name, "all-routines") == 0;
    const char *what = a->is_excluding             ? "exclude"
                       : a->lines == QP_SETTING_NO ? "include, routines"
                                                   : "include, lines";
    if (a->has_mode && is_predefined)
        return qp_error_fail(error,
                             "%s: this area exists; only checked= and parameters= can be set",
                             a->name),
               -1;
    if (a->has_mode)
        return add_area(f, a, what, error);
    uint32_t number = qp_dict_get(&f->names, key_of("area", a->name));
    if (is_predefined || number)
        return change_area(f, a, number);
    return qp_error_set(error, -1, "%.80s: no such area (expected include or exclude)",
                        a->name);
}

static int on_event_trigger(void *to, const qp_config_event_trigger *t, qp_error *error)
{
    qp_config_file *f = to;
    if (!take_name(f, "event-trigger", t->name, (uint32_t)f->triggers.n + 1, error))
        return -1;
    f->n_enabled += t->is_enabled;
    if (f->n_enabled > ENABLED_MAX) {
        return qp_error_set(error, -1, "%.80s: more than %d event triggers are enabled",
                            t->name, ENABLED_MAX);
    }
    qp_config_event_trigger *kept = qp_buf_add(&f->triggers);
    if (!kept)
        return 0;
    *kept = *t;
    keep_text(f, &kept->name);
    keep_text(f, &kept->object_name);
    keep_text(f, &kept->when_name);
    keep_text(f, &kept->chain);
    keep_text(f, &kept->action_name);
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void warn_unknown(void *to, const char *name)
{
    qp_cli_warn(to, "%s: unknown option, ignored by a run", name);
}

static int check_pri(void *unused, const char *file, qp_error *error)
{
    static qp_pri defaults, settings; /* large */
    qp_error refused = {.code = -1};  /* its line is one of the PRI file */
    const char *why;
    size_t n_bytes;
    char *text = qp_text_file(file, QP_PRI_BYTES, &n_bytes, &why);
    (void)unused;
    qp_pri_init(&defaults);
    bool is_good = text ? qp_pri_read(&settings, &defaults, text, n_bytes, &refused)
                        : qp_error_fail(&refused, "%s", why);
    qp_free(text);
    if (is_good)
        return 0;
    qp_error_locate(&refused, file);
    return qp_error_set(error, -1, "%s", refused.text);
}

static int on_pri(void *to, const char *file, qp_error *error)
{
    qp_config_file *f = to;
    int code = check_pri(NULL, file, error);
    return code ? code : add_line(f, "pri ", file);
}

static int on_pc(void *to, const char *command, qp_error *error)
{
    qp_config_file *f = to;
    (void)error;
    return add_line(f, "", command);
}

static int on_trace(void *to, const char *key, const char *value, qp_error *error)
{
    qp_config_file *f = to;
    const char *text = qp_arena_format(&f->arena, "%s=%s", key, value);
    (void)error;
    f->has_failed |= !text;
    return text ? add_line(f, "trace ", text) : 0;
}

/* Check the values that a run refuses when it applies the options. */
static bool check_values(const qp_options *o, const char *words, qp_error *error)
{
    qp_pc_command unused;
    qp_error refused;
    const char *option = NULL;
    if (o->number[QP_OPT_clock] >= QP_CLOCK_IGNORE) {
        option = strstr(words, "-clock");
        qp_error_fail(error, "-clock: counter not supported: %s", QP_CLOCK_UNKNOWN);
    } else if (o->is_set[QP_OPT_pc] &&
               qp_pc_parse(qp_option_text(o, QP_OPT_pc), &unused, &refused) != QP_PARSE_OK) {
        option = strstr(words, "-pc");
        qp_error_fail(error, "-pc: column %u: %.150s", refused.column, refused.text);
    } else {
        return true;
    }
    error->column = option ? (unsigned)(option - words) + 1 : 1;
    return false;
}

static int on_options(void *to, const char *words, qp_error *error)
{
    qp_config_file *f = to;
    static qp_options options; /* large */
    qp_option_events events = {
        .unknown = warn_unknown, .pri = check_pri, .to = (void *)(uintptr_t)f->cli};
    qp_options_init(&options);
    f->n_options++;
    return qp_options_parse(&options, words, &events, error) == QP_PARSE_OK &&
                   check_values(&options, words, error)
               ? add_line(f, "", words)
               : -1;
}

static int on_switch(void *to, qp_config_switch which, bool is_on, qp_error *error)
{
    qp_config_file *f = to;
    qp_config_setting *const settings[] = {[QP_SWITCH_INITIAL_STATUS] = &f->initial_status,
                                           [QP_SWITCH_PROFILING] = &f->profiling,
                                           [QP_SWITCH_TRIGGERING] = &f->triggering};
    (void)error;
    *settings[which] = is_on ? QP_SETTING_YES : QP_SETTING_NO;
    return 0;
}

/* Check chains last: they may name event triggers of later lines. */
static int check_chains(const qp_config_file *f, qp_error *error)
{
    const qp_config_event_trigger *all = f->triggers.items;
    for (size_t i = 0; i < f->triggers.n; i++) {
        const char *chain = all[i].chain;
        if (!chain || qp_dict_get(&f->names, key_of("event-trigger", chain)))
            continue;
        error->line = all[i].chain_line;
        error->column = all[i].chain_column;
        return qp_error_set(error, -1, "chain=%.80s: no such event trigger", chain);
    }
    return 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Print a mistake with its line. The text may contain NUL, which is allowed in comments. */
static void print_mistake(const qp_cli *cli, const char *path, const char *text, size_t n_bytes,
                          const qp_error *error)
{
    const char *line = text + qp_config_mark(text, n_bytes), *end = text + n_bytes, *next;
    for (unsigned n = 1; n < error->line; n++)
        if ((next = memchr(line, '\n', (size_t)(end - line))) != NULL)
            line = next + 1;
    qp_cli_fail(cli, "%s:%u:%u: %s", path, error->line, error->column, error->text);
    qp_cli_point(line, error->column);
}

static int read_file(const qp_cli *cli, const char *path, const qp_config_sink *sink,
                     qp_config_file *file)
{
    qp_error error;
    size_t n_bytes = 0;
    *file = (qp_config_file){.cli = cli,
                             .triggering = QP_SETTING_NONE,
                             .initial_status = QP_SETTING_NONE,
                             .profiling = QP_SETTING_NONE};
    qp_arena_init(&file->arena);
    qp_dict_init(&file->names);
    qp_buf_init(&file->objects, sizeof(qp_config_object));
    qp_buf_init(&file->elements, sizeof(qp_config_element));
    qp_buf_init(&file->triggers, sizeof(qp_config_event_trigger));
    qp_buf_init(&file->words, sizeof(const char *));
    qp_buf_init(&file->lines, sizeof(qp_config_line));
    const char *why = "out of memory";
    char *text = strcmp(path, "/dev/null") == 0 ? qp_alloc_zeroed(1, 1)
                                                : qp_text_file(path, FILE_MAX, &n_bytes, &why);
    if (!text)
        return qp_cli_fail(cli, "%s: %s", path, why);
    int code = qp_config_read(text, n_bytes, sink, &error);
    if (!code)
        code = check_chains(file, &error);
    bool has_failed = file->has_failed || file->objects.failed || file->elements.failed ||
                      file->triggers.failed || file->words.failed || file->lines.failed;
    if (code && !has_failed)
        print_mistake(cli, path, text, n_bytes, &error);
    qp_free(text);
    return has_failed ? qp_cli_fail_memory(cli) : code ? QP_EXIT_FAILED : QP_EXIT_CLEAN;
}

int qp_config_file_read(const qp_cli *cli, const char *path, qp_config_file *file)
{
    const qp_config_sink sink = {.on_options = on_options,
                                 .on_switch = on_switch,
                                 .on_trigger = on_trigger,
                                 .on_action = on_action,
                                 .on_area = on_area,
                                 .on_event_trigger = on_event_trigger,
                                 .on_pc = on_pc,
                                 .on_trace = on_trace,
                                 .on_pri = on_pri,
                                 .to = file};
    return read_file(cli, path, &sink, file);
}

int qp_config_file_read_areas(const qp_cli *cli, const char *path, qp_config_file *file)
{
    const qp_config_sink sink = {.on_area = on_area, .to = file};
    return read_file(cli, path, &sink, file);
}

const qp_config_object *qp_config_file_area(const qp_config_file *file, const char *title,
                                            char *why, size_t n_bytes)
{
    const qp_config_object *all = file->objects.items;
    char titles[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < file->objects.n; i++) {
        if (strcmp(all[i].name, title) == 0)
            return &all[i];
        if (n + 1 < sizeof titles)
            n += (size_t)snprintf(titles + n, sizeof titles - n, "%s%s", n ? ", " : "",
                                  all[i].name);
    }
    snprintf(why, n_bytes, "%.80s: no such area (the file has %s)", title, n ? titles : "none");
    return NULL;
}

void qp_config_file_fini(qp_config_file *file)
{
    qp_arena_fini(&file->arena);
    qp_dict_fini(&file->names);
    qp_free(file->objects.items);
    qp_free(file->elements.items);
    qp_free(file->triggers.items);
    qp_free(file->words.items);
    qp_free(file->lines.items);
}
