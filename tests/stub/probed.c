/* probed.c: a runtime whose hooks other tools watch: three calls of g by C.f, each with f above it, an error that
 * f catches, and a tail call. 13 bytes of code are given a name. */
#include "qprof/embed.h"

static const unsigned char code[13];

int main(void)
{
    qprof_vm vm;
    qprof_LineInfo lines[2] = {{-1, 7}, {0, 8}};
    qprof_vm_open(&vm, NULL);
    qprof_MethodID f = qprof_define("f", "C", "a.src", lines, 2);
    qprof_MethodID g = qprof_define("g", NULL, "b.src", NULL, 0);
    qprof_token in_f = qprof_enter(&vm.main, 0, f), in_g;
    int i;
    for (i = 0; i < 3; i++) {
        in_g = qprof_enter(&vm.main, in_f, g);
        qprof_push(&vm.main, f);
        qprof_pop(&vm.main, f);
        qprof_leave(&vm.main, in_g);
    }
    qprof_unwind(&vm.main, in_f);
    in_g = qprof_tail(&vm.main, in_f, g);
    qprof_register_code(g, code, sizeof code);
    qprof_register_code(0, code, sizeof code);
    qprof_leave(&vm.main, in_g);
    qprof_vm_close(&vm);
    return 0;
}
