<?php
/* php_lines.php: statements and branches, for lines worked out by hand. */
function f($n) {
    $x = 0;
    for ($i = 0; $i < $n; $i++) {
        if ($i % 2) {
            $x += $i;
        } else {
            $x--;
        }
    }
    while ($x > 3) {
        $x--;
    }
    switch ($x) {
        case 1: $x = 2; break;
        case 3:
            $x = 4;
            break;
        default:
            $x = 9;
    }
    return $x > 2 && $n
        ? foo(
            $x,
            $n
        )
        : null;
}
function foo($a, $b) { return $a; }
function never() {
    return 1;
}
echo f(5), f(6), f(0);
try {
    foreach ([1, 2, 3] as $v) {
        if ($v == 3) {
            throw new Exception("x");
            echo 1;
        }
    }
} catch (Exception $e) {
    echo "c";
} finally {
    echo "f";
}
