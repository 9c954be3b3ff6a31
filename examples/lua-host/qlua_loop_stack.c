/* qlua_loop_stack.c: the loop of lvm.c that only keeps the stack, for samples. */
#define QLUA_LOOP 2
#include "qlua_loop.h"

#include "lvm.c"
