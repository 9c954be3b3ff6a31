# The worst case for a recorder: a call does next to nothing.
import sys
import time


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


began = time.process_time()
fib(int(sys.argv[1]))
print(time.process_time() - began)
