//! tiny.rs: an interpreter of a few lines that is recorded: functions, calls, tail calls, errors and lines.
//!
//!     QPROF="-output=tiny.qprof" cargo run --example tiny && qprof report tiny.qprof
use std::collections::HashMap;

/// Source: each line of a function is an expression; its value is that of the last one.
/// `f x` calls f, `?a b c` is b if a is above 0, else c.
const PROGRAM: &str = "\
fib
  if
count
  loop
half
  fail
main
  fib 15
  count 50
  half 3
  half 8";

enum Value {
    Number(i64),
    TailCall(&'static str, i64),
}

struct Interpreter<'vm> {
    vm: &'vm qprof::Vm,
    functions: HashMap<&'static str, (qprof::FunctionId, Vec<&'static str>)>,
}

impl<'vm> Interpreter<'vm> {
    fn load(vm: &'vm qprof::Vm, text: &'static str) -> Self {
        let mut functions = HashMap::new();
        let lines: Vec<&'static str> = text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let body: Vec<_> = lines[at + 1..]
                .iter()
                .take_while(|l| l.starts_with(' '))
                .map(|l| l.trim())
                .collect();
            let numbers: Vec<u32> = (0..body.len() as u32).map(|i| at as u32 + 2 + i).collect();
            functions.insert(
                lines[at],
                (vm.define(lines[at], "program.tiny", &numbers), body.clone()),
            );
            at += 1 + body.len();
        }
        Interpreter { vm, functions }
    }

    fn call(&self, name: &'static str, argument: i64) -> Result<i64, String> {
        let (mut name, mut argument) = (name, argument);
        let (id, _) = self.functions[name];
        let frame = self.vm.call_id(id); // it ends by return, by ? and by a panic
        loop {
            match self.body(name, argument)? {
                Value::Number(n) => return Ok(n),
                Value::TailCall(callee, n) => {
                    (name, argument) = (callee, n);
                    frame.become_id(self.functions[name].0);
                }
            }
        }
    }

    fn body(&self, name: &str, argument: i64) -> Result<Value, String> {
        let mut last = Value::Number(0);
        for (block, line) in self.functions[name].1.iter().enumerate() {
            self.vm.executed(block);
            last = match *line {
                "if" if argument < 2 => Value::Number(argument),
                "if" => Value::Number(self.call("fib", argument - 1)? + self.call("fib", argument - 2)?),
                "loop" if argument > 0 => Value::TailCall("count", argument - 1),
                "loop" => Value::Number(0),
                "fail" if argument % 2 != 0 => return Err(format!("{argument} is odd")),
                "fail" => Value::Number(argument / 2),
                call => {
                    let (callee, n) = call.split_once(' ').ok_or("no call")?;
                    let callee = *self.functions.get_key_value(callee).ok_or("no function")?.0;
                    Value::Number(self.call(callee, n.parse().map_err(|_| "no number")?).unwrap_or(-1))
                }
            };
        }
        Ok(last)
    }
}

fn main() {
    let vm = qprof::Vm::open(None).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    });
    let interpreter = Interpreter::load(&vm, PROGRAM);
    println!("{}", interpreter.call("main", 0).unwrap());
}
