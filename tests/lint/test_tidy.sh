#!/bin/sh
# test_tidy.sh: clang-tidy finds nothing in src/ and include/; .clang-tidy has its checks and their
# exceptions. It is tried first on a file with a known mistake of each kind.
set -eu
. "$(dirname "$0")/llvm.sh"
need_llvm clang-tidy
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
export LC_ALL=C

cat >planted.c <<'END'
#include <string.h>
int same(int *p, int n)
{
    memset(p, sizeof *p, 0);
    if (n)
        n++;
        n--;
    return p[0] == n && p[0] == n;
}
END
clang-tidy --quiet --config-file="$QPROF_SOURCE/.clang-tidy" planted.c -- -std=c11 >planted 2>&1 || :
for check in bugprone-suspicious-memset-usage readability-misleading-indentation misc-redundant-expression; do
    grep -qF "[$check" planted || {
        cat planted
        echo "test_tidy.sh: $check does not find the planted mistake"
        exit 1
    }
done

[ -f "$QPROF_BUILD/compile_commands.json" ] || { echo "no compile_commands.json"; exit 1; }
# flags of gcc that clang does not know
sed -E 's/ -(malign-data=abi|fira-region=one|fno-(align-[a-z]+|caller-saves|move-loop-invariants|inline-small-functions|guess-branch-probability|expensive-optimizations))//g' "$QPROF_BUILD/compile_commands.json" >all_commands.json
commands=$PWD
cd "$QPROF_SOURCE"
# A file that mentions none of these differs in libcprof by the names of public functions alone: it is checked once.
of_a_library='QP_LIBCPROF|QP_PRODUCT_'
headers=$(grep -rlE "$of_a_library" --include='*.h' src include)
[ "$headers" = src/format/options.h ] || {
    echo "test_tidy.sh: headers that differ between the libraries:" $headers
    exit 1
}
twice=$(grep -rlE "$of_a_library" --include='*.c' src | paste -sd ' ')
jq --arg root "$QPROF_SOURCE/" --arg twice "$twice" '
    map(select((.command | contains("-DQP_LIBCPROF") | not) or
               (.file | ltrimstr($root) | IN($twice | split(" ")[]))))' \
    "$commands/all_commands.json" >"$commands/compile_commands.json"
# without what it prints on standard error: how many findings of system headers it left out
find src -name '*.c' | sort | xargs -P 2 -n 8 clang-tidy --quiet -p "$commands" \
    2>"$OLDPWD/errors" >"$OLDPWD/findings" || {
    sort -u "$OLDPWD/findings" | head -n 60
    grep -E 'error:' "$OLDPWD/errors" | head -n 5
    exit 1
}
