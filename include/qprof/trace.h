/* qprof/trace.h: what happened, in order: raw traces. Guide: docs/trace.md. */
#ifndef QPROF_TRACE_H
#define QPROF_TRACE_H

#include "qprof.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
