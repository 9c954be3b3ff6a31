# tcl_fib.tcl: nothing but calls
proc fib n { if {$n < 2} {return $n}; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
fib 30
