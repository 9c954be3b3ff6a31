# frozen_string_literal: true

# ruby_requests.rb: Qprof.request counts every request, and passes on what its block did. Read by test_ruby.sh.
require "qprof"
HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

def claim(is_so) = is_so || (warn caller(1, 1)) || exit!(1)
def leaf = nil
def fail_at(depth) = depth.zero? ? raise("on purpose") : fail_at(depth - 1)

def serve(i)
  Qprof.request(i.odd? ? "GET /odd" : "GET /even", HEADER) do
    leaf
    fail_at(2) if (i % 5).zero?
    leaf
    i
  end
end

def leaves = Qprof.request("break") { return 7 }

claim Qprof.request("nothing is on") { 3 } == 3
Qprof.start(output: "requests.qprof", check_host: true, open_frames: false)
Qprof.request("GET /first", "no header") { leaf } # in no call that is recorded
leaf
100.times do |i|
  claim serve(i) == i && i % 5 != 0
rescue RuntimeError => error
  claim (i % 5).zero? && error.message == "on purpose"
end
claim leaves == 7
claim catch(:found) { Qprof.request("throw") { [1].each { throw :found, 8 } } } == 8
Qprof.request("GET /outer") { Qprof.request("GET /inner") { 3.times { leaf } } }

# fibers that yield inside of requests, in turn; one is left
fibers = Array.new(5) do |k|
  Fiber.new do
    Qprof.request("fiber") do
      leaf
      Fiber.yield
      leaf
      fail_at(0) if k == 4
      k
    end
  end
end
fibers.each(&:resume)
fibers.each_with_index do |fiber, k|
  claim fiber.resume == k unless k == 2
rescue RuntimeError
  claim k == 4
end
Array.new(4) { Thread.new { 10.times { Qprof.request("thread") { leaf } } } }.each(&:join)
begin
  Qprof.request("a\0b") { claim false }
rescue ArgumentError
  leaf
end
Qprof.stop
