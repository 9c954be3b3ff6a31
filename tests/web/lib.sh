# lib.sh: what the tests of the profile page need; exit 77: it is not here.
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
# The same browser without its windows takes half of the time.
CHROMIUM=$(command -v chromium-headless-shell || command -v chromium) || { echo "chromium is not installed"; exit 77; }
[ -d "$QPROF_BUILD/web/node_modules/playwright-core" ] || { echo "npm installed nothing"; exit 77; }
[ -x "$QPROF_BIN/qlua" ] || { echo "qlua is not built"; exit 77; }
export CHROMIUM LC_ALL=C TZ=UTC
qprof="$QPROF_BIN/qprof"
qlua="$QPROF_BIN/qlua"

# page NAME FILE: NAME.html and the report NAME.json of a profile
page() {
    "$qprof" html "$2" -o "$1.html" >/dev/null
    "$qprof" report --format=json "$2" >"$1.json"
}
