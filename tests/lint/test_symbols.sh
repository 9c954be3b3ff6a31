#!/bin/sh
# test_symbols.sh: what libqprof.so and libcprof.so show, need and weigh.
#   - libqprof exports the calls of its headers, all of them and nothing else
#   - libcprof exports the same names, with the same version, and those of cprof.h, which are
#     the same calls and one more
#   - neither calls itself by a name that the other one could have, shared or static
#   - they take nothing from outside but libc, and no allocator from there
#   - they are not unloaded, bind at load time, have the SONAME lib*.so.1
#   - they weigh at most 256 KB stripped (150 is the goal: decisions/0012)
#   - the archives define their calls and nothing else that another object could meet
set -eu
mistakes=0
fail() {
    echo "test_symbols.sh: $*"
    mistakes=1
}

# same WHAT: the lists of names in the files wanted and found are equal
same() {
    diff wanted found >difference || fail "$1, wanted (<) and found (>) differ:" "$(cat difference)"
}

# ---- names ----------------------------------------------------------------------------------------

include=$QPROF_SOURCE/include
cat "$include/qprof.h" "$include"/qprof/*.h | tr '\n' ' ' |
    grep -oE 'QPROF_FN\([^)]*\) qprof_[a-z_]+' | sed 's/.* //' | sort -u >qprof_names
grep -v '^qprof_cold_' qprof_names | sed 's/^qprof_/cprof_/' >cprof_names
sed -nE 's/^CPROF_SAME\(([a-z_]+)\);/cprof_\1/p; s/^QPROF_FN\(.*\) (cprof_[a-z_]+)\(.*/\1/p' \
    "$include/cprof.h" | sort >found
(cat cprof_names && echo cprof_live_summary) | sort >wanted
same "cprof.h against qprof.h"
sort -o cprof_names wanted

# exported LIBRARY
exported() {
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort
}
sed 's/$/@@QPROF_1/' qprof_names >wanted
exported "$QPROF_LIB/libqprof.so" >found
same "libqprof.so"
(cat wanted && sed 's/$/@@CPROF_1/' cprof_names) | sort >both
mv both wanted
exported "$QPROF_LIB/libcprof.so" >found
same "libcprof.so"

nm -g --defined-only "$QPROF_LIB/libqprof.a" | awk 'NF == 3 { print $2, $3 }' | sort >found
sed 's/^/T /' qprof_names | sort >wanted
same "libqprof.a"
nm -g --defined-only "$QPROF_LIB/libcprof.a" | awk 'NF == 3 { print $2, $3 }' | sort >found
(sed 's/^/W /' qprof_names && sed 's/^/T /' cprof_names) | sort >wanted
same "libcprof.a"
readelf -rW "$QPROF_LIB/libcprof.a" | grep -E ' qprof_' &&
    fail "libcprof.a calls libqprof's names"

# ---- each library ---------------------------------------------------------------------------------

check_library() { # NAME
    library=$QPROF_LIB/$1.so
    nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' >needed
    grep -nE '^(malloc|calloc|realloc|free|posix_memalign|aligned_alloc|strdup)$' needed &&
        fail "$1 calls the host's allocator"
    grep -nE '^(exit|_exit|abort|__assert_fail|printf|puts|perror|raise|__tls_get_addr)$' needed &&
        fail "$1 calls what a library must not"
    readelf -rW "$library" | grep -E '[cq]prof_' && fail "$1 calls itself by an exported name"

    readelf -dW "$library" >dynamic
    for library_needed in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' dynamic); do
        case $library_needed in
        libc.so.6 | libpthread.so.0 | ld-linux*) ;;
        *) fail "$1 needs $library_needed" ;;
        esac
    done
    grep -qF "SONAME" dynamic && grep -qF "[$1.so.1]" dynamic || fail "$1: wrong SONAME"
    grep -q NODELETE dynamic || fail "$1 could be unloaded"
    grep -q 'FLAGS.*NOW' dynamic || fail "$1 binds lazily"
    grep -q TEXTREL dynamic && fail "$1 has text relocations"

    strip -o stripped "$library"
    n_bytes=$(wc -c <stripped)
    [ "$n_bytes" -le 262144 ] || fail "$1: $n_bytes bytes stripped: more than 256 KB"
}
check_library libqprof
check_library libcprof
exit $mistakes
