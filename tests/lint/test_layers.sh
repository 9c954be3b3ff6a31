#!/bin/sh
# test_layers.sh: rooms use each other only as tests/lint/layers.txt says, by #include and by call; no
# room has more than 18 .c files or shows others more headers than it may; and what has one home is
# called nowhere else. The checker itself is tried on a small tree with known mistakes.
set -eu
. "$QPROF_SOURCE/tests/lint/calls.sh"

# check_tree LAW TREE EDGES: one line for each mistake
check_tree() (
    cd "$2"
    find include src bindings examples -name '*.[ch]' -not -path '*/target/*' -not -path '*/recorder/*' 2>/dev/null | sort |
        xargs awk -v law="$1" -v edges="$3" -f "$QPROF_SOURCE/tests/lint/layers.awk" "$1" "$3"
)

try_checker() {
    rm -rf tree
    mkdir -p tree/src/base tree/src/model/read tree/src/model/far tree/src/hot tree/src/full tree/include
    cat >tree/law <<'END'
room include:
what The public headers.
room base:
what The ground.
room hot: base
what The hot path.
room model/read: base
what Has two headers that others include.
room model/far: base model/read model/.
what Uses a room below it.
room model: base model/read
what Uses rooms.
room full: gone
room empty: base
what Has no file.
upward base: hot model
headers base: 3
headers hot: 1
hot src/hot/h.c: hot/h.h
apart src/model/[!c]*.c src/model/a.c
header include/*.h: stddef.h
home heap = malloc free: src/base/h*.c
home clocks = time: src/base/clock.c
END
    cat >tree/src/base/a.c <<'END'
#include "hot/h.h"
#include "model/read/m.h"
/* malloc(1) in a comment, and
 * over lines: free(p) */
static void *f(void) { return malloc(1); }
END
    printf '#include "base/a.h"\n#include "base/b.h"\n#include "model/far/f.h"\n' >tree/src/model/m.c
    printf '#include "hot/h.h"\n#include "base/a.h"\n' >tree/src/hot/h.c
    printf '#include "model/b.h"\nint f(void) { s.time(0); return time(0); }\n' >tree/src/model/a.c
    printf '#include "model/read/n.h"\n' >tree/src/model/far/f.c
    echo >tree/src/model/read/n.c
    printf '#include <stdio.h>\n' >tree/include/qprof.h
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do echo >"tree/src/full/$i.c"; done
    mkdir tree/src/new
    echo >tree/src/new/n.h
    cat >tree/edges <<'END'
src/base/a.c src/hot/h.c hot_call
src/model/read/n.c src/base/a.c base_call
src/model/read/n.c src/model/m.c first_call
src/model/read/n.c src/model/m.c second_call
END
    sort >wanted <<'END'
include/qprof.h:1: may not include <stdio.h>
src/base/a.c:2: base may not include model/read/m.h
src/base/a.c:5: malloc() belongs to the home of heap: src/base/h*.c
src/hot/h.c:2: the hot path may not include base/a.h
src/model/a.c:1: may not know its neighbour model/b.h
src/model/a.c:2: time() belongs to the home of clocks: src/base/clock.c
src/model/m.c:3: model may not include model/far/f.h
src/model/read/n.c: model/read may not call first_call of src/model/m.c
src/new/n.h:1: no such room in layers.txt
layers.txt:7: model/read shows 2 headers to others, and may show 1: model/read/m.h model/read/n.h
layers.txt:9: model/far may not use model, which is below it
layers.txt:13: full has 19 .c files; 18 are the most
layers.txt:13: no room gone
layers.txt:13: no sentence about the room full
layers.txt:14: no folder of the room empty
layers.txt:16: base does not use model any more: strike it
layers.txt:17: base shows 2 headers to others: lower its figure, or strike the line
layers.txt:22: no file src/base/h*.c
layers.txt:23: no file src/base/clock.c
END
    check_tree law tree edges | sort >found
    diff -u wanted found || { echo "test_layers.sh: the checker itself is wrong"; exit 1; }
}

try_checker
calls "$QPROF_SOURCE" "$QPROF_BUILD"/CMakeFiles/qprof_*.dir >edges
[ "$(wc -l <edges)" -gt 1000 ] || { echo "test_layers.sh: no objects in $QPROF_BUILD"; exit 1; }
check_tree "$QPROF_SOURCE/tests/lint/layers.txt" "$QPROF_SOURCE" "$PWD/edges" >mistakes
cat mistakes
[ ! -s mistakes ]
