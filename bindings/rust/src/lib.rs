//! Exact profiles of programs and runtimes: libqprof's front door.
//!
//! ```no_run
//! let vm = qprof::Vm::open(None).unwrap();             // the run, if the variable QPROF is set
//! let work = qprof::Function::new("work", file!(), line!());
//! {
//!     let _call = vm.call(&work);                      // this block is a call
//! }
//! ```
//!
//! What begins with a guard ends where it is dropped, also by `?` and by a panic. While nothing is recorded, a call is a
//! call of C and a test. Guide: docs/rust.md.
pub mod raw;

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::{c_int, c_void};
use std::ptr;

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}

/// A virtual machine, or a thread of a program: it runs on the OS thread that has opened it.
pub struct Vm {
    vm: *mut c_void,
    is_recorded: bool,
}

impl Vm {
    /// Begin to use the recorder: the first one of a process begins the run, the last one to be dropped ends it and writes
    /// the file.
    ///
    /// Without options the variable `QPROF` says if and how to record. An error says why options are wrong, or why nothing
    /// can be recorded.
    pub fn open(options: Option<&str>) -> Result<Vm, String> {
        let options = options.map(c_string);
        let mut opened: c_int = 0;
        // Safety: the text lives until the call returns.
        let vm = unsafe { raw::qprof_rs_vm_open(options.as_ref().map_or(ptr::null(), |o| o.as_ptr()), &mut opened) };
        if vm.is_null() {
            return Err("no memory".into());
        }
        let it = Vm {
            vm,
            is_recorded: opened > 0,
        };
        if opened < 0 {
            // Safety: the text is never null, and belongs to this thread until its next failing call.
            return Err(unsafe { CStr::from_ptr(raw::qprof_error_text()) }
                .to_string_lossy()
                .into_owned());
        }
        Ok(it)
    }

    /// Is it recorded?
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// A call, until the guard is dropped.
    #[inline]
    pub fn call(&self, function: &Function) -> Call<'_> {
        self.enter(function.id_in(self), false)
    }

    /// A call of a function that [`define`](Vm::define) has described.
    #[inline]
    pub fn call_id(&self, id: FunctionId) -> Call<'_> {
        self.enter(id.0, false)
    }

    /// A piece of a call that was suspended, a generator's: it continues, and is suspended where the guard is dropped. It is
    /// a resume, and no call.
    #[inline]
    pub fn resume(&self, function: &Function) -> Call<'_> {
        self.enter(function.id_in(self), true)
    }

    /// Describe a function of the language that this machine executes. Each line of `lines` is a block, in the order of the
    /// code.
    pub fn define(&self, name: &str, file: &str, lines: &[u32]) -> FunctionId {
        let table: Vec<raw::LineInfo> = lines
            .iter()
            .enumerate()
            .map(|(i, line)| raw::LineInfo {
                code_offset: i as c_int,
                line_number: *line as c_int,
            })
            .collect();
        FunctionId(if self.is_recorded {
            define(name, file, &table)
        } else {
            0
        })
    }

    /// A block of the function that runs was executed.
    #[inline]
    pub fn executed(&self, block: usize) {
        if self.is_recorded {
            // Safety: a block that does not exist is counted as a mistake of the host.
            unsafe { raw::qprof_record_bb_counts(block as c_int, 1) }
        }
    }

    /// A stack for a coroutine or fiber, below the calls that are open now.
    pub fn stack(&self) -> Stack<'_> {
        // Safety: the machine lives at least as long as the stack.
        Stack {
            vm: self,
            stack: unsafe { raw::qprof_rs_stack_create(self.vm) },
        }
    }

    /// A request of a server, until the guard is dropped: what runs meanwhile belongs to the endpoint. A panic that ends it
    /// counts it as failed. `traceparent` is the header of W3C Trace Context; a wrong one is ignored.
    pub fn request(&self, endpoint: &str, traceparent: Option<&str>) -> Request<'_> {
        let (endpoint, traceparent) = (c_string(endpoint), traceparent.map(c_string));
        // Safety: the machine is open, and the texts are copied.
        let stack = unsafe {
            let stack = raw::qprof_rs_running(self.vm);
            let header = traceparent.as_ref().map_or(ptr::null(), |t| t.as_ptr());
            raw::qprof_rs_enter_request(stack, endpoint.as_ptr(), header);
            stack
        };
        Request {
            stack,
            has_failed: Cell::new(false),
            was_panicking: std::thread::panicking(),
            vm: PhantomData,
        }
    }

    fn enter(&self, id: raw::MethodId, is_resume: bool) -> Call<'_> {
        // Safety: the machine is open, and no other thread uses it.
        unsafe {
            let stack = raw::qprof_rs_running(self.vm);
            Call {
                stack,
                token: Cell::new(raw::qprof_rs_enter(self.vm, id, c_int::from(is_resume))),
                vm: PhantomData,
            }
        }
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // Safety: no guard lives longer than the machine.
        unsafe { raw::qprof_rs_vm_close(self.vm) }
    }
}

