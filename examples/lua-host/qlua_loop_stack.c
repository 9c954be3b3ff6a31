/* qlua_loop_stack.c: the loop of lvm.c, keeping the stack for samples and nothing else. */
#define QLUA_LOOP 2
#include "qlua_loop.h"

#include "lvm.c"
