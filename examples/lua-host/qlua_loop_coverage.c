/* qlua_loop_coverage.c: the loop of lvm.c, counting entries and jumps, and nothing else. */
#define QLUA_LOOP 3
#include "qlua_loop.h"

#include "lvm.c"
