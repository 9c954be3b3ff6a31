#!/bin/sh
# test_golden.sh: every format of the small picture (pictures.c shows its sources) is what a person
# worked out from the format's specification.
. "$(dirname "$0")/lib.sh"
need jq jq
golden=$root/tests/export/golden
version=$(sed -n 's/^project(qprof VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")

for format in lcov lcov2 cobertura sonarqube purecov; do
    write small $format >out
    sed "s/qprof VERSION/qprof $version/" "$golden/small.$format" >wanted
    claim "$format is as worked out by hand" diff -u wanted out
done
for format in gcovr json; do
    write small $format | jq . >out
    jq . "$golden/small.$format" >wanted
    claim "$format is as worked out by hand" diff -u wanted out
done
# not in a file: each count is followed by a blank, also the last one
write small luacov >out
printf '4:lib/util.lua\n1 0 1 4 \n15:main.lua\n1 0 1 3 1 0 2 0 0 1 0 0 1 1 0 \n' >wanted
claim "luacov is as worked out by hand" diff -u wanted out

for format in lcov lcov2 cobertura gcovr sonarqube luacov json purecov; do
    for picture in empty small hostile large; do
        write $picture $format >first
        write $picture $format >second
        claim "$format of $picture is the same every time" cmp first second
    done
done
finish
