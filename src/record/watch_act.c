/* watch_act.c: what event triggers do. Each action is performed in no event and without a lock. */
#include <string.h>

#include "record/data.h"
#include "record/trace_writer.h"
#include "record/watch_parts.h"

/* One change of the whole run. A thread that is inside another one does nothing. */
static int change(void (*what)(const char *), const char *name)
{
    if (!qp_control_lock())
        return QPROF_E_STATE;
    if (qp_state() == QP_STATE_RUNNING)
        what(name);
    qp_control_unlock();
    return 0;
}

static void start(const char *unused)
{
    (void)unused;
    qp_data_start();
}

static void stop(const char *unused)
{
    (void)unused;
    qp_data_stop();
}

static void save(const char *label)
{
    qp_data_save(NULL, label);
}

static void dump(const char *name)
{
    qp_parse_error error = {0, ""};
    int code = qp_trace_dump(NULL, &error);
    if (!code)
        return;
    qp_count(&qp_run.space, code == QPROF_E_STATE ? QP_D_e_state : QP_D_e_io);
    qp_session_log("event trigger %.80s: dump: %s", name, error.message);
}

static void clear(const char *unused)
{
    (void)unused;
    qp_data_clear();
}

static void begin_phase(const char *label)
{
    if (qp_data_save(NULL, label))
        qp_data_clear();
}

static void disable(const char *unused)
{
    (void)unused;
    qp_data_disable();
}

static void open_gate(const char *unused)
{
    (void)unused;
    qp_data_gate(1);
}

static void close_gate(const char *unused)
{
    (void)unused;
    qp_data_gate(0);
}

/* ---- by name ------------------------------------------------------------------------------- */

#define LIBRARY(X)                                                                             \
    X(save, "save", save)                                                                      \
    X(clear, "clear", clear)                                                                   \
    X(new_phase, "new-phase", begin_phase)                                                     \
    X(enable_profiling, "enable-profiling", open_gate)                                         \
    X(disable_profiling, "disable-profiling", close_gate)                                      \
    X(disable_recording, "disable-recording", disable)

#define QP_X(id, name, what)                                                                   \
    static int library_##id(intptr_t unused)                                                   \
    {                                                                                          \
        (void)unused;                                                                          \
        return change(what, NULL);                                                             \
    }
LIBRARY(QP_X)
#undef QP_X

static const struct {
    const char *name;
    int (*function)(intptr_t argument);
} library[] = {
#define QP_X(id, name, what) {name, library_##id},
    LIBRARY(QP_X)
#undef QP_X
};

enum { N_LIBRARY = sizeof library / sizeof *library };

int (*qp_watch_library(const char *name))(intptr_t argument)
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (qp_option_is(library[i].name, name, strlen(name)))
            return library[i].function;
    return NULL;
}

const char *qp_watch_library_name(int (*function)(intptr_t argument))
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (library[i].function == function)
            return library[i].name;
    return function ? "function" : NULL;
}

void qp_watch_act(const qp_deed *deed)
{
    switch (deed->action) {
    case QPROF_TRG_ACT_START:
        change(start, NULL);
        break;
    case QPROF_TRG_ACT_STOP:
        change(stop, NULL);
        break;
    case QPROF_TRG_ACT_FUNC:
    case QPROF_TRG_ACT_LIB:
        if (deed->function)
            deed->function(deed->argument);
        break;
    case QPROF_TRG_ACT_SNAPSHOT:
        change(save, qp_watch_text(deed->name));
        break;
    case QPROF_TRG_ACT_DUMP:
        change(dump, qp_watch_text(deed->name));
        break;
    default: /* the mark is there already */
        break;
    }
}
