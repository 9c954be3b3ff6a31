#!/bin/sh
# test_store_roll.sh: `qprof store roll`: the profiles of an hour become one, and no sum changes, however it ends.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
. "$(dirname "$0")/lib.sh"

# r1 to r6 are of version 1: 1 to 3 ended between 10 and 11, 4 and 5 between 11 and 12, 6 after 12; r7 of version 2 at 10:30.
# rN: main N us, f 10 * N us, g only in r2, a thread in r3, h known and not called
day=1767261600 # 2026-01-01T10:00
for i in 1 2 3 4 5 6 7 8; do
    version=1 more=
    [ $i = 7 ] && version=2
    [ $i = 2 ] && more='g( 5 )'
    [ $i = 3 ] && more='thread t( 2 f( 3 ) )'
    # shellcheck disable=SC2086  # words
    QPROF_LABELS=service=web,version=$version QPROF="-output=r$i.qprof -collect=profile,coverage" \
        ./score 'main?' 'f?' 'g?' 'h?' 'main(' $i 'f(' $((10 * i)) ')' $more ')'
done
# place DATABASE NUMBER SECONDS: when a profile ended
place() {
    sql "$1" 'CREATE TABLE IF NOT EXISTS truth (nonce, ended_at)' \
        "INSERT INTO truth SELECT nonce, ended_at FROM profile WHERE profile = $2" \
        "UPDATE profile SET ended_at = ($day + $3) * 1000000000 WHERE profile = $2"
}
# as_it_was DATABASE: the store remembers when the profiles of its sums ended, as if it had never been changed
as_it_was() {
    sql "$1" 'UPDATE rolled SET ended_at = (SELECT max(ended_at) FROM truth WHERE nonce = rolled.nonce)
        WHERE nonce IN (SELECT nonce FROM truth)'
}
fill() {
    rm -f "$1" && qprof store import "$1" r1.qprof r2.qprof r3.qprof r4.qprof r5.qprof r6.qprof r7.qprof >/dev/null &&
        place "$1" 1 0 && place "$1" 2 1800 && place "$1" 3 3599 && place "$1" 4 3600 && place "$1" 5 7199 && place "$1" 6 7200 &&
        place "$1" 7 1800
}
# shown DATABASE: the sums, in every form
shown() {
    qprof store top --format=json "$1" | jq -S 'del(.profile, .path, .run)' && qprof store top --format=csv --service=web "$1" &&
        qprof store tree --format=json "$1" | jq -S 'del(.profile, .path, .run)' && qprof store top --version=1 --format=csv "$1" &&
        qprof store top --version=2 --format=csv "$1" && qprof store dead --format=json "$1" | jq -c '[.dead[].name]' &&
        for by in hour day version service; do
            qprof store series --by=$by --format=json "$1" | jq -c '.series[] | [.key, .calls, .self]'
        done
}
hours_become_one() {
    fill s.db && shown s.db >before && grep -q '"h"' before && ends 0 qprof store roll --before=2026-01-01T12:00 s.db &&
        same "s.db: 5 profiles rolled into 2" "$(cat out)" && same "" "$(cat err)" &&
        same "6 7 8 9" "$(qprof store list --format=json s.db | jq -r '[.profiles[].number] | sort | join(" ")')" &&
        shown s.db >after && diff -u before after && qprof store check s.db
}
claim "the hours before become one profile each, and no sum changes" hours_become_one
claim "the sum of calls, by hand" same "15 2" "$(qprof store series --by=version --format=json s.db |
    jq -r '[.series[].calls] | join(" ")')"
