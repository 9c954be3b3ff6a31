#!/bin/sh
# test_php.sh: bindings/php, built for the php of this machine. Its promises; calls of each function equal to those that
# a program of calls of all kinds counts itself, with opcache and its compiler as well; and to those of xdebug.
set -eu
command -v phpize >/dev/null && php -n -r 'exit((int) (PHP_VERSION_ID < 80200 || PHP_ZTS || PHP_DEBUG));' || {
    echo "test_php.sh: no PHP from 8.2 on with php-dev"
    exit 77
}
work=$PWD tests=$QPROF_SOURCE/tests/bindings qprof=$QPROF_BIN/qprof
unset PHP_INI_SCAN_DIR 2>/dev/null || :

# It is built by the commands of the guide.
. "$tests/lib.sh"
mkdir guide
cp -r "$QPROF_SOURCE/bindings" "$QPROF_SOURCE/include" guide
(cd guide && QPROF_LIBRARY=$QPROF_LIB/libqprof.a CONFIG_SHELL=/bin/sh \
    CFLAGS="-O2 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-cast-function-type -Wno-missing-field-initializers" follow_guide php.md)
extension=$work/guide/bindings/php/modules/qprof.so

is() {
    [ "$2" = "$3" ] || { printf '%s: %s, and not %s\n' "$1" "$2" "$3"; exit 1; }
}
php() { command php -n "$@"; }
recorded() { php -d "extension=$extension" "$@"; }
# figure FILE NAME calls|resumes
figure() {
    "$qprof" report --format=json --limit=0 "$1" |
        jq --arg name "$2" --arg what "$3" '[.methods[] | select(.name == $name) | .[$what]] | add'
}
# has MODULE: is it an extension that can be loaded?
has() { php -d "$1=$2.so" -r "exit((int) !extension_loaded('$3'));" 2>/dev/null; }

# ---- what the functions promise
is "calls of fib(15) in the example" "$(figure guide/bindings/php/example.qprof fib calls)" 1973
is "what it prints" "$(recorded "$tests/php_claims.php")" done
is "calls of f, 7 of them in a pause" "$(figure claims.qprof f calls)" 30
is "calls before the snapshot" "$(figure so-far.qprof f calls)" 30
is "calls that an exception ends" "$(figure claims.qprof inner calls)" 6
is "a generator's calls" "$(figure claims.qprof numbers calls)" 1
is "a generator's resumes" "$(figure claims.qprof numbers resumes)" 4
is "calls of an internal function" "$(figure claims.qprof strrev calls)" 1
is "its own functions" "$(figure claims.qprof qprof_mark calls)" null
is "open frames that are left out" "$(figure claims.qprof '{file php_claims.php}' resumes)" null
is "its label" "$("$qprof" report --format=json claims.qprof | jq -c .run.labels)" '["kind=a \"label\" \\"]'
is "a frame that was open" "$(figure open.qprof open_before resumes)" 1
is "it was not called" "$(figure open.qprof open_before calls)" 0
is "calls of f, above it and later" "$(figure open.qprof f calls)" 2
is "calls until the end of the request" "$(figure second.qprof f calls)" 2
is "the run ends with the request" "$(figure second.qprof Late::__destruct calls)" 1
for file in *.qprof; do "$qprof" check "$file" >/dev/null; done

# ---- requests
recorded "$tests/php_requests.php"
"$qprof" requests --format=json requests.qprof >requests.json
is "requests" "$(jq -c '[.endpoints[] | [.endpoint, .requests, .failed, .cut]] | sort' requests.json)" \
    '[["GET /even",50,10,0],["GET /first",1,0,0],["GET /inner",1,0,0],["GET /odd",50,10,0],["GET /outer",1,0,0],["exits",1,0,0],["fiber",5,1,0]]'
is "their trace" "$(jq -r '[.endpoints[].slowest_trace // empty] | unique[]' requests.json)" 0af7651916cd43dd8448eb211c80319c
below() { # ENDPOINT FUNCTION
    "$qprof" report --endpoint="$1" --format=json requests.qprof | jq --arg name "$2" '[.methods[] | select(.name == $name) | .hits] | add'
}
# half of 100 requests, of which a fifth calls leaf() once
is "calls below endpoints" "$(below 'GET /odd' leaf),$(below 'GET /odd' fail),$(below 'GET /outer' leaf),$(below fiber leaf)" 90,30,3,9
is "all calls of leaf" "$(figure requests.qprof leaf calls)" $((1 + 1 + 180 + 3 + 9))
"$qprof" check --host requests.qprof >/dev/null

