/* qlua_loop_polling.c: the loop of lvm.c, asking at each entry and exit whether it is to be sampled. */
#define QLUA_LOOP 3
#include "qlua_loop.h"

#include "lvm.c"
