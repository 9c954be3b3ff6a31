<?php
// What programs do: strings, arrays, closures, methods, sorting, iterators. As ../mixed.lua.
class Account
{
    public $balance = 0;
    public $log = [];

    public function __construct(public $name)
    {
    }

    public function deposit($amount)
    {
        $this->balance += $amount;
        $this->log[] = $amount;
    }

    public function average()
    {
        $sum = 0;
        foreach ($this->log as $amount) {
            $sum += $amount;
        }
        return count($this->log) ? $sum / count($this->log) : 0;
    }
}

function words($n)
{
    $list = [];
    for ($i = 1; $i <= $n; $i++) {
        $list[] = sprintf('w%05d', $i * 7919 % 10007);
    }
    return $list;
}

function histogram($text)
{
    $counts = [];
    preg_match_all('/\w+/', $text, $found);
    foreach ($found[0] as $word) {
        $counts[$word] = ($counts[$word] ?? 0) + 1;
    }
    return $counts;
}

function transform($list, $f)
{
    $out = [];
    foreach ($list as $item) {
        $out[] = $f($item);
    }
    return $out;
}

function matrix($n)
{
    $m = [];
    for ($i = 1; $i <= $n; $i++) {
        $row = [];
        for ($k = 1; $k <= $n; $k++) {
            $row[] = $i * $k % 10 + 0.5;
        }
        $m[] = $row;
    }
    return $m;
}

function multiply($a, $b)
{
    $n = count($a);
    $c = [];
    foreach ($a as $left) {
        $row = [];
        for ($k = 0; $k < $n; $k++) {
            $sum = 0;
            for ($j = 0; $j < $n; $j++) {
                $sum += $left[$j] * $b[$j][$k];
            }
            $row[] = $sum;
        }
        $c[] = $row;
    }
    return $c;
}

function sieve($n)
{
    $composite = [];
    $primes = 0;
    for ($i = 2; $i <= $n; $i++) {
        if (!isset($composite[$i])) {
            $primes++;
            for ($k = $i * $i; $k <= $n; $k += $i) {
                $composite[$k] = true;
            }
        }
    }
    return $primes;
}

function one_round($size)
{
    $list = words($size);
    usort($list, function ($a, $b) {
        return strcmp($a, $b);
    });
    $text = implode(' ', $list);
    $counts = histogram("$text $text");
    $upper = preg_replace_callback('/\d+/', function ($digits) {
        return "<$digits[0]>";
    }, $text);
    $accounts = transform($list, function ($name) {
        return new Account($name);
    });
    foreach ($accounts as $i => $account) {
        for ($k = 1; $k <= 5; $k++) {
            $account->deposit($i * $k % 97);
        }
    }
    $total = 0;
    foreach ($accounts as $account) {
        $total += $account->average();
    }
    $m = multiply(matrix(60), matrix(60));
    return $total + strlen($upper) + $counts[$list[0]] + $m[2][6] + sieve(30000);
}

function seconds()
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']
        + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
}

$began = seconds();
for ($i = 0; $i < (int) $argv[1]; $i++) {
    if (one_round(2000) <= 0) {
        exit(1);
    }
}
echo seconds() - $began, "\n";
