# The worst case for a recorder: a call does next to nothing.
def fib(n)
  if n < 2
    return n
  end
  fib(n - 1) + fib(n - 2)
end

began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
fib(ARGV[0].to_i)
puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began
