#!/bin/sh
# test_doctor.sh: version and doctor state facts, and what to do where limits, folders or QPROF are wrong.
. "$(dirname "$0")/lib.sh"

# fact TOPIC KEY: of the document in out.json
fact() { jq -r --arg topic "$1" ".facts[] | select(.topic == \$topic) | .$2" out.json; }
# asked STATUS WORDS...: `qprof doctor` after a command such as env
asked() {
    asked_status=$1
    shift
    "$@" qprof doctor --format=json >out.json 2>err
    same "$asked_status" $? && same '' "$(cat err)"
}
like() { printf '%s\n' "$2" | grep -Eqx -- "$1" || { printf 'pattern: %s\nactual:  %s\n' "$1" "$2"; return 1; }; }

# ---- version -----------------------------------------------------------------------------------------

version=$(sed -n 's/^project(qprof VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
number() { sed -n "s/^ *QP_$1 = \([0-9]*\),.*/\1/p" "$root/src/format/layout.h"; }
claim "version" ends 0 qprof version --format=json
cp out out.json
claim "passes" same true "$(jq .passed out.json)"
claim "names itself" like "qprof $version(, commit [0-9a-f]{7,})?" "$(fact version text)"
claim "the format" like "writes profiles of format $(number MAJOR)\\.$(number MINOR), .*" "$(fact format text)"
claim "the libraries" like 'zlib [0-9.]+, zstd [0-9.]+, SQLite [0-9.]+: .*' "$(fact libraries text)"
claim "each exporter" like "profiles to $(qprof export --help | sed -n '/^Formats/,/^$/s/^  \([a-z][a-z0-9]*\) .*/\1/p' |
    paste -sd, | sed 's/,/, /g').*" "$(fact export text)"
claim "is a part of doctor" asked 0 env
claim "all of it" same "$(jq -c .facts out)" "$(jq -c --argjson n "$(jq '.facts | length' out)" '.facts[:$n]' out.json)"
claim "no operand" says 'takes no operand' qprof version x

# ---- a machine without limits ----------------------------------------------------------------------

jq -r --slurpfile schema "$root/docs/schema/doctor.json" -f "$here/schema.jq" out.json >problems
claim "fits its schema" same '' "$(cat problems)"
claim "a clock read has a price" like '(the processor|the system).* a read takes [0-9]+\.[0-9] ns, a call needs two' "$(fact clock text)"
claim "addresses" same 'no limit of address space; a recording reserves 256.0 MiB' "$(fact addresses text)"
claim "file size" same 'no limit' "$(fact 'file size' text)"
claim "the folder" like "profiles can be written to $work, .* free" "$(fact folder text)"
claim "QPROF" same 'not set: programs record under qprof run' "$(fact QPROF text)"
claim "what is fine has no advice" same 0 "$(jq '[.facts[] | select((.state == "ok") != (.advice == ""))] | length' out.json)"
qprof doctor >text
claim "text ends with the verdict" like 'Recordings work here: no problem, [0-9]+ notes?' "$(tail -n 1 text)"
claim "text fits 80 columns" test "$(grep -v ' profiles can be written to' text | awk 'length($0) > 80' | wc -l)" -eq 0
claim "csv" sh -c "qprof doctor --format=csv | head -n 1 | grep -q '^topic,state,text,advice'"

# ---- limits ------------------------------------------------------------------------------------------

# 1,000,000 KiB: a quarter, cut to whole pages, is 244.1 MiB
claim "little address space" asked 0 sh -c 'ulimit -v 1000000; exec "$@"' sh
claim "is a note" same note "$(fact addresses state)"
claim "with both figures" same 'address space is limited to 976.6 MiB; a recording reserves 244.1 MiB' "$(fact addresses text)"
claim "and advice" like '.*raise ulimit -v to have 256.0 MiB' "$(fact addresses advice)"
if command -v prlimit >/dev/null; then
    claim "short files" asked 0 prlimit --fsize=50331648
    claim "say how short" same 'note: files are limited to 48.0 MiB' "$(fact 'file size' state): $(fact 'file size' text)"
    claim "no profile fits" ends 1 sh -c 'prlimit --fsize=32768 qprof doctor --format=json | cat >out.json; jq -e .passed out.json'
    claim "is the reason" like '.*: File too large' "$(fact 'live files' text)"
    claim "is a problem" same 'problem: no profile fits: raise ulimit -f' "$(fact 'file size' state): $(fact 'file size' advice)"
