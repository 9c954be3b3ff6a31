/* qlua_loop_tracing.c: the loop of lvm.c, telling of both ends of calls and counting. */
#define QLUA_LOOP 6
#include "qlua_loop.h"

#include "lvm.c"
