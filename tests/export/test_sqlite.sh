#!/bin/sh
# test_sqlite.sh: the database that SQLite's own program opens: tables agree with the report, views
# answer what is asked.
. "$(dirname "$0")/lib.sh"
. "$root/tests/export/score.sh"
need sqlite3 sqlite3
need jq jq

export_profile sqlite run
# ask NAME SQL: rows, one a line
ask() { sqlite3 "$1.sqlite" "$2" 2>&1; }
claim "the file is in order" same ok "$(ask run 'PRAGMA integrity_check; PRAGMA foreign_key_check')"
cat >wanted <<'END'
main|score.src|1|1|14000|43.8|25000|78.1
f|score.src|11|2|7000|21.9|10000|31.3
co|score.src|41|1|7000|21.9|7000|21.9
g|score.src|21|1|3000|9.4|5000|15.6
leaf;1 2|score.src|31|1|1000|3.1|1000|3.1
END
ask run 'SELECT * FROM top' >found
claim "view top: functions" diff -u wanted found
printf 'main|1|10000\ng|1|0\n' >wanted
ask run "SELECT caller, calls, total FROM callers WHERE function = 'f'" >found
claim "view callers: what they got, recursion once" diff -u wanted found
cat >wanted <<'END'
.main_1.|main|1|14000
.main_1.|main;f|1|5000
.main_1.|main;f;g|1|3000
.main_1.|main;f;g;f|1|2000
.main_1.|main;leaf;1 2|1|1000
.co_2.|co|1|7000
END
ask run 'SELECT thread, stack, calls, self FROM stacks ORDER BY id' >found
claim "view stacks: paths" diff -u wanted found
record counted.qprof 'main(' ':1' 3 '#2*5' ')'
export_profile sqlite counted
claim "view lines: counts and times" same 'score.src|1|0|,score.src|2|0|3000,score.src|3|5|' \
    "$(ask counted 'SELECT file, line, count, self FROM lines' | paste -sd ,)"

qprof report --format=json run.qprof | jq -r '.methods | sort_by(.name)[]
    | [.name, .calls, .self, .total, .min, .max] | map(tostring) | join("|")' >wanted
ask run "SELECT name, calls, self, total, min, max FROM functions WHERE calls > 0
    ORDER BY name" >found
claim "functions are those of the report" diff -u wanted found
qprof report --format=json run.qprof | jq -r '.threads[] | "\(.number)|\(.name)|\(.calls)|\(.total)"' \
    >wanted
ask run 'SELECT id, name, calls, total FROM threads' >found
claim "no function is the recorder's own" same '.root.|co|f|g|leaf;1 2|main' \
    "$(ask run 'SELECT name FROM functions ORDER BY name' | paste -sd '|')"
claim "blocks and paths have functions" same '0|0' "$(ask counted 'SELECT
    (SELECT count(*) FROM blocks WHERE function NOT IN (SELECT id FROM functions)),
    (SELECT count(*) FROM paths WHERE function NOT IN (SELECT id FROM functions))')"
claim "threads are those of the report" diff -u wanted found
claim "the run is that of the report" same 'score|ns|exact|6|32000' \
    "$(ask run 'SELECT program, unit, time, calls, total FROM run')"

export_profile sqlite hostile
claim "hostile names: all of the time" same '14|13000' \
    "$(ask hostile 'SELECT count(*), sum(self) FROM functions WHERE calls > 0')"
claim "... and no control character" same 0 \
    "$(ask hostile 'SELECT name FROM functions' | LC_ALL=C grep -c '[[:cntrl:]]')"
export_profile sqlite deep
claim "depth is not limited" same '5001|2000' \
    "$(ask deep 'SELECT max(depth) - 1, sum(self) FROM paths')"
qprof export --to=sqlite --thread=2 run.qprof >one.sqlite
claim "one thread" same 'co|7000' "$(ask one 'SELECT name, self FROM top')"
finish
