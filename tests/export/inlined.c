/* inlined.c: f calls g, which is inlined, 3 times, and that calls h, which is inlined too, once each; i calls g. */
#include "qprof/embed.h"

enum { F = 1, G, H, I };

static void add(qprof_MethodID id, const char *name, int flags, int line)
{
    const qprof_LineInfo lines[] = {{0, line}};
    qprof_register_method_id(id, name, NULL, flags, "a.src", lines, 1);
}

int main(void)
{
    qprof_vm vm;
    qprof_token f, g;
    int n;
    qprof_vm_open(&vm, "-output=inlined.qprof -time=none");
    add(F, "f", QPROF_METHOD_FLAGS_NONE, 1);
    add(G, "g", QPROF_METHOD_FLAGS_INLINED, 10);
    add(H, "h", QPROF_METHOD_FLAGS_INLINED, 20);
    add(I, "i", QPROF_METHOD_FLAGS_NONE, 30);
    f = qprof_enter(&vm.main, 0, F);
    for (n = 0; n < 3; n++) {
        g = qprof_enter(&vm.main, f, G);
        qprof_leave(&vm.main, qprof_enter(&vm.main, g, H));
        qprof_leave(&vm.main, g);
    }
    qprof_leave(&vm.main, f);
    f = qprof_enter(&vm.main, 0, I);
    qprof_leave(&vm.main, qprof_enter(&vm.main, f, G));
    qprof_leave(&vm.main, f);
    qprof_vm_close(&vm);
    return 0;
}
