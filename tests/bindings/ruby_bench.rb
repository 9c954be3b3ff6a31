# ruby_bench.rb [--rounds=N] [TOOL...]: how much slower programs run under each tool.
#
# Each round runs every tool on every program once, each in a process of its own, and divides its time by that of the
# same round without a tool. Times are those of the processor. Shown are the medians. What a tool does before
# and after the program does not count.
require "open3"

def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

class Shape
  attr_reader :points

  def initialize(size)
    @size = size
    @points = []
  end

  def add(x)
    @points << x
    @points.length
  end

  def area
    total = 0
    @points.each do |x|
      if x % 3 == 0
        total += x
      else
        total -= 1
      end
    end
    total * scale
  end

  def scale = [@size, 1].max
end

def words(n) = (0...n).map { |i| "word#{i}" }

def mixed(n)
  total = 0
  n.times do |i|
    shape = Shape.new(i % 7)
    5.times { |k| shape.add(k) }
    total += shape.area
    total += words(3).join(" ").split.length
  end
  total
end

def real
  require "kramdown"
  Kramdown::Document.new(File.read(File.join(__dir__, "../../docs/python.md")), input: "Kramdown").to_html.size
end

PROGRAMS ||= { "fib" => -> { fib(22) }, "mixed" => -> { mixed(4000) }, "kramdown" => -> { real } }.freeze

def under_ruby_prof(work)
  require "ruby-prof"
  profile = RubyProf::Profile.new(measure_mode: RubyProf::WALL_TIME)
  profile.start
  work.call
  profile.stop
end

def under_tracepoint(work, *events)
  point = TracePoint.new(*events) {}
  point.enable
  work.call
  point.disable
end

# It counts files that are loaded from now on: the programs are loaded once more.
def under_coverage(work)
  require "coverage"
  Coverage.start(lines: true, methods: true)
  $LOADED_FEATURES.delete_if { |file| file.include?("kramdown") }
  load __FILE__
  work.call
  work.call
  Coverage.result
end

def under_qprof(work, **options)
  require "qprof"
  Qprof.start(output: "bench.qprof", open_frames: false, **options)
  work.call
  Qprof.stop
  File.unlink("bench.qprof")
end

TOOLS ||= {
  "nothing" => ->(work) { work.call },
  "TracePoint that does nothing" => ->(work) { under_tracepoint(work, :call, :return, :c_call, :c_return, :b_call, :b_return) },
  "ruby-prof" => ->(work) { under_ruby_prof(work) },
  "qprof" => ->(work) { under_qprof(work) },
  "qprof adaptive" => ->(work) { under_qprof(work, time: "adaptive") },
  "qprof counts" => ->(work) { under_qprof(work, time: "none") },
  "TracePoint of lines that does nothing" => ->(work) { under_tracepoint(work, :line) },
  "Coverage" => ->(work) { under_coverage(work) },
  "qprof coverage" => ->(work) { under_qprof(work, collect: "coverage", cover_include: "**") },
}.freeze

# Processor seconds of a program, in this process.
def measure(program, tool)
  work = PROGRAMS.fetch(program)
  work.call # its files and caches
  times = []
  TOOLS.fetch(tool).call(lambda do
    3.times do
      begun = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      work.call
      times << Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - begun
    end
  end)
  times.min
end

def median(numbers) = numbers.sort[numbers.size / 2]

def main(rounds, chosen)
  tools = ["nothing"] + (chosen.empty? ? TOOLS.keys - ["nothing"] : chosen)
  ratios = Hash.new { |all, key| all[key] = [] }
  rounds.times do
    PROGRAMS.each_key do |program|
      plain = nil
      tools.each do |tool|
        out, _, status = Open3.capture3(RbConfig.ruby, __FILE__, "measure", program, tool)
        next unless status.success?
        plain ||= out.to_f
        ratios[[tool, program]] << out.to_f / plain
      end
    end
  end
  puts "| | #{PROGRAMS.keys.join(" | ")} |", "|---" * (PROGRAMS.size + 1) + "|"
  tools.drop(1).each do |tool|
    cells = PROGRAMS.keys.map { |program| ratios.key?([tool, program]) ? format("%.2f", median(ratios[[tool, program]])) : "–" }
    puts "| #{tool} | #{cells.join(" | ")} |"
  end
end

if $PROGRAM_NAME != __FILE__ || Object.private_method_defined?(:is_loaded)
  nil
elsif ARGV[0] == "measure"
  def is_loaded = true
  puts measure(*ARGV.drop(1))
else
  rounds = ARGV.grep(/\A--rounds=/).map { |word| word[/\d+/].to_i }.last || 5
  main(rounds, ARGV.grep_v(/\A--/))
end
