#!/bin/sh
# test_check_embed.sh: `qprof check --host` finds each mistake that toy_embed.c, a host of qprof/embed.h, can make, and none
# in the right one.
. "$(dirname "$0")/lib.sh"

${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I"$root/include" "$here/toy_embed.c" "$lib/libqprof.a" \
    -lpthread -o toy

# play MISTAKE OPTIONS: the findings, in found
play() {
    rm -f run.qprof*
    QPROF="-output=run.qprof $2" ./toy "$1" || return 1
    qprof check --host --format=json run.qprof | jq -r '.findings[] | "\(.step) \(.name)"' >found
}

raises_nothing() { play 0 "$1" && [ ! -s found ] && qprof check run.qprof >out; }
finds() { play "$1" "$3" && grep -qx "$2" found; }

for options in "" -check-host=yes "-check-host=yes -time=none" "-check-host=yes -time=adaptive" \
    "-check-host=yes -collect=profile,trace" "-check-host=yes -follow-child-processes=yes"; do
    claim "with '$options': nothing is raised" raises_nothing "$options"
done

# mistake NUMBER STEP NAME [OPTIONS]
mistake() {
    claim "mistake $1: found as $3, step $2" finds "$1" "$2 $3" "${4--check-host=yes}"
}
mistake 1 4 frame_not_open
mistake 2 5 missed_unwind
mistake 3 5 missed_tail_call
mistake 4 7 unmounted_thread
mistake 5 7 unmounted_thread
mistake 6 7 missed_suspend
mistake 7 4 frame_not_open
mistake 8 5 missed_tail_call
mistake 9 3 bad_method_id ""
mistake 10 3 unregistered_method ""
mistake 11 2 forked_child
mistake 12 4 no_events ""
mistake 13 7 unmounted_thread

# What people read first says that the integration has mistakes.
play 2 -check-host=yes
claim "the head of a report has the number of kinds" sh -c \
    "qprof report run.qprof | grep -qx '  integration 1 kind of mistakes; qprof check --host explains'"
claim "the advice is of embed.h" sh -c "qprof check --host run.qprof >out; grep -q 'call qprof_unwind() with' out"
claim "one kind is one kind" grep -qx 'run.qprof: 1 kind of mistakes in the integration' out


play 1 -check-host=yes
claim "what follows from a mistake comes after it" [ "$(head -1 found)" = "4 frame_not_open" ]
claim "a line says that it comes first" sh -c \
    "qprof check --host run.qprof | grep -qx 'Start with the first one: the others may follow from it.'"

finish
