/* qlua_loop_calls.c: the loop of lvm.c that reports calls. */
#define QLUA_LOOP 1
#include "qlua_loop.h"

#include "lvm.c"
