# ruby_calls.rb trace|prof|qprof OUTPUT SCRIPT [ARGUMENT...]: execute a script, and count the calls of each method, C method,
# block and class body: by a TracePoint, by ruby-prof, or by qprof.
#
# ruby_calls.rb both NAME SCRIPT [ARGUMENT...]: by a TracePoint and by qprof in one run, into NAME.json and NAME.qprof. Two runs
# of one program do not call eql? as often, for the seed of hashes differs, and with it the keys that collide.
#
# With BY_PLACE in the environment methods in Ruby and blocks are compared by file and line alone.
#
# ruby_calls.rb compare COUNTS.json REPORT.json [KIND...]: counts are those of `qprof report --format=json`.
require "json"

# As the gem shows them, found in another way: by what Ruby itself prints of a class.
def owner_of(klass)
  text = Module.instance_method(:inspect).bind_call(klass)
  return "#{owner_text(Regexp.last_match(1))}." if text =~ /\A#<Class:(?!0x)(.*)>\z/m
  base = klass.superclass if klass.is_a?(Class)
  base_name = base && Module.instance_method(:name).bind_call(base)
  text = base_name ? "#<Class:#{base_name}>" : "#<#{klass.is_a?(Class) ? Class : Module}>" if text.start_with?("#<Class:0x", "#<Module:0x")
  "#{text}#"
end

def owner_text(text)
  return Regexp.last_match(1) ? "#<#{Regexp.last_match(1)}>" : text if text =~ /\A#<((?!Class|Module)[\w:]+?):0x/ || text !~ /\A#</
  text.sub(/:0x\h+/, "")
end

def finish(output, counts)
  File.write(output, JSON.generate(counts.map { |key, calls| [*key, calls] }))
end

# A block that is a method begins twice; they are one.
def counter(counts)
  owners = {}.compare_by_identity
  method = nil
  TracePoint.new(:call, :c_call, :b_call, :class) do |tp|
    at = [tp.path, tp.lineno, Thread.current, tp.self.__id__]
    kind = { call: "method", c_call: "C", b_call: "block", class: "body" }[tp.event]
    if kind != "block" || method != at
      id = tp.method_id
      name = kind == "body" || !id ? "" : "#{owners[tp.defined_class] ||= owner_of(tp.defined_class)}#{id}"
      counts[kind == "C" ? [kind, name, "", 0] : [kind, name, tp.path, tp.lineno]] += 1
    end
    method = kind == "method" ? at : nil
  end
end

def trace(output)
  counts = Hash.new(0)
  point = counter(counts)
  point.enable
  yield
ensure
  point.disable
  finish(output, counts)
end

# ruby-prof names an alias by its own name.
def original_name(name)
  return name unless name =~ /\A(?:<(?:Class|Module)::([\w:]+)>|([\w:]+))#(.*)\z/
  owner = Object.const_get(Regexp.last_match(1) || Regexp.last_match(2))
  method = (Regexp.last_match(1) ? owner.singleton_class : owner).instance_method(Regexp.last_match(3))
  Regexp.last_match(1) ? "#{owner}.#{method.original_name}" : "#{owner}##{method.original_name}"
rescue NameError
  name
end

def prof(output)
  profile = RubyProf::Profile.new(track_allocations: false, measure_mode: RubyProf::WALL_TIME)
  profile.start
  yield
ensure
  result = profile.stop
  counts = Hash.new(0)
  result.threads.each do |thread|
    thread.methods.each do |m|
      name = m.source_file ? m.full_name : original_name(m.full_name)
      counts[["prof", name, m.source_file.to_s, m.line]] += m.called
    end
  end
  finish(output, counts)
end

def qprof(output)
  require "qprof"
  Qprof.start("-output=#{output} #{ENV["QPROF_TEST_OPTIONS"]}", open_frames: false)
  yield
ensure
  Qprof.stop
end

def both(output)
  counts = Hash.new(0)
  point = counter(counts)
  qprof("#{output}.qprof") do
    point.enable
    yield
  ensure
    point.disable
  end
  finish("#{output}.json", counts)