fi

# ---- folders -----------------------------------------------------------------------------------------

uid=$(id -u)
rm -rf "runtime/qprof-$uid"
claim "a folder for live files" asked 0
claim "is used" like "$work/runtime/qprof-$uid, .* free" "$(fact 'live files' text)"
claim "and nothing stays there" same '' "$(find runtime -name 'qprof*')"
mkdir -m 700 "runtime/qprof-$uid"
printf 'left' >"runtime/qprof-$uid/1.1.qprof"
claim "what a killed program left" asked 0
claim "is counted" like '[0-9,]+ process(es)? now; [1-9][0-9,]* profiles? left by killed programs, .*' "$(fact recordings text)"
claim "with a way out" like 'qprof list-live --save .* qprof list-live --remove .*' "$(fact recordings advice)"
rm -r "runtime/qprof-$uid"
: >"runtime/qprof-$uid"
claim "a file in its place" asked 0
claim "is named, and the next folder used" like "/dev/shm/qprof-$uid, .* free; $work/runtime/qprof-$uid: .*" "$(fact 'live files' text)"
rm "runtime/qprof-$uid"
mkdir gone
cp out.json kept
claim "a folder that was removed" asked 1 sh -c 'cd gone && rmdir ../gone && exec "$@"' sh
claim "is a problem" same 'problem: profiles cannot be written to the current folder: No such file or directory' \
    "$(fact folder state): $(fact folder text)"
if [ "$uid" = 0 ] && command -v setpriv >/dev/null; then
    mkdir -m 755 closed
    chmod 755 . && install -m 755 "$bin/qprof" qprof
    claim "a folder without permission" asked 1 setpriv --reuid=54321 --clear-groups sh -c 'cd closed && exec ../"$@"' sh
    claim "is a problem for that user" same "problem: profiles cannot be written to $work/closed: Permission denied" \
        "$(fact folder state): $(fact folder text)"
    rm qprof
fi

# ---- QPROF -------------------------------------------------------------------------------------------

claim "a value that is none" asked 1 env QPROF=-time=never
claim "is a problem" same "problem: '-time=never': each program with the library records" "$(fact QPROF state): $(fact QPROF text)"
claim "that is explained" like '-time=never: not one of exact\|.*: correct it \(qprof run --options\), or unset QPROF' "$(fact QPROF advice)"
claim "it does not pass" same false "$(jq .passed out.json)"
claim "an unknown name" asked 0 env QPROF=-ouput=x
claim "is a note" same 'note: -ouput is no option (qprof run --options lists them)' "$(fact QPROF state): $(fact QPROF advice)"
claim "a configuration that is not there" asked 1 env QPROF=-config=none.conf
claim "is named" like '-config=none.conf: No such file or directory: .*' "$(fact QPROF advice)"
claim "a folder that is not there" asked 1 env QPROF=-output=none/x.qprof
claim "is a problem" same 'problem: -output=none/x.qprof: profiles cannot be written there: No such file or directory' \
    "$(fact QPROF state): $(fact QPROF advice)"
claim "one with a conversion is not known" asked 0 env QPROF=-output=%p/x.qprof
claim "control characters do not reach the terminal" same 0 \
    "$(QPROF="$(printf -- '-ou\033[31mt\377=x')" qprof doctor | grep -c "$(printf '\033')")"
claim "right options" asked 0 env QPROF='-time=adaptive -output=x.qprof'
claim "are fine" same ok "$(fact QPROF state)"
claim "the text has the verdict" sh -c "QPROF=-time=never qprof doctor | tail -n 1 | grep -Eqx 'A recording will not work: 1 problem, [0-9]+ notes?'"
finish
