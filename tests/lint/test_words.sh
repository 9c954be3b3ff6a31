#!/bin/sh
# test_words.sh: nothing in git names a folder of the machine it was written on, promises work for
# later, ends a line in blanks, uses a phrase of banned.txt (one regular expression a line; say it
# plainly instead) or is longer than a file may be. The claims themselves are tried on a small tree
# that breaks each of them.
set -eu
if ! git -C "$QPROF_SOURCE" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "test_words.sh: not a git checkout"
    exit 77
fi

# claim TEXT: the lines on standard input break it
claim() {
    sed "s/^/$1: /"
}

# check_tree TREE: one line for each mistake
check_tree() (
    work=$PWD
    cd "$1"
    git ls-files | grep -vE '\.(png|qprof|gz)$|^tests/lint/(test_words\.sh|banned\.txt)$' >"$work/all"
    while read -r file; do
        [ ! -e "$file" ] || printf '%s\n' "$file" # not what is deleted and not committed yet
    done <"$work/all" >"$work/here"
    tree=$(printf '%s' "$PWD" | sed 's/[.[\*^$()+?{|]/\\&/g')
    search() { # PATTERN: FILE:LINE:TEXT
        xargs -d '\n' grep -nIE -e "$1" /dev/null <"$work/here" || :
    }

    search '(^|[^A-Za-z0-9_$}])/(home/[a-z]|work/|root/|Users/|mnt/)' |
        claim "a folder of one machine"
    search "(^|[^A-Za-z0-9_])$tree/" | claim "the folder of this checkout"
    search '(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)' | claim "work left for later"
    search '[[:blank:]]+$' | grep -v '^[^:]*\.patch:' | claim "blanks at the end of a line"
    grep -vE '\.json$|^(LICENSE|debian/copyright)$' "$work/here" | xargs -d '\n' grep -nIEf "$QPROF_SOURCE/tests/lint/banned.txt" /dev/null |
        claim "a banned phrase"
    grep -E '\.(c|h|ts|tsx|sh)$' "$work/here" | xargs -d '\n' awk '
        FNR == 801 { print FILENAME }' /dev/null | claim "more than 800 lines"
)

try_claims() {
    rm -rf tree
    mkdir -p tree/src tree/docs
    {
        echo "/* see /home/someone/notes */"
        echo "int a; /* TODO */"
        echo "int b; "
        echo "/* Nobody reads this. */"
        echo "/* $PWD/tree/src */"
    } >tree/src/a.c
    awk 'BEGIN { for (i = 0; i < 801; i++) print "int i;" }' >tree/src/long.h
    awk 'BEGIN { for (i = 0; i < 800; i++) print "int i;" }' >tree/src/short.h
    echo "Your folder is \$HOME/work/; a TODOLIST is allowed." >tree/docs/a.md
    git -C tree init -q
    git -C tree add .
    cat >wanted <<END
a folder of one machine: src/a.c:1:/* see /home/someone/notes */
the folder of this checkout: src/a.c:5:/* $PWD/tree/src */
work left for later: src/a.c:2:int a; /* TODO */
blanks at the end of a line: src/a.c:3:int b;$(printf ' ')
a banned phrase: src/a.c:4:/* Nobody reads this. */
more than 800 lines: src/long.h
END
    check_tree tree >found
    # this checkout may itself be in a folder that must not be named
    grep -v "^a folder of one machine: src/a.c:5:" found | diff -u wanted - ||
        { echo "test_words.sh: the claims themselves are wrong"; exit 1; }
}

try_claims
check_tree "$QPROF_SOURCE" >mistakes
cat mistakes
[ ! -s mistakes ]
