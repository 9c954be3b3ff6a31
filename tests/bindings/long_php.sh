#!/bin/sh
# long_php.sh: the PHP extension is built from a copy of its folder, without the repository and without network, and
# installed into an empty folder, where its example runs. Calls of Twig, phpunit and the tests that phpunit runs
# equal those of xdebug. PHP's own tests of the engine have the same results while they are recorded. How much slower
# programs run, beside other tools.
set -eu
. "$QPROF_SOURCE/tests/packages.sh"
need_packages "the PHP extension" php-cli php-dev php-xdebug php-pcov php-parser php-twig phpunit php-mbstring php-xml >&2
unset QPROF 2>/dev/null || :
PATH=$QPROF_BIN:$PATH
work=$PWD tests=$QPROF_SOURCE/tests/bindings
php -n --version | head -n 1

# ---- the package
mkdir -p package/recorder/qprof
(cd "$QPROF_SOURCE" && git ls-files bindings/php) | while read -r file; do
    mkdir -p "package/$(dirname "${file#bindings/php/}")"
    cp "$QPROF_SOURCE/$file" "package/${file#bindings/php/}"
done
python3 "$QPROF_SOURCE/tools/amalgamate.py" package/recorder
echo '#include "../qprof.h"' >package/recorder/qprof/embed.h
(cd package && phpize && ./configure && make && make install INSTALL_ROOT="$work/empty") >build.log 2>&1 || {
    tail -n 30 build.log
    exit 1
}
extension=$(find "$work/empty" -name qprof.so)
QPROF=-output=example.qprof php -n -d "extension=$extension" package/example.php
calls() { qprof report --format=json --limit=0 "$1" | jq --arg name "$2" '[.methods[] | select(.name == $name) | .calls] | add'; }
[ "$(calls example.qprof fib)" = 1973 ]
[ "$(calls example.qprof squares)" = 1 ]
echo "installed and run: $(stat -c %s "$extension") bytes"

# ---- programs and a test suite
common="-d zend_extension=xdebug.so -d extension=tokenizer.so -d extension=ctype.so -d extension=mbstring.so -d extension=dom.so
    -d extension=xmlwriter.so -d extension=phar.so -d extension=iconv.so -d extension=xml.so -d memory_limit=-1 -d zend.assertions=-1"
agree() { # NAME SCRIPT...: two runs of one program
    name=$1
    shift
    rm -rf state
    # shellcheck disable=SC2086
    php -n $common -d xdebug.mode=off -d "extension=$extension" -d "qprof.options=-output=$name.qprof" "$@" >"$name.out1" 2>&1 || :
    rm -rf state
    # shellcheck disable=SC2086
    php -n $common -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 -d xdebug.collect_return=1 \
        -d xdebug.use_compression=0 -d xdebug.max_nesting_level=-1 -d xdebug.var_display_max_depth=0 -d "xdebug.output_dir=$work" \
        -d "xdebug.trace_output_name=$name" "$@" >"$name.out2" 2>&1 || :
    qprof report --format=json --limit=0 "$name.qprof" >"$name.json"
    qprof check "$name.qprof" >/dev/null
    printf '%s: ' "$name"
    python3 "$tests/php_calls.py" xdebug "$name.xt" "$name.json"
    rm -f "$name.xt"
}
cat >twig.php <<'END'
<?php
require 'Twig/autoload.php';
$twig = new \Twig\Environment(new \Twig\Loader\ArrayLoader([
    'base' => '<h1>{% block title %}T{% endblock %}</h1>{% block body %}{% endblock %}',
    'page' => "{% extends 'base' %}{% block body %}{% for i in items %}{{ loop.index }}: {{ i|e }}\n{% else %}-{% endfor %}{% endblock %}",
]));
echo $twig->render('page', ['items' => range(1, 50)]);
END
mkdir suite
cat >suite/ParserTest.php <<'END'
<?php
require_once 'PhpParser/autoload.php';
final class ParserTest extends \PHPUnit\Framework\TestCase
{
    /** @dataProvider files */
    public function testPrintedCodeIsTheSameProgram(string $file): void
    {
        $parser = (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::PREFER_PHP7);
        $printer = new PhpParser\PrettyPrinter\Standard();
        $printed = $printer->prettyPrintFile($parser->parse(file_get_contents($file)));
        $this->assertSame($printed, $printer->prettyPrintFile($parser->parse($printed)));
    }

    public static function files(): iterable
    {
        foreach (['Comment', 'Error', 'NameContext', 'NodeFinder', 'ParserFactory'] as $name) {
            yield $name => ["/usr/share/php/PhpParser/$name.php"];
        }
    }

    public function testErrors(): void
    {
        $this->expectException(PhpParser\Error::class);
        (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::PREFER_PHP7)->parse('<?php function {');
    }
}
END
agree twig twig.php
agree phpunit /usr/bin/phpunit --do-not-cache-result suite

# ---- PHP's own tests, from Debian's archive
. "$tests/sources.sh"
for version in $(apt-cache madison php8.2-cli | awk '{print $3}' | sort -urV); do
    fetch --download-only --tar-only source "php8.2=$version" >>apt.log 2>&1 && break
done
archive=$(echo php8.2_*.orig.tar.xz)
if [ -s "$archive" ]; then
    tar -xf "$archive"
    source=$(echo php-8.2.*)
    folders="Zend/tests/fibers Zend/tests/try"
    suite() { # NAME OPTION...
        name=$1
        shift
        # shellcheck disable=SC2086
        (cd "$source" && timeout -k 10 1200 env TEST_PHP_EXECUTABLE=$(command -v php) NO_INTERACTION=1 php -n run-tests.php -q -n -j2 -W "$work/$name.results" \
            "$@" $folders >"$work/$name.log" 2>&1 </dev/null) || :
        sort "$work/$name.results" >"$work/$name.sorted"
    }
    mkdir out
    suite plain
    suite recorded -d "extension=$extension" -d "qprof.options=-output=$work/out/t.%p.qprof"
    export QPROF="-output=$work/out/t.%p.qprof -collect=profile,coverage" # run-tests.php takes no blanks in settings
    suite covered -d "extension=$extension"
    unset QPROF
    for name in recorded covered; do
        echo "PHP's own tests, $name: $(grep -c '^PASSED' $name.sorted) pass, of $(grep -c '^PASSED' plain.sorted) that pass without"
        diff plain.sorted $name.sorted | grep '^[<>]' | sort -k2 | head -n 20 || :
    done
    n=0
    for file in out/*.qprof; do
        qprof check "$file" >/dev/null || echo "not valid: $file"
        n=$((n + 1))
        [ $n -lt 500 ] || break
    done
    echo "$n of their profiles are valid"

    # calls of those that need nothing but PHP, beside Xdebug; of which some end before a function is called
    options="-d zend_extension=xdebug.so -d xdebug.max_nesting_level=-1"
    rm -f own.all
    for file in $(cd "$source/Zend/tests" && ls anon/*.phpt arg_unpack/*.phpt arrow_functions/*.phpt assert/*.phpt attributes/*.phpt closures/*.phpt \
        enum/*.phpt fibers/*.phpt match/*.phpt named_params/*.phpt nullsafe_operator/*.phpt readonly_props/*.phpt throw/*.phpt try/*.phpt \
        varSyntax/*.phpt variadic/*.phpt); do
        file=$source/Zend/tests/$file
        ! grep -qE '^--(EXTENSIONS|SKIPIF|INI|ENV|ARGS|STDIN|POST|GET)--' "$file" || continue
        awk '/^--[A-Z]*--$/ { on = /FILE/; next } on' "$file" >own.php
        rm -f own.qprof own.xt
        # shellcheck disable=SC2086
        timeout -k 5 60 php -n $options -d xdebug.mode=off -d "extension=$extension" -d qprof.options=-output=own.qprof own.php \
            >own.out 2>&1 </dev/null || :
        # shellcheck disable=SC2086
        timeout -k 5 60 php -n $options -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 -d xdebug.collect_return=1 \
            -d xdebug.use_compression=0 -d xdebug.var_display_max_depth=0 -d "xdebug.output_dir=$work" -d xdebug.trace_output_name=own own.php \
            >own.out 2>&1 </dev/null || :
        [ -s own.qprof ] && [ -s own.xt ] || continue
        qprof report --format=json --limit=0 own.qprof >own.json
        python3 "$tests/php_calls.py" xdebug own.xt own.json >own.log || {
            grep -q '^nothing was counted' own.log && continue
            echo "${file##*/}:"
            cat own.log
            echo differs >>own.all
            continue
        }
        cat own.log >>own.all
    done
    awk '/differs/ { differ++; next } { n++; functions += $1 } END {
        print "PHP'"'"'s own tests beside Xdebug: " n " agree, of " functions " functions; " differ + 0 " differ" }' own.all
else
    echo "PHP's own tests are left out: no source"
fi

echo
echo "Slow-down in processor time, median of ${ROUNDS:-3} rounds; $(uname -m), $(nproc) processors"
mkdir bench
(cd bench && python3 "$tests/php_bench.py" "$extension" "${ROUNDS:-3}")
