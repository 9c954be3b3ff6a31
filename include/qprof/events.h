/* qprof/events.h: when an event happens, do this: event triggers, marks. Guide: docs/events.md. */
#ifndef QPROF_EVENTS_H
#define QPROF_EVENTS_H

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
