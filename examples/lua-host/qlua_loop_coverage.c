/* qlua_loop_coverage.c: the loop of lvm.c that only counts entries and jumps. */
#define QLUA_LOOP 5
#include "qlua_loop.h"

#include "lvm.c"
