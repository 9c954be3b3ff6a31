# What programs do: strings, dictionaries, closures, methods, sorting, iterators. As ../mixed.lua.
import functools
import re
import sys
import time


class Account:
    def __init__(self, name):
        self.name, self.balance, self.log = name, 0, []

    def deposit(self, amount):
        self.balance += amount
        self.log.append(amount)

    def average(self):
        total = 0
        for amount in self.log:
            total += amount
        return total / len(self.log) if self.log else 0


def words(n):
    return [f"w{i * 7919 % 10007:05d}" for i in range(1, n + 1)]


def histogram(text):
    counts = {}
    for word in re.finditer(r"\w+", text):
        counts[word[0]] = counts.get(word[0], 0) + 1
    return counts


def transform(items, f):
    out = []
    for item in items:
        out.append(f(item))
    return out


def matrix(n):
    m = []
    for i in range(1, n + 1):
        row = []
        for k in range(1, n + 1):
            row.append(i * k % 10 + 0.5)
        m.append(row)
    return m


def multiply(a, b):
    n, c = len(a), []
    for left in a:
        row = []
        for k in range(n):
            total = 0
            for j in range(n):
                total += left[j] * b[j][k]
            row.append(total)
        c.append(row)
    return c


def sieve(n):
    composite, primes = {}, 0
    for i in range(2, n + 1):
        if i not in composite:
            primes += 1
            for k in range(i * i, n + 1, i):
                composite[k] = True
    return primes


def one_round(size):
    items = words(size)
    items.sort(key=functools.cmp_to_key(lambda a, b: -1 if a < b else int(a > b)))
    text = " ".join(items)
    counts = histogram(text + " " + text)
    upper = re.sub(r"\d+", lambda digits: "<" + digits[0] + ">", text)
    accounts = transform(items, Account)
    for i, account in enumerate(accounts):
        for k in range(1, 6):
            account.deposit(i * k % 97)
    total = 0
    for account in accounts:
        total += account.average()
    m = multiply(matrix(60), matrix(60))
    return total + len(upper) + counts[items[0]] + m[2][6] + sieve(30000)


began = time.process_time()
for _ in range(int(sys.argv[1])):
    assert one_round(2000) > 0
print(time.process_time() - began)
