//! What the crate promises. The profiles are read by tests/bindings/long_rust.sh.
use qprof::{context, pause, Function, Vm};
use std::panic::{catch_unwind, AssertUnwindSafe};

fn deep(vm: &Vm, function: &Function, n: u32) {
    let _call = vm.call(function);
    if n == 0 {
        panic!("on purpose");
    }
    deep(vm, function, n - 1);
}

#[test]
fn one_run_after_the_other() {
    let outer = Function::new("outer", "claims.rs", 10);
    let inner = Function::new("inner", "claims.rs", 20);
    let panics = Function::new("panics", "", 0);
    let piece = Function::new("piece", "", 0);
    let fiber = Function::new("fiber", "", 0);
    {
        let vm = Vm::open(None).unwrap();
        assert!(!vm.is_recorded());
        let _call = vm.call(&outer);
    }
    assert!(Vm::open(Some("-time=wrong")).err().unwrap().contains("-time=wrong"));
    {
        let vm = Vm::open(Some("-output=first.qprof -collect=profile,coverage")).unwrap();
        assert!(vm.is_recorded());
        for _ in 0..3 {
            let _outer = vm.call(&outer);
            for _ in 0..4 {
                let _inner = vm.call(&inner);
            }
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(|_| ()));
            assert!(catch_unwind(AssertUnwindSafe(|| deep(&vm, &panics, 9))).is_err());
            std::panic::set_hook(before);
            let _after = vm.call(&inner);
        }
        {
            let tail = vm.define("tail", "claims.rs", &[30]);
            let call = vm.call(&outer);
            call.become_id(tail);
            vm.executed(0);
            let _below = vm.call(&inner);
        }
        {
            let _paused = pause();
            let _again = pause();
            let _skipped = vm.call(&inner);
        }
        assert!(context(Some("named")));
        drop(vm.call(&outer));
        assert!(context(None));
        drop(vm.call(&piece));
        for _ in 0..5 {
            let _piece = vm.resume(&piece);
        }
        let _outer = vm.call(&outer);
        let stack = vm.stack();
        for _ in 0..2 {
            stack.run(|| {
                let _fiber = vm.call(&fiber);
            });
        }
        let _panicked = catch_unwind(AssertUnwindSafe(|| {
            stack.run(|| std::panic::resume_unwind(Box::new(1)))
        }));
        let _after = vm.call(&inner);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(|| {
                    let own = Vm::open(Some("")).unwrap();
                    let shared = Function::new("shared", "", 0);
                    for _ in 0..1000 {
                        let _call = own.call(&shared);
                    }
                    assert!(own.is_recorded());
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
    {
        let vm = Vm::open(Some("-output=requests.qprof -check-host=yes")).unwrap();
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        for i in 0..100 {
            let served = catch_unwind(AssertUnwindSafe(|| {
                let request = vm.request(if i % 2 == 1 { "GET /odd" } else { "GET /even" }, Some(header));
                let _outer = vm.call(&outer);
                if i % 5 == 0 {
                    deep(&vm, &panics, 2);
                }
                if i % 5 == 1 {
                    request.fail();
                }
                let _inner = vm.call(&inner);
            }));
            assert_eq!(served.is_err(), i % 5 == 0);
        }
        std::panic::set_hook(before);
        let _after = vm.call(&inner);
    }
    let vm = Vm::open(Some("-output=second.qprof")).unwrap();
    let _outer = vm.call(&outer);
    let _inner = vm.call(&inner);
}
