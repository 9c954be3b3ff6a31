/* layout.c: the names of the counters and of the events. */
#include "format/layout.h"

#include "format/options.h"

const char *qp_diagnostic_name(qp_diagnostic which)
{
    const char *name =
#define QP_X(name, kind, text) #name "\0"
        QP_DIAGNOSTICS(QP_X)
#undef QP_X
        ;
    for (unsigned i = 0; i < which; i++)
        name += strlen(name) + 1;
    return name;
}

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

/* @return N_EVENTS: not of the table */
static unsigned index_of(uint32_t event)
{
    unsigned i = 0;
    while (i < N_EVENTS && events[i].number != event)
        i++;
    return i;
}

const char *qp_event_name(uint32_t event)
{
    unsigned i = index_of(event);
    return i < N_EVENTS ? events[i].name : event == QP_EVENT_ANY ? "any" : "";
}

qp_event_object qp_event_object_of(uint32_t event)
{
    unsigned i = index_of(event);
    return i < N_EVENTS ? (qp_event_object)events[i].object : QP_EVENT_OBJECT_NONE;
}
