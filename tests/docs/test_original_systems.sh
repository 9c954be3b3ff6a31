#!/bin/sh
# test_original_systems.sh: every test that docs/original-systems.md names exists, and so does every page and
# heading that it links.
set -u
cd "$QPROF_SOURCE/docs" || exit 1
page=original-systems.md
mistakes=0
wrong() {
    echo "$page: $1"
    mistakes=1
}

# names in the last column of tables of three: "room.test", then functions of that test
awk -F ' [|] ' '/^\|/ && NF == 3 { print $3 }' $page | grep -o '`[^`]*`' | tr -d '`' >"$QPROF_BUILD/original-names"
[ "$(wc -l <"$QPROF_BUILD/original-names")" -gt 150 ] || wrong "the tables name too few tests to be read rightly"
file=
while read -r name; do
    case $name in
    *.*)
        file=
        for suffix in c sh; do
            [ -f "../tests/${name%%.*}/test_${name#*.}.$suffix" ] && file=../tests/${name%%.*}/test_${name#*.}.$suffix
        done
        [ "$file" ] || wrong "no test $name"
        ;;
    *)
        [ "$file" ] && { grep -q "^static void $name(void \*\*state)" "$file" || wrong "no test $name in $file"; }
        ;;
    esac
done <"$QPROF_BUILD/original-names"
rm "$QPROF_BUILD/original-names"

# anchor HEADING: as GitHub makes it
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }
for link in $(grep -o '](\([^)]*\))' $page | sed 's/^](//; s/)$//'); do
    target=${link%%#*}
    [ -f "$target" ] || wrong "no page $target"
    case $link in
    *'#'*) anchors "$target" | grep -qx "${link#*#}" || wrong "no heading ${link#*#} in $target" ;;
    esac
done
exit $mistakes
