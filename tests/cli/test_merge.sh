#!/bin/sh
# test_merge.sh: `qprof merge`: what it says, what it refuses, how much memory it takes.
. "$(dirname "$0")/lib.sh"

# figures FILE: calls, own ns and ns with callees of each function, by name
figures() {
    qprof report --format=json "$1" |
        jq -r '.methods | sort_by(.name) | .[] | "\(.name) \(.calls) \(.self) \(.total)"'
}

# two runs: main 5 us and f 3 us; main 1 us, f 2 + 4 us, and g only here
record a.qprof 'main(' 5 'f(' 3 ')' ')'
record b.qprof 'main(' 1 'f(' 2 ')' 'f(' 4 ')' 'g(' 7 ')' ')'

merging_says_what_it_made() {
    ends 0 qprof merge -o sum.qprof a.qprof b.qprof &&
        same "sum.qprof: 2 profiles with 6 calls on 1 thread" "$(cat out)" &&
        same "" "$(cat err)"
}
claim "the result is one line" merging_says_what_it_made

figures_add() {
    same "f 3 9000 9000
g 1 7000 7000
main 2 6000 22000" "$(figures sum.qprof)"
}
claim "calls and times add" figures_add
claim "the sum passes all checks" qprof check sum.qprof

extremes_combine() {
    same "2000 4000" "$(qprof report --format=json sum.qprof |
        jq -r '.methods[] | select(.name == "f") | "\(.min) \(.max)"')"
}
claim "the minimum and the maximum are those of all runs" extremes_combine

origins_are_told() {
    qprof info sum.qprof >out
    same 2 "$(grep -c 'message *merged from [ab].qprof (score, process ' out)" &&
        grep -q '^score, several runs' out
}
claim "info names the runs" origins_are_told

order_does_not_matter() {
    qprof merge -o back.qprof b.qprof a.qprof >out && same "$(figures sum.qprof)" "$(figures back.qprof)" &&
        qprof merge -o again.qprof a.qprof b.qprof >out && cmp sum.qprof again.qprof
}
claim "the order makes no difference, and equal merges make equal bytes" order_does_not_matter

a_sum_merges_again() {
    record c.qprof 'main(' 1 ')' && qprof merge -o three.qprof sum.qprof c.qprof >out &&
        qprof merge -o direct.qprof a.qprof b.qprof c.qprof >out &&
        same "$(figures direct.qprof)" "$(figures three.qprof)" &&
        same 3 "$(qprof info three.qprof | grep -c 'merged from')"
}
claim "a sum can be merged again" a_sum_merges_again

# ---- usage and refusals ---------------------------------------------------------------------------

claim "the output must be named" says '^qprof merge: missing -o FILE; usage: ' qprof merge a.qprof
claim "profiles must be named" says 'missing profiles' qprof merge -o x.qprof
claim "a missing profile is named" says 'none.qprof: no such file' \
    qprof merge -o x.qprof a.qprof none.qprof
mkdir folder && ln -s elsewhere link
claim "a folder in the way is refused" says 'folder: is a directory' \
    qprof merge -o folder a.qprof
claim "a link in the way is refused" says 'link: is a symbolic link' qprof merge -o link a.qprof
QPROF="-output=sampled.qprof -time=none" ./score 'main(' 1 ')'
claim "times of another kind are refused" \
    says 'sampled.qprof: its times are none, but exact in a.qprof' \
    qprof merge -o x.qprof a.qprof sampled.qprof
nothing_is_left() {
    same "" "$(find . -name 'x.qprof*' -o -name '*.tmp')" && [ -s a.qprof ]
}
claim "a refused merge leaves no file" nothing_is_left

a_damaged_one_is_added() {
    head -c $(($(wc -c <b.qprof) - 64)) b.qprof >cut.qprof
    ends 1 qprof merge -o cut-sum.qprof a.qprof cut.qprof &&
        grep -q 'cut.qprof: damaged; the readable part is in the sum' err &&
        qprof check cut-sum.qprof
}
claim "what can be saved of a damaged profile is added" a_damaged_one_is_added

