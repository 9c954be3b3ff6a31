#!/bin/sh
# clickhouse.sh: servers of ClickHouse for tests and examples, from Debian 12's packages, which are unpacked and not installed.
#
#   clickhouse.sh unpack FOLDER            download and unpack what this machine lacks, with a state of apt of its own;
#                                          fails with one line where that is not possible
#   clickhouse.sh start FOLDER RUN PORT    start a server on loopback, whose data are in RUN, and wait until it answers;
#                                          its process id is in RUN/pid; it ends with the process that called
#   clickhouse.sh ports N                  print N ports that are free now
set -eu

fail() {
    echo "ClickHouse: $*" >&2
    exit 1
}

unpack() {
    mkdir -p "$1"
    cd "$1"
    [ ! -e done ] || return 0
    for tool in apt-get dpkg-deb; do command -v $tool >/dev/null || fail "$tool is missing"; done
    mkdir -p state/lists/partial cache/archives/partial
    set -- -q -o Dir::State="$PWD/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$PWD/cache" \
        -o Debug::NoLocking=1
    apt-get "$@" update >log 2>&1 </dev/null || fail "apt-get update failed: $(tail -n 1 log)"
    apt-get "$@" -s --no-install-recommends install clickhouse-server >plan 2>>log </dev/null ||
        fail "this system has no package clickhouse-server"
    # shellcheck disable=SC2046  # names of packages
    apt-get "$@" download $(sed -n 's/^Inst \([^ ]*\) .*/\1/p' plan) >>log 2>&1 </dev/null ||
        fail "apt-get download failed: $(tail -n 1 log)"
    for package in *.deb; do dpkg-deb -x "$package" . || fail "$package cannot be unpacked"; done
    rm -rf state cache plan ./*.deb
    : >done
}

# A user's own settings: only loopback, little memory.
configure() {
    run=$1 port=$2
    cat >"$run/users.xml" <<END
<yandex><profiles><default><max_memory_usage>1500000000</max_memory_usage><max_threads>2</max_threads>
<log_queries>0</log_queries></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows>
<read_rows>0</read_rows><execution_time>0</execution_time></interval></default></quotas></yandex>
END
    cat >"$run/config.xml" <<END
<yandex><logger><level>warning</level><log>$run/log</log><errorlog>$run/errors</errorlog><size>10M</size><count>1</count></logger>
<http_port>$port</http_port><listen_host>127.0.0.1</listen_host><max_connections>64</max_connections>
<keep_alive_timeout>3</keep_alive_timeout><max_concurrent_queries>32</max_concurrent_queries>
<uncompressed_cache_size>0</uncompressed_cache_size><mark_cache_size>67108864</mark_cache_size>
<path>$run/data/</path><tmp_path>$run/tmp/</tmp_path><users_config>$run/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<background_pool_size>2</background_pool_size></yandex>
END
}

start() {
    folder=$1 run=$2 port=$3
    mkdir -p "$run/data" "$run/tmp"
    run=$(cd "$run" && pwd)
    configure "$run" "$port"
    LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu | tr ' ' ':') nohup \
        "$folder/usr/sbin/clickhouse-server" --config-file="$run/config.xml" >"$run/out" 2>&1 </dev/null &
    pid=$!
    echo $pid >"$run/pid"
    (while kill -0 $PPID && kill -0 $pid; do sleep 2; done; kill -9 $pid) >/dev/null 2>&1 </dev/null &
    # no wall-clock limit: a server that does not come up ends
    until curl -s "http://127.0.0.1:$port/ping" >/dev/null; do
        kill -0 $pid 2>/dev/null || fail "the server ended: $(tail -n 1 "$run/out")"
        sleep 0.1
    done
}

# Below those that connections take, which a server that starts again would lose.
ports() {
    python3 -c '
import random, socket, sys
free = []
while len(free) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(10000, 32000)))
        free.append(s)
    except OSError:
        pass
print(*(s.getsockname()[1] for s in free))' "$1"
}

case ${1:-} in
unpack) unpack "$2" ;;
start) start "$2" "$3" "$4" ;;
ports) ports "$2" ;;
*) fail "expected unpack, start or ports" ;;
esac
