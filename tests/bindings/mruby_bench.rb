# mruby_bench.rb fib|blocks|render: calls alone; blocks and C functions; arithmetic of objects
def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

class Vector
  attr_reader :x, :y
  def initialize(x, y)
    @x = x
    @y = y
  end

  def +(other)
    Vector.new(@x + other.x, @y + other.y)
  end

  def length
    Math.sqrt(@x * @x + @y * @y)
  end
end

case ARGV[0]
when "fib"
  fib(32)
when "blocks"
  150.times do
    list = (1..4000).map { |i| i * 7 % 1001 }
    list.select { |i| i & 1 == 0 }.each_with_index { |x, i| x + i }
    list.map { |i| i.to_s }.join(",").split(",").each { |s| s.size }
  end
else
  sum = Vector.new(0.0, 0.0)
  1_000_000.times { |i| sum = (sum + Vector.new(i * 0.5, 1.0)); sum.length if i % 3 == 0 }
end
