# ruby_suite.rb rss|minitest: tests of a gem that comes with Ruby, with its tests: of rss those of the parser of RSS 1.0. What they print has no times.
# ruby_suite.rb FILE: a file of test/ruby in Ruby's source.
require "stringio"
name = ARGV.fetch(0)
if name.end_with?(".rb")
  root = File.dirname(name, 3)
  $LOAD_PATH.unshift("#{root}/tool/lib", "#{root}/test", "#{root}/test/ruby")
  require "test/unit"
  def (Test::Unit::Runner).autorun; end
  srand(1)
  require name
  out, $stdout = $stdout, StringIO.new
  Test::Unit::Runner.new.run(["--seed=1", "-q"])
  text, $stdout = $stdout.string, out
  puts text[/\d+ tests, .*/]
  exit
end
folder = Gem.path.flat_map { |path| Dir["#{path}/gems/#{name}-*/test"] }.map { |test| File.dirname(test) }.max or abort "ruby_suite.rb: Ruby came without #{name}"
$LOAD_PATH.unshift("#{folder}/lib", "#{folder}/test")
if name == "minitest"
  ENV["SEED"] = "1"
  require "minitest"
  def Minitest.autorun; end
  srand(1)
  Dir["#{folder}/test/**/test_*.rb"].sort.each { |file| require file unless file.include?("metametameta") }
  report = Minitest::StatisticsReporter.new(StringIO.new)
  Minitest.__run(report, { seed: 1, io: report.io })
  puts "#{report.count} tests, #{report.assertions} assertions"
else
  require "test-unit"
  require "test/unit/testresult"
  require "test/unit/collector/descendant"
  Test::Unit::AutoRunner.need_auto_run = false
  Dir["#{folder}/test/test_parser_1*.rb"].sort.each { |file| require file }
  suite = Test::Unit::Collector::Descendant.new.collect
  result = Test::Unit::TestResult.new
  suite.run(result) {}
  puts result.summary
end
