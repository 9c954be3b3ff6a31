#!/bin/sh
# test_store.sh: `qprof store`: sums that equal those of merging, whatever is imported, how often, by how many
# commands, and however they end.
[ -w /dev/shm ] && export TMPDIR=/dev/shm # each import waits for the disk
. "$(dirname "$0")/lib.sh"

# figures FILE: calls, own ns and ns with callees of each function, by name
figures() {
    jq -r '.methods | sort_by(.name) | .[] | "\(.name) \(.calls) \(.self) \(.total)"' "$1"
}

# two runs: main 5 us and f 3 us; main 1 us, f 2 + 4 us, and g only here
QPROF_LABELS=service=web,version=1 record a.qprof 'main(' 5 'f(' 3 ')' 'h?' ')'
QPROF_LABELS=service=web,version=2,region=eu record b.qprof 'main(' 1 'f(' 2 ')' 'f(' 4 ')' 'g(' 7 ')' ')'
QPROF_LABELS=service=mail,version=1 record c.qprof 'main(' 9 'g(' 1 ')' ')'

# ---- each profile once ------------------------------------------------------------------------------
importing_says_what_it_did() {
    ends 0 qprof store import s.db a.qprof b.qprof &&
        same "s.db: 2 profiles added with 6 calls" "$(cat out)" && same "" "$(cat err)"
}
claim "an import is one line" importing_says_what_it_did

sums_are_those_by_hand() {
    qprof store top --format=json s.db >top.json &&
        same "f 3 9000 9000
g 1 7000 7000
main 2 6000 22000" "$(figures top.json)"
}
claim "calls and times add" sums_are_those_by_hand

twice_is_once() {
    cp a.qprof other-name.qprof
    ends 0 qprof store import s.db a.qprof other-name.qprof b.qprof a.qprof &&
        same "s.db: 0 profiles added, 4 in it already" "$(cat out)" && sums_are_those_by_hand
}
claim "a profile is in it once, by whatever name" twice_is_once
claim "its own checks pass" same "s.db: 2 profiles with 6 calls: no mistake found" \
    "$(qprof store check s.db)"
claim "only its owner reads it" same 600 "$(stat -c %a s.db)"

# ---- the same as merging ----------------------------------------------------------------------------
# merged NAME FILE...: the store's sum shows what the sum of merging shows
merged() {
    name=$1
    shift
    rm -f "$name.db"
    qprof merge --force -o "$name.qprof" "$@" >/dev/null &&
        qprof store import "$name.db" "$@" >/dev/null &&
        qprof store export -o "$name-sum.qprof" "$name.db" >/dev/null &&
        qprof check "$name-sum.qprof" && qprof store check "$name.db" || return 1
    for command in tree info 'detail f' 'cover context'; do
        for file in "$name.qprof" "$name-sum.qprof"; do
            qprof $command --format=json "$file" 2>/dev/null | sed 's/"file":"[^"]*qprof"//' >shown.$file
        done
        cmp "shown.$name.qprof" "shown.$name-sum.qprof" || { echo "$command"; return 1; }
    done
    qprof report --format=json "$name.qprof" >want.json
    qprof store top --format=json "$name.db" | cmp - want.json
}
score='main( #0*1 5 f( #1*3 3 ) @t g( #0*2 7 f( 1 ) ) @u f( 2 ) ) main( 4 )'
for options in -time=exact -time=adaptive '-time=none -collect=profile,coverage' -collect=coverage; do
    for i in 1 2 3; do
        QPROF="-output=m$i.qprof $options" ./score $score "k$i(" $i ')' thread "t$i(" 'f(' 2 ')' ')'
    done
    claim "$options: the sum of the store is that of merging" \
        merged "m$(echo "$options" | tr -dc a-z)" m1.qprof m2.qprof m3.qprof
done
claim "so it is of sums" merged sums mtimeexact.qprof a.qprof
same_bytes() {
    qprof merge -o ab.qprof a.qprof b.qprof >/dev/null &&
        qprof store export -o ab-sum.qprof s.db >/dev/null && cmp ab.qprof ab-sum.qprof
}
claim "without counters it has the same bytes" same_bytes