a_hostile_name_is_harmless() {
    name=$(printf 'a\033[31m\nb.qprof')
    cp a.qprof "$name" && qprof merge -o hostile.qprof "$name" >out && qprof info hostile.qprof >>out &&
        same 0 "$(grep -c "$(printf '\033')" out)" && grep -q 'merged from a\\x1B' out
}
claim "a file name with control characters is shown escaped" a_hostile_name_is_harmless

# a trigger acts twice in the first of three runs
marks_are_told() {
    printf 'initial-status off\ntrigger here on : f\n' >marks.conf
    QPROF="-output=marked.qprof -config=marks.conf" ./score 'main(' 'f(' 1 ')' 'f(' 1 ')' ')' &&
        same 2 "$(qprof info --format=json marked.qprof | jq '.marks | length')" &&
        qprof merge -o once.qprof marked.qprof a.qprof >out &&
        qprof merge -o twice.qprof once.qprof b.qprof >out &&
        same 1 "$(qprof info twice.qprof | grep -c 'message *not in the sum: 2 marks of marked.qprof')"
}
claim "marks are in no sum, and it says so" marks_are_told

an_unsealed_run_is_added() {
    qprof run -o killed.qprof -- ./score 'main(' 5 'f(' 3 ')' kill >/dev/null 2>&1
    ends 0 qprof merge -o with-killed.qprof a.qprof killed.qprof &&
        qprof check with-killed.qprof && same "f 2 6000 6000" "$(figures with-killed.qprof | head -1)"
}
claim "the profile of a killed run can be added" an_unsealed_run_is_added

# says_incomplete FILE TEXT...: the head of each report of it has these lines, and so has its page
says_incomplete() {
    file=$1
    shift
    qprof html "$file" -o page.html >/dev/null
    for text; do
        for command in report tree info; do
            qprof $command "$file" | grep -q "^  incomplete *$text; qprof info lists them$" || {
                echo "$command $file lacks: $text"
                return 1
            }
        done
        grep -q "\"losses\":\[[^]]*\"$text\"" page.html || {
            echo "the page of $file lacks: $text"
            return 1
        }
    done
}

a_sum_says_which_runs_are_not_whole() {
    killed="1 of 2 runs was killed: figures go up to the last event of each thread"
    damaged="1 of the merged files was damaged: what could be read is in the sum"
    qprof merge --force -o with-killed.qprof a.qprof killed.qprof >out && same "  $killed" "$(sed 1d out)" &&
        says_incomplete with-killed.qprof "$killed" && says_incomplete cut-sum.qprof "$damaged" &&
        qprof merge -o sums.qprof with-killed.qprof cut-sum.qprof >out &&
        same "  1 of 4 runs was killed: figures go up to the last event of each thread
  $damaged" "$(sed 1d out)" &&
        says_incomplete sums.qprof "1 of 4 runs was killed: figures go up to the last event of each thread" "$damaged" &&
        same "" "$(qprof report sum.qprof | grep incomplete)"
}
claim "a sum and all reports of it say which of its runs are not whole, also if it is added to another" \
    a_sum_says_which_runs_are_not_whole

# ---- many -----------------------------------------------------------------------------------------

# Loaded all at once they would not fit the address space that is allowed.
many_take_the_memory_of_few() {
    mkdir many
    i=0
    while [ $i -lt 1000 ]; do
        cp b.qprof "many/$i.qprof"
        i=$((i + 1))
    done
    (ulimit -v 49152 && qprof merge -o many.qprof many/*.qprof >out) &&
        same "f 2000 6000000 6000000" "$(figures many.qprof | head -1)"
}
claim "1,000 profiles take 48 MiB" many_take_the_memory_of_few
finish
