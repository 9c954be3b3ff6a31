#!/bin/sh
# test_cycles.sh: no more than three files call each other in a circle, but for the circles whose sizes
# are in cycles.txt. That list only gets shorter: a circle that has shrunk has to be struck from it or
# lowered. The checker itself is tried on four files that are known to call each other.
set -eu
. "$QPROF_SOURCE/tests/lint/calls.sh"

# circles: the largest sets of files each of which reaches all others, from lines of calls();
# "SIZE FILE...", largest first
circles() {
    awk '
        !(($1, $2) in known) { known[$1, $2]; next_of[$1] = next_of[$1] " " $2; files[$1]; files[$2] }
        function walk(from,   queue, head, tail, i, n, list) {
            head = tail = 1
            queue[1] = from
            while (head <= tail) {
                n = split(next_of[queue[head++]], list, " ")
                for (i = 1; i <= n; i++)
                    if (!((from, list[i]) in reaches)) {
                        reaches[from, list[i]]
                        queue[++tail] = list[i] } } }
        END {
            for (file in files) walk(file)
            for (file in files) {
                if (file in is_done || !((file, file) in reaches)) continue
                line = ""
                size = 0
                for (other in files)
                    if ((file, other) in reaches && (other, file) in reaches) {
                        is_done[other]
                        line = line " " other
                        size++ }
                print size line } }' | sort -rn
}

# sort_files: the files of each line in order, so that a failure can be read
sort_files() {
    while read -r size files; do
        # shellcheck disable=SC2086  # one word a file
        echo "$size $(printf '%s\n' $files | sort | paste -sd' ')"
    done
}

try_checker() {
    rm -rf tree
    mkdir -p tree/some.dir/src/room tree/src/room
    echo 'void b(void); void a(void); void a(void) { b(); }' >tree/src/room/a.c
    echo 'void c(void); void b(void); void b(void) { c(); }' >tree/src/room/b.c
    echo 'extern int d; void c(void); void c(void) { d++; }' >tree/src/room/c.c
    echo 'void a(void); int d; void e(void); void e(void) { a(); }' >tree/src/room/d.c
    echo 'void a(void); void f(void); void f(void) { a(); }' >tree/src/room/f.c
    echo 'void f(void); void a(void); void a(void) { f(); }' >tree/gone.c
    for name in a b c d f; do
        ${CC:-cc} -c "tree/src/room/$name.c" -o "tree/some.dir/src/room/$name.c.o"
    done
    ${CC:-cc} -c tree/gone.c -o tree/some.dir/src/room/gone.c.o
    calls tree tree/some.dir | circles | sort_files >found
    echo "4 src/room/a.c src/room/b.c src/room/c.c src/room/d.c" | diff -u - found ||
        { echo "test_cycles.sh: the checker itself is wrong"; exit 1; }
}

try_checker
objects=$QPROF_BUILD/CMakeFiles
calls "$QPROF_SOURCE" "$objects/qprof_ground.dir" "$objects/qprof_recorder.dir" \
    "$objects/qprof_reader.dir" "$objects/qprof_commands.dir" >edges
[ "$(wc -l <edges)" -gt 1000 ] || { echo "test_cycles.sh: no objects in $objects"; exit 1; }
circles <edges | sort_files | awk '$1 > 3' >found
awk '{ print $1 }' found >sizes
grep -v '^#' "$QPROF_SOURCE/tests/lint/cycles.txt" >allowed || :
cmp -s sizes allowed && exit 0

echo "Files that call each other in a circle, more than three:"
sed 's/^/    /' found
if paste allowed sizes | awk -F '\t' '$2 > $1 + 0 { exit 1 }'; then
    echo "That is less than tests/lint/cycles.txt has. Let it have these figures, one a line:"
    paste -sd' ' sizes
else
    echo "tests/lint/cycles.txt allows:" "$(paste -sd' ' allowed)"
fi
exit 1
