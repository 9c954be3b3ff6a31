#!/bin/sh
# test_mistakes.sh: what the recorder prints about the variable QPROF, its options and profiles that are lost.
. "$(dirname "$0")/lib.sh"

# prints TEXT COMMAND...: standard error is these lines
prints() {
    wanted=$1
    shift
    "$@" >out 2>err
    same "$wanted" "$(cat err)"
}
names() {
    qprof report --format=json "$1" | jq -j '[.methods[].name] | sort[] + " "'
}
with() { # OPTIONS WORDS...
    options=$1
    shift
    QPROF=$options ./score "$@"
}

# ---- options ------------------------------------------------------------------------------------
claim "no mistake" prints '' with '-output=a.qprof -time=exact' 'f(' ')'
claim "a letter too few" prints 'qprof: unknown option -ouput in QPROF (similar: -output)' \
    with '-ouput=x -output=a.qprof' 'f(' ')'
claim "the run is recorded" same 'f ' "$(names a.qprof)"
claim "and has the line" grep -Fq 'unknown option -ouput in QPROF (similar: -output)' "$(qprof info a.qprof >out && echo out)"
claim "two letters exchanged" prints 'qprof: unknown option -clokc in QPROF (similar: -clock)' \
    with '-clokc=x -output=a.qprof' 'f(' ')'
claim "of four letters" prints 'qprof: unknown option -tmie in QPROF (similar: -time)' \
    with '-tmie=x -output=a.qprof' 'f(' ')'
claim "the beginning of a name" prints 'qprof: unknown option -collection in QPROF (similar: -collection-granularity)' \
    with '-collection=x -output=a.qprof' 'f(' ')'
claim "two mistakes" prints 'qprof: unknown option --tracemode2 in QPROF
qprof: unknown option -zz in QPROF' with '--tracemode2=x -zz -output=a.qprof' 'f(' ')'
claim "control characters are shown" prints 'qprof: unknown option -a?[31mb in QPROF' \
    with "$(printf -- '-a\033[31mb') -output=a.qprof" 'f(' ')'
claim "-quiet" prints '' with '-ouput=x -quiet -output=a.qprof' 'f(' ')'
claim "a wrong value" prints 'qprof: -time=later: not one of exact|adaptive|sampled|none: nothing is recorded' \
    with '-time=later' 'f(' ')'
for missing in slowest=N/TIME spool=FOLDER config=FILE labels=NAME=VALUE,...; do
    claim "-${missing%%=*} without a value" prints "qprof: -${missing%%=*}: expected -$missing: nothing is recorded" \
        with "-${missing%%=*} -output=a.qprof" 'f('
done
for option in summary log-file; do
    rm -f b.qprof
    with "-$option -output=b.qprof" 'f(' ')' 2>err
    claim "-$option without a value is standard error" sh -c "[ -f b.qprof ] && ! grep -q expected err"
done
claim "words that may be left out" prints '' with '-trace -output=a.qprof' 'f(' ')'
claim "the program sees it" ends 99 with '-quiet -time=later' 'f(' ')'
claim "silently" same '' "$(cat err)"
claim "no folder" prints "qprof: $PWD/no/a.qprof: its folder does not exist: nothing is recorded" \
    with '-output=no/a.qprof' 'f(' ')'
claim "a clock that Linux does not have" grep -q '^qprof: -clock=split-loads.*: nothing is recorded$' \
    "$(with -clock=split-loads 'f(' 2>err || echo err)"
claim "standard error is closed" ends 0 sh -c 'QPROF="-ouput=x -output=a.qprof" ./score "f(" ")" 2>&-'
claim "a file of the host has its number" ends 0 sh -c 'QPROF="-ouput=x -output=a.qprof" ./score "f(" ")" 2<>data'
claim "and stays as it is" same '' "$(cat data)"
claim "under qprof run" ends 0 env QPROF=-ouput=x qprof run -o a.qprof -- ./score 'f(' ')'
claim "the mistake is printed once" same 1 "$(grep -c ouput err)"

claim "the recorder does not write to standard output" ends 2 qprof run -output=- -- ./score 'f(' ')'
claim "as one line says" grep -Fxq 'qprof run: the recorder does not write to standard output (use -o -, or -o ./-)' err
claim "and no file has that name" test ! -e -
claim "nor a trace" ends 2 qprof run -trace-output=- -- ./score 'f(' ')'
claim "as one line says" grep -Fxq 'qprof run: -trace-output=-: the recorder does not write to standard output (name a file, or ./-)' err
claim "and no file has that name" test ! -e -
for option in -trace-limit=5M -trace-full=wait -trace-buffer=1M -trace-memory=1G; do
    claim "$option without a trace" ends 0 qprof run $option -o a.qprof -- ./score 'f(' ')'
    claim "one line says that it has no effect" same "qprof run: ${option%%=*} has no effect: no trace is recorded (-trace-output=FILE records one)" \
        "$(grep 'no effect' err)"
    claim "$option with a trace" ends 0 qprof run $option -trace-output=a.qtrace -o a.qprof -- ./score 'f(' ')'
    claim "no line has them" same '' "$(grep 'no effect' err)"
done
claim "labels that are too long" ends 0 qprof run "--labels=a=1,b=$(printf '%2000s' | tr ' ' x)" -o a.qprof -- ./score 'f(' ')'
claim "one line says so" same 'qprof run: labels: 1 left out: no NAME=VALUE, or more than 1023 bytes' "$(grep labels: err)"
claim "the others are there" grep -q '^  labels *a=1$' "$(qprof info a.qprof >out && echo out)"

# ---- folders and files of reports -----------------------------------------------------------------
claim "a folder of sources that does not exist" ends 0 qprof html --source-path=".:/no/such folder:" a.qprof -o a.html
claim "is named" same 'qprof html: --source-path: /no/such folder: no such folder' "$(cat err)"
head -c $(($(wc -c <a.qprof) - 64)) a.qprof >cut.qprof
cp a.qprof b.qprof
claim "a damaged profile of two" ends 1 qprof html --base a.qprof cut.qprof --new b.qprof -o sets.html
claim "is named once" same 1 "$(grep -c 'cut.qprof: damaged' err)"
claim "a damaged profile alone" ends 1 qprof html cut.qprof -o cut.html
claim "is named" same 1 "$(grep -c 'cut.qprof: damaged' err)"

# ---- profiles -----------------------------------------------------------------------------------
mkdir gone
claim "a folder that is removed" ends 0 with '-output=gone/a.qprof' 'f(' 'rmdir=gone' ')'
live=$(sed -n "s|^qprof: $PWD/gone/a.qprof: cannot be written: no such folder; the profile remains in ||p" err)
claim "one line says so" same 1 "$(grep -c . err)"
claim "and the live file has the profile" same 'f ' "$(names "$live")"
rm -f "$live"
mkdir gone
claim "-quiet" prints '' with '-quiet -output=gone/a.qprof' 'f(' 'rmdir=gone' ')'
mkdir gone
claim "under qprof run" ends 2 qprof run -o gone/a.qprof -- ./score 'f(' 'rmdir=gone' ')'
claim "one line names the file" same 1 "$(grep -c gone/a.qprof err)"
finish
