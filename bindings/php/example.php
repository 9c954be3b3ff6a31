<?php
/* example.php: what the extension records: functions, methods, closures, a generator, a fiber and errors.
 *
 *     QPROF=-output=example.qprof php -d extension=qprof example.php && qprof report example.qprof */
function fib(int $n): int
{
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function squares(int $n): Generator
{
    for ($i = 0; $i < $n; $i++) {
        yield $i * $i;
    }
}

class Parser
{
    public function parse(string $text): int
    {
        return is_numeric($text) ? (int) $text : throw new RuntimeException("no number: $text");
    }
}

function wait_turns(int $n): void
{
    for ($i = 0; $i < $n; $i++) {
        Fiber::suspend();
    }
}

$parser = new Parser();
foreach (['1', 'two', '3'] as $text) {
    try {
        $parser->parse($text);
    } catch (RuntimeException) {
    }
}
$fiber = new Fiber('wait_turns');
$fiber->start(3);
while (!$fiber->isTerminated()) {
    $fiber->resume();
}
$words = ['b', 'a', 'c'];
usort($words, fn ($a, $b) => strcmp($a, $b));
echo 'sum of squares ', array_sum(iterator_to_array(squares(100))), ', fib ', fib(15), "\n";
