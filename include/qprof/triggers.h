/* qprof/triggers.h: when and where to record: triggers, actions, areas. Guide: docs/triggers.md. */
#ifndef QPROF_TRIGGERS_H
#define QPROF_TRIGGERS_H

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