end

def execute(mode, output, script, *rest)
  require "ruby-prof" if ENV["PRELOAD_RUBY_PROF"] # what it loads is not loaded again by the script
  GC.disable if ENV["NO_GC"] # the order of finalizers is not the same in each run
  ARGV.replace(rest)
  $PROGRAM_NAME = script
  Object.send(mode, output) do
    load script
  rescue SystemExit
    nil
  end
end

def kind_of(row)
  return "C" if row["file"].to_s.empty?
  { "bl" => "block", "<c" => "body", "<m" => "body", "si" => "body" }[row["name"][0, 2]] || "method"
end

# ruby-prof has no blocks, and shows the block of a fiber or thread as a call of the method in which it is. Ruby
# methods are compared by their places.
def key_of_prof(name, file, line)
  return ["method", "", file, line] unless file.empty?
  name = name.sub(/\A<(?:Class|Module|Object)::(.*)>#/) { "#{Regexp.last_match(1)}." }
             .sub(/\A#<Class:0x\h+>#/, "#<Object>.").sub(/\AObject\.(?=using)/, "#<Object>.")
             .sub(/\A#<Class:0x\h+>::\w+#/, "#<Class:Object>#")
  ["C", name, "", 0]
end

def compare(counts, report)
  ours, theirs, blocks = Hash.new(0), Hash.new(0), {}
  skipped = /\A(Kernel#load$|TracePoint[#.]|RubyProf|Qprof|<Class::RubyProf|Object#overflow|Thread.pass|Thread#stop\?|.*#(eql\?|hash|<=>)\z)/ # some depend on times, and on the seed of hashes
  counts = JSON.parse(File.read(counts))
  is_prof = counts.first.first == "prof"
  is_by_place = is_prof || !ENV["BY_PLACE"].nil? # of Ruby methods, whose classes may print anything
  JSON.parse(File.read(report))["methods"].each do |row|
    next if row["calls"].zero?
    kind = kind_of(row)
    name = row["name"].sub(/\Ablock (\(\d+ levels\) )?in /, "").sub(/\A#<Class:[\w:]+>\./, "#<Class>.").sub(/\A#<#<.*>\./, "#<#<Class>>.")
    name = "" if kind == "body" || name.start_with?("<") || (is_by_place && (kind == "method" || (kind == "block" && !is_prof)))
    blocks[[row["file"], row["line"]]] = true if kind == "block"
    next if row["name"].match?(skipped) || (is_prof && %w[block body].include?(kind))
    ours[[kind, name, row["file"].to_s, row["line"].to_i]] += row["calls"]
  end
  counts.each do |kind, name, file, line, calls|
    name = name.sub(/\A#<#<.*>\./, "#<#<Class>>.")
    next if name.match?(skipped)
    kind, name, file, line = key_of_prof(name, file, line) if is_prof
    name = "" if is_by_place && (kind == "method" || kind == "block")
    name = name.sub("(keyword_init: true)", "") # which is how such a class prints
    next if name.match?(skipped)
    theirs[[kind, name, file, line]] += calls unless is_prof && blocks[[file, line]] && !ours.key?([kind, name, file, line])
  end
  [ours, theirs].each { |rows| rows.delete_if { |key, _| File.expand_path(key[2]) == File.expand_path(__FILE__) } }
  differ = (ours.keys | theirs.keys).reject { |key| ours[key] == theirs[key] }
  differ.first(ENV.fetch("SHOWN", 20).to_i).each { |key| puts "#{key.inspect}: #{theirs[key]}, and qprof #{ours[key]}" }
  puts "#{theirs.size} functions, #{theirs.values.sum} calls, #{differ.size} differ"
  exit 1 unless differ.empty? && theirs.size > 5
end

if $PROGRAM_NAME == __FILE__
  mode = ARGV.shift
  mode == "compare" ? compare(*ARGV) : execute(mode, *ARGV)
end
