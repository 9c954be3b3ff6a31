#!/bin/sh
# test_cover_lua.sh: what a user of qlua sees: branches, contexts, sources that change or are gone,
# files that were never loaded.
. "$(dirname "$0")/lib.sh"
[ -x "$bin/qlua" ] || { echo "qlua is not built"; exit 77; }

mkdir src
cat >src/calc.lua <<'END'
local M = {}

function M.sign(x)
    if x < 0 then
        return -1
    elseif x > 0 then
        return 1
    end
    return 0
end

function M.never()
    return "unused"
end

return M
END
cat >main.lua <<'END'
package.path = "src/?.lua;" .. package.path
local calc = require "calc"
calc.sign(1)
calc.sign(0)
END
# sign is called with 1 and 0: line 4 twice, 5 never, 6 twice, 7 and 9 once. A closure is made on
# the last line of its function and stored on the first.
#
#   line     1  3  4  5  6  7  9  10  12  13  14  16
#   count    1  1  2  0  2  1  1   1   1   0   1   1     10 of 12 lines (83.3 %), 2 of 3 functions
#
# Line 4 continues at 5 (never) or 6, line 6 at 7 or 9: 3 of 4 branches.
claim "run" ends 0 qprof run -o run.qprof -collect=coverage -- qlua main.lua
claim "says how much was hit" grep -Eq '^  functions +75.0 %, 3 of 4 were hit$' err
claim "and what to type next" grep -q '^Next: qprof cover report --uncovered run.qprof$' err
claim "report" ends 0 qprof cover report run.qprof
claim "the file" grep -Eq '^  calc.lua +2/3 +66.6 +10/12 +2 +83.3 +3/4 +75.0$' out
claim "nothing is to be remarked" same '' "$(cat err)"
claim "counts" same '1:1 3:1 4:2 5:0 6:2 7:1 9:1 10:1 12:1 13:0 14:1 16:1' \
    "$(qprof cover report --format=json run.qprof |
    jq -r '[.files[] | select(.path == "src/calc.lua") | .lines[] | "\(.line):\(.hits)"] | join(" ")')"
claim "branches" same '4:0:0 4:0:2 6:0:1 6:0:1' "$(qprof cover report --format=json run.qprof |
    jq -r '[.files[] | select(.path == "src/calc.lua") | .branches[] | "\(.line):\(.block):\(.hits)"] | sort | join(" ")')"
claim "what was missed" same '    5, 13, 4->5' "$(qprof cover report --uncovered run.qprof | grep -A1 '^  src/calc' | tail -1)"
qprof cover export --to=purecov -o run.pcov run.qprof
claim "branches are not compared with an export that does not know them" same "0 of 2 files changed; 87.5 % of all lines became 87.5 %
branches were not compared: only one of the profiles has them" "$(qprof cover diff run.pcov run.qprof)"
qprof cover export --to=luacov -o luacov.stats.out run.qprof
claim "nor are functions with the statistics of luacov" same "0 of 2 files changed; 87.5 % of all lines became 87.5 %
branches were not compared: only one of the profiles has them
functions were not compared: only one of the profiles has them" "$(qprof cover diff luacov.stats.out run.qprof)"
claim "... and its calls are not known" same "executed, 10 of 12 lines hit (83.3 %)" \
    "$(qprof cover annotate calc.lua luacov.stats.out | sed -n 's/^\* *calc.lua: //p')"
claim "enough branches" ends 0 qprof cover report --include='src/**' --fail-under-branches=75 run.qprof
claim "not enough" ends 1 qprof cover report --include='src/**' --fail-under-branches=80 run.qprof
claim "by how much" grep -q 'branches: 75.00 % of 4 branches were hit, 5.00 below 80' err
claim "annotate" ends 0 qprof cover annotate calc.lua run.qprof
claim "the way that was never taken" \
    same '    ^ line 4 never continues at line 5' "$(grep -A1 '  4      if x' out | tail -1 | sed 's/^  *    ^/    ^/')"
claim "a missed line" grep -Eq '^# +0 +5          return -1$' out
claim "a function that was never called" grep -Eq '^\* +calc.never: never called, 0 of 1 line hit \(0.0 %\)$' out
claim "as notes" same 'src/calc.lua:5: line 5 was never executed
src/calc.lua:13: line 13 was never executed
src/calc.lua:4: line 4 never continues at line 5' "$(echo 'lines 1' >coverage.thresholds &&
    qprof cover check --annotations=plain --include='src/**' run.qprof)"

