# ruby_claims.rb: what the gem qprof promises. Its profiles are read by test_ruby.sh.
require "qprof"

def claim(is_so, text = nil) = is_so || raise("line #{caller_locations(1, 1)[0].lineno}: #{text}")

def f(x)
  if x > 1
    return x
  end
  y = x
  y + 1
end

def outer(x)
  inner(x) { raise ArgumentError, "on purpose" }
end

def inner(_x)
  yield
ensure
  f(1)
end

def numbers(n)
  n.times { |i| Fiber.yield i }
  n
end

def waits(n) = n.times { Thread.pass }
def deep = deep
def after_deep = 1

early = Fiber.new { Fiber.yield 1; f(9) }
early.resume
claim !Qprof.running?

def open_before
  Qprof.start(output: "claims.qprof", labels: "kind=a \"label\" \\")
  f(3)
end
open_before
claim Qprof.running? && Qprof.recording?
10.times { |i| f(i) }

# exceptions, throw and a stack that overflows end calls
5.times { outer(1) rescue nil }
catch(:done) { f(2); throw :done }
begin
  deep
rescue SystemStackError
  nil
end
after_deep

# fibers and enumerators are stacks of their own
fiber = Fiber.new { numbers(3) }
4.times { |i| claim fiber.resume == i }
claim early.resume == 9
squares = Enumerator.new { |out| 4.times { |i| out << f(i) } }
claim [squares.next, squares.next] == [1, 2]
squares = nil
50.times { Fiber.new { Fiber.yield f(5) }.resume }
GC.start

# threads
threads = 4.times.map { Thread.new { waits(100) } }
threads.each(&:join)
endless = Thread.new { loop { Thread.pass } }
Thread.pass
endless.kill.join

# the program's own TracePoint sees what it asked for
seen = []
point = TracePoint.new(:call, :return) { |tp| seen << [tp.event, tp.method_id] }
point.enable { f(7) }
claim seen == [%i[call f], %i[return f]], seen
point = TracePoint.new(:call) { raise "of the tracer" }
claim (point.enable { f(7) } rescue $!.message) == "of the tracer"

claim Qprof.pause && !Qprof.recording?
7.times { |i| f(i) }
claim Qprof.resume && Qprof.recording?
claim Qprof.context("named")
f(3)
claim Qprof.context
Qprof.mark("a mark")
claim Qprof.snapshot("so-far.qprof")
claim (Qprof.start rescue $!).is_a?(Qprof::Error)
claim (Qprof.start rescue $!.message).include?("recording already")
Qprof.stop
claim !Qprof.running?
Qprof.stop
f(1)

claim (Qprof.start(time: "wrong") rescue $!.message).include?("-time=wrong")
claim !Qprof.running?

# a second run, begun in a fiber
Fiber.new do
  claim Qprof.profile("-output=second.qprof", open_frames: false) { f(1); Fiber.new { f(2) }.resume; f(3) } == 3
end.resume
claim !Qprof.running?

# what is open when a run begins
class Opens
  def each_of(n) = n == 0 ? Qprof.start(output: "open.qprof") : [n].each { |x| return each_of(x - 1) }
  define_method(:made) { each_of(1); later }
  def later = 1

  def rescues
    raise "x"
  rescue RuntimeError
    made
  end
end
Opens.new.rescues
after_deep
Qprof.stop

# an error passes through, and the run ends
claim (Qprof.profile(output: "error.qprof") { f(1); raise "mine" } rescue $!.message) == "mine"
claim File.exist?("error.qprof")

# forked children record if that is asked for
Qprof.profile(output: "alone.qprof") do
  f(1)
  pid = fork { 3.times { f(2) }; exit!(Qprof.running? ? 1 : 0) }
  Process.wait(pid)
  claim $?.success?
end
Qprof.profile(output: "forks.qprof", follow_child_processes: true) do
  f(1)
  thread = Thread.new { sleep }
  Process.wait(fork { 3.times { f(2) } })
  claim $?.success?
  thread.kill.join
end
Dir["forks.qprof.*"].each { |file| File.rename(file, "child.qprof") }

# what collects garbage all the time, and moves objects
Qprof.profile(output: "stress.qprof", open_frames: false) do
  GC.stress = true
  3.times { Class.new { def anonymous = 1 }.new.anonymous }
  20.times { Object.new.tap { |o| def o.single = 1 }.single }
  fiber = Fiber.new { Fiber.yield f(1) }
  fiber.resume
  fiber = nil
  GC.stress = false
  GC.compact if GC.respond_to?(:compact)
  30.times { f(1) }
end
puts "claims: ok"
