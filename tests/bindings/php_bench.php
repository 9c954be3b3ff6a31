<?php
/* php_bench.php fib|mixed|parser: prints the processor time of a program, in microseconds. */
function fib(int $n): int
{
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

class Shape
{
    public function __construct(private float $width, private float $height)
    {
    }

    public function area(): float
    {
        return $this->width * $this->height;
    }

    public function describe(): string
    {
        $kind = $this->width === $this->height ? 'square' : 'rectangle';
        return sprintf('%s of %.1f', ucfirst($kind), $this->area());
    }
}

function shapes(int $n): Generator
{
    for ($i = 1; $i <= $n; $i++) {
        yield new Shape($i % 7, $i % 5);
    }
}

function mixed(int $n): int
{
    $words = [];
    foreach (shapes($n) as $shape) {
        $text = $shape->describe();
        foreach (explode(' ', $text) as $word) {
            $words[$word] = ($words[$word] ?? 0) + strlen($word);
        }
    }
    uasort($words, fn ($a, $b) => $b <=> $a);
    return array_sum(array_map(fn ($n) => $n % 3, $words));
}

function parser(): int
{
    $parser = (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::PREFER_PHP7);
    $printer = new PhpParser\PrettyPrinter\Standard();
    $n = 0;
    foreach (['NodeTraverser', 'ParserAbstract', 'PrettyPrinterAbstract'] as $name) {
        $n += strlen($printer->prettyPrintFile($parser->parse(file_get_contents("/usr/share/php/PhpParser/$name.php"))));
    }
    return $n;
}

function processor_time(): int
{
    $used = getrusage();
    return ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1000000 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
}

if ($argv[1] === 'parser') {
    require 'PhpParser/autoload.php';
}
$tool = $argv[2] ?? '';
$begun = processor_time();
if ($tool === 'pcov') {
    \pcov\start();
} elseif ($tool === 'xdebug') {
    xdebug_start_code_coverage(XDEBUG_CC_UNUSED | XDEBUG_CC_DEAD_CODE);
}
match ($argv[1]) {
    'fib' => fib(24),
    'mixed' => mixed(5000),
    'parser' => parser(),
};
fprintf(STDERR, "%d\n", processor_time() - $begun);