# ---- triggers 42: of line 2 one of two values was made; the closure on line 3 and the call were, too --
cat >part.lua <<'END'
local function f(x)
    return x and "yes" or "no"
end
f(true)
END
lines() { qprof cover report "$@" | awk '/part.lua  +[0-9]/ { print $4, $5, $6 }'; }
claim "a line in part" ends 0 qprof run -o part.qprof -collect=coverage -- qlua part.lua
claim "is executed" same '3/3 0 100.0' "$(lines part.qprof)"
claim "or not, as is asked" same '2/3 1 66.6' "$(lines --mark-partial-lines=not-executed part.qprof)"
claim "or as the run says" ends 0 qprof run -o missed.qprof -collect=coverage -mark-partial-lines=not-executed -- qlua part.lua
claim "which is missed" same '2/3 1 66.6' "$(lines missed.qprof)"
claim "unless asked otherwise" same '3/3 0 100.0' "$(lines --mark-partial-lines=executed missed.qprof)"

# ---- areas of routines ---------------------------------------------------------------------------
# triggers 8.3: all lines of sign, which was called twice; none of never. The main chunk is in no area.
echo 'area quiet include routines : calc.sign calc.never' >quiet.conf
claim "an area of routines" ends 0 qprof run -o quiet.qprof --config=quiet.conf -collect=coverage -- qlua main.lua
claim "all lines of a function that was called, else none" same '4:2 5:2 6:2 7:2 9:2 13:0' \
    "$(qprof cover report --format=json quiet.qprof |
    jq -r '[.files[].lines[] | "\(.line):\(.hits)"] | join(" ")')"
claim "in the figures" ends 0 qprof cover report --functions quiet.qprof
claim "of the function" grep -Eq '^ +calc.sign:3 +2 +1/1 +100.0 +5/5 +0 +100.0$' out
claim "which are reported as not counted" grep -q 'lines are not counted in areas of routines (2 functions)' err

# ---- versions ------------------------------------------------------------------------------------
cp src/calc.lua kept
sed -i 's/"unused"/"Unused"/' src/calc.lua
qprof run -o other.qprof -collect=coverage -- qlua main.lua >/dev/null 2>&1
claim "a source that has changed" ends 0 qprof cover annotate calc.lua run.qprof
claim "is reported" grep -q 'calc.lua.*changed since it was recorded' err
claim "its counts are listed" grep -Eq '^# +0 +5$' out
claim "two versions do not add up" says 'calc.lua.*other.qprof.*run.qprof.*--force-merge' qprof cover report run.qprof other.qprof
claim "unless one insists" ends 0 qprof cover report --force-merge run.qprof other.qprof
mv kept src/calc.lua
rm main.lua
printf 'local function f(n)\n    for i = 1, n do print(i) end\nend\n' >uncalled.lua
QPROF="-output=uncalled.qprof -collect=coverage" qlua uncalled.lua
claim "several blocks that never ran are a line that never ran" sh -c \
    'qprof cover annotate uncalled.qprof | grep -Eq "^# +0 +2  "'
echo 'local n = 0 while true do n = n + 1 end' >endless.lua
QPROF="-output=killed.qprof -collect=coverage" qlua endless.lua &
endless=$!
for tenth in $(seq 100); do # at most 10 s, on a busy machine
    sleep 0.1
    qprof cover summary $endless >/dev/null 2>&1 && break
done
kill -9 $endless
wait $endless 2>/dev/null
claim "for a killed program the place of its profile is shown" \
    says "killed.qprof: .*no such file .most recent crashed run: .*runtime/qprof-[0-9]+/$endless\." \
    qprof cover report killed.qprof
claim "which can be read" sh -c \
    "qprof cover report $endless 2>&1 | grep -Eq '^endless.lua +1/1'"
claim "a source that is gone" ends 0 qprof cover annotate run.qprof
claim "is reported" grep -q 'main.lua: .*lines are listed without text' err
claim "the rest is whole" grep -Eq '^\| +2 +6      elseif' out
QPROF="-output=samples.qprof -collect=samples" qlua -e 'local t = os.clock() while os.clock() - t < 0.2 do end'
claim "samples are not counts" says 'samples.qprof: recorded with -collect=samples, without counts' \
    qprof cover report samples.qprof
finish
