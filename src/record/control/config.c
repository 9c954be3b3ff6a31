/* config.c: reading options and configuration files. Read apply_source first. An error leaves
 * in force what was in force before. */
#include "record/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/mapping.h"
#include "record/stream/stream.h"

enum { FILE_MAX = 256 << 20, UNKNOWN_MAX = 16 };

/* What is counted as soon as the file exists. */
static struct {
    unsigned n_clamped, n_unknown;
    bool env_ignored, is_environment; /* being read */
    char unknown[UNKNOWN_MAX][32];
} pending;

static void note_unknown(void *unused, const char *name)
{
    (void)unused;
    if (pending.n_unknown < UNKNOWN_MAX)
        snprintf(pending.unknown[pending.n_unknown], sizeof pending.unknown[0], "%s", name);
    pending.n_unknown++;
}

static void note_clamped(void *unused, const char *name)
{
    (void)unused;
    (void)name;
    pending.n_clamped++;
}

static const qp_option_events in_file = {.unknown = note_unknown, .clamped = note_clamped};

/* ---- files ------------------------------------------------------------------------------- */

/* Read a whole file. @return NULL: see *why; else to be dropped with its *n_room bytes */
static char *read_file(const char *file, size_t *n_bytes, size_t *n_room, const char **why)
{
    struct stat st;
    char *text = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_there = fd >= 0 && fstat(fd, &st) == 0;
    *why = strerror(errno);
    if (is_there && (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)) {
        *why = "not a file of at most 256 MiB";
    } else if (is_there) {
        *n_room = (size_t)st.st_size + 1;
        text = qp_pages_take(*n_room);
        *why = "out of memory";
    }
    *n_bytes = 0;
    for (ssize_t got = 1; text && *n_bytes < *n_room - 1 && got > 0; *n_bytes += (size_t)got) {
        got = read(fd, text + *n_bytes, *n_room - 1 - *n_bytes);
        got = got < 0 ? 0 : got;
    }
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

static int refuse_late(qp_error *error)
{
    return qp_error_set(error, QPROF_E_STATE,
                        "options must come between qprof_initialize and the first entry");
}

static int on_options(void *to, const char *words, qp_error *error)
{
    first_pass *pass = to;
    if (pass->is_too_late)
        return refuse_late(error);
    pass->has_options = true;
    return code_of(qp_options_parse(pass->options, words, &in_file, error));
}

static int on_pc(void *to, const char *command, qp_error *error)
{
    first_pass *pass = to;
    if (pass->is_too_late)
        return refuse_late(error);
    pass->has_options = true;
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

static int check(const source *from, first_pass *pass, qp_error *error)
{
    const qp_config_sink checking = {.on_options = on_options, .on_pc = on_pc, .to = pass};
    return read_source(from, &checking, error);
}

/* @param is_good  apply what was made; otherwise undo it */
static int end_making(const source *from, bool is_good, qp_error *error)
{
    qp_error late = {0};
    int code = qp_config_make_end(is_good, &late);
    if (code) {
        *error = late;
        qp_error_locate(error, from->file);
    }
    return code;
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
static qp_parse take_file(void *unused, qp_options *o, const char *file, qp_error *error)
{
    first_pass pass = {.options = o};
    source from;
    size_t n_room;
    (void)unused;
    if (open_source(file, &from, &n_room, error) != 0)
        return QP_PARSE_VALUE;
    int code = check(&from, &pass, error);
    if (!code) {
        qp_config_make_begin(false);
        code = read_source(&from, &qp_config_making, error);
        int late = end_making(&from, !code, error);
        code = code ? code : late;
    }
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

/* Check the memory limit, which cannot exceed the reserved address space. */
static int check_memory(const qp_options *changed, qp_error *error)
{
    if (changed->number[QP_OPT_memory_limit] <= qp_recorder.space.map.reserved_bytes)
        return 0;
    return qp_error_set(error, QPROF_E_STATE,
                        "-memory-limit: can be raised by qprof_initialize or QPROF only");
}

/* Put options in force; on an error restore those before. */
static int apply_options(const qp_options *changed, qp_error *error)
{
    const qp_options before = qp_recorder.options;
    int code = check_memory(changed, error);
    if (code)
        return code;
    qp_recorder.options = *changed;
    code = qp_apply_again(error);
    if (code) {
        qp_error unused;
        qp_recorder.options = before;
        qp_apply_again(&unused);
        return code;
    }
    qp_config_report();
    return 0;
}

static int apply_source(const source *from, bool replaces, qp_error *error)
{
    qp_options changed = qp_recorder.options;
    first_pass pass = {&changed, qp_load(&qp_recorder.has_entries), false};
    int code = check(from, &pass, error);
    if (code)
        return code;
    qp_config_make_begin(replaces);
    code = read_source(from, &qp_config_making, error);
    if (!code && pass.has_options)
        code = apply_options(&changed, error);
    int late = end_making(from, !code, error);
    return code ? code : late;
}

int qp_config_words(const char *words, qp_error *error)
{
    const source from = {words, NULL, strlen(words)};
    return apply_source(&from, false, error);
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
    int code = open_source(file, &from, &n_room, error);
    if (code)
        return code;
    code = apply_source(&from, replaces, error);
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
