// busy.go: writes a CPU profile of leaf into the file that it is given.
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

func leaf() (s int) {
	for i := 0; i < 1000; i++ {
		s += i * i % 7
	}
	return s
}

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	for t := time.Now(); time.Since(t) < 300*time.Millisecond; {
		leaf()
	}
	pprof.StopCPUProfile()
}
