#!/bin/sh
# test_folded.sh: collapsed stacks: exact text, and what flamegraph.pl draws of it.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
[ -e "$flamegraph" ] || { echo "flamegraph.pl is not installed (libdevel-nytprof-perl)"; exit 77; }

cat >wanted <<'END'
.main_1.;main 14000
.main_1.;main;f 5000
.main_1.;main;f;g 3000
.main_1.;main;f;g;f 2000
.main_1.;main;leaf:1_2 1000
.co_2.;co 7000
END
qprof export --to=folded --threads run.qprof >threads.folded
claim "stacks of each thread are as worked out by hand" diff -u wanted threads.folded
sed -i 's/^[^;]*;//' wanted
export_profile folded run
claim "... of all threads together" diff -u wanted run.folded
printf 'main 1\nmain;f 1\nmain;f;g 1\nmain;f;g;f 1\nmain;leaf:1_2 1\n' >wanted
qprof export --to=folded --calls --thread=1 run.qprof >calls.folded
claim "calls in place of times, one thread" diff -u wanted calls.folded

perl "$flamegraph" --countname=ns run.folded >run.svg 2>complaints
claim "flamegraph.pl shows the outer f with all below it" grep -q 'f (10,000 ns, 31.25%)' run.svg
claim "... and g" grep -q 'g (5,000 ns, 15.62%)' run.svg
claim "... and all" grep -q 'all (32,000 ns, 100%)' run.svg
claim "... and complains of nothing" same '' "$(cat complaints)"

export_profile folded hostile
claim "every line is a stack and a number" same 0 "$(grep -cvE '^main(;[^;]+)? [0-9]+$' hostile.folded)"
claim "no control character" same 0 "$(LC_ALL=C grep -c '[[:cntrl:]]' hostile.folded)"
claim "all of the time is there" same 13000 "$(awk '{ n += $NF } END { print n }' hostile.folded)"
export_profile folded deep
claim "paths of 5,001 frames end at 1,024" same 1024 "$(awk -F ';' 'NF > n { n = NF } END { print n }' \
    deep.folded)"
claim "... with all of the time" same 2000 "$(awk '{ n += $NF } END { print n }' deep.folded)"
finish
