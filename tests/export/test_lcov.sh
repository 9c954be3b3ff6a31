#!/bin/sh
# test_lcov.sh: lcov and genhtml count in our tracefiles what we count.
. "$(dirname "$0")/lib.sh"
need lcov lcov
need genhtml lcov

# found: from the summary of lcov or genhtml on standard input, what hits prints
found() { sed -n 's/^ *\([a-z]*\)\.*: .*% (\([0-9]*\) of \([0-9]*\) .*/\1 \2 \3/p'; }
lcov_options
quiet() { lcov $branches $ignored "$@" 2>complaints; }
lcov_sees() {
    same "$(hits "$1")" "$(quiet --summary "$2" | found)"
    same '' "$(grep -v '^Reading' complaints)"
}

for picture in small large; do
    write $picture lcov "$PWD" >$picture.info
    claim "lcov sees all of $picture" lcov_sees $picture $picture.info
    quiet -a $picture.info -a $picture.info -o twice.info >/dev/null
    claim "lcov adds $picture to itself" lcov_sees $picture twice.info
    claim "... and every count doubles" same \
        "$(sed -n 's/^DA:[0-9]*,//p' $picture.info | awk '{ n += 2 * $1 } END { print n }')" \
        "$(sed -n 's/^DA:[0-9]*,//p' twice.info | awk '{ n += $1 } END { print n }')"
    claim "lcov lists every file of $picture" same "$(total $picture files)" \
        "$(quiet --list $picture.info | grep -c '\.lua *|')"
    quiet -a $picture.info -o again.info >/dev/null
    # FNA:INDEX,CALLS,NAME is version 2's FNDA:CALLS,NAME
    claim "what lcov writes is what it has read" same "$(grep -E '^(DA|BRDA|FNDA):' $picture.info |
        sort)" "$(sed 's/^FNA:[0-9]*,/FNDA:/' again.info | grep -E '^(DA|BRDA|FNDA):' | sort)"
    sources $picture
    genhtml --branch-coverage $ignored -o html.$picture $picture.info >genhtml.out 2>complaints
    claim "genhtml sees all of $picture" same "$(hits $picture)" "$(found <genhtml.out)"
    claim "genhtml has nothing to complain about" same '' "$(cat complaints)"
done
claim "genhtml shows the branch that was never taken" grep -q \
    'Branch 0 was not taken' "$(find html.small -name main.lua.gcov.html)"

write hostile lcov "$PWD" >hostile.info
claim "lcov sees all of hostile names" same \
    "$(hits hostile | grep -v branches)" "$(quiet --summary hostile.info | found)"
claim "a name never begins a record" same 0 "$(grep -cv \
    '^\(TN\|SF\|FN\|FNDA\|FNF\|FNH\|DA\|LF\|LH\):.\|^end_of_record$' hostile.info)"
finish
