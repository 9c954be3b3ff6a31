/* first_vm.h: a host of qprof/embed.h with the fake clock of play.h. */
#ifndef QP_TESTS_FIRST_VM_H
#define QP_TESTS_FIRST_VM_H

#include <stdio.h>
#include <unistd.h>

#include "qprof/embed.h"
#include "unit/play.h"

static qprof_MethodID define(const char *name)
{
    return qprof_define(name, NULL, "a.src", NULL, 0);
}

static qprof_vm *first_vm(const char *options)
{
    static qprof_vm vm;
    char all[256];
    unlink("run.qprof");
    qprof_set_clock(play_clock);
    snprintf(all, sizeof all, "-output=run.qprof -log-file=none %s", options);
    assert_int_equal(qprof_vm_open(&vm, all), 1);
    return &vm;
}

#endif
