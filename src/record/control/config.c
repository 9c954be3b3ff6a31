/* config.c: reading options and configuration files. Read apply_source first. */
#include "record/control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/file.h"
#include "base/os/mapping.h"
#include "record/stream/stream.h"

enum { FILE_MAX = 256 << 20, UNKNOWN_MAX = 16 };

/* What is counted as soon as the file exists. */
static struct {
    unsigned n_clamped, n_unknown;
    bool env_ignored, is_environment; /* being read */
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

/* ---- files ------------------------------------------------------------------------------- */

/* Read a whole file. @return NULL: see *why; otherwise to be dropped with its *n_room bytes */
static char *read_file(const char *file, size_t *n_bytes, size_t *n_room, const char **why)
{
    uint64_t size = 0;
    char *text = NULL;
    int fd = qp_file_open(file, why);
    bool is_plain = fd >= 0 && qp_file_is_plain(fd, &size, why);
    if (is_plain && size > FILE_MAX) {
        *why = "is larger than 256 MiB";
    } else if (is_plain) {
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

/* @return 0 or QPROF_E_*, with *error */
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
    qp_config_make_begin(replaces);
    int code = read_source(from, &qp_config_making, error);
    if (!code && !before_run && pass.has_options)
        code = apply_options(&changed, error);
    int late = qp_config_make_end(!code, error);
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

/* Take -config=FILE before the run begins. */
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

int qp_config_begin(const char *initial_options, qp_error *error)
{
    memset(&pending, 0, sizeof pending);
    qp_options_init(&qp_recorder.options);
    const char *environment = getenv(QP_PRODUCT_ENVIRONMENT);
    pending.env_ignored = environment && getauxval(AT_SECURE);
    qp_parse parse = QP_PARSE_OK;
    pending.is_environment = true;
    if (environment && !pending.env_ignored)
        parse = qp_options_parse(&qp_recorder.options, environment, &anywhere, error);
    pending.is_environment = false;
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
    return 0;
}

void qp_config_report(void)
{
    for (unsigned i = 0; i < pending.n_clamped; i++)
        qp_count(&qp_recorder.space, QP_D_clamped_options);
    for (unsigned i = 0; i < pending.n_unknown; i++) {
        qp_count(&qp_recorder.space, QP_D_unknown_option);
        if (i < UNKNOWN_MAX)
            qp_recorder_log("%s: unknown option, ignored", pending.unknown[i]);
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