as_merged() {
    qprof merge --force -o all.qprof r1.qprof r2.qprof r3.qprof r4.qprof r5.qprof r6.qprof r7.qprof >/dev/null &&
        qprof report --format=json all.qprof | jq -c '[.methods[] | [.name, .calls, .self, .total, .min, .max]] | sort' >merged &&
        qprof store top --format=json s.db | jq -c '[.methods[] | [.name, .calls, .self, .total, .min, .max]] | sort' >rolled &&
        diff -u merged rolled
}
claim "the same as merging all" as_merged
again() {
    as_it_was s.db && sql s.db 'UPDATE profile SET ended_at = (SELECT max(ended_at) FROM truth t WHERE t.nonce = profile.nonce) WHERE profile = 6' \
        'UPDATE profile SET ended_at = (SELECT max(ended_at) FROM truth t WHERE t.nonce = profile.nonce) WHERE profile = 7'
    shown s.db >before
    ends 0 qprof store import s.db r1.qprof r2.qprof r3.qprof r4.qprof r5.qprof r6.qprof r7.qprof &&
        same "s.db: 0 profiles added, 7 in it already" "$(cat out)" && shown s.db | diff -u before - &&
        ends 0 qprof store roll --before=2026-01-01T12:00 s.db && same "s.db: 0 profiles rolled into 0" "$(cat out)"
}
claim "what is in a sum is not counted again" again
late() {
    ends 0 qprof store import s.db r8.qprof && place s.db 10 1000 && shown s.db >before &&
        ends 0 qprof store roll --before=2026-01-01T12:00 s.db && same "s.db: 2 profiles rolled into 1" "$(cat out)" &&
        shown s.db | diff -u before - && qprof store check s.db && as_it_was s.db &&
        ends 0 qprof store import s.db r1.qprof r3.qprof r4.qprof r8.qprof && same "s.db: 0 profiles added, 4 in it already" "$(cat out)"
}
claim "one that came late joins the sum of its hour" late
later_state() {
    cp s.db later.db && sql later.db 'UPDATE rolled SET ended_at = ended_at - 1' && shown later.db >before &&
        ends 1 qprof store import later.db r1.qprof && grep -q 'r1.qprof: an earlier state of its run is in the sum of an hour' err &&
        shown later.db | diff -u before -
}
claim "a later state of a run that is in a sum is refused, as it would count twice" later_state
removed() {
    cp s.db gone.db && ends 0 qprof store remove --before=2026-01-01T11:00 --version=1 gone.db &&
        ends 0 qprof store import gone.db r1.qprof && same "gone.db: 1 profile added with 2 calls" "$(cat out)" &&
        ends 0 qprof store roll --before=2026-01-01T12:00 gone.db && same 0 "$(sql gone.db 'SELECT count(*) FROM rolled WHERE profile NOT IN (SELECT profile FROM profile)')"
}
claim "what was removed with its sum may be imported again" removed
killed() {
    python3 - "${KILLS:-12}" <<'END'
import os, shutil, signal, subprocess, sys, time
n = int(sys.argv[1])
for i in range(n):
    for end in "", "-wal", "-shm":
        if os.path.exists("k.db" + end):
            os.remove("k.db" + end)
    shutil.copy("f.db", "k.db")
    p = subprocess.Popen(["qprof", "store", "roll", "--before=2026-01-01T12:00", "k.db"], stdout=subprocess.DEVNULL)
    time.sleep(0.02 * (i + 1) / n)
    p.send_signal(signal.SIGKILL)
    p.wait()
    subprocess.run(["sh", "-c", "qprof store top --format=csv k.db >k.csv && cmp k.csv f.csv && qprof store check k.db >k.out"], check=True)
    rows = len(subprocess.run(["qprof", "store", "list", "--format=csv", "k.db"], stdout=subprocess.PIPE).stdout.splitlines())
    assert rows in (5, 8), rows
END
}
fill f.db && qprof store top --format=csv f.db >f.csv
claim "killed at any moment it is done, or not begun" killed
no_room() {
    shown f.db >before
    for limit in 8 64 66 70 80 100 120 150 200 300; do # blocks of 512 bytes
        rm -f full.db full.db-* && cp f.db full.db
        (ulimit -f $limit; trap '' XFSZ; qprof store roll --before=2026-01-01T12:00 full.db >out 2>err)
        status=$?
        [ $status = 0 ] || [ $status = 2 ] || return 1
        grep -h 'nothing was rolled' err >>complaints
        shown full.db | diff -u before - && qprof store check full.db >/dev/null || return 1
    done
    same 0 $status && [ -s complaints ]
}
claim "a store that cannot grow stays as it is" no_room
other_sources() {
    QPROF_LABELS=service=web,version=1 record o1.qprof 'main(' 1 ')' &&
        QPROF_LABELS=service=web,version=1 QPROF='-output=o2.qprof -time=adaptive' ./score 'main(' 1 ')'
    qprof store import o.db o1.qprof o2.qprof >/dev/null && place o.db 1 1 && place o.db 2 2
    if qprof merge -o no.qprof o1.qprof o2.qprof >/dev/null 2>&1; then return 1; fi
    ends 1 qprof store roll --before=2026-01-02 o.db && same "o.db: 0 profiles rolled into 0" "$(cat out)" &&
        grep -q 'o.db: 2 profiles left as they are: ' err && qprof store check o.db
}
claim "what merging refuses stays" other_sources
claim "a moment is required" says 'missing --before=TIME' qprof store roll s.db
finish
