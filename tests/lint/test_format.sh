#!/bin/sh
# test_format.sh: clang-format would change nothing.
set -eu
command -v clang-format >/dev/null || { echo "test_format.sh: no clang-format"; exit 77; }
cd "$QPROF_SOURCE"
find include src tests examples bindings -name '*.[ch]' 2>/dev/null |
    xargs clang-format --dry-run -Werror
