#!/bin/sh
# test_ci.sh: the commands of each recipe in docs/ci.md work in a clone of a repository, as GitHub and GitLab run them.
set -u
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
for tool in git jq bash; do
    command -v $tool >/dev/null || { echo "$tool is not installed; tests/run.sh installs it"; exit 77; }
done
unset QPROF
mistakes=0
rm -rf ci
mkdir -p ci/tools
cd ci || exit 1
PATH=$PWD/tools:$QPROF_BIN:$PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Test GIT_AUTHOR_EMAIL=test@example.org \
    GIT_COMMITTER_NAME=Test GIT_COMMITTER_EMAIL=test@example.org

# Comments of pull requests are only kept. Only counts are compared, which have no noise: no verdict depends on the machine.
printf '#!/bin/sh\ncat comment.md >"%s/posted"\n' "$PWD" >tools/gh
chmod +x tools/gh
export QPROF=-time=none

mkdir -p project/tests
cat >project/tests/all.lua <<'END'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print(fib(10))
END
cp project/tests/all.lua project/tests/speed.lua
echo 'lines 50' >project/coverage.thresholds
git -C project init -q -b main && git -C project add . && git -C project commit -q -m first
git clone -q --bare project origin.git

# Write the commands of the k-th YAML block to recipe-k; "run: |" and "- |" begin several lines, ">-" joins them.
awk '
    /^```yaml$/ { n++; file = "recipe-" n; in_block = 1; is_script = 0; next }
    /^```/ { if (in_block) close(file); in_block = 0 }
    !in_block { next }
    {
        match($0, /^ */); indent = RLENGTH
        if (is_text && (indent > text_indent || $0 == "")) {
            sub(/^ +/, "")
            printf "%s%s", $0, is_folded ? " " : "\n" >file
            next
        }
        if (is_text && is_folded) print "" >file
        is_text = 0
        if ($0 ~ /^ *[a-z_]+:/) is_script = $0 ~ /^ *(after_)?script:$/
        command = ""
        if ($0 ~ /^ *- run: /) command = substr($0, index($0, "run: ") + 5)
        else if (is_script && $0 ~ /^ *- /) command = substr($0, indent + 3)
        if (command == "|" || command == ">-") { is_text = 1; is_folded = command == ">-"; text_indent = indent }
        else if (command != "") print command >file
    }' "$QPROF_SOURCE/docs/ci.md"

# A branch: a clone with one commit on top of main that adds a line to a file.
branch() {
    rm -rf base clone
    git clone -q origin.git clone
    git -C clone checkout -q -b mine
    echo "$2" >>"clone/$1"
    git -C clone commit -q -a -m second
}

# run RECIPE: in the clone
run() {
    (
        cd clone || exit 1
        export CI_DEFAULT_BRANCH=main CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main GITHUB_STEP_SUMMARY=../summary
        unset COMMENT_TOKEN
        bash -e "../$1"
    ) >"out-$1" 2>&1 </dev/null
}

count=0
for recipe in recipe-*; do
    count=$((count + 1))
    sed -i 's/\${{ github.base_ref }}/main/g; s/\${{ github.event.number }}/7/g; s/ --fail-if-slower=20//' "$recipe"
    grep -n '\${{' "$recipe" && mistakes=1
    branch tests/all.lua 'print(1)'
    run "$recipe" ||
        { echo "docs/ci.md, $recipe fails:"; cat "$recipe" "out-$recipe"; mistakes=1; }
done
[ $count = 4 ] || { echo "$count recipes, not 4"; mistakes=1; }
grep -q '^### qprof: pass: ' posted || { echo "GitHub: no comment with a verdict"; mistakes=1; }
cmp -s posted summary || { echo "GitHub: the summary is not the comment"; mistakes=1; }
grep -q '^### qprof: pass: ' out-recipe-2 || { echo "GitLab: no verdict"; mistakes=1; }

# One more call, which is 3 more of fib, and 100 tables more.
branch tests/speed.lua 'fib(2) local t = {} for i = 1, 100 do t[i] = {} end'
rm summary
run recipe-1 && { echo "GitHub: more calls and bytes pass"; mistakes=1; }
grep -q '^### qprof: fail: ' summary || { echo "GitHub: no verdict of the failure"; mistakes=1; }
grep -q '>fib<.* | calls | 177 | 180 | +1.7 % | 0 | fail |' summary || { echo "GitHub: not the calls of fib"; mistakes=1; }
grep -q 'main chunk of tests/speed.lua<.* | bytes | .* | 2 % | fail |' summary || { echo "GitHub: not the bytes"; mistakes=1; }

# A run that is killed: nothing was checked, and the comment says so instead of a verdict.
branch tests/speed.lua 'os.execute("kill -9 $PPID")'
sed 's/^qprof run -o here.*/& || :/' recipe-1 >recipe-killed
rm summary posted
run recipe-killed && { echo "GitHub: a killed run passes"; mistakes=1; }
grep -q 'nothing was checked: here-1.qprof was not completed: the program was killed' summary ||
    { echo "GitHub: the summary does not say why nothing was checked"; cat out-recipe-killed; mistakes=1; }
exit $mistakes
