<?php
/* php_kinds.php: calls of all kinds. Each function counts itself, in a way that needs no profiler; at the end
 * the counts are printed, one a line. A generator counts its resumes as well. */
namespace Kinds;

final class Counter
{
    public static array $of = [];
    public static ?self $last = null; // its destructor is the last one

    public function __destruct()
    {
        add(__METHOD__);
        foreach (self::$of as $name => $n) {
            echo "count $n $name\n";
        }
    }
}

function add(string $name): void
{
    Counter::$of[$name] = (Counter::$of[$name] ?? 0) + 1;
}

/* The name of a closure: since PHP 8.4 the engine's, without folders. */
function closure(string $own, int $line, string $namespace = 'Kinds\\'): string
{
    return PHP_VERSION_ID < 80400 ? "$namespace{closure:$line}" : preg_replace('/^{closure:\/.*\//', '{closure:', $own);
}

/* ---- functions and methods --------------------------------------------------------------- */

function fib(int $n): int
{
    add('Kinds\fib');
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function deep(int $n): int
{
    add('Kinds\deep');
    return $n ? deep($n - 1) + 1 : 0;
}

function &by_reference(array &$of)
{
    add('Kinds\by_reference');
    return $of[0];
}

function any(int $first, int ...$rest): int
{
    add('Kinds\any');
    return $first + array_sum($rest);
}

trait Named
{
    public function name(): string
    {
        add(self::class . '::name');
        return static::class;
    }
}

abstract class Base implements \Countable, \IteratorAggregate, \ArrayAccess
{
    use Named;

    public function __construct(protected array $items = [])
    {
        add('Kinds\Base::__construct');
    }

    public function count(): int
    {
        add('Kinds\Base::count');
        return \count($this->items);
    }

    public function getIterator(): \Iterator
    {
        add('Kinds\Base::getIterator');
        foreach ($this->items as $item) {
            yield $item;
            add('resume Kinds\Base::getIterator');
        }
    }

    public function offsetExists(mixed $at): bool
    {
        add('Kinds\Base::offsetExists');
        return isset($this->items[$at]);
    }

    public function offsetGet(mixed $at): mixed
    {
        add('Kinds\Base::offsetGet');
        return $this->items[$at];
    }

    public function offsetSet(mixed $at, mixed $value): void
    {
        add('Kinds\Base::offsetSet');
        $this->items[$at] = $value;
    }

    public function offsetUnset(mixed $at): void
    {
        add('Kinds\Base::offsetUnset');
        unset($this->items[$at]);
    }
}

class Thing extends Base
{
    public static function make(): static
    {
        add('Kinds\Thing::make');
        return new static([1, 2, 3]);
    }

    public function __call(string $name, array $arguments): int
    {
        add('Kinds\Thing::__call');
        return \count($arguments);
    }

    public static function __callStatic(string $name, array $arguments): int
    {
        add('Kinds\Thing::__callStatic');
        return fib(\count($arguments));
    }

    public function __get(string $name): string
    {
        add('Kinds\Thing::__get');
        return $name;
    }

    public function __invoke(int $n): int
    {
        add('Kinds\Thing::__invoke');
        return $n * 2;
    }

    public function __toString(): string
    {
        add('Kinds\Thing::__toString');
        return 'thing';
    }

    public function __destruct()
    {
        add('Kinds\Thing::__destruct');
        fib(1);
    }
}

enum Suit: string
{
    case Hearts = 'H';
    case Spades = 'S';

    public function label(): string
    {
        add('Kinds\Suit::label');
        return ucfirst(strtolower($this->name));
    }
}

function methods(): void
{
    add('Kinds\methods');
    $thing = Thing::make();
    echo $thing->name(), $thing->unknown(1, 2), Thing::unknown(3), $thing->field, $thing(4), "$thing", "\n";
    foreach ($thing as $item) {
        any($item, ...[1, 2]);
    }
    $thing[7] = 1;
    if (isset($thing[7]) && $thing[7]) {
        unset($thing[7]);
    }
    \count($thing);
    any(rest: 2, first: 1);
    $list = [1];
    $item = &by_reference($list);
    foreach (Suit::cases() as $suit) {
        $suit->label();
    }
    Suit::tryFrom('H')?->label();
    Suit::tryFrom('X')?->label();
    $method = new \ReflectionMethod($thing, 'count');
    $method->invoke($thing);
    $anonymous = new class () extends Thing {
    };
    $anonymous->count();
}

/* ---- closures ---------------------------------------------------------------------------- */

function closures(): void
{
    add('Kinds\closures');
    for ($i = 0; $i < 3; $i++) {
        $f = function (int $n) use ($i) { add(closure(__FUNCTION__, __LINE__)); return $n + $i; };
        $f($i);
        array_map($f, [1, 2]);
    }
    $bound = \Closure::bind(function () { add(closure(__FUNCTION__, __LINE__)); return $this->items; }, Thing::make(), Thing::class);
    $bound();
    any(...$bound());
}

function callables(): void
{
    add('Kinds\callables');
    $length = strlen(...);
    $length('abc');
    $any = any(...);
    $any(1, 2);
    \call_user_func('Kinds\any', 1);
    \call_user_func_array([Thing::class, 'make'], []);
    $thing = Thing::make();
    array_map([$thing, 'offsetGet'], [0, 1]);
    $get = $thing->offsetGet(...);
    $get(0);
    $unknown = $thing->some_name(...);
    $unknown(1);
    $list = [3, 1, 2];
    usort($list, static function ($a, $b) { add(closure(__FUNCTION__, __LINE__)); return any($a) <=> any($b); });
    preg_replace_callback('/[a-z]/', fn ($m) => add(closure(__FUNCTION__, __LINE__)) . strtoupper($m[0]), 'abc');
    ob_start(function ($text) { add(closure(__FUNCTION__, __LINE__)); return strtoupper($text); });
    echo "buffered\n";
    ob_end_flush();
    set_error_handler(function () { add(closure(__FUNCTION__, __LINE__)); return true; });
    echo $undefined;
    trigger_error('x', E_USER_WARNING);
    restore_error_handler();
}

/* ---- generators -------------------------------------------------------------------------- */

function numbers(int $n)
{
    add('Kinds\numbers');
    for ($i = 0; $i < $n; $i++) {
        $sent = yield $i;
        add('resume Kinds\numbers');
    }
    return fib(3);
}

function delegates()
{
    add('Kinds\delegates');
    $result = yield from numbers(3);
    add('resume Kinds\delegates');
    yield $result;
    add('resume Kinds\delegates');
    yield from [1, 2];
    add('resume Kinds\delegates');
}

function careful()
{
    add('Kinds\careful');
    try {
        while (true) {
            yield any(1);
            add('resume Kinds\careful');
        }
    } catch (\DomainException) {
        add('resume Kinds\careful');
        yield -1;
    } finally {
        add('resume Kinds\careful'); // it is closed: its end runs
        fib(2);
    }
}

function fails()
{
    add('Kinds\fails');
    try {
        yield 1;
    } finally {
        add('resume Kinds\fails');
    }
}

function generators(): void
{
    add('Kinds\generators');
    foreach (numbers(4) as $n) {
        any($n);
    }
    foreach (numbers(10) as $n) {
        if ($n == 2) {
            break;
        }
    }
    $never = numbers(5);
    unset($never);
    $sends = numbers(3);
    $sends->current();
    $sends->send('a');
    $sends->send('b');
    foreach (delegates() as $n);
    $throws = careful();
    $throws->current();
    $throws->next();
    $throws->throw(new \DomainException('in'));
    unset($throws);
    $uncaught = fails();
    $uncaught->current();
    try {
        $uncaught->throw(new \LogicException('out'));
    } catch (\LogicException) {
        any(1);
    }
    iterator_to_array(numbers(2));
}

/* ---- exceptions -------------------------------------------------------------------------- */

function throws(int $n): void
{
    add('Kinds\throws');
    try {
        $n ? throws($n - 1) : throw new \RuntimeException('deep');
    } finally {
        any($n);
    }
}

class ThrowsAtEnd
{
    public function __destruct()
    {
        add('Kinds\ThrowsAtEnd::__destruct');
        throw new \RuntimeException('at the end');
    }
}

function typed(int $n): void
{
}

function exceptions(): void
{
    add('Kinds\exceptions');
    for ($i = 0; $i < 3; $i++) {
        try {
            throws(5);
        } catch (\RuntimeException) {
            any($i);
        }
    }
    try {
        array_map(fn ($x) => add(closure(__FUNCTION__, __LINE__)) ?: throws($x), [2, 3]);
    } catch (\Exception) {
    }
    try {
        $object = new ThrowsAtEnd();
        unset($object);
    } catch (\Exception) {
        any(1);
    }
    try {
        typed('x'); // the call fails before it can count itself
    } catch (\TypeError) {
        any(2);
    }
}

/* ---- fibers ------------------------------------------------------------------------------ */

function waits(int $n): int
{
    add('Kinds\waits');
    for ($i = 0; $i < $n; $i++) {
        \Fiber::suspend(fib(2));
    }
    return $n;
}

function fibers(): void
{
    add('Kinds\fibers');
    $fibers = [];
    for ($i = 1; $i <= 3; $i++) {
        $fibers[$i] = new \Fiber(function () use ($i) { add(closure(__FUNCTION__, __LINE__)); return waits($i); });
        $fibers[$i]->start();
        fib(1);
    }
    foreach ($fibers as $i => $fiber) {
        while (!$fiber->isTerminated()) {
            $fiber->resume();
            any($i);
        }
    }
    $nested = new \Fiber(function () { add(closure(__FUNCTION__, __LINE__));
        $inner = new \Fiber(waits(...));
        $inner->start(2);
        \Fiber::suspend();
        $inner->resume();
        foreach (numbers(2) as $n) {
            \Fiber::suspend();
        }
    });
    $nested->start();
    $nested->resume();
    $nested->resume();
    $fails = new \Fiber(function () { add(closure(__FUNCTION__, __LINE__)); waits(1); });
    $fails->start();
    try {
        $fails->throw(new \RuntimeException('into it'));
    } catch (\RuntimeException) {
        any(1);
    }
    $GLOBALS['unfinished'] = new \Fiber(function () { add(closure(__FUNCTION__, __LINE__));
        try {
            waits(2);
        } finally {
            any(3);
        }
    });
    $GLOBALS['unfinished']->start();
}

/* ---- files ------------------------------------------------------------------------------- */

function files(): void
{
    add('Kinds\files');
    $file = getcwd() . '/php_kinds_included.php';
    file_put_contents($file, "<?php \Kinds\add('{file php_kinds_included.php}'); function included() { \Kinds\add('included'); } included(); return 7;");
    require $file;
    file_put_contents($file, "<?php \Kinds\add('{file php_kinds_included.php}'); included();");
    include $file;
    include_once $file;
    require $file;
    unlink($file);
    for ($i = 0; $i < 3; $i++) {
        eval('$f = function() { \Kinds\add(\Kinds\closure(__FUNCTION__, 1, "")); }; $f();');
    }
    spl_autoload_register(function ($name) { add(closure(__FUNCTION__, __LINE__)); });
    class_exists('Kinds\Missing');
}

$start = \microtime(true);
methods();
closures();
callables();
generators();
exceptions();
fibers();
files();
fib(12);
deep(5000);
gc_collect_cycles();
register_shutdown_function(function () { add(closure(__FUNCTION__, __LINE__));
    fib(3);
    register_shutdown_function(function () { add(closure(__FUNCTION__, __LINE__));
        Counter::$last = new Counter();
    });
});
function leaves(int $n): void
{
    add('Kinds\leaves');
    try {
        $n ? leaves($n - 1) : exit(3);
    } finally {
        any(1);
    }
}
leaves(3);