/// The id of a function of the executed language, while the machine is open. It records nothing in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId(raw::MethodId);

fn define(name: &str, file: &str, lines: &[raw::LineInfo]) -> raw::MethodId {
    let (name, file) = (c_string(name), c_string(file));
    // Safety: all is copied.
    unsafe {
        raw::qprof_define(
            name.as_ptr(),
            ptr::null(),
            file.as_ptr(),
            lines.as_ptr(),
            lines.len() as c_int,
        )
    }
}

/// A function of this program. It may outlive runs: each run gets it when it is first called. One of each thread.
pub struct Function {
    name: String,
    file: String,
    line: u32,
    known: Cell<(c_int, raw::MethodId)>, // the run, and its id there
}

impl Function {
    /// As reports show it; line 0: unknown.
    pub fn new(name: &str, file: &str, line: u32) -> Function {
        Function {
            name: name.into(),
            file: file.into(),
            line,
            known: Cell::new((0, 0)),
        }
    }

    #[inline]
    fn id_in(&self, vm: &Vm) -> raw::MethodId {
        if !vm.is_recorded {
            return 0;
        }
        // Safety: the machine is open.
        let run = unsafe { raw::qprof_rs_run(vm.vm) };
        let (known, id) = self.known.get();
        if known == run {
            return id;
        }
        let declared = [raw::LineInfo {
            code_offset: -1,
            line_number: self.line as c_int,
        }];
        let id = define(&self.name, &self.file, &declared[..usize::from(self.line > 0)]);
        self.known.set((run, id));
        id
    }
}

/// A call that is open. It ends where it is dropped.
#[must_use = "the call ends at once"]
pub struct Call<'vm> {
    stack: *mut c_void,
    token: Cell<raw::Token>,
    vm: PhantomData<&'vm Vm>,
}

impl Call<'_> {
    /// It continues as another function: a tail call.
    pub fn become_id(&self, id: FunctionId) {
        // Safety: the stack lives as long as the machine, or is ended after its calls.
        self.token
            .set(unsafe { raw::qprof_rs_tail(self.stack, self.token.get(), id.0) });
    }
}

impl Drop for Call<'_> {
    #[inline]
    fn drop(&mut self) {
        // Safety: as above. A call that is dropped out of order ends those above it.
        unsafe { raw::qprof_rs_leave(self.stack, self.token.get()) }
    }
}

/// A request that is open. It ends where it is dropped.
#[must_use = "the request ends at once"]
pub struct Request<'vm> {
    stack: *mut c_void,
    has_failed: Cell<bool>,
    was_panicking: bool,
    vm: PhantomData<&'vm Vm>,
}

impl Request<'_> {
    /// It is counted as failed, though no panic ends it.
    pub fn fail(&self) {
        self.has_failed.set(true);
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let has_failed = self.has_failed.get() || (std::thread::panicking() && !self.was_panicking);
        // Safety: as for a call.
        unsafe { raw::qprof_rs_leave_request(self.stack, c_int::from(has_failed)) }
    }
}

/// The stack of a coroutine or fiber.
pub struct Stack<'vm> {
    vm: &'vm Vm,
    stack: *mut c_void,
}

impl Stack<'_> {
    /// Run a piece of it; then the stack that ran before continues, also if it panics.
    pub fn run<T>(&self, piece: impl FnOnce() -> T) -> T {
        struct Back(*mut c_void, *mut c_void);
        impl Drop for Back {
            fn drop(&mut self) {
                // Safety: the stack that ran before lives on: it is the machine's, or borrowed by a caller.
                unsafe { raw::qprof_rs_switch(self.0, self.1) };
            }
        }
        if self.stack.is_null() {
            return piece(); // there was no memory for it
        }
        // Safety: both live.
        let _back = Back(self.vm.vm, unsafe { raw::qprof_rs_switch(self.vm.vm, self.stack) });
        piece()
    }
}

impl Drop for Stack<'_> {
    fn drop(&mut self) {
        if !self.stack.is_null() {
            // Safety: it does not run, because run() borrows it.
            unsafe { raw::qprof_rs_stack_end(self.vm.vm, self.stack) }
        }
    }
}

/// What any thread executes from now on belongs to a context, for example a test; `None`: to no context. Returns whether
/// contexts are recorded.
pub fn context(name: Option<&str>) -> bool {
    let name = name.map(c_string);
    // Safety: the text is copied.
    unsafe { raw::qprof_context(name.as_ref().map_or(ptr::null(), |n| n.as_ptr())) == 0 }
}

/// Record nothing, in any thread, until the guard is dropped. Nothing changes if recording was stopped before.
pub fn pause() -> Paused {
    // Safety: any thread may call it.
    Paused {
        has_stopped: unsafe { raw::qprof_stop_recording() } > 0,
    }
}

/// Nothing is recorded while it lives.
#[must_use = "recording begins again at once"]
pub struct Paused {
    has_stopped: bool,
}

impl Drop for Paused {
    fn drop(&mut self) {
        if self.has_stopped {
            // Safety: any thread may call it.
            unsafe { raw::qprof_start_recording() };
        }
    }
}
