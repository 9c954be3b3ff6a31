#!/bin/sh
# store.sh BUILD [PROFILES [FILES]]: what a store of real profiles takes, on disk and in time. luacheck checks one of FILES of its
# own after the other, with labels of versions and hosts; a row is a call path of a profile. Times are medians of
# 5 runs, of the processor, for the whole command; docs/store.md shows the result.
set -eu
build=$(cd "${1:?the build folder}" && pwd)
n=${2:-320}
n_sources=${3:-1000}
PATH=$build/bin:$PATH
[ -f /usr/share/lua/5.1/luacheck/main.lua ] || { echo "luacheck is not installed (lua-check)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LUA_PATH='/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua'
find /usr/share/lua/5.1/luacheck /usr/share/lua/5.1/pl -name '*.lua' 2>/dev/null | sort |
    awk 'NR % 5 == 1 || '"$n_sources"' > 90' | head -n "$n_sources" >sources

# A line of numbers from 1 to n, each with a source file, a version and a host.
i=0
while [ $i -lt "$n" ]; do
    i=$((i + 1))
    source=$(sed -n "$((i * 7 % $(wc -l <sources) + 1))p" sources)
    QPROF="-output=p$i.qprof -labels=service=lint,version=1.$((i % 4)),host=h$((i % 16)) -quiet" \
        qlua /usr/bin/luacheck --no-color --no-cache "$source" >/dev/null 2>&1 || :
done

# seconds COMMAND...: the median of 5, of the processor
seconds() {
    python3 - "$@" <<'END'
import resource, statistics, subprocess, sys
def used():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime
def once():
    begin = used()
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
    return used() - begin
print("%.3f" % statistics.median(once() for i in range(5)))
END
}

import=$(seconds sh -c 'rm -f s.db; qprof store import s.db p*.qprof')
qprof store list --format=json s.db | jq -r --arg s "$import" --arg file "$(stat -c %s s.db)" '
    ([.profiles[].paths] | add) as $rows | ([.profiles[].bytes] | add) as $segments |
    "profiles           \(.profiles | length)",
    "rows               \($rows)",
    "bytes a row        \($segments / $rows * 100 | round / 100) of profiles, " +
        "\(($file | tonumber) / $rows * 100 | round / 100) of the whole file",
    "import, rows/s     \($rows / ($s | tonumber) | round)"'
echo "list, s            $(seconds qprof store list s.db)"
echo "series, s          $(seconds qprof store series s.db)"
echo "top, s             $(seconds qprof store top s.db)"
echo "top of a host, s   $(seconds qprof store top --label=host=h3 s.db)"
echo "tree, s            $(seconds qprof store tree s.db)"
echo "merge of files, s  $(seconds qprof merge --force -o m.qprof p*.qprof)"
