/* run.c: the run, its state, gates, control lock and notes. control/lifecycle.c begins and ends
 * it. */
#include "record/run/run.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/thread.h"
#include "base/text/text.h"

qp_recorder_data qp_recorder;
uint64_t qp_recorder_tick;
uint32_t qp_is_triggering;
uint32_t qp_gate_plain, qp_gate_vt;
uint32_t qp_changes[2];
uint32_t *qp_state_word;
void (*qp_on_note)(qp_note *n);

qprof_thread qp_closed_thread;
qp_trace_lane qp_closed_lane;
QP_THREAD_LOCAL qp_os_thread qp_here = QP_NEW_OS_THREAD;

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;

qp_state_kind qp_state(void)
{
    return qp_state_word ? (qp_state_kind)qp_observe(qp_state_word) : QP_STATE_OFF;
}

/* ---- the control lock -------------------------------------------------------------------- */

bool qp_control_lock(void)
{
    if (qp_here.in_control)
        return false;
    qp_here.in_control = true; /* first: a signal handler must not wait for its own thread */
    qp_signal_fence();
    pthread_mutex_lock(&control);
    return true;
}

void qp_control_unlock(void)
{
    pthread_mutex_unlock(&control);
    qp_signal_fence();
    qp_here.in_control = false;
}

void qp_control_before_fork(void)
{
    if (!qp_here.in_control)
        pthread_mutex_lock(&control);
}

void qp_control_after_fork(bool is_child)
{
    if (is_child)
        pthread_mutex_init(&control, NULL);
    else if (!qp_here.in_control)
        pthread_mutex_unlock(&control);
}

/* ---- changes that hosts poll ------------------------------------------------------------- */

void qp_recorder_changed(void)
{
    qp_fetch_add(&qp_changes[0], 1);
}

void qp_recorder_cleared(void)
{
    qp_fetch_add(&qp_changes[1], 1);
    qp_recorder_changed();
}

void qp_recorder_gate(void)
{
    if (qp_recorder.is_gated)
        return;
    qp_recorder.is_gated = true;
    qp_recorder_changed();
}

uint32_t qp_recorder_block(QP_UNUSED void *unused)
{
    return qp_texts_block(&qp_recorder.texts);
}

/* ---- messages ---------------------------------------------------------------------------- */

bool qp_recorder_note(qp_note_kind kind, const char *text)
{
    qp_ref words = qp_texts_add(&qp_recorder.texts, text);
    qp_ref ref =
        words ? qp_blob_take(&qp_recorder.space, &qp_recorder.texts.blobs, sizeof(qp_note)) : 0;
    if (!ref)
        return false;
    qp_note *n = qp_at_ref(&qp_recorder.space, ref);
    *n = (qp_note){
        .text = words, .kind = (uint32_t)kind, .dataset = qp_recorder_head()->dataset};
    if (qp_on_note)
        qp_on_note(n);
    n->next = qp_load(&qp_recorder_head()->notes);
    while (!qp_swap_if(&qp_recorder_head()->notes, &n->next, ref))
        ;
    return true;
}

/* One write, so that lines of several threads and processes do not mix. */
static void write_line(int fd, const char *text)
{
    char line[QP_ERROR_BYTES + 16];
    int n = snprintf(line, sizeof line, "qprof: %.*s\n", QP_ERROR_BYTES, text);
    qp_signal_hold hold;
    qp_signal_hold_begin(&hold, SIGPIPE);
    ssize_t done = write(fd, line, (size_t)n);
    qp_signal_hold_end(&hold);
    (void)done;
}

void qp_recorder_log(const char *format, ...)
{
    const char *file = qp_option_text(&qp_recorder.options, QP_OPT_log_file);
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    qp_plain(text, strlen(text), text, sizeof text);
    qp_recorder_note(QP_NOTE_MESSAGE, text);
    if (strcmp(file, "none") == 0)
        return;
    int fd =
        file[0] ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600) : 2;
    write_line(fd, text);
    if (fd > 2)
        close(fd);
}

void qp_recorder_tell(const char *text)
{
    char line[QP_ERROR_BYTES];
    struct pollfd to = {.fd = 2, .events = POLLOUT};
    struct stat st;
    bool is_file = fstat(2, &st) == 0 && S_ISREG(st.st_mode);
    if (poll(&to, 1, 0) != 1 || (is_file && (fcntl(2, F_GETFL) & O_ACCMODE) == O_RDWR))
        return; /* a full pipe; or a file of the host, which has closed standard error */
    qp_plain(text, strlen(text), line, sizeof line); /* it may have words of the environment */
    write_line(2, line);
}