# ---- choosing -------------------------------------------------------------------------------------------
qprof store import s.db c.qprof >/dev/null
sql s.db "UPDATE profile SET ended_at = CASE profile
    WHEN 1 THEN 1767225600000000000   -- 2026-01-01 00:00:00 UTC
    WHEN 2 THEN 1767312000000000000   -- 2026-01-02 00:00:00
    ELSE 1767355200000000000 END"     # 2026-01-02 12:00:00

# chosen NUMBERS FLAG...: which profiles they choose
chosen() {
    chosen_numbers=$1
    shift
    same "$chosen_numbers" "$(qprof store list "$@" --format=json s.db | jq -r '[.profiles[].number] | join(" ")')"
}
claim "all" chosen "1 2 3"
claim "by service" chosen "1 2" --service=web
claim "by version" chosen "1 3" --version=1
claim "by both" chosen 1 --version=1 --service=web
claim "by a label" chosen 2 --label=region=eu
claim "a part of a value is not the value" chosen "" --label=region=e
claim "by two labels" chosen 2 --label=region=eu --label=version=2
claim "since is included" chosen "2 3" --since=2026-01-02
claim "until is not" chosen 1 --until=2026-01-02
claim "to the minute" chosen 2 --since=2026-01-01T00:01 --until=2026-01-02T12:00
claim "to the second" chosen "2 3" --since=2026-01-01T00:00:01Z
claim "what is printed chooses" chosen "2 3" --since=2026-01-02T00:00:00.000000000Z
claim "and so does what CSV has" chosen "2 3" "--since=$(qprof store list --format=csv s.db | sed -n 3p | cut -d, -f2)"
claim "to the nanosecond" chosen 3 --since=2026-01-02T00:00:00.000000001
claim "no fraction" says '.x: expected a moment' qprof store list --since=2026-01-02T00:00:00.x s.db
claim "an age before all" chosen "1 2 3" --since=99999d
claim "a service that is SQL is a name" chosen "" "--service=web' OR '1'='1"
claim "a day that does not exist" says '2026-02-30: expected a moment' \
    qprof store list --since=2026-02-30 s.db
claim "no moment" says "--until=soon: expected a moment in UTC" qprof store list --until=soon s.db
claim "a label without a value" says "--label=x: expected NAME=VALUE" qprof store list --label=x s.db
claim "nothing fits" says "s.db: no profile of it fits" qprof store top --service=none s.db
claim "the sum of what is chosen" same "main 1 9000 10000" \
    "$(qprof store top --service=mail --format=json s.db >top.json; figures top.json | grep main)"

# ---- hostile ----------------------------------------------------------------------------------------------
evil="x'); DROP TABLE profile; --"
QPROF_LABELS="service=$evil" record evil.qprof "$evil!(" 3 ')'
head -c 5000 b.qprof >cut.qprof
head -c 65536 /dev/zero | tr '\0' 'L' >long
cp a.qprof broken.qprof
printf 'damage' | dd of=broken.qprof bs=1 seek=4500 conv=notrunc status=none

others_are_imported() {
    ends 1 qprof store import e.db cut.qprof evil.qprof broken.qprof none.qprof a.qprof &&
        same "e.db: 2 profiles added with 3 calls, 3 refused" "$(cat out)" &&
        same 3 "$(grep -c 'it is not in the store$' err)" && grep -q cut.qprof err &&
        grep -q broken.qprof err && grep -q 'none.qprof: no such file' err
}
claim "damaged files are named and left out" others_are_imported
claim "SQL in names is data" same "$evil!" \
    "$(qprof store top "--service=$evil" --format=json e.db | jq -r '.methods[0].name')"
QPROF_LABELS="service=$(cat long)" record long.qprof 'main(' 1 ')'
claim "labels of 64 KB" sh -c 'qprof store import e.db long.qprof && qprof store check e.db'
claim "a text is no store" says 'long: not a store of qprof' qprof store list long
claim "nor is another database" sh -c 'qprof export --to=sqlite -o other.db a.qprof >/dev/null
    qprof store import other.db a.qprof 2>&1 | grep "other.db: a database, but not a store of qprof"'
