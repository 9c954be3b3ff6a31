#!/bin/sh
# test_journey.sh: the way of docs/tutorial.md with an installed qprof: record a program that others wrote, find out why it
# is slow, mend it, compare, gate, share, attach. The figures are those that the tutorial explains.
set -u
for tool in jq luacheck; do
    command -v $tool >/dev/null || { echo "$tool is not installed; tests/run.sh installs it"; exit 77; }
done
. "$QPROF_SOURCE/tests/claims.sh"
rm -rf journey
mkdir journey
cd journey || exit 1
cmake --install "$QPROF_BUILD" --prefix "$PWD/prefix" >/dev/null || exit 1
[ -x prefix/bin/qlua ] || { echo "qlua is not built"; exit 77; }
export PATH="$PWD/prefix/bin:$PATH" LD_LIBRARY_PATH="$PWD/prefix/lib"
unset QPROF LUA_PATH LUA_INIT

awk '/^```sh$/ { is_block = 1; next } /^```$/ { is_block = 0 } is_block' "$QPROF_SOURCE/docs/tutorial.md" >all.sh
claim "every command of the tutorial works" ends 0 sh -e all.sh

# calls FUNCTION PROFILE
calls() { qprof report --limit=0 --format=json "$2" | jq --arg name "$1" '[.methods[] | select(.name == $name).calls] | add // 0'; }
# Of the 1,000 functions the first is followed by 999 others, the second by 998, ...: with themselves 1,000 x 1,001 / 2 pairs; each
# walk also visits the three items of the return and the end.
claim "pairs of functions, and ends" same $((1000 * 1001 / 2 + 4 * 1000)) "$(calls closure_creation_propagation_callback before.qprof)"
claim "the mended program has no walk" same 0 "$(calls closure_creation_propagation_callback after.qprof)"
claim "the function that led the walks is called as before" same '1001 1001' \
    "$(calls propagate_closure_creations before.qprof) $(calls propagate_closure_creations after.qprof)"
# Lines 200 and 201 of luacheck 1.1.0.
line=$(awk '/function closure_creation_propagation_callback/ { f = 1 } f && / add_resolutions\(/ { print NR; exit }' luacheck/stages/resolve_locals.lua)
claim "what the function is for was never executed" same '0 0' "$(qprof annotate --format=json closure_creation_propagation_callback \
    before.qprof | jq --argjson line "$line" -r '[.files[].lines[] | select(.line == $line or .line == $line + 1).count] | join(" ")')"
qprof diff --fail-if-more=calls:2% after.qprof before.qprof >gate.txt 2>gate.err
claim "the gate fails without the condition" same 1 $?
claim "... and names seven functions" same 7 "$(grep -c '^qprof diff: more: calls of ' gate.err)"
claim "with it the gate passes" ends 0 qprof diff --fail-if-more=calls:2% after.qprof again.qprof
claim "the page has the source" grep -q 'closure_creation_propagation_callback' luacheck.html
claim "the process was sampled" jq -e '.run.samples > 0' <<END
$(qprof report --format=json attached.qprof)
END
finish
