# What programs do: strings, hashes, closures, methods, sorting, iterators. As ../mixed.lua.
class Account
  def initialize(name)
    @name = name
    @balance = 0
    @log = []
  end

  def deposit(amount)
    @balance += amount
    @log << amount
  end

  def average
    sum = 0
    @log.each { |amount| sum += amount }
    @log.empty? ? 0 : sum / @log.size.to_f
  end
end

def words(n)
  list = []
  1.upto(n) { |i| list << format("w%05d", i * 7919 % 10007) }
  list
end

def histogram(text)
  counts = {}
  text.scan(/\w+/) { |word| counts[word] = (counts[word] || 0) + 1 }
  counts
end

def transform(list, f)
  out = []
  list.each { |item| out << f.call(item) }
  out
end

def matrix(n)
  m = []
  1.upto(n) do |i|
    row = []
    1.upto(n) { |k| row << i * k % 10 + 0.5 }
    m << row
  end
  m
end

def multiply(a, b)
  n = a.size
  c = []
  a.each do |left|
    row = []
    n.times do |k|
      sum = 0
      j = 0
      while j < n
        sum += left[j] * b[j][k]
        j += 1
      end
      row << sum
    end
    c << row
  end
  c
end

def sieve(n)
  composite = {}
  primes = 0
  (2..n).each do |i|
    next if composite[i]
    primes += 1
    (i * i).step(n, i) { |k| composite[k] = true }
  end
  primes
end

def one_round(size)
  list = words(size).sort { |a, b| a <=> b }
  text = list.join(" ")
  counts = histogram(text + " " + text)
  upper = text.gsub(/\d+/) { |digits| "<" + digits + ">" }
  accounts = transform(list, ->(name) { Account.new(name) })
  accounts.each_with_index do |account, i|
    1.upto(5) { |k| account.deposit(i * k % 97) }
  end
  total = 0
  accounts.each { |account| total += account.average }
  m = multiply(matrix(60), matrix(60))
  total + upper.size + counts[list[0]] + m[2][6] + sieve(30000)
end

began = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
ARGV[0].to_i.times { exit 1 unless one_round(2000) > 0 }
puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - began
