# frozen_string_literal: true

# What the gem records: methods, C methods, blocks, exceptions, a fiber, an enumerator and a thread.
#
#     ruby -rqprof example.rb
def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

def squares(n)
  Enumerator.new { |out| n.times { |i| out << i * i } }
end

def parse(text)
  Integer(text)
rescue ArgumentError
  0
end

worker = Thread.new { fib(10) }
numbers = squares(100)
sum = 0
100.times { sum += numbers.next }
fiber = Fiber.new { 3.times { |i| Fiber.yield fib(i) } }
3.times { fiber.resume }
%w[1 two 3].each { |text| sum += parse(text) }
fib(15)
worker.join
puts "sum #{sum}"
