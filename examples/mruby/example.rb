# example.rb: words are counted by a chain of fibers, and one of them fails.
TEXT = "the quick brown fox jumps over the lazy dog the fox"

def words(text)
  Fiber.new do
    text.split(" ").each { |word| Fiber.yield word }
    nil
  end
end

def checked(source, forbidden)
  Fiber.new do
    while word = source.resume
      raise ArgumentError, word if word == forbidden
      Fiber.yield word
    end
    nil
  end
end

def count(source)
  counts = {}
  while word = source.resume
    counts[word] = (counts[word] || 0) + 1
  end
  counts
end

p count(checked(words(TEXT), "cat"))
begin
  count(checked(words(TEXT), "fox"))
rescue ArgumentError => e
  puts "forbidden: #{e.message}"
end
