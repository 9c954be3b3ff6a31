<?php
/* php_claims.php: what the functions of the extension promise. The counts of its runs are in test_php.sh. */
function f(int $n): int
{
    $x = 0;
    for ($i = 0; $i < $n; $i++) {
        $x += $i;
    }
    return $x;
}

function outer(): void
{
    inner();
}

function inner(): void
{
    throw new LogicException('inner');
}

function numbers(int $n)
{
    for ($i = 0; $i < $n; $i++) {
        yield $i;
    }
}

function open_before(): void
{
    qprof_start(['output' => 'open.qprof', 'record_min_max' => true]);
    f(1);
}

class Late
{
    public function __destruct()
    {
        f(1);
    }
}

function raises(callable $called): string
{
    try {
        $called();
    } catch (RuntimeException $e) {
        return $e->getMessage();
    }
    return '';
}

function check(bool $is_so, string $what): void
{
    $is_so || exit("php_claims.php: $what\n");
}

check(!qprof_running() && !qprof_recording(), 'nothing is on at the start');
check(!qprof_snapshot('x.qprof') && !qprof_context('c'), 'nothing to write');
qprof_stop();
qprof_pause();
check(str_contains(raises(fn () => qprof_start(['time' => 'wrong'])), '-time=wrong'), 'a wrong option');
check(!qprof_running(), 'a wrong option begins nothing');

qprof_start(['output' => 'claims.qprof', 'labels' => 'kind=a "label" \\', 'open_frames' => false]);
check(qprof_running() && qprof_recording(), 'it is on');
check(raises(fn () => qprof_start()) === 'qprof is recording already', 'a second run');
for ($i = 0; $i < 20; $i++) {
    f(1);
}
qprof_pause();
check(!qprof_recording() && qprof_running(), 'a pause');
for ($i = 0; $i < 7; $i++) {
    f(1);
}
qprof_resume();
for ($i = 0; $i < 3; $i++) {
    f($i);
}
qprof_mark('here');
check(qprof_snapshot('so-far.qprof'), 'a snapshot');
for ($i = 0; $i < 6; $i++) {
    try {
        outer();
    } catch (LogicException) {
    }
}
foreach (numbers(4) as $n);
$fiber = new Fiber(function () {
    Fiber::suspend(strlen(strrev('in it')));
});
$fiber->start();
qprof_stop();
check(!qprof_running(), 'it has ended');
$fiber->resume(); // it was created in the run before

open_before();
f(2);
qprof_stop();

qprof_start('-output=second.qprof');
f(1);
$late = new Late();
echo "done\n";
