# ruby_programs.rb: calls of all kinds, for counters that are compared. It runs the same each time.
require "continuation"
require "erb"
require "json"
require "set"
require "stringio"

class Shape
  attr_accessor :size
  include Comparable

  def initialize(size) = @size = size
  def <=>(other) = size <=> other.size

  def area(scale: 1, extra: [scale].first)
    yield size * scale + extra
  end

  def self.unit = new(1)
  define_method(:twice) { |by = plus(1)| by * 2 }
  define_method(:early) { |x| return x if x > 1; 0 }
  %w[red green].each { |color| define_method(color) { color.to_sym.to_s } }
  def plus(n) = size + n
  alias_method :add, :plus

  def method_missing(name, *rest)
    name == :shape_missing ? rest.sum : super
  end

  def respond_to_missing?(name, _all = false) = name == :shape_missing || super
end

class Square < Shape
  def area(**named, &block) = super
  def initialize(size)
    super
    singleton_class.define_method(:own) { 7 }
  end
end

module Loud
  def plus(n) = super * 10
end
Square.prepend(Loud)

module Quiet
  refine String do
    def shout = upcase.concat("!")
  end
end
using Quiet

def recurse(n) = n.zero? ? 0 : 1 + recurse(n - 1)
def overflow = overflow # as deep as the stack is
def yielder = yield
def one_line; yielder { yielder { 1 } }; end

def errors
  tries = 0
  begin
    tries += 1
    [1, 2].each { |x| x == 2 ? raise(ArgumentError, "two") : x.to_s(2) }
  rescue ArgumentError
    retry if tries < 3
  ensure
    yielder { tries.to_s(2) }
  end
  catch(:out) { 5.times { |i| yielder { throw :out if i == 3 } } }
  [1, 2, 3].each { |x| break if x > 1 }
  Integer("x") rescue Float("1.5")
  begin
    overflow
  rescue SystemStackError
    recurse(3)
  end
  recurse(2)
end

def procs
  square = ->(x) { x * x }
  plain = proc { |x| next 0 if x == 2; x.to_s(3) }
  half = method(:Integer).to_proc >> square
  [square.(3), plain.call(1), plain.(2), plain.yield(3), half.call("4"), %w[a b].map(&:upcase), [3].map(&method(:recurse)),
   [[1, 2]].to_h { |a, b| [a, b] }, square.curry.(2)]
end

def from_proc = [1, 2].each { |x| return x }

def evals
  eval("recurse(1)")
  Shape.class_eval("def evaluated(n) = n.to_s(2)", "made.rb", 5)
  Shape.new(2).evaluated(5)
  Square.instance_method(:size).bind_call(Square.new(4))
  "x".instance_eval { size + length }
  "x".instance_exec(2) { |n| self * n }
  binding.local_variable_set(:a, 1)
  anonymous = Class.new(Shape) { def hidden(x) = x.to_s(4) }
  3.times { |i| anonymous.new(i).hidden(i) }
  Module.new { def self.inner = 1.to_s(5) }.inner
  10.times { |i| Object.new.tap { |o| def o.single(x) = x.to_s(6) }.single(i) }
end

def fibers
  evens = Fiber.new { |x| 3.times { |i| x += Fiber.yield(recurse(i) + x) }; x }
  4.times { |i| evens.resume(i) }
  (evens.resume rescue nil)
  each = Enumerator.new { |out| out << 1; out.yield(2, 3); out << recurse(4) }
  [each.next, each.next, each.peek, each.next, (each.next rescue "end")]
  each.rewind
  each.next
  words = %w[a b c].each_with_index
  3.times { words.next }
  (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }.reject(&:odd?).first(4)
  e = [1, 2, 3].each
  f = [4, 5, 6].each
  3.times { e.next + f.next }
  10.times { Fiber.new { Fiber.yield recurse(1) }.resume }
  inner = Fiber.new { Fiber.new { recurse(1) }.resume; Fiber.yield; recurse(2) }
  2.times { inner.resume }
  ping = pong = nil
  done = []
  ping = Fiber.new { 3.times { done << 1; pong.transfer } }
  pong = Fiber.new { 3.times { done << 2; ping.transfer } }
  ping.transfer
  failing = Fiber.new { raise "in a fiber" }
  failing.resume rescue done.size
  each.zip([1, 2, 3])
end

def threads
  queue, lock, sum = Queue.new, Mutex.new, 0
  workers = 3.times.map { |i| Thread.new(i) { |n| 20.times { lock.synchronize { sum += recurse(n) } }; queue << n } }
  workers.each(&:join)
  3.times { queue.pop }
  Thread.start { Fiber.new { recurse(3) }.resume }.join
  (Thread.new { Thread.current.report_on_exception = false; raise "in a thread" }.join rescue sum)
  killed = Thread.new { begin; Thread.stop; ensure; recurse(2); end }
  Thread.pass until killed.stop?
  killed.kill.join
  Thread.new { throw :nowhere rescue recurse(1) }.join
end

def again
  tries = 0
  callcc { |k| $k = k }
  tries += 1
  $k.call if tries < 3
end

Point = Struct.new(:x, :y) do
  def length = Math.sqrt(x * x + y * y)
end

def matches(value)
  case value
  in { name: String => name } then name.shout
  in [Integer => a, *] then a
  in Point[x:, y:] then x + y
  end
end

def libraries
  JSON.parse(JSON.generate({ "a" => [1, 2.5, nil, "x"] }))
  ERB.new("<% 3.times do |i| %><%= recurse(i) %><% end %>").result(binding)
  Set.new([1, 2, 2]).each { |x| x.to_s(2) }
  io = StringIO.new("a b\nc")
  io.each_line { |line| line.split.map(&:to_sym) }
  "a-b".gsub(/[ab]/) { |c| c.ord.to_s }
  [3, 1, 2].sort { |a, b| b <=> a }.sort_by { |x| -x }.min_by { |x| x }
  { a: 1 }.each_pair.with_object([]) { |(k, v), all| all << k << v }
  Hash.new { |h, k| h[k] = k.to_s }[:x]
  [1, 2, 3].inject { |a, b| a + b }
  ObjectSpace.each_object(Class).first
  GC.start
  format("%05.2f %s", 1.5, Shape.unit)
  Marshal.load(Marshal.dump(Point.new(1, 2)))
end

square = Square.new(3)
square.size = 4
square.area(scale: 2) { |x| x + 1 }
square.twice
square.twice(3)
[1, 5].each { |x| square.early(x) }
[square.red, square.green, square.own, square.add(1), square.plus(1), Shape.unit < square, [square, Shape.unit].max.size]
square.shape_missing(1, 2)
square.nothing_like_this rescue square.respond_to?(:shape_missing)
square.send(:plus, 2)
square.public_send(:area) { |x| x }
recurse(20)
one_line
errors
procs
from_proc
evals
fibers
threads
again
[{ name: "a" }, [1, 2], Point.new(3, 4)].each { |value| matches(value) }
Point.new(3, 4).length
libraries
class Reopened
  class << self
    def late = :late
  end
  BODY = late
end
puts "done"
