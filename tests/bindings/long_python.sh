#!/bin/sh
# long_python.sh: a wheel and an sdist of bindings/python are built without network, each is installed into an
# empty environment, and the example runs there. Then: how much slower programs run, beside other tools. As
# root the tests and the comparison are repeated with the Python of Debian 13, in a bare tree.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
need_packages "the Python package" python3-dev python3-setuptools python3-wheel python3-pip python3-venv \
    python3-coverage python3-yappi python3-pygments >&2
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
echo "Slow-down in processor time, median of ${ROUNDS:-11} rounds; $(uname -m), $(nproc) processors"
PYTHONPATH=$(echo "$PWD"/env/lib/python3*/site-packages) \
    "$python" "$QPROF_SOURCE/tests/bindings/python_bench.py" --rounds="${ROUNDS:-11}"

[ "$(id -u)" -eq 0 ] || { echo "Not root: Debian 13 is left out."; exit 0; }
need_packages "a bare Debian 13" debootstrap >&2
tree=$PWD/tree
trap 'umount "$tree/proc" "$tree/dev" "$tree/sys" 2>/dev/null || :' EXIT
debootstrap --variant=minbase --include=python3-dev,python3-setuptools,gcc,libc6-dev,libsqlite3-0,python3-pygments,\
python3-docutils,python3-pytest,python3-coverage,python3-yappi trixie "$tree" >debootstrap.log 2>&1 || {
    tail debootstrap.log
    exit 1
}
mkdir -p "$tree/checkout/run" "$tree/checkout/bin" "$tree/checkout/lib"
git -C "$QPROF_SOURCE" ls-files bindings/python tests/bindings include README.md >files
tar -C "$QPROF_SOURCE" -cf - -T files | tar -C "$tree/checkout" -xf -
cp "$QPROF_BIN/qprof" "$tree/checkout/bin/"
cp "$QPROF_LIB/libqprof.a" "$tree/checkout/lib/"
for folder in proc dev sys; do # /sys says which clock is reliable
    mount --bind "/$folder" "$tree/$folder"
done
inside() {
    chroot "$tree" env -i PATH=/usr/bin:/bin HOME=/checkout/run QPROF_SOURCE=/checkout QPROF_BIN=/checkout/bin \
        QPROF_LIB=/checkout/lib sh -c "cd /checkout/run && $1"
}
echo
inside 'python3 --version'
inside 'sh /checkout/tests/bindings/test_python.sh' >tests.log 2>&1 || {
    cat tests.log
    exit 1
}
grep -vE '^(-*|[.s]*|Ran .*)$' tests.log
echo
echo "Slow-down in processor time, median of ${ROUNDS:-11} rounds"
inside "PYTHONPATH=\$(echo build/lib.*) python3 /checkout/tests/bindings/python_bench.py --rounds=${ROUNDS:-11}"
