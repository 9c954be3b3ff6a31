/* qlua_loop_coverage.c: the loop of lvm.c, counting entries and jumps, and nothing else. */
#define QLUA_LOOP 5
#include "qlua_loop.h"

#include "lvm.c"
