# use.sh: installs /srv/packages/*.deb in the bare Debian it is run in, as root, and uses them as an ordinary user:
# README's first command, Lua, Python, C. Then it upgrades and removes them.
packages=/srv/packages
names=$(for file in $packages/*.deb; do dpkg-deb -f "$file" Package; done)
export DEBIAN_FRONTEND=noninteractive

fail() {
    echo "use.sh: $*"
    exit 1
}
is() {
    [ "$2" = "$3" ] || fail "$1: $2, and not $3"
}
install_packages() {
    apt-get -q -y --no-install-recommends install "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "apt-get install $*"; }
}
# as_user COMMANDS: in a folder of its own
as_user() {
    su user -c "set -eu; cd; export LC_ALL=C.UTF-8; unset QPROF; $*"
}
# calls FILE NAME: its calls
calls() {
    as_user "qprof report --format=json --limit=0 $1" | jq --arg name "$2" '[.methods[] | select(.name == $name) | .calls] | add'
}
everything() {
    find / -xdev '(' -path /proc -o -path /dev -o -path /tmp -o -path /srv -o -path /var/cache -o -path /var/log \
        -o -path /var/lib/dpkg -o -path /var/lib/apt ')' -prune -o -print | sort
}

apt-get -q update >/tmp/apt.log 2>&1
useradd -m -d /srv/user user
cp -r /srv/bindings /srv/tests /srv/user
chown -R user /srv/user

# ---- alone --------------------------------------------------------------------------------------------

install_packages $packages/qlua_*.deb $packages/qprof_*.deb $packages/libqprof1_*.deb
as_user 'echo "local function f() end for i = 1, 7 do f() end" >alone.lua; qprof run -o alone.qprof -- qlua alone.lua' >/tmp/out
dpkg -l jq >/dev/null 2>&1 && fail "jq is there: the tree is not bare"
as_user 'qprof report alone.qprof' | grep -Eq '^f +7 ' || fail "no calls of f"
echo "qprof and qlua alone in a bare system, with $(dpkg -l | grep -c ^ii) packages in all: a profile"
install_packages $packages/*.deb man-db jq lua-check lua-penlight lua5.1 lua5.2 lua5.3 lua5.4 luajit python3-pytest gcc g++ libc6-dev \
    cmake make pkg-config patch
for name in $names; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name")" = installed ] || fail "$name is not installed"
    dpkg --verify "$name"
done
echo "Installed:" $names

# ---- the tool and qlua ----------------------------------------------------------------------------------

# README's first command; luacheck is packaged for Lua 5.1, and runs on 5.4 as it is
as_user 'export LUA_PATH="/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
    cd /usr/share/lua/5.4
    qprof run -o ~/luacheck.qprof -- qlua /usr/bin/luacheck --no-color pl >~/luacheck.out || [ $? -eq 1 ]'
grep -q '^Total: .* in 39 files$' /srv/user/luacheck.out || fail "luacheck has not checked Penlight"
[ "$(calls luacheck.qprof next_byte)" -gt 100000 ] || fail "luacheck: not recorded"
as_user 'qprof check luacheck.qprof && qprof html -o page.html luacheck.qprof && qprof export --to=folded -o folded luacheck.qprof' >/dev/null
grep -q '<script' /srv/user/page.html || fail "the page has no script: it was built without"
echo "README's first command, from the packages: $(calls luacheck.qprof next_byte) calls of next_byte"
for page in qprof qlua; do
    as_user "man $page" >/tmp/page 2>/tmp/man.log || fail "man $page: $(cat /tmp/man.log)"
    grep -q '^SYNOPSIS' /tmp/page || fail "man $page: no page"
    [ ! -s /tmp/man.log ] || fail "man $page: $(cat /tmp/man.log)"
done
(cd /usr/share/doc/qprof && for page in *.md; do
    for link in $(grep -oE '\]\([a-z-]+\.md' "$page" | cut -c3-); do [ -e "$link" ] || fail "$page: no $link"; done
done)
echo "man qprof, man qlua; the pages of /usr/share/doc/qprof link to each other"

# ---- Lua and Python -------------------------------------------------------------------------------------

for lua in lua5.1 lua5.2 lua5.3 lua5.4 luajit qlua; do
    as_user "QPROF=-output=$lua.qprof $lua -lqprof bindings/lua/example.lua" >/tmp/out 2>&1 || { cat /tmp/out; fail "$lua -lqprof"; }
    is "$lua -lqprof: calls of fib(20)" "$(calls $lua.qprof fib)" 21891
done
grep -q '^qprof: qlua records without this module' /tmp/out || fail "qlua -lqprof: $(cat /tmp/out)"
echo "lua -lqprof in lua5.1, lua5.2, lua5.3, lua5.4, luajit and qlua: the calls that example.lua makes"
as_user 'python3 -m qprof run -o python.qprof bindings/python/example.py' >/tmp/out
is "python3 -m qprof: calls of fib" "$(calls python.qprof fib)" 2150
as_user 'mkdir tests-of-python; cd tests-of-python; echo "def test_one(): sorted([3, 1])" >test_it.py; python3 -m pytest -q --qprof=../pytest.qprof' >/tmp/out
is "pytest: calls of the test" "$(calls pytest.qprof test_one)" 1
as_user 'python3 -c "import qprof; assert qprof.read(\"python.qprof\").functions"'
echo "python3 -m qprof, its plugin of pytest and its reader: the calls that example.py makes"

# ---- C ----------------------------------------------------------------------------------------------------

as_user 'mkdir hosts; cd hosts; set -- ; . ~/tests/install/hosts.sh' >/tmp/out 2>&1 || { cat /tmp/out; fail "hosts in C"; }
echo "hosts in C by pkg-config and by CMake, shared and static, of libqprof and libcprof"
# guide PAGE: its commands
guide() {
    awk '/^```shell$/ { is_in = 1; next } /^```$/ { is_in = 0 } is_in' "/usr/share/doc/qprof/$1" >/srv/user/guide.sh
    [ -s /srv/user/guide.sh ] || fail "$1: no commands"
    as_user "cd guide; sh -ex ../guide.sh" >/tmp/out 2>&1 || { tail -n 20 /tmp/out; fail "$1: its commands fail"; }
}
as_user 'mkdir guide; cp /usr/share/qprof/examples/minivm/* bindings/cpp/example.cpp guide'
guide embedding.md
guide cpp.md
echo "the commands of docs/embedding.md, with the example and the stub of libqprof-dev, and those of docs/cpp.md"

# ---- upgraded and removed ------------------------------------------------------------------------------------

as_user 'cat >endless.lua <<"EOF"
local n = 0
local function step() n = n + 1 end
local started = os.time()
while not io.open("stop") do for i = 1, 1000 do step() end end
print(n)
EOF
QPROF=-output=endless.qprof qlua endless.lua >endless.out' &
sleep 2
apt-get -q -y --reinstall install $packages/*.deb >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "upgrade"; }
# the same packages under a higher version
mkdir /tmp/next
for file in $packages/*.deb; do
    dpkg-deb -R "$file" /tmp/next/tree
    sed -i 's/^Version: .*/&+next/; s/(= \([^)]*\))/(= \1+next)/g' /tmp/next/tree/DEBIAN/control
    dpkg-deb -b /tmp/next/tree "/tmp/next/$(basename "$file")" >/dev/null
    rm -rf /tmp/next/tree
done
apt-get -q -y install /tmp/next/*.deb >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "upgrade to a higher version"; }
dpkg-query -W -f '${Version}\n' $names | grep -vq '+next$' && fail "not all are upgraded"
apt-get -q -y remove $names >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "remove"; }
as_user ': >stop'
wait || fail "a program that was recorded does not survive that its packages are removed"
dpkg --purge $names >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; fail "purge"; }
dpkg -l | grep -E "qprof|qlua|cprof" && fail "not purged"
for left in $(everything | grep -E 'qprof|qlua|/(lib)?cprof'); do fail "purged, and it is still there: $left"; done
install_packages $packages/*.deb
is "recorded while the packages were upgraded and removed" "$(calls endless.qprof step)" "$(cat /srv/user/endless.out)"
as_user 'qprof check endless.qprof' >/dev/null
echo "upgraded, removed and purged, while qlua was recording: nothing is left, and the profile is whole"
