<?php
// The worst case for a recorder: a call does next to nothing.
function fib($n)
{
    if ($n < 2) {
        return $n;
    }
    return fib($n - 1) + fib($n - 2);
}

function seconds()
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']
        + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
}

$began = seconds();
fib((int) $argv[1]);
echo seconds() - $began, "\n";
