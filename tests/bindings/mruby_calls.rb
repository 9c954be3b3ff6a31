# mruby_calls.rb: calls, and ends of calls, of all kinds
class Base
  def run(n)
    yield n
  end

  def method_missing(name, *rest)
    name == :ghost ? rest.size : super
  end
end

class Child < Base
  attr_accessor :value
  def run(n)
    super(n + 1) { |x| yield x * 2 }
  end

  def leave_early(list)
    list.each { |x| return x if x > 2 }
    nil
  end

  def <=>(other)
    value <=> other.value
  end
  include Comparable
end

def raises(depth)
  depth == 0 ? raise("deep") : raises(depth - 1)
ensure
  $ensured = ($ensured || 0) + 1
end

def recurse(n)
  recurse(n + 1)
end

c = Child.new
p c.run(3) { |x| x + 1 }
p c.ghost(1, 2)
begin
  c.nothing
rescue NoMethodError => e
  puts e.class
end
p c.leave_early([1, 2, 3, 4])
p [1, 2, 3, 4].each { |x| break x * 10 if x == 3 }
3.times do
  begin
    raises(20)
  rescue => e
    puts e.message
  end
end
p $ensured
begin
  recurse(0)
rescue SystemStackError => e
  puts e.class
end

# errors through C functions that call back
begin
  [3, 1, 2].sort { |a, b| raise ArgumentError, "in sort" }
rescue ArgumentError => e
  puts e.message
end
begin
  { a: 1 }.each { |k, v| [1].map { |x| Integer("z") } }
rescue => e
  puts e.class
end

# code in other forms
p c.send(:run, 1) { |x| x }
p c.instance_eval { run(5) { |x| x } }
Child.class_eval { define_method(:made) { |x| x + 1 } }
p c.made(4)
p eval("c.made(5)")
p c.method(:made).call(6)
p c.method(:made).unbind.bind(c).call(7)
p [1, 2, 3].map(&:to_s)
add = ->(a, b) { a + b }
p add.(1, 2), add[3, 4], add.call(5, 6)
begin
  add.call(1)
rescue ArgumentError => e
  puts e.class
end
50.times { |i| Class.new { define_method(:x) { i } }.new.x }
p (1..50).map { |i| o = Object.new; def o.single; 1; end; o.single }.size
a, b = Child.new, Child.new
a.value, b.value = 1, 2
p a < b, [b, a].min.value

# fibers: finished, abandoned, failed, nested, and resumed from C
f = Fiber.new { |x| y = Fiber.yield(x + 1); Fiber.yield(y * 2); :end }
p f.resume(1), f.resume(10), f.resume, f.alive?
begin
  f.resume
  f.resume
rescue FiberError => e
  puts e.class
end
abandoned = (1..20).map { g = Fiber.new { loop { Fiber.yield 1 } }; g.resume; g }
abandoned = nil
GC.start
g = Fiber.new { raises(3) }
begin
  g.resume
rescue => e
  puts e.message
end
outer = Fiber.new do
  inner = Fiber.new { Fiber.yield 1; raise "inner" }
  inner.resume
  begin
    inner.resume
  rescue => e
    Fiber.yield e.message
  end
  :outer
end
p outer.resume, outer.resume
fs = [1, 2, 3].map { |n| Fiber.new { Fiber.yield n; n * n } }
p fs.map(&:resume), fs.map { |x| x.resume }
enum = Enumerator.new { |y| 5.times { |i| y << i } }
p enum.next, enum.next, enum.peek, enum.take(3)
p (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.first(3)
t1 = Fiber.new { t2 = Fiber.new { t1.transfer(:back) rescue :no; 2 }; [t2.resume, 1] }
p((t1.resume rescue $!.class))
retries = 0
begin
  retries += 1
  raise "again" if retries < 4
rescue
  retry
end
p retries