# ---- runs that the environment asks for
echo '<?php function g() {} for ($i = 0; $i < 5; $i++) g(); fatal();' >ends.php
QPROF=-output=ends.qprof recorded -d display_errors=0 ends.php && exit 1 || is "its status" $? 255
is "calls of g before a fatal error" "$(figure ends.qprof g calls)" 5
is "a wrong option ends no program" "$(QPROF=-time=wrong recorded -r 'echo 1;' 2>error)" 1
grep -q '^qprof: -time=wrong: .*nothing is recorded$' error
recorded -d 'qprof.options=-time=none -program-name=named' ends.php >/dev/null 2>&1 || :
is "the name of the profile" "$(echo ends.[0-9]*.qprof | sed 's/[0-9][0-9]*/N/')" ends.N.qprof
is "nothing was asked for" "$(mkdir quiet && cd quiet && recorded ../ends.php >/dev/null 2>&1; ls quiet)" ""

# ---- all kinds of calls, which the program counts itself
# same NAME OPTION... : their counts are those of the report
same() {
    name=$1
    shift
    recorded "$@" -d "qprof.options=-output=$name.qprof -check-host=yes" "$tests/php_kinds.php" >"$name.out" && exit 1 || is "its status" $? 3
    "$qprof" report --format=json --limit=0 "$name.qprof" >"$name.json"
    printf '%s: ' "$name"
    python3 "$tests/php_calls.py" own "$name.out" "$name.json"
    "$qprof" check "$name.qprof" >/dev/null
    "$qprof" check --host "$name.qprof" >/dev/null
}
same kinds
if has zend_extension opcache "Zend OPcache"; then
    same opcache -d zend_extension=opcache.so -d opcache.enable_cli=1
    same tracing -d zend_extension=opcache.so -d opcache.enable_cli=1 -d opcache.jit=tracing -d opcache.jit_buffer_size=32M
fi
if has extension pcov pcov; then same beside_pcov -d extension=pcov.so -d pcov.enabled=1; fi

# ---- calls equal those of xdebug, in another run
if has zend_extension xdebug xdebug; then
    traced() { # NAME SCRIPT...
        name=$1
        shift
        php -d zend_extension=xdebug.so -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 \
            -d xdebug.collect_return=1 -d xdebug.use_compression=0 -d xdebug.max_nesting_level=-1 \
            -d xdebug.var_display_max_depth=0 -d "xdebug.output_dir=$work" -d "xdebug.trace_output_name=$name" "$@"
    }
    agree() { # NAME SCRIPT...
        name=$1
        shift
        traced "$name" "$@" >"$name.out2" || :
        recorded -d zend_extension=xdebug.so -d xdebug.mode=off -d "qprof.options=-output=$name.qprof" "$@" >"$name.out1" || :
        cmp "$name.out1" "$name.out2"
        "$qprof" report --format=json --limit=0 "$name.qprof" >"$name.json"
        printf '%s, and xdebug: ' "$name"
        python3 "$tests/php_calls.py" xdebug "$name.xt" "$name.json"
        "$qprof" check "$name.qprof" >/dev/null
    }
    agree all_kinds "$tests/php_kinds.php"
    traced both -d "extension=$extension" -d "qprof.options=-output=both.qprof" "$tests/php_kinds.php" >both.out || :
    "$qprof" report --format=json --limit=0 both.qprof >both.json
    printf 'both at once: '
    python3 "$tests/php_calls.py" xdebug both.xt both.json
    if [ -f /usr/share/php/PhpParser/autoload.php ] && has extension tokenizer tokenizer; then
        agree parser -d extension=tokenizer.so -d extension=ctype.so "$(command -v php-parse)" --resolve-names --dump --pretty-print \
            "$tests/php_claims.php" 2>/dev/null
    fi
fi

