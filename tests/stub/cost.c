/* cost.c: cost N: N closed pairs of enter and leave, and the loop around them, one site of each. */
#include <stdlib.h>

#include "qprof/embed.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0, i;
    qprof_vm vm;
    qprof_token caller = QPROF_NO_TOKEN;
    qprof_vm_open(&vm, NULL);
    for (i = 0; i < n; i++) {
        qprof_token token = qprof_enter(&vm.main, caller, 7);
        __asm__ volatile("" : "+r"(token)::"memory"); /* the function's body */
        qprof_leave(&vm.main, token);
    }
    qprof_vm_close(&vm);
    return 0;
}
