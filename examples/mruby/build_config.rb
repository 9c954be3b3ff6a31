# build_config.rb: mruby as its default build makes it, with the lines of its Ruby code, and linked
# with what build.sh names.
MRuby::Build.new do |conf|
  conf.toolchain :gcc
  conf.gembox 'default'
  conf.mrbc.compile_options += ' -g'
  conf.cc.flags << ENV.fetch('QPROF_CFLAGS', '')
  conf.linker.flags_after_libraries << ENV.fetch('QPROF_LIBS', '')
  conf.enable_bintest
  conf.enable_test
end
