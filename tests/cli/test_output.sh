#!/bin/sh
# test_output.sh: what -o names: inputs and sources are never lost, other files that exist only with
# --force; "-" is standard output.
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
        stays 'b.qprof: is a profile \(--force replaces it\)' qprof $writes -o b.qprof a.qprof
    claim "$writes --force: an input stays" stays 'a.qprof: is an input' qprof $writes --force -o a.qprof a.qprof
    claim "$writes --force: a source stays" stays 'score.src: is a source' qprof $writes --force -o score.src a.qprof
done
for merges in merge 'cover merge' 'cover merge --layered'; do
    claim "$merges: an input stays" stays 'a.qprof: is an input' qprof $merges --force -o a.qprof b.qprof a.qprof
    claim "$merges: by another name" stays 'hard.qprof: is an input' qprof $merges --force -o hard.qprof b.qprof a.qprof
    claim "$merges: what is not a profile stays" \
        stays 'notes.txt: is not a profile \(--force replaces it\)' qprof $merges -o notes.txt a.qprof b.qprof
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
    claim "$writes: a text stays" stays 'notes.txt: exists \(--force replaces it\)' qprof $writes -o notes.txt a.qprof
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
# ---- all that write a file: what exists stays, but for --force ---------------------------------------
QPROF='-output=t.qprof -trace-output=t.qtrace' ./score 'main(' '#0*1' 3 ')'
qprof trace convert -o t.PRF t.qtrace >/dev/null
cp t.qprof t.qtrace t.PRF kept
while IFS='|' read -r writes ending input; do
    for old in notes.txt b.qprof; do
        cp $old "old$ending"
        cp "old$ending" kept
        claim "$writes -o $old: stays" stays "old$ending: (exists|is .*) \(--force replaces it\)" \
            qprof $writes -o "old$ending" $input
        rm "kept/old$ending"
        claim "$writes -o $old: but for --force" ends 0 qprof $writes --force -o "old$ending" $input
        claim "$writes -o $old: which replaces it" sh -c "test -s old$ending && ! cmp -s $old old$ending"
        rm -f "old$ending" old.PRV
    done
    claim "$writes --force: the trace stays" stays 'is an input' qprof $writes --force -o "${input%% *}" $input
done <<END
export --to=speedscope|.json|t.qprof
cover export --to=json|.json|a.qprof
cover adjust|.adjust|marked.lua
merge|.qprof|t.qprof
cover merge|.qprof|a.qprof
html|.html|t.qprof
trace profile|.qprof|t.qtrace
trace export --to=chrome|.json|t.qtrace
trace convert|.csv|t.qtrace
trace convert --to=qtrace|.qtrace|t.qtrace
trace convert|.PRF|t.qtrace
trace rebuild|.PRF|t.PRF
END
claim "the second operand of a trace is an input" stays 't.qprof: is an input' \
    qprof trace profile --force -o t.qprof t.qtrace t.qprof
claim "so is the trace of a page" stays 't.qtrace: is an input' \
    qprof html --force --trace=t.qtrace -o t.qtrace t.qprof
echo mine >new.PRV
cp new.PRV kept
for writes in 'convert' 'rebuild'; do
    claim "trace $writes: parameters beside a table stay" stays 'new.PRV: exists \(--force replaces it\)' \
        qprof trace $writes -o new.PRF t.PRF
    claim "trace $writes: and there is no table" test ! -e new.PRF
done
qprof html -o t.html t.qprof >/dev/null
claim "a page replaces an earlier one" ends 0 qprof html -o t.html b.qprof
claim "it is new" sh -c '! qprof html -o - t.qprof 2>/dev/null | cmp -s - t.html'
claim "also that of an export" sh -c \
    'qprof export --to=html -o e.html t.qprof && qprof html -o e.html b.qprof && cmp e.html t.html' >/dev/null 2>&1
echo '<!doctype html><p>mine' >mine.html
cp mine.html kept
printf 'see %s' "$(head -c 8 b.qprof)" >mine.qprof
claim "a text with the mark of profiles is none" says 'mine.qprof: is not a profile' qprof merge -o mine.qprof a.qprof b.qprof
claim "but not a foreign one" stays 'mine.html: is another kind of file \(--force replaces it\)' \
    qprof html -o mine.html t.qprof
cp notes.txt run.qprof
claim "run does not sample into a text, and has no --force" \
    says 'run.qprof: is not a profile \(name another file, or remove it\)' \
    sh -c 'QPROF=-output=live.qprof ./score "main(" wait & pid=$!; sleep 0.3
           qprof run --pid $pid --for=100ms -o run.qprof; end=$?; kill $pid; exit $end'

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
if command -v prlimit >/dev/null; then
    for writes in merge 'cover merge' 'cover export --to=html' 'cover export --to=lcov' 'export --to=json' html; do
        claim "$writes: a limit of file sizes is an error" says 'short: File too large' \
            prlimit --fsize=80 qprof $writes -o short a.qprof
        claim "$writes: nothing has the name" test ! -e short
    done
fi
claim "nothing else is left" same '' "$(find . -name '*.tmp')"
finish
