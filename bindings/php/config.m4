dnl config.m4: phpize; ./configure; make. With the recorder's sources, or QPROF_LIBRARY=.../libqprof.a
PHP_ARG_ENABLE([qprof], [for qprof], [AS_HELP_STRING([--disable-qprof], [Leave the profiler out])], [yes])

if test "$PHP_QPROF" != "no"; then
  qprof_here=$(cd "$ext_srcdir" && pwd)
  qprof_flags="-std=gnu11 -fvisibility=hidden -Wno-stringop-overread"
  qprof_sources="src/blocks.c src/calls.c src/cover.c src/functions.c src/lines.c src/module.c"
  if test -n "$QPROF_LIBRARY"; then
    qprof_flags="$qprof_flags -I$qprof_here/../../include"
    QPROF_SHARED_LIBADD="$QPROF_LIBRARY -Wl,--exclude-libs,ALL -lpthread"
  else
    if test ! -f "$qprof_here/recorder/qprof.c"; then
      mkdir -p "$qprof_here/recorder/qprof"
      python3 "$qprof_here/../../tools/amalgamate.py" "$qprof_here/recorder" ||
        AC_MSG_ERROR([the recorder's sources are neither in recorder/ nor in this repository])
      echo '#include "../qprof.h"' >"$qprof_here/recorder/qprof/embed.h"
    fi
    qprof_flags="$qprof_flags -I$qprof_here/recorder -DQPROF_API="
    qprof_sources="$qprof_sources recorder/qprof.c"
    QPROF_SHARED_LIBADD="-lpthread"
  fi
  PHP_SUBST([QPROF_SHARED_LIBADD])
  PHP_NEW_EXTENSION([qprof], [$qprof_sources], [$ext_shared], , [$qprof_flags])
  PHP_ADD_BUILD_DIR([$ext_builddir/src])
  PHP_ADD_BUILD_DIR([$ext_builddir/recorder])
fi