claim "a store that does not exist" says 'nil.db: no such file' qprof store list nil.db
claim "none was made" [ ! -e nil.db ]
cp e.db newer.db
sql newer.db 'PRAGMA user_version = 99'
claim "a newer store is left alone" says 'newer.db: made by a newer qprof: its version is 99' \
    qprof store import newer.db a.qprof
claim "and not read" says 'made by a newer qprof' qprof store top newer.db

# each of these is a store with one mistake, which is not believed
cat >mistakes <<'END'
UPDATE profile SET calls = 9 WHERE profile = 2@b.qprof, profile 2 of the store: its sums are not
UPDATE profile SET segment = (SELECT segment FROM profile WHERE profile = 3) WHERE profile = 2@profile 2
UPDATE profile SET segment = substr(segment, 1, 20) WHERE profile = 1@profile 1 of the store: damaged
UPDATE profile SET segment = 'x' WHERE profile = 1@profile 1 of the store: damaged
UPDATE profile SET records = '' WHERE profile = 3@profile 3 of the store: damaged
UPDATE profile SET counters = 'x' WHERE profile = 3@profile 3 of the store: damaged
UPDATE profile SET counters = segment WHERE profile = 3@profile 3 of the store: its counters are damaged
UPDATE path SET parent = path WHERE path = 3@call path 3 is not valid
DELETE FROM path WHERE path = 2@call path 2 is not valid
DELETE FROM method WHERE method = 1@method 1 is not valid
UPDATE method SET tables = x'ff000000' WHERE method = 1@method 1 is not valid
END
python3 - <<'END'
import shutil, sqlite3
for i, line in enumerate(open("mistakes"), 1):
    shutil.copy("s.db", "bad%d.db" % i)
    db = sqlite3.connect("bad%d.db" % i)
    db.execute(line.split("@")[0])
    db.commit()
END
finds() { ends 1 qprof store check "$1" && grep -Eq -- "$2" err || { cat err; return 1; }; }
i=0
while IFS=@ read -r statement pattern; do
    i=$((i + 1))
    claim "check sees: $statement" finds bad$i.db "$pattern"
done <mistakes
# a letter or a number, as the disk might change it: SQLite does not notice
letters() {
    cp s.db letter.db && sql letter.db "$1" && finds letter.db "$2" && says "$2" qprof store top letter.db
}
for column in name file; do
    claim "check sees a letter in the $column of a method" letters \
        "UPDATE method SET $column = 'X' || substr($column, 2) WHERE method = 2" 'damaged: method 2 is not valid'
done
claim "or its flags" letters 'UPDATE method SET flags = flags + 1024 WHERE method = 2' 'damaged: method 2 is not valid'
claim "or the name of a thread" letters "UPDATE path SET thread = 'X' WHERE path = 1" 'damaged: call path 1 is not valid'
claim "or the method of a path" letters 'UPDATE path SET method = 3 - method WHERE path = 2' 'damaged: call path 2 is not valid'
nothing_is_made() {
    echo x >no.qprof && ends 1 qprof store import new.db no.qprof none.qprof && grep -q 'no.qprof.*not in the store' err &&
        grep -q 'none.qprof.*not in the store' err && same "new.db: 0 profiles added, 2 refused" "$(cat out)" && [ ! -e new.db ]
}
claim "an import of nothing makes no store" nothing_is_made
# a page of the table of methods that is none
one_line() {
    cp s.db page.db && python3 -c 'import sqlite3
page = sqlite3.connect("page.db").execute("SELECT rootpage FROM sqlite_master WHERE name = ?", ("profile_by_time",)).fetchone()[0]
size = sqlite3.connect("page.db").execute("PRAGMA page_size").fetchone()[0]
file = open("page.db", "r+b")
file.seek((page - 1) * size + 3)
file.write(b"\xff\xff")' && finds page.db 'damaged: SQLite says: ' && grep 'SQLite says' err >line && ! grep -Eq '[*]{3}|x0A' line
}
claim "what SQLite says is on one line" one_line
head -c 20000 s.db >cutoff.db
claim "a store that was cut" says 'cutoff.db: damaged: it was cut short' qprof store list cutoff.db
claim "nor is a damaged profile added up" says 'profile 1 of the store: damaged' qprof store top bad3.db

