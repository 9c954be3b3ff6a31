#!/bin/sh
# make.sh FILE: write qprof_stub.c, the one file that a runtime compiles into itself.
# Its forwarders are made from the public headers, so they cannot differ from them.
set -eu
out=$1
source=$(cd "$(dirname "$0")/.." && pwd)
major=$(sed -n 's/^project(qprof VERSION \([0-9]*\).*/\1/p' "$source/CMakeLists.txt")
include=$source/include
cat "$include/qprof.h" "$include"/qprof/*.h | sed 's/_EXT_REF *$//' |
    LC_ALL=C awk -f "$source/stub/forward.awk" >"$out.forwarders"
while IFS= read -r line; do
    case $line in
    '#include "tools.h"'*) cat "$source/stub/tools.c" ;;
    '#include "forwarders.h"'*)
        printf '#define QPROF_STUB_MAJOR %s /* of the collector */\n\n' "$major"
        cat "$out.forwarders"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$source/stub/stub.c" >"$out.new"
rm "$out.forwarders"
mv "$out.new" "$out"
