#!/bin/sh
# test_spool.sh: -spool: the profiles of all intervals add up to what the program did, wherever it is killed, and whatever the folder is.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
. "$(dirname "$0")/lib.sh"

# spooled KIND ROUNDS: one call of work() a round, by main(); the file `done` has how many. KIND: cuts (a thread saves again and
# again), kill (SIGKILL after the last round), fork (a child makes the last round), saves (a save after each hundred)
cat >spooled.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "qprof.h"
static volatile uint64_t *n_done;
static void *save(void *unused) { for (;;) qprof_save_data(); return unused; }
static void work(void)
{
    qprof_record_fn_entry(2, 2);
    qprof_record_fn_exit(1);
    ++*n_done;
}
int main(int argc, char **argv)
{
    pthread_t saving;
    const char *kind = argv[1];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that ends early must not leave one that fills the disk */
    int fd = open("pid", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(fd, "%d", (int)getpid());
    fd = open("done", O_RDWR | O_CREAT, 0600);
    if (argc < 3 || ftruncate(fd, 4096) != 0 || qprof_initialize("", NULL) != 0)
        return 1;
    n_done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    qprof_register_method_id(1, "main", NULL, 0, "a.x", NULL, 0);
    qprof_register_method_id(2, "work", NULL, 0, "a.x", NULL, 0);
    qprof_record_fn_entry(1, 1);
    if (!strcmp(kind, "cuts"))
        pthread_create(&saving, NULL, save, NULL);
    for (uint64_t i = 1, n = strtoull(argv[2], NULL, 10); i <= n; i++) {
        if (i == n && !strcmp(kind, "fork") && fork()) {
            wait(NULL);
            break;
        }
        work();
        if (i % 100 == 0 && !strcmp(kind, "saves"))
            qprof_save_data();
    }
    if (!strcmp(kind, "kill"))
        kill(getpid(), SIGKILL);
    qprof_record_fn_exit(0);
    qprof_shutdown();
    return 0;
}
END
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$root/include" spooled.c "$lib/libqprof.a" -lpthread -o spooled || exit 1
options="-spool=spool -spool-every=0"
fresh() { rm -rf spool done w.db && mkdir spool; }
spooled() { QPROF="$options $more" QPROF_LABELS=service=web ./spooled "$@"; }
# the same in the background; its process is $child
begin() {
    QPROF=$options QPROF_LABELS=service=web ./spooled "$@" &
    child=$!
}
more=
push() { qprof push --spool=spool --to=sqlite:w.db; }
cuts() { find spool -name '*.qprof' | wc -l | tr -d ' '; }
done_calls() { od -An -t u8 -N 8 done | tr -d ' '; }
# of work(), in the store
calls() { qprof store top --format=json w.db | jq '[.methods[] | select(.name == "work") | .calls] | add // 0'; }

saves_are_cuts() {
    fresh && spooled saves 1000 && same 11 "$(cuts)" && same "" "$(find spool -name '.*' -type f)" &&
        qprof merge -o sum.qprof spool/*.qprof >out &&
        same 1000 "$(qprof report --format=json sum.qprof | jq '.methods[] | select(.name == "work") | .calls')" &&
        same 1 "$(qprof report --format=json sum.qprof | jq '.methods[] | select(.name == "main") | .calls')" &&
        for cut in spool/*.0000000[1-9].qprof; do
            qprof check "$cut" || return 1
            same 100 "$(qprof report --format=json "$cut" | jq '.methods[] | select(.name == "work") | .calls')" || return 1
        done
}
claim "each save is a profile of what came since the last one" saves_are_cuts
pushed_twice() {
    cp -r spool again && push >out && same 1000 "$(calls)" && mv again/* spool/ && push >out && same 1000 "$(calls)" && same 0 "$(cuts)"
}
claim "... counted once, however often it is pushed" pushed_twice
a_live_file_is_the_last_cut() {
    fresh && { spooled kill 777; same 137 $?; } && push >out && same 777 "$(calls)" && same "" "$(ls -A spool)" &&
        same "" "$(find runtime -name '*.qprof')"
}
claim "what a killed program left is pushed" a_live_file_is_the_last_cut
list_live_saves_the_rest() {
    fresh && { spooled kill 55; same 137 $?; } && qprof list-live --save "$(cat pid)" >out && mv ./*.[0-9]*.qprof spool/ && push >out &&
        same 55 "$(calls)" && same "" "$(ls -A spool)"
}
claim "list-live saves it as well" list_live_saves_the_rest

# A call that was recorded may not be in `done` yet.
is_all() {
    wanted=$(done_calls) found=$(calls)
    [ "$found" = "$wanted" ] || [ "$found" = $((wanted + 1)) ] || { echo "$found calls, $wanted were made"; return 1; }
}
# A thread writes cuts all the time, so that most kills are in the middle of one.
killed_in_a_cut() {
    n=0
    while [ $n -lt "${KILLS:-60}" ]; do
        fresh
        begin cuts 100000000000
        while [ "$(cuts)" = 0 ]; do kill -0 $child || return 1; done
        [ $((n % 3)) != 0 ] || push >out || return 1
        kill -9 $child
        wait $child 2>/dev/null
        push >out || { cat out; return 1; }
        is_all || return 1
        same "" "$(ls -A spool | grep -v '\.statx$')" || return 1
        n=$((n + 1))
    done
}
claim "killed in a cut: each call is counted once" killed_in_a_cut

at_most_two() {
    more=-spool-limit=192K fresh && more=-spool-limit=192K spooled saves 1000 && [ "$(cuts)" -lt 5 ] &&
        last=$(find spool -name '*.qprof' | sort | tail -n 1) && push >out && same 0 "$(cuts)" && [ -n "$last" ]
}
claim "beyond the limit the oldest go" at_most_two
dropped_is_counted() {
    fresh && more=-spool-limit=192K spooled saves 1000 && dropped=0 &&
        for cut in spool/*.qprof; do
            n=$(qprof info --format=json "$cut" | jq '.diagnostics.spool_dropped // 0')
            dropped=$((dropped + n))
        done && [ "$dropped" -gt 0 ]
}
claim "... and the next profile counts them" dropped_is_counted
one_larger_than_the_limit() { fresh && more=-spool-limit=64K spooled saves 1000 && same 1 "$(cuts)"; }
claim "the newest stays, even if it is larger than the limit" one_larger_than_the_limit

no_folder() {
    fresh && rmdir spool && spooled saves 300 2>err && same 1 "$(grep -Ec 'no such folder.*; it goes into the next profile$|No such file.*; it goes into the next profile$' err)" &&
        same 2 "$(wc -l <err | tr -d ' ')" && grep -q '^qprof: -spool: cannot be written: .*; the profile remains in .*runtime/.*.qprof$' err &&
        mkdir spool && qprof list-live --save "$(cat pid)" >out && mv ./*.[0-9]*.qprof spool/ && push >out && same 300 "$(calls)" && same "" "$(find runtime -name '*.qprof')"
}
claim "without the folder a line says so, and another one at the end where the profile is" no_folder
folder_comes_late() {
    fresh && rmdir spool
    begin cuts 100000000000 2>err
    until [ -s err ]; do kill -0 $child || return 1; done
    mkdir spool
    while [ "$(cuts)" = 0 ]; do kill -0 $child || return 1; done
    kill -9 $child
    wait $child 2>/dev/null
    push >out
    is_all
}
claim "a folder that comes later has all" folder_comes_late
folder_is_replaced() {
    fresh
    begin cuts 100000000000
    while [ "$(cuts)" = 0 ]; do kill -0 $child || return 1; done
    mv spool moved && mkdir spool
    while [ "$(cuts)" = 0 ]; do kill -0 $child || return 1; done
    kill -9 $child
    wait $child 2>/dev/null
    mv moved/*.qprof spool/ && rm -rf moved
    push >out
    is_all
}
claim "a folder that is moved away and made anew loses nothing" folder_is_replaced
# 300 KiB for eleven cuts: the later ones fail, the last one as well
full_disk() {
    cat >full.sh <<'SH'
mount -t tmpfs -o size=300k none spool && spooled saves 1000 2>err || exit 1
push
[ $? = 1 ] && push
SH
    fresh
    # shellcheck disable=SC2016
    { grep '^spooled()\|^push()' "$0" && echo "options='$options' more= TMPDIR=/tmp" && cat full.sh; } >all.sh
    unshare -rm sh all.sh >out 2>&1 || { cat out err; return 1; }
    same 2 "$(grep -c 'no space is left' err)" && grep -q 'cannot be written: no space is left; the profile remains in' err &&
        same 1000 "$(calls)" && same "" "$(find runtime -name '*.qprof')"
}
if unshare -rm true 2>/dev/null; then
    claim "on a full disk nothing is lost" full_disk
fi
# The clock of the day jumps by 12 years with each reading, on and back.
jumps() {
    cat >jumps.c <<'C'
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static _Atomic int n;
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, t);
    if (clock == CLOCK_REALTIME)
        t->tv_sec += (n++ % 3 - 1) * 400000000L;
    return result;
}
C
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC jumps.c -o jumps.so && fresh && (export LD_PRELOAD="$PWD/jumps.so"; spooled saves 1000 && push >out) &&
        same 1000 "$(calls)" && same 3 "$(qprof store series --by=day --format=json w.db | jq '.series | length')" &&
        qprof store check w.db
}
ldd "$(command -v qprof)" | grep -q san || claim "a clock that jumps changes no sum" jumps
forked_child() {
    fresh && more=-follow-child-processes spooled fork 500 && push >out && same 500 "$(calls)" &&
        same 2 "$(qprof store list --format=json w.db | jq '[.profiles[].file | split(".")[-3]] | unique | length')"
}
claim "a forked child has cuts of its own" forked_child
intervals() {
    fresh
    options="-spool=spool -spool-every=1s" begin none 100000000000
    while [ "$(cuts)" -lt 2 ]; do kill -0 $child || return 1; done
    kill -9 $child
    wait $child 2>/dev/null
    [ "$(cuts)" -ge 2 ] && push >out && is_all
}
claim "intervals make cuts while the program runs" intervals
# the clock of this machine, which may have run for long, and requests, whose names are the last texts
times_of_cuts() {
    fresh
    cat >times.lua <<'LUA'
local qlua = require("qlua")
local function leaf() end
local function some() for i = 1, 1000 do leaf() end end
local ends = os.time() + 3
while os.time() < ends do for i = 1, 100 do qlua.request(i % 2 == 0 and "GET /a" or "GET /b", nil, some) end end
LUA
    QPROF="-spool=spool -spool-every=1s" "$bin/qlua" times.lua
    [ "$(cuts)" -ge 2 ] || { ls spool; return 1; }
    for cut in spool/*.qprof; do
        qprof check "$cut" >checked || { cat checked; return 1; }
        qprof tree --format=json "$cut"
    done >trees.json
    # a state is copied while the program runs: what a cut has too much the next one lacks
    [ "$(jq -s '(map(.run.total) | add) <= (map(.run.duration) | add) * 1.01' trees.json)" = true ] || { jq -c '[.run.total, .run.duration]' trees.json; return 1; }
    push >out && [ ! -e spool/quarantine ]
}
under_run() { fresh && ends 0 qprof run -spool=spool -- ./spooled saves 200 && grep -q 'its profiles are in spool (qprof push' err && [ "$(cuts)" -gt 0 ]; }
claim "qprof run says where the cuts are" under_run
if [ -x "$bin/qlua" ]; then
    claim "each cut has the time of its interval, and is sound" times_of_cuts
fi
refused() { QPROF="-spool=spool -spool-every=$1" ./spooled saves 1 2>&1 | grep -q 'not a number in 0..7d'; }
for every in 8d 1x -1s s 1.5s; do
    claim "-spool-every=$every is refused" refused $every
done
half_a_cut() {
    fresh && spooled saves 200 && cut=$(find spool -name '*2.qprof') && head -c $(($(stat -c %s "$cut") - 4096)) "$cut" >half.qprof &&
        ends 2 qprof report half.qprof && grep -q damaged err
}
claim "a cut that was cut off is refused" half_a_cut
finish
