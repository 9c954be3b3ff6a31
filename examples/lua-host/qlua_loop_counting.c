/* qlua_loop_counting.c: the loop of lvm.c that reports calls and counts entries and jumps. */
#define QLUA_LOOP 4
#include "qlua_loop.h"

#include "lvm.c"
