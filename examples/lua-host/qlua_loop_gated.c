/* qlua_loop_gated.c: the loop of lvm.c, telling of calls, or of both ends of them, and counting where
 * the gate is open. */
#define QLUA_LOOP 6
#include "qlua_loop.h"

#include "lvm.c"
