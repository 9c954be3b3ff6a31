#!/bin/sh
# test_files.sh [BUILD]: functions that are never called and files that are never loaded are
# missed, not absent; what the -cover options leave out is in no report of coverage.
. "$(dirname "$0")/lib.sh"
cd "$source/tests/lua/files"

cover() { # NAME FILTER: of the JSON report
    "$bin/qprof" cover report --format=json "$tmp/$1.qprof" 2>"$tmp/printed" | jq -r "$2 | @tsv"
}

same() { # WHAT: $tmp/expected and $tmp/actual
    diff "$tmp/expected" "$tmp/actual" >"$tmp/diff" || {
        cat "$tmp/diff"
        complain "$1 (< expected, > qlua)"
    }
}

# Written by hand from the files: name, line, calls.
cat >"$tmp/expected" <<'END'
handler.on_start	25	0
helper	10	0
main chunk of ./sub/part.lua	1	1
main chunk of ./used.lua	1	1
main chunk of main.lua	2	1
sub.part.one	2	0
Class.new	5	1
Class:get	6	0
Class:set	7	0
used.called	13	1
used.never	16	0
used.nested	19	0
result of used.nested at used.lua:20	20	0
END
sort -o "$tmp/expected" "$tmp/expected"
functions='.files[].functions[] | [.name, .line, .hits]'
of_functions=-collection-granularity=function
for collected in coverage profile,coverage "coverage $of_functions"; do
    record "-collect=$collected" little main.lua
    cover little "$functions" | sort >"$tmp/actual"
    same "$collected: functions of loaded files"
    record "-collect=$collected" all main.lua all
    cover all '.files[].functions[] | [.name, .line]' | sort >"$tmp/all"
    cut -f 1,2 "$tmp/expected" | sort | diff - "$tmp/all" ||
        complain "$collected: names of functions that are called are others"
    [ -z "$(cover all "$functions" | grep '	0$')" ] || complain "$collected: a call is missing"
done

# Lines of functions that were never called.
record "-collect=coverage" little main.lua
printf '2\t1\n3\t0\n' >"$tmp/expected"
cover little '.files[] | select(.path == "sub/part.lua") | .lines[] |
    select(.line == 2 or .line == 3) | [.line, .hits]' >"$tmp/actual"
same "the definition ran, the function did not"

# What is left out. OPTIONS, then the files that remain.
remain() {
    chosen=$1
    shift
    for collected in coverage profile,coverage "profile,coverage $of_functions"; do
        record "-collect=$collected $chosen" filtered main.lua
        [ ! -s "$tmp/filtered.out" ] || complain "$chosen: $(cat "$tmp/filtered.out")"
        cover filtered '.files[] | [.path]' | sort | tr '\n' ' ' >"$tmp/actual"
        [ "$(cat "$tmp/actual")" = "${*:+$* }" ] ||
            complain "$collected $chosen: $(cat "$tmp/actual"), not $*"
    done
    [ "$(calls "$tmp/filtered.qprof" used.called)" = 1 ] ||
        complain "$chosen: the profile lacks calls"
}
remain "-cover-exclude=sub" main.lua used.lua
remain "-cover-exclude=sub/*.lua,used.lua" main.lua
remain "-cover-include=**/*.lua -cover-exclude=**/part.lua" main.lua used.lua
remain "-cover-include=sub:m*.lua" main.lua sub/part.lua
remain "-cover-include=[tu]sed.lua" used.lua
remain "-cover-root=$PWD/sub" sub/part.lua

# Files that were never loaded: names as require gives them, all missed, broken ones reported.
record "-collect=coverage -cover-unloaded=yes" unloaded main.lua
cover unloaded '.files[] | .path as $path | .functions[] | [$path, .name, .line, .hits]' |
    grep -v '^main\|^used\|part.lua' | sort >"$tmp/actual"
cat >"$tmp/expected" <<'END'
alone.lua	main chunk of ./alone.lua	1	0
sub/deep/init.lua	main chunk of ./sub/deep/init.lua	1	0
sub/deep/init.lua	sub.deep.lonely	2	0
END
same "files that were never loaded"
cover unloaded '.files[] | select(.path | test("alone|deep")) | .path as $path | .lines[] |
    [$path, .line, .hits]' >"$tmp/actual"
printf 'alone.lua\t1\t0\n' >"$tmp/expected"
printf 'sub/deep/init.lua\t%d\t0\n' 1 2 3 4 6 7 8 >>"$tmp/expected"
same "lines that were never loaded"
echo "qlua: coverage: ./broken.lua is not covered: ./broken.lua:2: unexpected symbol near '='" \
    >"$tmp/expected"
cp "$tmp/unloaded.out" "$tmp/actual"
same "the message for a file that does not compile"
record "-collect=coverage -cover-unloaded=yes -cover-exclude=broken.lua:sub" unloaded main.lua
[ ! -s "$tmp/unloaded.out" ] || complain "an excluded file is reported as broken"
cover unloaded '.files[] | [.path]' | sort >"$tmp/actual"
printf '%s\n' alone.lua main.lua used.lua >"$tmp/expected"
same "unloaded files are filtered as well"
record "-collect=coverage -cover-root=/nowhere/else" nowhere main.lua
echo "qlua: coverage: /nowhere/else is not covered: -cover-root has to be a folder;" \
    "nothing is covered" >"$tmp/expected"
cp "$tmp/nowhere.out" "$tmp/actual"
same "a root that does not exist"

# A hostile name stays one line.
mkdir "$tmp/hostile"
cd "$tmp/hostile"
: >main.lua
echo '= 1' >"$(printf 'a\nb\033[31m.lua')"
record "-collect=coverage -cover-unloaded=yes" hostile main.lua
[ "$(wc -l <"$tmp/hostile.out")" = 1 ] || complain "a hostile name makes several lines"
[ -z "$(tr -d '[:print:]\n' <"$tmp/hostile.out")" ] || complain "a hostile name gets through"
[ "$(cover hostile '.files[] | [.path]')" = main.lua ] || complain "the rest is not reported"
finish
