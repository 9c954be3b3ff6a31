#!/bin/sh
# test_trace_xbase.sh [BUILD]: traces of the Xbase++ kind that qlua makes: both ends of calls, lines,
# values, threads; tables that three other programs read alike; packets. Numbers are those of the
# checklist of the specification of traces.
. "$(dirname "$0")/lib.sh"
for tool in dbfdump pgdbf perl python3; do
    command -v $tool >/dev/null || { echo "$tool is not installed; tests/run.sh installs it"; exit 77; }
done
perl -MXBase -e1 2>/dev/null || { echo "libdbd-xbase-perl is not installed"; exit 77; }

cd "$tmp"
cat >calls.lua <<'END'
local work; collectgarbage("stop")
local function leaf(a, b)
  return a, "x\"y\n" .. b
end
local function fails()
  error("no")
end
function work(n)
  leaf(n, "z")
  pcall(fails)
  if n > 1 then
    work(n - 1)
  end
  return n
end
local function main()
  string.len("abc")
  local n = work(2)
end
main()
END

# trace NAME KEY=VALUE...: NAME.PRF of calls.lua; without times, which differ from run to run
trace() {
    name=$1
    shift
    printf '%s\r\n' TIMELINE=0 "$@" >"$name.pri"
    QPROF="-output=$name.qprof -trace=$name.PRF -pri=$name.pri" "$bin/qlua" calls.lua ||
        complain "$name: exit $?"
}

# columns FILE: delimited text, from main's entry to its return, one record a line; -: an empty value
columns() {
    python3 - "$1" <<'END'
import csv, sys
inside = False
for row in csv.reader(open(sys.argv[1], newline="")):
    inside = inside or (row[2] == "main" and row[1] == "I")
    if inside: print(*(value or "-" for value in row[1:]))
    if row[1:3] == ["O", "main"]: break
END
}

# expect FILE WHAT: it is the text on standard input
expect() {
    diff - "$1" >differences || { cat differences; complain "$2"; }
}

# ---- what is recorded: worked out by hand from calls.lua --------------------------------------------

# 2, 8: each call gives one I and one O; those that an error ends have no O.
trace filtered HUMANREADABLE=1
columns filtered.PRF >got
expect got "filtered" <<'END'
I main 16
I string.len 0
O string.len 0
I work 8
I leaf 2
O leaf 3
I pcall 0
I fails 5
I error 0
O pcall 0
I work 8
I leaf 2
O leaf 3
I pcall 0
I fails 5
I error 0
O pcall 0
O work 14
O work 14
O main 19
END

# 4, 9, 34: both ends, the line of the call with i and o, values once
trace whole HUMANREADABLE=1 OPERATIONMODE=4105 PARAMLIST=1 EXCLUDESYMBOL=pcall,fails,error
columns whole.PRF >got
expect got "unfiltered, with values" <<'END'
I main 16 -
i string.len 17 "abc"
I string.len 0 -
O string.len 0 3
o string.len 17 -
i work 18 2
I work 8 -
i leaf 9 2, "z"
I leaf 2 -
O leaf 3 2, "x"y z"
o leaf 9 -
i work 12 1
I work 8 -
i leaf 9 1, "z"
I leaf 2 -
O leaf 3 1, "x"y z"
o leaf 9 -
O work 14 1
o work 12 -
O work 14 2
o work 18 -
O main 19 -
END

# 12: what an excluded one calls is there
trace without HUMANREADABLE=1 LINENUMBERS=0 EXCLUDESYMBOL="work pcall leaf"
columns without.PRF >got
expect got "excluded symbols" <<'END'
I main
I string.len
O string.len
I fails
I error
I fails
I error
O main
END

# 1: off
trace off OPERATIONMODE=0
cp off.PRF off.dbf
[ "$(dbfdump off.dbf | wc -l)" -eq 1 ] || complain "OPERATIONMODE=0 writes entries"

