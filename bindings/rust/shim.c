/* shim.c: the functions of qprof/embed.h, which are in line, for callers in Rust. */
#include <stdlib.h>

#include "qprof/embed.h"

qprof_vm *qprof_rs_vm_open(const char *options, int *opened);
void qprof_rs_vm_close(qprof_vm *vm);
qprof_stack *qprof_rs_running(qprof_vm *vm);
qprof_stack *qprof_rs_stack_create(qprof_vm *vm);
void qprof_rs_stack_end(qprof_vm *vm, qprof_stack *s);
qprof_stack *qprof_rs_switch(qprof_vm *vm, qprof_stack *to);
qprof_token qprof_rs_enter(qprof_vm *vm, qprof_MethodID function, int is_resume);
void qprof_rs_leave(qprof_stack *s, qprof_token token);
void qprof_rs_enter_request(qprof_stack *s, const char *endpoint, const char *traceparent);
void qprof_rs_leave_request(qprof_stack *s, int has_failed);
qprof_token qprof_rs_tail(qprof_stack *s, qprof_token token, qprof_MethodID function);
int qprof_rs_run(const qprof_vm *vm);

qprof_vm *qprof_rs_vm_open(const char *options, int *opened)
{
    qprof_vm *vm = malloc(sizeof *vm);
    if (vm)
        *opened = qprof_vm_open(vm, options);
    return vm;
}

void qprof_rs_vm_close(qprof_vm *vm)
{
    qprof_vm_close(vm);
    free(vm);
}

qprof_stack *qprof_rs_running(qprof_vm *vm)
{
    return vm->running;
}

int qprof_rs_run(const qprof_vm *vm)
{
    return vm->run;
}

qprof_stack *qprof_rs_stack_create(qprof_vm *vm)
{
    qprof_stack *s = malloc(sizeof *s);
    if (s)
        qprof_stack_create(s, vm->running);
    return s;
}

void qprof_rs_stack_end(qprof_vm *vm, qprof_stack *s)
{
    qprof_stack_end(vm, s);
    free(s);
}

qprof_stack *qprof_rs_switch(qprof_vm *vm, qprof_stack *to)
{
    return qprof_switch(vm, to);
}

qprof_token qprof_rs_enter(qprof_vm *vm, qprof_MethodID function, int is_resume)
{
    qprof_stack *s = vm->running;
    qprof_token caller = s->outside ? qprof_top(s) : 0;
    if (!function)
        return QPROF_NO_TOKEN;
    return is_resume ? qprof_resume(s, caller, function) : qprof_enter(s, caller, function);
}

void qprof_rs_enter_request(qprof_stack *s, const char *endpoint, const char *traceparent)
{
    qprof_enter_request(s, endpoint, traceparent);
}

void qprof_rs_leave_request(qprof_stack *s, int has_failed)
{
    qprof_leave_request(s, has_failed);
}

void qprof_rs_leave(qprof_stack *s, qprof_token token)
{
    qprof_leave(s, token);
}

qprof_token qprof_rs_tail(qprof_stack *s, qprof_token token, qprof_MethodID function)
{
    return qprof_tail(s, token, function);
}
