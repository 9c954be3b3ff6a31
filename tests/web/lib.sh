# lib.sh: what the tests of the profile page need; exit 77: it is not here.
for tool in node chromium; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "npm installed nothing"; exit 77; }
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
CHROMIUM=$(command -v chromium)
export CHROMIUM LC_ALL=C TZ=UTC
qprof="$QPROF_BIN/qprof"
qlua="$QPROF_BIN/qlua"

# page NAME FILE: NAME.html and the report NAME.json of a profile
page() {
    "$qprof" html "$2" -o "$1.html" >/dev/null
    "$qprof" report --format=json "$2" >"$1.json"
}
