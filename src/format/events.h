/* events.h: the events of a run, part of layout.h. */
#ifndef QP_FORMAT_EVENTS_H
#define QP_FORMAT_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/* ---- events ---------------------------------------------------------------------------------
 *
 * Every event that the recorder raises and event triggers can wait for, in one table.
 * X(id, number, name, object, help). Files contain the numbers: never change one. object: METHOD,
 * the host's id of one; THREAD, the host's id of one; NONE. 40,000 to 65,535 are the host's own. */

#define QP_EVENTS(X)                                                                           \
    X(FN_ENTRY, 1, "fn-entry", METHOD, "a method was entered")                                 \
    X(FN_EXIT, 2, "fn-exit", METHOD,                                                           \
      "a frame ended, innermost first; not raised for frames that end with their thread")      \
    X(UNWIND, 3, "unwind", METHOD,                                                             \
      "one exit ended more than one frame; the object is the method that resumes")             \
    X(BLOCK, 4, "block", METHOD, "the host called a function that counts or begins a block")   \
    X(COUNTS, 5, "counts", METHOD, "the host called a function that adds counts")              \
    X(METHOD_REGISTER, 6, "method-register", METHOD, "a method was registered")                \
    X(THREAD_CREATE, 7, "thread-create", THREAD, "a thread began")                             \
    X(THREAD_DESTROY, 8, "thread-destroy", THREAD, "a thread ended")                           \
    X(STATUS, 9, "status", THREAD, "a trigger or an action changed a thread's status")         \
    X(SAVE, 10, "save", NONE, "a dataset was written")                                         \
    X(CLEAR, 11, "clear", NONE, "the figures were cleared")                                    \
    X(SAMPLE, 12, "sample", METHOD,                                                            \
      "PC samples were credited; the object is the method on top of the stack")                \
    X(VT_SWITCH, 13, "vt-switch", THREAD, "an OS thread switched to another thread")           \
    X(MEMORY, 14, "memory", NONE, "the profile grew by another percent of its limit")

typedef enum {
#define QP_X(id, number, name, object, help) QP_EVENT_##id = (number),
    QP_EVENTS(QP_X)
#undef QP_X
        QP_EVENT_USER_FIRST = 40000,
    QP_EVENT_USER_LAST = 65535,
    QP_EVENT_ANY = 65536
} qp_event;

typedef enum {
    QP_EVENT_OBJECT_NONE,
    QP_EVENT_OBJECT_METHOD,
    QP_EVENT_OBJECT_THREAD
} qp_event_object;

/* @param name  of the table, or "any"; case, '-' and '_' do not matter. @return 0: none */
uint32_t qp_event_find(const char *name, size_t n_bytes);

/* Its name, "any", or "" for numbers of the host's and unknown ones. Static. */
const char *qp_event_name(uint32_t event);

/* What its object is; of "any" and of the host's numbers: NONE. */
qp_event_object qp_event_object_of(uint32_t event);

#endif
