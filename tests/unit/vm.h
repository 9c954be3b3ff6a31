/* vm.h: VMs of qprof/embed.h that record on a clock of the test's own. */
#ifndef QP_TESTS_UNIT_VM_H
#define QP_TESTS_UNIT_VM_H

#include <unistd.h>

#include "qprof/embed.h"
#include "unit/play.h"

static const char exact[] = "-output=run.qprof -log-file=none -time=exact";

static inline qprof_MethodID define(const char *name)
{
    return qprof_define(name, NULL, "a.src", NULL, 0);
}

/* The VM that begins this test: the first user of the run. */
static inline qprof_vm *first_vm(const char *options)
{
    static qprof_vm vm;
    unlink("run.qprof");
    qprof_set_clock(play_clock);
    assert_int_equal(qprof_vm_open(&vm, options), 1);
    return &vm;
}

#endif
