# tcl_calls.tcl: calls of all kinds; coroutines are named co_..., which tcl_compare.py knows
proc fib n { if {$n < 2} {return $n}; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
puts [fib 10]
proc gen {} { yield; for {set i 0} {$i < 5} {incr i} { yield $i }; return end }
coroutine co_g gen
for {set i 0} {$i < 6} {incr i} { puts [co_g] }
catch co_g message
puts $message
coroutine co_abandoned gen
rename co_abandoned {}
proc failing {} { yield; error "in a coroutine" }
coroutine co_failing failing
puts [catch co_failing message]$message
proc inner {} { yield [info coroutine]; yield 2 }
proc outer {} { coroutine co_inner inner; yield; yield [co_inner] }
coroutine co_outer outer
puts [co_outer]
proc delegate {} { yieldto return -level 0 given }
puts [coroutine co_delegate delegate]
proc bad n { if {$n == 0} {error oops}; bad [expr {$n-1}] }
for {set i 0} {$i < 4} {incr i} { catch {bad 10} }
try { bad 3 } on error e { puts $e } finally { puts finally }
catch {fib} message
puts $message
proc loop n { if {$n == 0} {return done}; tailcall loop [expr {$n-1}] }
puts [loop 50]
proc deep n { deep [incr n] }
puts [catch {deep 0}]
oo::class create Stack {
    variable items
    constructor {} { set items {} }
    method push x { lappend items $x; my check }
    method check {} { return [llength $items] }
    method fail {} { error no }
    destructor { puts destroyed }
}
oo::class create Counted { superclass Stack; method push x { next [string toupper $x] } }
set s [Counted new]
puts [$s push a][$s push b]
catch {$s fail}
$s destroy
puts [apply {x {incr x}} 3]
namespace eval space { proc p {} { uplevel 1 {set here 1} }; namespace export p; namespace ensemble create }
puts [space p]
puts [eval {fib 3}][uplevel #0 {fib 4}][lmap x {1 2 3} {fib $x}]
proc again {} { return 1 }
again
proc again {} { return 2 }
puts [again]
interp alias {} short {} fib 5
puts [short]
after 1 {set done [fib 6]}
vwait done
puts $done
