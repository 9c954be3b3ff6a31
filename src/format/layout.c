/* layout.c: the names of the counters and of the events. */
#include "format/layout.h"

#include "format/options.h"

const char qp_diagnostic_names[QP_D_COUNT][24] = {
#define QP_X(name, kind, text) #name,
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
};

const char qp_diagnostic_kinds[] = {
#define QP_X(name, kind, text) #kind[0],
    QP_DIAGNOSTICS(QP_X)
#undef QP_X
        '\0'};

static const struct {
    uint16_t number;
    uint8_t object;
    char name[17];
} events[] = {
#define QP_X(id, number, name, object, help) {number, QP_EVENT_OBJECT_##object, name},
    QP_EVENTS(QP_X)
#undef QP_X
};

enum { N_EVENTS = sizeof events / sizeof *events };

uint32_t qp_event_find(const char *name, size_t n_bytes)
{
    if (qp_option_is("any", name, n_bytes))
        return QP_EVENT_ANY;
    for (unsigned i = 0; i < N_EVENTS; i++)
        if (qp_option_is(events[i].name, name, n_bytes))
            return events[i].number;
    return 0;
}

const char *qp_event_name(uint32_t event)
{
    if (event == QP_EVENT_ANY)
        return "any";
    for (unsigned i = 0; i < N_EVENTS; i++)
        if (events[i].number == event)
            return events[i].name;
    return "";
}

qp_event_object qp_event_object_of(uint32_t event)
{
    for (unsigned i = 0; i < N_EVENTS; i++)
        if (events[i].number == event)
            return (qp_event_object)events[i].object;
    return QP_EVENT_OBJECT_NONE;
}