# name_is_a_file NAME: a store of this name is a file
name_is_a_file() {
    ends 0 qprof store import "$1" a.qprof && [ -f "./$1" ] && qprof store check "$1"
}
for name in :memory: file:zz.db 'file:mem.db?mode=memory'; do
    claim "$name is a file" name_is_a_file "$name"
done
claim "no name" says 'the store has no name' qprof store import '' a.qprof
claim "none fits" same "No profiles match" "$(qprof store list --service=none s.db)"

# the same run, saved twice
a_later_state() {
    rm -f later.db
    cp a.qprof early.qprof
    qprof store import later.db early.qprof >/dev/null
    sql later.db "UPDATE profile SET ended_at = ended_at - 1"
    ends 0 qprof store import later.db a.qprof &&
        same "later.db: 1 profile replaced by a later state of its run" "$(cat out)" &&
        qprof store check later.db
}
claim "a later state replaces" a_later_state

# ---- other clocks, other tools ------------------------------------------------------------------------------
printf '3:x.lua\n1 0 5\n' >luacov.stats.out
printf 'events: Ir\nfn=main\n1 10\nfn=f\n2 5\n' >callgrind.out.1
unknown_times_stay() {
    qprof store import old.db luacov.stats.out callgrind.out.1 >/dev/null &&
        same "unknown 2 null null 15 counts" "$(qprof store series --format=json old.db |
            jq -r '.unit as $unit | .series[] | "\(.key) \(.profiles) \(.calls) \(.calls_each) \(.self) \($unit)"')" &&
        same "old.db: 2 profiles: no mistake found" "$(qprof store check old.db)" &&
        same "null null" "$(qprof store list --format=json old.db | jq -r '.profiles | map(.calls | tostring) | join(" ")')" &&
        qprof store list old.db | grep -Eq '^ 1  unknown .* -  .*luacov' &&
        ends 0 qprof store remove --before=30d old.db &&
        same "old.db: 0 profiles removed" "$(cat out)" &&
        ends 0 qprof store remove --before=30d --undated old.db &&
        same "old.db: 2 profiles removed" "$(cat out)"
}
claim "what ended at an unknown time is not old; calls that were not counted are unknown" unknown_times_stay
QPROF="-output=cpu.qprof -clock=user+kernel" ./score 'main(' 5 'f(' 3 ')' ')'
cp a.qprof elapsed.qprof
other_clocks() {
    qprof store import clocks.db elapsed.qprof cpu.qprof >/dev/null &&
        sql clocks.db "UPDATE profile SET self = 5 WHERE profile = 2" &&
        says 'clocks.db: the clock of profile 2 is user.kernel, of others' qprof store series clocks.db
}
claim "times of other clocks do not add" other_clocks
an_older_store() {
    cp e.db v1.db && sql v1.db 'ALTER TABLE profile DROP COLUMN clock' \
        'ALTER TABLE profile DROP COLUMN has_calls' 'DROP TABLE rolled' 'ALTER TABLE method DROP COLUMN sum' \
        'ALTER TABLE path DROP COLUMN sum' 'ALTER TABLE profile DROP COLUMN counters' \
        'DROP TABLE slow' 'PRAGMA user_version = 1' &&
        says 'v1.db: made by an older qprof' qprof store list v1.db &&
        ends 0 qprof store import v1.db a.qprof && qprof store check v1.db &&
        ends 0 qprof store series v1.db
}
claim "an import brings an older store up to date" an_older_store