# ---- lines, worked out by hand: f(5), f(6) and f(0)
lines() { # FILE: [line, count] of function f
    "$qprof" annotate --format=json "$1" | jq -c '[.files[] | select(.path | endswith("php_lines.php")).lines[] |
        select(.line >= 4 and .line <= 29 and .count != null) | [.line, .count]]'
}
counted='[[4,3],[5,14],[6,11],[7,5],[9,6],[12,6],[13,3],[16,3],[17,2],[18,1],[19,1],[21,1],[23,3],[24,1],[25,1],[28,3]]'
recorded -d "qprof.options=-output=covered.qprof -collect=coverage" "$tests/php_lines.php" >covered.out
is "lines of coverage" "$(lines covered.qprof)" "$counted"
recorded -d "qprof.options=-output=lines.qprof" -d qprof.lines=1 "$tests/php_lines.php" >/dev/null
is "lines beside times" "$(lines lines.qprof)" "$counted"
is "calls beside lines" "$(figure lines.qprof f calls)" 3
recorded -r "qprof_start('-output=contexts.qprof -collect=coverage'); qprof_context('all'); require '$tests/php_lines.php';
    qprof_context('odd'); f(1);" >/dev/null
is "a context's lines" "$("$qprof" cover context "$tests/php_lines.php:7" contexts.qprof | grep -c odd)" 0
is "another context's lines" "$("$qprof" cover context "$tests/php_lines.php:9" contexts.qprof | grep -c odd)" 1
"$qprof" cover export --to=json -o covered.json covered.qprof
is "functions, hit and all" "$(jq -c '[.totals.functions_hit, .totals.functions]' covered.json)" '[3,4]'
recorded -d "qprof.options=-output=kinds_covered.qprof -collect=profile,coverage -check-host=yes" "$tests/php_kinds.php" >kinds_covered.out || :
"$qprof" report --format=json --limit=0 kinds_covered.qprof >kinds_covered.json
printf 'kinds, covered: '
python3 "$tests/php_calls.py" own kinds_covered.out kinds_covered.json
for file in covered lines contexts kinds_covered; do "$qprof" check "$file.qprof" >/dev/null; done

# ---- lines equal those of pcov, branches those of xdebug
covers() { # ROOT NAME SCRIPT...
    root=$1 name=$2
    shift 2
    off="-d zend_extension=xdebug.so -d xdebug.mode=off -d extension=tokenizer.so -d extension=ctype.so"
    # shellcheck disable=SC2086
    {
        recorded $off -d "qprof.options=-output=$name.cover.qprof -collect=coverage -cover-root=$root" \
            "$tests/php_cover.php" none none.json "$@" >"$name.out1"
        php $off -d extension=pcov.so -d pcov.enabled=1 -d pcov.directory=/ "$tests/php_cover.php" pcov "$name.pcov" "$@" >"$name.out2"
        php $off -d xdebug.mode=coverage "$tests/php_cover.php" xdebug "$name.xdebug" "$@" >"$name.out3"
    } 2>/dev/null
    cmp "$name.out1" "$name.out2"
    "$qprof" cover export --to=json -o "$name.cover" "$name.cover.qprof"
    for tool in pcov xdebug; do
        printf '%s, and %s: ' "$name" "$tool"
        python3 "$tests/php_cover.py" "$tool" "$name.$tool" "$name.cover" "$root"
    done
}
if has zend_extension xdebug xdebug && has extension pcov pcov && has extension tokenizer tokenizer; then
    covers "$tests" lines "$tests/php_lines.php"
    if [ -f /usr/share/php/PhpParser/autoload.php ]; then
        covers /usr/share/php/PhpParser parser "$(command -v php-parse)" --resolve-names --dump --pretty-print "$tests/php_lines.php"
    fi
fi

# ---- a server: all requests of a process are one run
port=$((20000 + $$ % 20000))
mkdir site
echo '<?php function page($n) { return strrev("page $n"); } echo page($_GET["n"]); if ($_GET["n"] == 2) fatal();' >site/index.php
(exec php -n -d "extension=$extension" -d display_errors=0 -d "qprof.options=-output=site.qprof" -S "127.0.0.1:$port" -t site) \
    >server.log 2>&1 &
server=$!
trap 'kill -9 $server 2>/dev/null || :' EXIT
cat >get.php <<'END'
<?php
for ($i = 0; $i < 50 && !@stream_socket_client("tcp://$argv[1]"); $i++) {
    usleep(100000);
}
echo @file_get_contents("http://$argv[1]/$argv[2]", false, stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 20]]));
END
get() { php get.php "127.0.0.1:$port" "$1"; }
is "a page" "$(get '?n=1')" "1 egap"
is "a page that fails" "$(get '?n=2')" "2 egap"
is "a page" "$(get '?n=3')" "3 egap"
kill -INT $server
wait $server || :
trap - EXIT
is "calls in three requests" "$(figure site.qprof page calls)" 3
"$qprof" check site.qprof >/dev/null
