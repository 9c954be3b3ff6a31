/* perform.c: the actions of triggers and event triggers. Read qp_perform_now first. Each action
 * is performed in no event and without a lock. */
#include <string.h>

#include "record/control/control.h"
#include "record/stream/stream.h"

typedef enum {
    START,
    STOP,
    SAVE,
    DUMP,
    CLEAR,
    NEW_PHASE,
    OPEN_GATE,
    CLOSE_GATE,
    DISABLE
} change_kind;

static void dump(const char *name)
{
    qp_error error = {0};
    int code = qp_trace_dump(NULL, &error);
    if (!code)
        return;
    qp_count(&qp_recorder.space, code == QPROF_E_STATE ? QP_D_e_state : QP_D_e_io);
    qp_recorder_log("event trigger %.80s: dump: %s", name, error.text);
}

static void change_locked(change_kind kind, const char *name)
{
    switch (kind) {
    case START:
        qp_data_start();
        break;
    case STOP:
        qp_data_stop();
        break;
    case SAVE:
        qp_data_save(NULL, name);
        break;
    case DUMP:
        dump(name);
        break;
    case NEW_PHASE:
        if (qp_data_save(NULL, name))
            qp_data_clear();
        break;
    case CLEAR:
        qp_data_clear();
        break;
    case OPEN_GATE:
    case CLOSE_GATE:
        qp_data_gate(kind == OPEN_GATE);
        break;
    case DISABLE:
        qp_data_disable();
        break;
    }
}

/* Change the whole run. @return QPROF_E_STATE: this thread is inside another change, nothing is
 * done */
static int change(change_kind kind, const char *name)
{
    if (!qp_control_lock())
        return QPROF_E_STATE;
    if (qp_state() == QP_STATE_RUNNING)
        change_locked(kind, name);
    qp_control_unlock();
    return 0;
}

/* ---- actions of the library -------------------------------------------------------------- */

#define LIBRARY(X)                                                                             \
    X("save", SAVE)                                                                            \
    X("clear", CLEAR)                                                                          \
    X("new-phase", NEW_PHASE)                                                                  \
    X("enable-profiling", OPEN_GATE)                                                           \
    X("disable-profiling", CLOSE_GATE)                                                         \
    X("disable-recording", DISABLE)

#define QP_X(name, kind)                                                                       \
    static int library_##kind(intptr_t unused)                                                 \
    {                                                                                          \
        (void)unused;                                                                          \
        return change(kind, NULL);                                                             \
    }
LIBRARY(QP_X)
#undef QP_X

static const struct {
    const char *name;
    int (*function)(intptr_t argument);
} library[] = {
#define QP_X(name, kind) {name, library_##kind},
    LIBRARY(QP_X)
#undef QP_X
};

enum { N_LIBRARY = sizeof library / sizeof *library };

int (*qp_event_action_find(const char *name))(intptr_t argument)
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (qp_option_is(library[i].name, name, strlen(name)))
            return library[i].function;
    return NULL;
}

const char *qp_event_action_name(int (*function)(intptr_t argument))
{
    for (unsigned i = 0; i < N_LIBRARY; i++)
        if (library[i].function == function)
            return library[i].name;
    return function ? "function" : NULL;
}

void qp_perform_now(const qp_action_request *request)
{
    const char *name = qp_event_trigger_text(request->name);
    switch (request->action) {
    case QPROF_TRG_ACT_START:
        change(START, name);
        break;
    case QPROF_TRG_ACT_STOP:
        change(STOP, name);
        break;
    case QPROF_TRG_ACT_FUNC:
    case QPROF_TRG_ACT_LIB:
        if (request->function)
            request->function(request->argument);
        break;
    case QPROF_TRG_ACT_SNAPSHOT:
        change(SAVE, name);
        break;
    case QPROF_TRG_ACT_DUMP:
        change(DUMP, name);
        break;
    case QP_ACT_CLEAR:
        change(CLEAR, name);
        break;
    default: /* the marker is in the profile already */
        break;
    }
}