# ---- without permission to write ----------------------------------------------------------------------------
nothing_stays() {
    rm -f tidy.db* && cp s.db tidy.db && qprof store list tidy.db >/dev/null && qprof store check tidy.db &&
        same tidy.db "$(echo tidy.db*)"
}
claim "reading leaves no files" nothing_stays
as=
[ "$(id -u)" = 0 ] && as='setpriv --reuid=65534 --clear-groups'
unwritable() {
    folder=$(mktemp -d /tmp/qprof-store-XXXXXX) && mkdir "$folder/100%?#"
    cp "$(command -v qprof)" "$folder" && cp s.db "$folder/100%?#" && chmod 755 "$folder" "$folder/qprof" && chmod 644 "$folder/100%?#/s.db"
    chmod 555 "$folder/100%?#"
    store="$folder/100%?#/s.db" good=0
    for command in list check top; do
        ends 0 $as "$folder/qprof" store $command "$store" || good=1
    done
    says 's.db: it and its folder must be writable' $as "$folder/qprof" store import "$store" a.qprof || good=1
    same s.db "$(ls "$folder/100%?#")" || good=1
    chmod 755 "$folder/100%?#" && rm -r "$folder"
    return $good
}
[ -z "$as" ] || command -v setpriv >/dev/null && claim "who may only read a store reads it" unwritable

# ---- killed, and two at once ------------------------------------------------------------------------------
for i in 1 2 3 4 5 6 7 8; do record "k$i.qprof" 'main(' $i "f$i(" 2 ')' ')'; done
qprof merge -o k-sum.qprof k?.qprof >/dev/null
qprof report --format=json k-sum.qprof | figures /dev/stdin >k-want

killed_in_between() {
    python3 - "$1" <<'END'
import os, signal, subprocess, sys, time
n = int(sys.argv[1])
files = ["k%d.qprof" % i for i in range(1, 9)]
for i in range(n):
    if i % 8 == 0:
        for end in "", "-wal", "-shm":
            if os.path.exists("k.db" + end):
                os.remove("k.db" + end)
    p = subprocess.Popen(["qprof", "store", "import", "k.db"] + files[i % 3:],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.03 * i / n)
    p.send_signal(signal.SIGKILL)
    assert not p.stderr.read()
    p.wait()
END
    qprof store import k.db k?.qprof >/dev/null && qprof store check k.db &&
        same 16 "$(qprof store list --format=json k.db | jq '[.profiles[].calls] | add')" &&
        qprof store top --format=json k.db | figures /dev/stdin | cmp - k-want
}
claim "killed at any moment, it has each profile once" killed_in_between "${KILLS:-16}"

two_at_once() {
    rm -f k.db
    for i in 1 2 3 4; do qprof store import k.db k?.qprof >two.$i 2>&1 & done
    wait
    same 8 "$(cat two.? | sed -n 's/.*: \([0-9]*\) profiles* added.*/\1/p' | awk '{ n += $1 } END { print n }')" &&
        qprof store check k.db && qprof store top --format=json k.db | figures /dev/stdin | cmp - k-want
}
claim "four that import at once" two_at_once

# ---- push ---------------------------------------------------------------------------------------------------
pushing_empties_the_folder() {
    mkdir -p spool && cp a.qprof b.qprof spool/ && cp cut.qprof spool/cut.qprof && echo x >spool/notes.txt
    ends 1 qprof push --spool=spool --to=sqlite:p.db &&
        same "spool: 2 profiles pushed with 6 calls, 1 moved to quarantine" "$(cat out)" &&
        grep -q 'spool/cut.qprof: .*; moved to spool/quarantine/cut.qprof$' err &&
        same "notes.txt quarantine" "$(ls spool | tr '\n' ' ' | sed 's/ $//')" &&
        cp a.qprof cut.qprof spool/ && ends 1 qprof push --spool=spool --to=sqlite:p.db &&
        same "spool: 0 profiles pushed, 1 in the store already, 1 moved to quarantine" "$(cat out)" &&
        same "cut.qprof cut.qprof.1" "$(ls spool/quarantine | tr '\n' ' ' | sed 's/ $//')" &&
        ends 0 qprof push --spool=spool --to=sqlite:p.db && same "spool: 0 profiles pushed" "$(cat out)"
}
claim "what is in the store leaves the folder, what is damaged is set aside" pushing_empties_the_folder
claim "the store has them" same 6 "$(qprof store list --format=json p.db | jq '[.profiles[].calls] | add')"

