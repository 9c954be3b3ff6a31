#!/bin/sh
# test_manual.sh: man pages and completions, made from the tables of --help
#   - each command, each flag and each option of the recorder has its place in a page
#   - man, groff and mandoc have nothing to complain about
#   - bash, zsh and fish offer what is worked out here; shells and checkers that are missing are left out
set -u
PATH=$QPROF_BIN:$PATH
. "$QPROF_SOURCE/tests/claims.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
qprof help --files=. || exit 1
touch 'a b.qprof' run.qprof

# want TOOL: or one line
want() { command -v "$1" >/dev/null || { echo "left out: $1 is not installed"; return 1; }; }

# ---- pages ----------------------------------------------------------------------------------------

commands=$(qprof help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
claim "a page for each command" same "$(printf 'qprof-%s.1\n' $commands | LC_ALL=C sort)" "$(ls qprof-*.1 | LC_ALL=C sort)"
for command in $commands; do
    sed -n 's/^\.B //; s/\\-/-/g; s/^\(-., \)*\(--[a-z0-9-]*\).*/\2/p' "qprof-$command.1" >page
    qprof help "$command" | grep -oE '^  (-., )?--[a-z0-9-]+' | sed 's/.*--/--/' >flags
    claim "the page of $command has each flag" same '' "$(grep -vxFf page flags)"
done
claim "of the group cover each command" same "$(qprof help cover | sed -n 's/^  \(cover [a-z]*\) .*/qprof \1/p')" \
    "$(sed -n 's/^\.SS //p' qprof-cover.1)"
claim "each option of the recorder" same "$(qprof run --options | sed -n 's/^-\(-[a-z0-9-]*\)=.*/\1/p')" \
    "$(sed -n 's/^\.TP$//; s/^\.B //; s/\\-/-/g; s/^\(-[a-z0-9-]*\)=.*/\1/p' qprof-options.7)"
claim "one page on standard output" sh -c 'qprof help --man cover | cmp - qprof-cover.1'
claim "the first" sh -c 'qprof help --man | cmp - qprof.1'
claim "the options" sh -c 'qprof help --man options | cmp - qprof-options.7'
claim "no such page" says 'unknown command nonsense' qprof help --man nonsense
claim "no such folder" ends 2 qprof help --files=no/where
[ ! -e "$QPROF_BUILD/examples/lua-host/qlua.1" ] || cp "$QPROF_BUILD/examples/lua-host/qlua.1" .
! want man || claim "man" same '' "$(for page in qprof.1 qprof-run.1 qprof-options.7 $(ls qlua.1 2>/dev/null); do
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l $page 2>&1 >/dev/null
done)"
! want groff || claim "groff" same '' "$(groff -k -man -ww -Tutf8 ./*.[17] 2>&1 >/dev/null)"
# Pages have no date: two builds of one source are equal.
! want mandoc || claim "mandoc" same '' "$(mandoc -T lint -W warning ./*.[17] | grep -v 'missing date')"

# ---- completions ----------------------------------------------------------------------------------

# What each shell offers for a line; bash counts the words that it makes of --format=j. A program: ours.
printf '#!/bin/sh\n' >zz-program && chmod +x zz-program
PATH=$PATH:$work
cat >cases <<'END'
qprof rep > report
qprof cover anno > annotate
qprof help cover anno > annotate
qprof report --form > --format=
qprof report --format js > json
qprof report -s sel > self
qprof run --collection > --collection-granularity=
qprof run -clock-r > -clock-reads=
qprof run -- zz-p > zz-program
qprof run --time=sampled zz-p > zz-program
qprof run -- zz-program ru > run.qprof
qprof report ru > run.qprof
END
# check SHELL: offered by the function `offers` for each case
check() {
    while IFS= read -r line; do
        claim "$1: ${line% > *}" same "${line#* > }" "$(offers "${line% > *}")"
    done <cases
}

if want bash; then
    cat >driver.bash <<'END'
source qprof.bash
[[ $(complete -p qprof) == *"-F _qprof qprof" ]] || echo "no completion"
IFS=$'\n' COMP_WORDS=($(sed 's/=/\n=\n/g; s/ /\n/g' <<<"$1")) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[[ $1 != *= && $1 != *' ' ]] || COMP_WORDS+=("")
_qprof
((${#COMPREPLY[@]})) && [[ -n $COMPREPLY ]] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")) # -o default
printf '%s\n' "${COMPREPLY[@]}"
END
    offers() { bash driver.bash "$1"; }
    check bash
    claim "bash: a value after =" same csv "$(offers 'qprof report --format=c')"
    claim "bash: each value" same "$(printf 'text\njson\ncsv')" "$(offers 'qprof report --format=')"
    claim "bash: one more of a list" same 'calls,stack' "$(offers 'qprof run --collect=calls,sta')"
    claim "bash: a value of an option" same "$(printf 'yes\nno')" "$(offers 'qprof run --allocations=')"
    claim "bash: a file after =" same run.qprof "$(offers 'qprof run --output=ru')"
fi
if want zsh; then
    cat >driver.zsh <<'END'
compset() { PREFIX=${PREFIX#-*=}; }
_files() { print -l -- ${PREFIX}*(N); }
_command_names() { print -l -- ${(M)${(k)commands}:#${PREFIX}*}; }
_describe() { shift; for name; do [[ $name == -* || -z $name || ! -v $name || ${#${(P)name}} == 0 ]] || print -l -- ${${(P)name}%%:*}; done; }
words=(${=1}) CURRENT=$#words PREFIX=$words[-1]
source ./_qprof
END
    offers() { zsh -f driver.zsh "$1"; }
    check zsh
    claim "zsh: a value after =" same --format=csv "$(offers 'qprof report --format=c')"
    claim "zsh: a file after =" same run.qprof "$(offers 'qprof run --output=ru')"
fi
if want fish; then
    export HOME="$work" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work"
    offers() { fish -N -c 'source qprof.fish; complete -C $argv[1]' "$1" | cut -f 1; }
    check fish
    claim "fish: a value after =" same --format=csv "$(offers 'qprof report --format=c')"
    claim "fish: a file after =" same --output=run.qprof "$(offers 'qprof run --output=ru')"
fi
finish
