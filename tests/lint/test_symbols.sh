#!/bin/sh
# test_symbols.sh: what libqprof.so shows, needs and weighs.
#   - it exports the calls of its headers, all of them and nothing else
#   - it takes nothing from outside but libc, and no allocator from there
#   - it is not unloaded, binds at load time, has the SONAME libqprof.so.1
#   - it weighs at most 150 KB stripped
set -eu
library=$QPROF_LIB/libqprof.so
mistakes=0
fail() {
    echo "test_symbols.sh: $*"
    mistakes=1
}

nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort >exported
cat "$QPROF_SOURCE/include/qprof.h" "$QPROF_SOURCE/include/qprof/inline.h" |
    grep -E '^(QPROF_API|__attribute__\(\(visibility)' |
    sed -E 's/__attribute__\(\([^)]*\)\)//; s/^QPROF_API //' |
    grep -oE '[a-z_]+\(' | grep -oE '^qprof_[a-z_]+' | sort -u >declared
diff declared exported >difference || fail "declared (<) and exported (>) differ:" "$(cat difference)"

nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' >needed
grep -nE '^(malloc|calloc|realloc|free|posix_memalign|aligned_alloc|strdup)$' needed &&
    fail "calls the host's allocator"
grep -nE '^(exit|_exit|abort|__assert_fail|printf|puts|perror|raise|__tls_get_addr)$' needed &&
    fail "calls what a library must not"

readelf -dW "$library" >dynamic
for library_needed in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' dynamic); do
    case $library_needed in
    libc.so.6 | libpthread.so.0 | ld-linux*) ;;
    *) fail "needs $library_needed" ;;
    esac
done
grep -q 'SONAME.*\[libqprof\.so\.1\]' dynamic || fail "wrong SONAME"
grep -q NODELETE dynamic || fail "could be unloaded"
grep -q 'FLAGS.*NOW' dynamic || fail "binds lazily"
grep -q TEXTREL dynamic && fail "has text relocations"

strip -o stripped "$library"
n_bytes=$(wc -c <stripped)
[ "$n_bytes" -le 153600 ] || fail "$n_bytes bytes stripped: more than 150 KB"
exit $mistakes
