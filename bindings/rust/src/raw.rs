//! The C functions. Their documentation is in the headers `qprof.h` and `qprof/embed.h`; those named `qprof_rs_` are of
//! shim.c, because embed.h is in line.
use std::os::raw::{c_char, c_int, c_void};

pub type MethodId = usize;
pub type Token = u64;

/// An entry of a line table: a block of code begins at the offset. One below 0 is the declaration.
#[repr(C)]
pub struct LineInfo {
    pub code_offset: c_int,
    pub line_number: c_int,
}

extern "C" {
    pub fn qprof_rs_vm_open(options: *const c_char, opened: *mut c_int) -> *mut c_void;
    pub fn qprof_rs_vm_close(vm: *mut c_void);
    pub fn qprof_rs_running(vm: *mut c_void) -> *mut c_void;
    pub fn qprof_rs_run(vm: *const c_void) -> c_int;
    pub fn qprof_rs_stack_create(vm: *mut c_void) -> *mut c_void;
    pub fn qprof_rs_stack_end(vm: *mut c_void, stack: *mut c_void);
    pub fn qprof_rs_switch(vm: *mut c_void, to: *mut c_void) -> *mut c_void;
    pub fn qprof_rs_enter(vm: *mut c_void, function: MethodId, is_resume: c_int) -> Token;
    pub fn qprof_rs_leave(stack: *mut c_void, token: Token);
    pub fn qprof_rs_enter_request(stack: *mut c_void, endpoint: *const c_char, traceparent: *const c_char);
    pub fn qprof_rs_leave_request(stack: *mut c_void, has_failed: c_int);
    pub fn qprof_rs_tail(stack: *mut c_void, token: Token, function: MethodId) -> Token;

    pub fn qprof_define(
        name: *const c_char,
        class_name: *const c_char,
        file: *const c_char,
        lines: *const LineInfo,
        n_lines: c_int,
    ) -> MethodId;
    pub fn qprof_error_text() -> *const c_char;
    pub fn qprof_counter_bank(id: MethodId) -> *mut u64;
    pub fn qprof_record_bb_counts(block: c_int, n: u64);
    pub fn qprof_context(name: *const c_char) -> c_int;
    pub fn qprof_stop_recording() -> c_int;
    pub fn qprof_start_recording() -> c_int;
    pub fn qprof_is_recording() -> c_int;
}
