#!/bin/sh
# test_words.sh: nothing in git names a folder of the machine it was written on, promises work for
# later, ends lines in blanks, or is longer than it may be.
set -u
cd "$QPROF_SOURCE" || exit 1
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "test_words.sh: not a git checkout"
    exit 77
fi
mistakes=0

# claim TEXT: the lines on standard input are against it
claim() {
    lines=$(cat)
    [ -z "$lines" ] && return
    echo "$1:"
    echo "$lines" | sed 's/^/    /'
    mistakes=1
}

here=$(git ls-files | grep -vE '\.(png|qprof|gz)$' | grep -v '^tests/lint/test_words\.sh$')
search() {
    echo "$here" | xargs grep -nIE "$@" /dev/null
}

search '(^|[^A-Za-z0-9_$}])/(home/[a-z]|work/|root/|Users/|mnt/)' |
    claim "folders of one machine"
search "(^|[^A-Za-z0-9_])$(printf '%s' "$QPROF_SOURCE" | sed 's/[.[\*^$()+?{|]/\\&/g')/" |
    claim "the folder of this checkout"
search '(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)' | claim "work left for later"
search '[[:blank:]]+$' | grep -v '^[^:]*\.patch:' | claim "blanks at the end of a line"
echo "$here" | grep -E '^(src|include|tests|examples|bindings)/.*\.[ch]$' | while read -r file; do
    n=$(wc -l <"$file")
    [ "$n" -le 500 ] || echo "$file: $n lines"
done | claim "files of more than 500 lines"
exit $mistakes
