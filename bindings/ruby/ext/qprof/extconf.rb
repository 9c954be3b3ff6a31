# extconf.rb: how the extension is built: with the recorder's sources, or with a libqprof.a, named by QPROF_LIBRARY.
#
# In a checkout of qprof the sources are made by tools/amalgamate.py; the gem has them in recorder/.
require "fileutils"
require "mkmf"

here = File.expand_path(__dir__)
checkout = File.expand_path("../../../..", here)
library = ENV["QPROF_LIBRARY"]
is_checkout = File.exist?(File.join(checkout, "tools", "amalgamate.py"))
if library && File.directory?(File.join(checkout, "include", "qprof"))
  headers = File.join(checkout, "include")
else
  headers = File.join(here, "recorder")
  if is_checkout
    FileUtils.mkdir_p(File.join(headers, "qprof"))
    system("python3", File.join(checkout, "tools", "amalgamate.py"), headers) or abort "amalgamate.py failed"
    File.write(File.join(headers, "qprof", "embed.h"), "#include \"../qprof.h\"\n")
  end
end
$srcs = Dir[File.join(here, "*.c")].map { |file| File.basename(file) }
if library
  $LOCAL_LIBS << " #{library}"
else
  $srcs << "qprof.c"
  $VPATH << "$(srcdir)/recorder"
end
$INCFLAGS << " -I#{headers}"
$CFLAGS << " -std=c11 -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -Wno-declaration-after-statement -Wno-stringop-overread"
have_func("rb_class_attached_object")
create_makefile("qprof/recorder")
