#!/bin/sh
# test_layers.sh: the rooms include each other only as tests/lint/layers.txt says, and what has one
# home is called nowhere else. The checker itself is tried on a small tree with known mistakes.
set -eu
law=$QPROF_SOURCE/tests/lint/layers.txt

# check_tree TREE: one line for each mistake, in the order of the files
check_tree() (
    cd "$1"
    find include src bindings examples -name '*.[ch]' 2>/dev/null | sort | xargs awk -v law="$law" '
        function to_pattern(glob) {
            gsub(/\./, "[.]", glob); gsub(/\*/, "[^/]*", glob); gsub(/\[!/, "[^", glob)
            return "^" glob "$" }
        function fits(file, globs,   n, i, list) {
            n = split(globs, list, " ")
            for (i = 1; i <= n; i++)
                if (file ~ to_pattern(list[i])) return 1
            return 0 }
        function has(list, word) { return index(" " list " ", " " word " ") > 0 }
        function report(what) { print FILENAME ":" FNR ": " what }
        function room_of(file,   part) {
            split(file, part, "/")
            return part[1] == "src" ? part[2] : part[1] }
        function check_include(name,   room, target, source, i) {
            source = "src/" substr(name, 1, length(name) - 1) "c"
            target = name
            sub(/\/.*/, "", target)
            if (target == "qprof.h" || target == "cprof.h" || target == "qprof") target = "include"
            room = room_of(FILENAME)
            if (!(room in may)) return
            if (index(name, "/") == 0 && target != "include") target = room
            if (target != room && !has(may[room], target))
                report(room " may not include " name)
            for (i = 1; i <= n_hot; i++)
                if (FILENAME == hot_file[i] && !has(hot_may[i], name))
                    report("the hot path may not include " name)
            for (i = 1; i <= n_apart; i++)
                if (fits(FILENAME, apart[i]) && fits(source, apart[i]) && source != FILENAME)
                    report("may not know its neighbour " name) }
        function check_system(name,   i) {
            for (i = 1; i <= n_header; i++)
                if (fits(FILENAME, header[i]) && !has(header_may[i], name))
                    report("may not include <" name ">") }
        function check_calls(code,   name, before, i) {
            while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ ]?\(/)) {
                name = substr(code, RSTART, RLENGTH - 1)
                sub(/ $/, "", name)
                before = substr(code, 1, RSTART - 1)
                code = substr(code, RSTART + RLENGTH)
                if (before ~ /(->|\.)$/ || !(name in home_of)) continue
                i = home_of[name]
                if (!fits(FILENAME, home[i]))
                    report(name "() belongs to the home of " home_name[i] ": " home[i]) } }

        FILENAME == law && /^room / {
            name = $2; sub(/:$/, "", name); sub(/^[^:]*:[ ]*/, ""); may[name] = $0 }
        FILENAME == law && /^apart / { sub(/^apart /, ""); apart[++n_apart] = $0 }
        FILENAME == law && /^header / {
            sub(/^header /, ""); n_header++
            header_may[n_header] = $0; sub(/^[^:]*: /, "", header_may[n_header])
            sub(/:.*/, ""); header[n_header] = $0 }
        FILENAME == law && /^hot / {
            n_hot++; hot_file[n_hot] = $2; sub(/:$/, "", hot_file[n_hot])
            sub(/^[^:]*: /, ""); hot_may[n_hot] = $0 }
        FILENAME == law && /^home / {
            n_home++; home_name[n_home] = $2
            line = $0; sub(/^[^=]*= /, "", line)
            home[n_home] = line; sub(/^[^:]*: /, "", home[n_home]); sub(/:.*/, "", line)
            n = split(line, call, " ")
            for (i = 1; i <= n; i++) home_of[call[i]] = n_home }
        FILENAME == law { next }

        FNR == 1 { in_comment = 0 }
        FNR == 1 && !(room_of(FILENAME) in may) { report("no such room in layers.txt") }
        {
            line = $0
            gsub(/\\"/, "", line)
            if (line ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
                sub(/^[^"]*"/, "", line); sub(/".*/, "", line); check_include(line); next }
            if (line ~ /^[ \t]*#[ \t]*include[ \t]*</) {
                sub(/^[^<]*</, "", line); sub(/>.*/, "", line); check_system(line); next }
            gsub(/"[^"]*"/, "\"\"", line)
            if (in_comment) {
                if (!sub(/^.*\*\//, "", line)) next
                in_comment = 0 }
            gsub(/\/\*[^*]*\*\//, "", line)
            if (sub(/\/\*.*$/, "", line)) in_comment = 1
            if (FILENAME ~ /^src\//) check_calls(line)
        }' "$law"
)

try_checker() {
    mkdir -p tree/src/base tree/src/model tree/src/record tree/src/export tree/include
    cat >tree/src/base/a.c <<'END'
#include "model/m.h"
/* malloc(1) in a comment, and
 * over lines: free(p) */
static void *f(void) { return malloc(1); }
END
    printf '#include "record/r.h"\n#include "base/b.h"\n' >tree/src/model/m.c
    printf '#include "base/atomic.h"\n#include "model/m.h"\n#include "cli/x.h"\n' >tree/src/record/event.c
    printf '#include "export/cover_b.h"\nint f(void) { s.time(0); return time(0); }\n' >tree/src/export/cover_a.c
    printf '#include <stdio.h>\n' >tree/include/qprof.h
    cat >wanted <<'END'
include/qprof.h:1: may not include <stdio.h>
src/base/a.c:1: base may not include model/m.h
src/base/a.c:4: malloc() belongs to the home of heap: src/base/alloc.c
src/export/cover_a.c:1: may not know its neighbour export/cover_b.h
src/export/cover_a.c:2: time() belongs to the home of clocks: src/base/clock.c
src/model/m.c:1: model may not include record/r.h
src/record/event.c:2: record may not include model/m.h
src/record/event.c:2: the hot path may not include model/m.h
src/record/event.c:3: record may not include cli/x.h
src/record/event.c:3: the hot path may not include cli/x.h
END
    check_tree tree >found
    diff -u wanted found || { echo "test_layers.sh: the checker itself is wrong"; exit 1; }
}

rm -rf tree
try_checker
check_tree "$QPROF_SOURCE" >mistakes
cat mistakes
[ ! -s mistakes ]
