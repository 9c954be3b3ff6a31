#!/bin/sh
# test_names.sh: what a run is called: in reports, JSON, pages, exports and names of files.
. "$(dirname "$0")/lib.sh"

QPROF_LABELS=service=web,version=1.2 QPROF='-output=%{service}-%{version}-%s.qprof' ./score 'f(' 5 ')'
claim 'labels and what is not known are in the name of the file' test -f web-1.2-unknown.qprof
mv web-1.2-unknown.qprof a.qprof
QPROF='-output=b.qprof -labels=service=web,version=1.3 -record-arguments=no' ./score 'f(' 5 ')'

qprof report a.qprof >found
claim 'a report shows arguments, folder and labels' same "  arguments   'f(' 5 ')'
  started     in $work
  labels      service=web,version=1.2" "$(sed -n 2,4p found)"
qprof report b.qprof >found
claim 'arguments that were not recorded are not shown' same "  started     in $work
  labels      service=web,version=1.3" "$(sed -n 2,3p found)"
claim 'and are nowhere in the file' test "$(grep -c "'f(' 5" b.qprof)" = 0

names='[.run.script, .run.arguments, .run.working_directory, .run.interpreter, .run.labels]'
claim 'JSON has all names' same "[\"\",\"'f(' 5 ')'\",\"$work\",\"\",[\"service=web\",\"version=1.2\"]]" \
    "$(qprof report --format=json a.qprof | jq -c "$names")"
claim 'arguments that are not known are null' same null \
    "$(qprof report --format=json b.qprof | jq -c .run.arguments)"

for format in json csv sqlite pprof folded callgrind speedscope firefox chrome cpuprofile dot; do
    qprof export --to=$format -o out.$format a.qprof
    claim "$format has no arguments" test "$(zcat -f out.$format | grep -c "'f(' 5")" = 0
done
qprof html -o out.html a.qprof
claim 'nor has the page' test "$(grep -c "'f(' 5\|u0027f(" out.html)" = 0
claim 'the page has the labels' grep -q 'service=web,version=1.2' out.html
qprof html --with-arguments -o with.html a.qprof
claim 'it has them where they are asked for' grep -q "'f(' 5" with.html
claim 'so has an export' same "'f(' 5 ')'" \
    "$(qprof export --to=json --with-arguments a.qprof | jq -r .run.arguments)"

qprof merge -o sum.qprof a.qprof b.qprof >/dev/null
claim 'a sum has the values of all runs' same '["service=web","version=1.2|1.3"]' \
    "$(qprof report --format=json sum.qprof | jq -c .run.labels)"
qprof merge -o other.qprof b.qprof a.qprof >/dev/null
claim 'in whatever order' same '["service=web","version=1.2|1.3"]' \
    "$(qprof report --format=json other.qprof | jq -c .run.labels)"
qprof merge -o twice.qprof sum.qprof a.qprof >/dev/null
claim 'and however often' same '["service=web","version=1.2|1.3"]' \
    "$(qprof report --format=json twice.qprof | jq -c .run.labels)"
qprof diff a.qprof b.qprof >found
claim 'a comparison shows the labels of both sides' same 'service=web,version=1.2
service=web,version=1.3' "$(sed -n '1,2s/.*score, \(service[^ ]*[0-9]\), .*/\1/p' found)"

qprof run --output=%s.%{version}.qprof --labels=version=2 -- ./score 'f(' 5 ')' 2>/dev/null
claim 'qprof run finds its profile' test -f unknown.2.qprof
qprof run --output=k.%{version}.qprof --labels=version=3 -- ./score 'f(' 5 kill 2>/dev/null
claim 'also that of a program that was killed' test -f k.3.qprof
qprof run --output=%{x -- ./score 2>found
claim 'a name that does not end is refused' grep -q '%{ is not a conversion' found
finish