# 7: a coroutine is a thread
cat >threads.lua <<'END'
local co = coroutine.wrap(function() local function inner() coroutine.yield() end inner() end)
co() co()
END
printf 'HUMANREADABLE=1\nTIMELINE=0\n' >threads.pri
QPROF="-output=t.qprof -trace=threads.PRF -pri=threads.pri" "$bin/qlua" threads.lua
co=$(sed -n 's/^\([0-9]*\),"I","inner",1\r$/\1/p' threads.PRF)
[ "$co" != 1 ] && grep -q "^$co,\"O\",\"inner\",1" threads.PRF ||
    complain "a coroutine is no thread of its own"
echo "EXCLUDETHREAD=$co" >>threads.pri
QPROF="-output=t.qprof -trace=threads.PRF -pri=threads.pri" "$bin/qlua" threads.lua
grep -q "^$co," threads.PRF && complain "an excluded thread is there"

# no_addresses: those of two runs differ
no_addresses() {
    sed 's/0x[0-9a-f]*/0x/g'
}

# ---- tables in other programs ---------------------------------------------------------------------

# 13, 14, 15, 33: shapelib, pgdbf and Perl's XBase give the values of the delimited text
mode="OPERATIONMODE=4105 PARAMLIST=1 EXCLUDESYMBOL=pcall,fails,error,package.__gc,file:__gc"
# shellcheck disable=SC2086  # words
trace text HUMANREADABLE=1 $mode
# shellcheck disable=SC2086
trace table $mode
python3 -c '
import csv
for row in csv.reader(open("text.PRF", newline="")): print("|".join(row).rstrip())' | no_addresses >values
cp table.PRF table.dbf
cp table.PRV table.fpt
perl -MXBase -e '
    my $t = XBase->new(name => "table.dbf", memofile => "table.fpt") or die XBase->errstr;
    for (0 .. $t->last_record) {
        my ($deleted, @f) = $t->get_record($_);
        $f[4] = "" unless defined $f[4];
        $f[4] =~ s/\n/ /g;
        (my $line = join "|", @f) =~ s/\s+$//;
        print "$line\n" }' | no_addresses >perl.txt
expect perl.txt "Perl's XBase" <values
pgdbf -m table.PRV table.PRF | sed -n '/^.COPY/,/^..$/p' | sed '1d;$d;s/\\n/ /g;s/\t/|/g;s/ *$//' |
    no_addresses >pgdbf.txt
expect pgdbf.txt "pgdbf" <values
trace plain OPERATIONMODE=4105 EXCLUDESYMBOL=pcall,fails,error,package.__gc,file:__gc
cp plain.PRF plain.dbf
dbfdump plain.dbf | sed 1d | sed -E 's/^ *([0-9]+) +(.) +(.*[^ ]) +([0-9]+) *$/\1|\2|\3|\4/' >shapelib.txt
cut -d'|' -f1-4 values | expect shapelib.txt "shapelib"

# ---- packets ----------------------------------------------------------------------------------------

# 17, 18, 22, 24: pieces of ten, the last one shorter; joined they are the file of one run
for text in 0 1; do
    trace one HUMANREADABLE=$text OPERATIONMODE=1025
    trace cut HUMANREADABLE=$text OPERATIONMODE=2049 OUTFLUSHEVERY=10
    cat cut.PRF cut.PRF.?????? >joined.PRF
    [ "$text" = 1 ] || printf '\032' >>joined.PRF
    cmp joined.PRF one.PRF || complain "joined packets are not the file of one run"
done
n=$(wc -l <one.PRF)
[ "$(wc -l <cut.PRF.000001)" -eq 10 ] || complain "a packet has not ten records"
last=$(printf 'cut.PRF.%06d' $(((n + 9) / 10)))
[ "$(wc -l <"$last")" -eq $(((n - 1) % 10 + 1)) ] || complain "the last packet lacks the rest"
finish
