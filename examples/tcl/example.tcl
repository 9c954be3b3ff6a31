# example.tcl: a coroutine produces words, and a class counts them.
proc words text {
    yield
    foreach word $text { yield $word }
    return {}
}

oo::class create Counter {
    variable counts
    constructor {} { set counts {} }
    method add word {
        if {$word eq "fox"} { error "forbidden: $word" }
        dict incr counts $word
    }
    method counts {} { return $counts }
}

set counter [Counter new]
coroutine next words {the quick brown fox jumps over the lazy dog}
while {[set word [next]] ne ""} {
    if {[catch {$counter add $word} message]} { puts $message }
}
puts [$counter counts]
