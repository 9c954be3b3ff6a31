/* qlua_loop_counting.c: the loop of lvm.c, telling the recorder of calls and counting the jumps that are taken. */
#define QLUA_LOOP 2
#include "qlua_loop.h"

#include "lvm.c"
