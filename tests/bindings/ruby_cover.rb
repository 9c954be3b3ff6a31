# ruby_cover.rb coverage|qprof OUTPUT SCRIPT [ARGUMENT...]: coverage of a script and all that it loads, by Ruby's own Coverage
# or by qprof.
#
# ruby_cover.rb compare COVERAGE.json QPROF.json: the latter is of `qprof cover export --to=json`. Lines with code, and
# how often each was executed, must be the same in all files; so must calls of methods that both know.
require "json"

def execute(script, *rest)
  ARGV.replace(rest)
  $PROGRAM_NAME = script
  load script
rescue SystemExit
  nil
end

def record_coverage(output, *words)
  require "coverage"
  Coverage.start(lines: true, methods: true)
  execute(*words)
  files = Coverage.result.to_h do |file, found|
    methods = Hash.new(0)
    lines = found[:methods].keys.map { |_, _, line| line }.tally
    found[:methods].each { |(_, name, line), calls| methods["#{line} #{name}"] += calls if lines[line] == 1 }
    [file, { lines: found[:lines], methods: methods }]
  end
  File.write(output, JSON.generate(files))
end

def record_qprof(output, *words)
  require "coverage" # what it loads is not loaded again
  require "qprof"
  Qprof.start("-output=#{output} -collect=coverage -cover-include=**", open_frames: false)
  execute(*words)
  Qprof.stop
end

def compare(wanted, found)
  found = JSON.parse(File.read(found))["files"].to_h { |file| [file["path"], file] }
  n_files = n_lines = n_executed = n_methods = n_differ = 0
  JSON.parse(File.read(wanted)).each do |path, theirs|
    next if path == __FILE__ || path.include?("/lib/qprof")
    ours = found[path]
    wrong = ours ? [] : ["not in qprof's"]
    mine = (ours ? ours["lines"] : []).to_h { |line| [line["line"], line["hits"]] }
    yours = theirs["lines"].each_with_index.filter_map { |n, i| [i + 1, n] if n }.to_h
    (mine.keys | yours.keys).each do |line|
      wrong << "line #{line}: #{yours[line].inspect}, and qprof #{mine[line].inspect}" if mine[line] != yours[line]
    end
    calls = Hash.new(0)
    (ours ? ours["functions"] : []).each do |f|
      calls["#{f["line"]} #{f["name"][/[#.]([^#.]+)\z/, 1]}"] += f["hits"] unless f["name"].start_with?("block ")
    end
    theirs["methods"].each do |key, n|
      next unless calls.key?(key)
      n_methods += 1
      wrong << "method #{key}: #{n}, and qprof #{calls[key]}" if calls[key] != n
    end
    n_files += 1
    n_lines += yours.size
    n_executed += yours.values.count(&:positive?)
    n_differ += wrong.size
    wrong.first(20).each { |text| puts "#{path}: #{text}" }
  end
  puts "#{n_files} files, #{n_lines} lines, #{n_executed} executed, #{n_methods} methods; #{n_differ} differ"
  exit 1 unless n_differ.zero? && n_files.positive?
end

mode, *words = ARGV
Object.send(mode == "compare" ? mode : "record_#{mode}", *words)