a_full_store_keeps_the_files() {
    rm -rf full && mkdir full && cp k1.qprof k2.qprof full/ && qprof store import full.db k3.qprof >/dev/null
    (ulimit -f 8; trap '' XFSZ; ends 2 qprof push --spool=full --to=sqlite:full.db) || return 1
    same "k1.qprof k2.qprof" "$(ls full | tr '\n' ' ' | sed 's/ $//')" &&
        ends 0 qprof push --spool=full --to=sqlite:full.db &&
        same "full: 2 profiles pushed with 4 calls" "$(cat out)" && same "" "$(ls full)" &&
        qprof store check full.db
}
claim "a store that cannot grow loses nothing" a_full_store_keeps_the_files

pushing_is_killed() {
    python3 - "$1" <<'END'
import os, shutil, signal, subprocess, sys, time
n = int(sys.argv[1])
for i in range(n):
    if i % 8 == 0:
        shutil.rmtree("ks", True)
        os.mkdir("ks")
        for end in "", "-wal", "-shm":
            if os.path.exists("k.db" + end):
                os.remove("k.db" + end)
        for k in range(1, 9):
            shutil.copy("k%d.qprof" % k, "ks")
    p = subprocess.Popen(["qprof", "push", "--spool=ks", "--to=sqlite:k.db"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.03 * (i + 1) / n)
    p.send_signal(signal.SIGKILL)
    assert not p.stderr.read()
    p.wait()
END
    qprof push --spool=ks --to=sqlite:k.db >/dev/null && same "" "$(ls ks)" && qprof store check k.db &&
        qprof store top --format=json k.db | figures /dev/stdin | cmp - k-want
}
claim "a push that is killed at any moment loses and doubles nothing" pushing_is_killed "${KILLS:-8}"
a_store_in_memory_is_a_file() {
    rm -rf sm && mkdir sm && cp a.qprof sm/ && rm -f :memory:
    ends 0 qprof push --spool=sm --to=sqlite::memory: && [ -f :memory: ] &&
        same 2 "$(qprof store list --format=json :memory: | jq '.profiles[].calls')"
}
claim "what was pushed is in a file" a_store_in_memory_is_a_file
store_among_profiles() {
    rm -rf in && mkdir in && ln -s in in-link && ln -s in/x.qprof x.db && qprof store import in/x.qprof a.qprof
    for store in in/x.qprof in/y.qprof in-link/y.qprof x.db; do
        ends 2 qprof push --spool=in --to=sqlite:$store &&
            grep -q 'a store in the folder of profiles would be taken for one' err || return 1
    done
    same x.qprof "$(ls in)" && (cd in && ends 2 qprof push --spool=. --to=sqlite:x.qprof)
}
claim "a store is not pushed into itself" store_among_profiles
not_files_stay() {
    rm -rf odd && mkdir -p odd/f.qprof && ln -s ../a.qprof odd/l.qprof && mkfifo odd/p.qprof
    ends 1 qprof push --spool=odd --to=sqlite:odd.db && same "odd: 0 profiles pushed, 3 left" "$(cat out)" &&
        same "odd/f.qprof odd/l.qprof odd/p.qprof" \
            "$(sed -n 's/.*\(odd[^:]*\): not a file; it stays$/\1/p' err | tr '\n' ' ' | sed 's/ $//')"
}
claim "links, folders and pipes are named and stay" not_files_stay
claim "an unknown store" says '--to=http://x: expected sqlite:FILE' qprof push --spool=spool --to=http://x
claim "a folder that does not exist" says 'nil: no such folder' qprof push --spool=nil --to=sqlite:p.db

# ---- answers ------------------------------------------------------------------------------------------------
# a: 2 calls, 8 us; b: 4 calls, 14 us; c: 2 calls, 10 us
claim "by day" same "2026-01-01 1 2 8000
2026-01-02 2 6 24000" \
    "$(qprof store series --format=json s.db | jq -r '.series[] | "\(.key) \(.profiles) \(.calls) \(.self)"')"
claim "by hour" same "2026-01-01 00:00,2026-01-02 00:00,2026-01-02 12:00" \
    "$(qprof store series --by=hour --format=json s.db | jq -r '[.series[].key] | join(",")')"
claim "by version" same "1 2 4 18000 2 9000
2 1 4 14000 4 14000" "$(qprof store series --by=version --format=json s.db |
    jq -r '.series[] | "\(.key) \(.profiles) \(.calls) \(.self) \(.calls_each) \(.self_each)"')"
claim "a table of it" sh -c "qprof store series --by=service s.db | grep -Eq '^web +2 +6 +22'"

# h is known to a and called nowhere; in b and c the functions that it does not call are not known
for i in 1 2; do QPROF="-output=d$i.qprof -collect=profile,coverage" ./score 'f1?' 'f2?' 'h?' 'i?' 'main(' "f$i(" 1 ')' ')'; done
qprof store import d.db d1.qprof d2.qprof >/dev/null
claim "dead is what none has called" same "h i" \
    "$(qprof store dead --format=json d.db | jq -r '[.dead[].name] | sort | join(" ")')"
qprof store import d1.db d1.qprof >/dev/null
claim "of one profile it is more" same "f2 h i" "$(qprof store dead --format=json d1.db | jq -r '[.dead[].name] | sort | join(" ")')"
claim "in words" sh -c "qprof store dead d.db | tail -1 | grep -q '^2 of 5 functions in 2 profiles never called$'"

# main 5 -> 1 us, f 1 -> 2 calls, g is new
qprof store import e2.db a.qprof b.qprof >/dev/null
claim "diff compares versions" same "f 1 2
g 0 1
main 1 1" "$(qprof store diff --service=web --base=1 --new=2 --format=json e2.db |
    jq -r '.rows | sort_by(.name) | .[] | "\(.name) \(.calls.base) \(.calls.new)"')"
claim "or labels" sh -c "qprof store diff --base=version=1 --new=region=eu e2.db | grep -q '^g '"
cp e2.db lacks.db
sql lacks.db 'ALTER TABLE profile DROP COLUMN clock'
claim "a store that cannot be read" says 'lacks.db: .*no such column: clock' qprof store diff --base=1 --new=2 lacks.db
claim "a side without profiles" says 'e2.db: no profile of it has the version 7' \
    qprof store diff --base=1 --new=7 e2.db

claim "ages, with ago as well" same "$(qprof store list --since=30000d --format=csv s.db)" "$(qprof store list --since="30000d ago" --format=csv s.db)"
claim "but nothing else" says '--since=2h agog: expected a moment' qprof store list --since="2h agog" s.db

claim "a report says of how much it is" sh -c "qprof store top --version=2 s.db | head -1 | grep -q ', 1 profile of a store' &&
    qprof store tree s.db | head -1 | grep -q ', 3 profiles of a store'"

# ---- removing ---------------------------------------------------------------------------------------------
removing_is_exact() {
    ends 0 qprof store remove --before=2026-01-02 s.db &&
        same "s.db: 1 profile with 2 calls removed" "$(cat out)" && chosen "2 3" &&
        qprof store check s.db && ends 0 qprof store import s.db a.qprof && chosen "2 3 4"
}
claim "what ended before is removed, and no more" removing_is_exact
claim "a moment is required" says 'missing --before=TIME' qprof store remove s.db

# ---- usage --------------------------------------------------------------------------------------------------
claim "files are required" says 'missing profiles; usage' qprof store import s.db
claim "one store" says 'expected one store; usage: qprof store top STORE' qprof store top
claim "a profile is not overwritten" says 'a.qprof: exists' qprof store export -o a.qprof s.db
finish
