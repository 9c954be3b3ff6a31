/* qlua_loop_gated.c: the loop of lvm.c that reports calls, or both ends of them, and counts
 * where the gate is open. */
#define QLUA_LOOP 6
#include "qlua_loop.h"

#include "lvm.c"
