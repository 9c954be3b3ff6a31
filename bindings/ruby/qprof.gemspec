# gem build qprof.gemspec: in a checkout of qprof it makes the recorder's sources first.
checkout = File.expand_path("../..", __dir__)
recorder = File.join(__dir__, "ext", "qprof", "recorder")
if File.exist?(File.join(checkout, "tools", "amalgamate.py"))
  require "fileutils"
  FileUtils.mkdir_p(File.join(recorder, "qprof"))
  system("python3", File.join(checkout, "tools", "amalgamate.py"), recorder) or abort "amalgamate.py failed"
  File.write(File.join(recorder, "qprof", "embed.h"), "#include \"../qprof.h\"\n")
  FileUtils.cp(File.join(checkout, "LICENSE"), __dir__)
end

Gem::Specification.new do |spec|
  spec.name = "qprof"
  spec.version = "0.2.0"
  spec.summary = "Exact profiles and coverage of Ruby programs"
  spec.description = "Calls of methods, C functions and blocks, fibers, threads, lines and coverage."
  spec.authors = ["The qprof authors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.platform = Gem::Platform::RUBY
  spec.files = Dir.chdir(__dir__) { Dir["README.md", "LICENSE", "example.rb", "lib/**/*.rb", "ext/**/*.{c,h,rb}"] }
  spec.extensions = ["ext/qprof/extconf.rb"]
end
