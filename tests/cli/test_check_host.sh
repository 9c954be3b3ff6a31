#!/bin/sh
# test_check_host.sh: `qprof check --host` finds each mistake that toy.c can make, and none in a right host.
. "$(dirname "$0")/lib.sh"

# The source of toy.c's functions: three lines and an empty one each.
for _ in 1 2 3 4 5 6 7 8 9 10; do printf 'a\nb\nc\n\n'; done >toy.src

# play FRONT MISTAKE [OPTIONS]: the findings of both runs of a toy, in found
play() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -DFRONT="$1" -DMISTAKE="$2" -I"$root/include" "$here/toy.c" \
        "$lib/libqprof.a" -lpthread -o toy || return 1
    rm -f run.*.qprof
    QPROF="-output=run.%n.qprof ${3--check-host=yes}" ./toy || return 1
    for profile in run.*.qprof; do
        qprof check --host --format=json "$profile"
    done | jq -r '.findings[] | "\(.step) \(.name)"' | sort -u >found
    [ -e run.1.qprof ]
}

finds() { play "$@" && grep -qx "$wanted" found; }
raises_nothing() { play "$@" && [ ! -s found ] && qprof check --host run.0.qprof >out; }

# ---- right hosts ------------------------------------------------------------------------------------

for front in 1 2 3; do
    for options in "" -check-host=yes "-check-host=yes -time=none" "-check-host=yes -time=adaptive" \
        "-check-host=yes -cover=hits" "-check-host=yes -collect=profile,trace" \
        "-check-host=yes -follow-child-processes=yes"; do
        claim "front $front with '$options': nothing is raised" raises_nothing $front 0 "$options"
    done
done
play 3 0 ""
claim "an ordinary run says that another one finds more" sh -c \
    "qprof check --host run.0.qprof | grep -q 'check-host=yes finds more'"

# ---- mistakes ---------------------------------------------------------------------------------------

# mistake NUMBER STEP NAME FRONTS [OPTIONS]
mistake() {
    wanted="$2 $3"
    for front in $4; do
        claim "front $front, mistake $1: found as $3, step $2" finds $front "$1" "${5--check-host=yes}"
    done
}
mistake 1 4 exit_names_leaver "1 2"
mistake 2 5 missed_unwind "1 2 3"
mistake 3 5 missed_tail_call "1 2 3"
mistake 4 7 missed_switch "2 3"
mistake 5 7 unmounted_thread 3
mistake 6 4 stack_id_twice "1 2"
mistake 7 3 method_id_twice "1 2 3" ""
mistake 8 3 unregistered_method "1 2 3" ""
mistake 9 8 first_block "1 2 3" ""
mistake 10 8 stale_counters "1 2 3" ""
mistake 11 2 forked_child "1 2 3"
mistake 12 4 frame_not_open "1 2 3"
mistake 13 7 other_os_thread 1
mistake 14 8 lines_shifted "1 2 3" ""
mistake 15 8 earlier_counters "1 2 3" ""
mistake 16 5 lines_without_calls "1 2 3" ""
mistake 17 8 block_out_of_range "1 2 3" ""
# The host's own depth makes certain what the order of events leaves open.
mistake 1 4 wrong_depth "1 2" ""
mistake 4 4 wrong_depth 2 ""

play 1 2
claim "mistakes are the exit status" sh -c "! qprof check --host run.0.qprof >out"
claim "the line names the step" grep -q '^step 5, errors and tail calls: missed_unwind: ' out
claim "and the first place" grep -q 'first in raise (toy.src:9), 3 frames open, thread 1' out
qprof check --host --format=json run.0.qprof >out.json
claim "its JSON fits its schema" [ -z "$(jq -r --slurpfile schema \
    "$root/docs/schema/check-host.json" -f "$here/schema.jq" out.json)" ]

finish
