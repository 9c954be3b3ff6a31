/* qlua_loop_polling.c: the loop of lvm.c that asks at each entry and exit whether samples
 * wait. */
#define QLUA_LOOP 3
#include "qlua_loop.h"

#include "lvm.c"
