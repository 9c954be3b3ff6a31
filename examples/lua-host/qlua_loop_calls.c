/* qlua_loop_calls.c: the loop of lvm.c, telling the recorder of calls. */
#define QLUA_LOOP 1
#include "qlua_loop.h"

#include "lvm.c"
