#!/bin/sh
# test_format.sh: clang-format would change nothing.
set -eu
. "$(dirname "$0")/llvm.sh"
need_llvm clang-format
cd "$QPROF_SOURCE"
find include src stub bindings tests examples -name "*.[ch]" -not -path '*/target/*' -not -path '*/recorder/*' \
    -exec clang-format --dry-run -Werror {} + 2>&1 | tee "$OLDPWD/mistakes" | head -n 40
[ ! -s "$OLDPWD/mistakes" ]
