"""What the package records: functions, C functions, a generator, tasks and a thread.

    python3 -m qprof run example.py && qprof report example.qprof
"""
import asyncio
import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def squares(n):
    for i in range(n):
        yield i * i


async def wait_turns(n):
    for _ in range(n):
        await asyncio.sleep(0)


async def main():
    await asyncio.gather(wait_turns(3), wait_turns(4))


if __name__ == "__main__":
    thread = threading.Thread(target=fib, args=(15,), name="worker")
    thread.start()
    fib(10)
    total = sum(squares(100))
    asyncio.run(main())
    thread.join()
    print("sum of squares", total)
