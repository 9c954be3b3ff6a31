/* qlua_loop_counting.c: the loop of lvm.c, telling of calls and counting the jumps taken. */
#define QLUA_LOOP 2
#include "qlua_loop.h"

#include "lvm.c"
