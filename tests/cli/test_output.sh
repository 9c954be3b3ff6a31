#!/bin/sh
# test_output.sh: what -o names: inputs, sources and files of another kind are never lost; "-" is
# standard output.
. "$(dirname "$0")/lib.sh"

seq 30 | sed 's/^/text of /' >score.src
for name in a b; do
    QPROF="-output=$name.qprof -cover=hits" ./score 'main(' '#0*1' 3 ')'
done
ln a.qprof hard.qprof
ln -s a.qprof soft.qprof
ln score.src hard.src
echo 'notes' >notes.txt
echo '-- purecov: tested' >marked.lua
qprof cover adjust -o marks.adjust marked.lua >out 2>err
mkdir kept
cp a.qprof b.qprof score.src notes.txt marked.lua marks.adjust kept

# stays WHY COMMAND...: refused with these words, and nothing was changed
stays() {
    stays_why=$1
    shift
    says "$stays_why" "$@" && for file in kept/*; do
        cmp -s "$file" "${file#kept/}" || return 1
    done
}

hits() { qprof cover export --to=lcov "$1" | sed -n 's/^FNDA:\([0-9]*\),main$/\1/p'; }

for writes in 'cover export --to=lcov' 'cover export --to=html' 'export --to=html' \
    'export --to=folded' html 'cover adjust'; do
    claim "$writes: an input stays" stays 'a.qprof: is an input' qprof $writes -o a.qprof a.qprof
    claim "$writes: by another name" stays 'hard.qprof: is an input' qprof $writes -o hard.qprof a.qprof
    claim "$writes: through a link" stays 'a.qprof: is an input' qprof $writes -o a.qprof soft.qprof
    claim "$writes: a source stays" stays 'score.src: is a source' qprof $writes -o score.src a.qprof
    claim "$writes: by another name" stays 'hard.src: is a source' qprof $writes -o hard.src a.qprof
    claim "$writes: another profile stays" \
        stays 'b.qprof: is a profile, which would be lost' qprof $writes -o b.qprof a.qprof
done
for merges in merge 'cover merge' 'cover merge --layered'; do
    claim "$merges: an input stays" stays 'a.qprof: is an input' qprof $merges --force -o a.qprof b.qprof a.qprof
    claim "$merges: by another name" stays 'hard.qprof: is an input' qprof $merges --force -o hard.qprof b.qprof a.qprof
    claim "$merges: what is not a profile stays" \
        stays 'notes.txt: is not a profile and would be lost' qprof $merges -o notes.txt a.qprof b.qprof
    claim "$merges: no profile goes to standard output" \
        stays 'a profile cannot be written to standard output' qprof $merges -o - a.qprof b.qprof
    claim "$merges: a sum is made" ends 0 qprof $merges -o sum.qprof a.qprof b.qprof
    claim "$merges: and stays" says 'sum.qprof: exists \(--force replaces it\)' qprof $merges -o sum.qprof a.qprof
    claim "$merges: as it is" same 2 "$(hits sum.qprof)"
    claim "$merges: but for --force" ends 0 qprof $merges --force -o sum.qprof a.qprof
    claim "$merges: which replaces it" same 1 "$(hits sum.qprof)"
    rm sum.qprof
done
for writes in 'cover export --to=lcov' 'export --to=folded'; do
    claim "$writes: another file stays" stays 'notes.txt: exists \(--force replaces it\)' qprof $writes -o notes.txt a.qprof
    claim "$writes: an empty one does not" sh -c ": >empty && qprof $writes -o empty a.qprof && test -s empty && rm empty"
    for name in - /dev/stdout /dev/fd/1; do
        claim "$writes -o $name: standard output" same "$(qprof $writes a.qprof)" "$(qprof $writes -o $name a.qprof)"
    done
    mkfifo fifo
    cat fifo >piped &
    claim "$writes: to a pipe" ends 0 qprof $writes -o fifo a.qprof
    wait $!
    claim "$writes: all of it" same "$(qprof $writes a.qprof)" "$(cat piped)"
    rm fifo
    claim "$writes: to a device" ends 0 qprof $writes -o /dev/null a.qprof
    claim "$writes: that is full" says '/dev/full: No space left on device' qprof $writes -o /dev/full a.qprof
done
claim "an export is replaced if one insists" sh -c \
    'echo old >old.folded && qprof export --to=folded --force -o old.folded a.qprof && grep -q main old.folded'
claim "a source that is an operand stays" stays 'marked.lua: is an input' \
    qprof cover adjust -o marked.lua marked.lua
claim "adjustments that are heeded stay" stays 'marks.adjust: is an input' \
    qprof cover export --to=lcov --adjustments=marks.adjust -o marks.adjust a.qprof
claim "the second of two pages stays" stays 'b.qprof: is a profile' \
    qprof html -o b.qprof a.qprof b.qprof

mkdir sources
mv score.src sources
claim "a source that --source-path finds stays" says 'sources/score.src: is a source' \
    qprof cover export --to=html --source-path=sources -o sources/score.src a.qprof
claim "as it is" cmp -s sources/score.src kept/score.src
mv sources/score.src .

claim "an export may be made anew" ends 0 qprof cover export --to=lcov -o a.info a.qprof
claim "and anew" ends 0 qprof cover export --to=json --force -o a.info a.qprof
claim "- is standard output" ends 0 qprof cover export --to=json -o - a.qprof
claim "whole" cmp -s out a.info
claim "also of profiles" ends 0 qprof export --to=folded -o - a.qprof
claim "and of adjustments, without the table" same "$(cat marks.adjust)" \
    "$(qprof cover adjust -o - marked.lua 2>err)"
claim "nothing has that name" test ! -e -
claim "nothing else is left" same '' "$(find . -name '*.tmp')"
finish
