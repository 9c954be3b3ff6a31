#!/bin/sh
# long_python.sh: a wheel and an sdist of bindings/python are built without network, each is installed into an
# empty environment, and the example runs there. Calls of Python's own tests equal those of another counter. Then: how much
# slower programs run, beside other tools. As root the tests and the comparisons are repeated with the Python of Debian 13
# and that of sid, in bare trees.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
need_packages "the Python package" python3-dev python3-setuptools python3-wheel python3-pip python3-venv \
    python3-coverage python3-yappi python3-pygments \
    "libpython$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite" >&2
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH QPROF 2>/dev/null || :
PATH=$QPROF_BIN:$PATH
python=/usr/bin/python3
"$python" --version

git -C "$QPROF_SOURCE" ls-files bindings/python include src tools LICENSE CMakeLists.txt >files
mkdir checkout
tar -C "$QPROF_SOURCE" -cf - -T files | tar -C checkout -xf -
package=$PWD/checkout/bindings/python
(cd "$package" && "$python" setup.py -q sdist -d "$OLDPWD/dist") >sdist.log 2>&1 || { cat sdist.log; exit 1; }
"$python" -m pip wheel -q --no-build-isolation --no-deps -w dist "$package" >wheel.log 2>&1 || { cat wheel.log; exit 1; }
(cd dist && ls)

# try_package FILE: in an environment in which nothing else is installed
try_package() {
    package_name=${1##*/}
    rm -rf env from_sdist
    "$python" -m venv env
    # the sdist is compiled by what the system has
    case $1 in *.tar.gz) "$python" -m pip wheel -q --no-build-isolation --no-deps -w from_sdist "$1" >wheel.log 2>&1 ||
        { cat wheel.log; exit 1; }; set -- from_sdist/*.whl ;; esac
    env/bin/pip install -q "$1"
    rm -f example.qprof
    env/bin/python -m qprof run "$package/example.py" >out
    grep -q '^sum of squares 328350$' out
    env/bin/python -m qprof report --format=json --limit=0 example.qprof >report.json
    "$python" - <<'EOF'
import json
rows = {m["name"]: m for m in json.load(open("report.json"))["methods"]}
assert rows["fib"]["calls"] == 1973 + 177, rows["fib"]
assert (rows["squares"]["calls"], rows["squares"]["resumes"]) == (1, 100)
assert (rows["wait_turns"]["calls"], rows["wait_turns"]["resumes"]) == (2, 7)
EOF
    echo "installed and run: $package_name"
}
rm -rf checkout/src checkout/tools checkout/include # a package needs nothing of the checkout
try_package dist/qprof-*.whl
try_package dist/qprof-*.tar.gz

echo
PYTHONPATH=$(echo "$PWD"/env/lib/python3*/site-packages) sh "$QPROF_SOURCE/tests/bindings/python_suite.sh" ${MODULES:-}

echo
echo "Slow-down in processor time, median of ${ROUNDS:-11} rounds; $(uname -m), $(nproc) processors"
PYTHONPATH=$(echo "$PWD"/env/lib/python3*/site-packages) \
    "$python" "$QPROF_SOURCE/tests/bindings/python_bench.py" --rounds="${ROUNDS:-11}"

[ "$(id -u)" -eq 0 ] || { echo "Not root: Debian 13 and sid are left out."; exit 0; }
fail() {
    echo "long_python.sh: $*" >&2
    exit 1
}
root=$QPROF_SOURCE
. "$QPROF_SOURCE/tests/bare_tree.sh"
begin_trees "the test of newer versions of Python" 3000 >&2

# The tool and its libraries come from here. /sys says which clock is reliable.
mkdir -p inside/checkout/run inside/checkout/bin inside/checkout/lib inside/checkout/tool
git -C "$QPROF_SOURCE" ls-files bindings/python tests/bindings include README.md >files
tar -C "$QPROF_SOURCE" -cf - -T files | tar -C inside/checkout -xf -
cp "$QPROF_BIN/qprof" inside/checkout/tool/
ldd "$QPROF_BIN/qprof" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/lib[cm]\.so' | xargs -I FILE cp FILE inside/checkout/tool/
printf '#!/bin/sh\nLD_LIBRARY_PATH=/checkout/tool exec /checkout/tool/qprof "$@"\n' >inside/checkout/bin/qprof
chmod +x inside/checkout/bin/qprof
cp "$QPROF_LIB/libqprof.a" inside/checkout/lib/

for suite in ${SUITES:-trixie sid}; do
    make_tree "$suite" "$work/$suite" >&2
    cp -r inside/checkout "$work/$suite/"
    inside() { # MINUTES COMMAND
        in_tree "$work/$suite" "$1" "mount -t sysfs sysfs /sys && export HOME=/checkout/run QPROF_SOURCE=/checkout QPROF_BIN=/checkout/bin QPROF_LIB=/checkout/lib &&
            cd /checkout/run && $2"
    }
    in_tree "$work/$suite" 30 "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install python3-dev \
        python3-setuptools gcc libc6-dev python3-pygments python3-docutils python3-pytest python3-coverage python3-yappi &&
        DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        libpython\$(python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])')-testsuite" >apt.log 2>&1 || { tail apt.log; fail "$suite: its packages cannot be installed"; }
    echo
    inside 1 'python3 --version'
    inside 30 'sh /checkout/tests/bindings/test_python.sh' >tests.log 2>&1 || {
        cat tests.log
        exit 1
    }
    grep -E '^(OK|calls_|lines_|[0-9]+ (functions|files))' tests.log
    echo
    inside 120 "PYTHONPATH=\$(echo build/lib.*) sh /checkout/tests/bindings/python_suite.sh ${MODULES:-}"
    echo
    echo "Slow-down in processor time, median of ${ROUNDS:-11} rounds"
    inside 120 "PYTHONPATH=\$(echo build/lib.*) python3 /checkout/tests/bindings/python_bench.py --rounds=${ROUNDS:-11}"
    rm -rf --one-file-system "${work:?}/$suite"
done
