#!/bin/sh
# test_signals.sh: strace sees no signal, no timer and no interrupted call of a host that is sampled;
# with -pc-signal it sees all three, so that seeing none means something. reliability.md R5, C21.
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || { echo "strace is missing"; exit 77; }
strace -o trace true 2>/dev/null || { echo "strace may not trace here"; exit 77; }

# trace OPTIONS: the system calls and signals of a host that works, waits and ends
trace() {
    rm -f run.qprof
    QPROF="-output=run.qprof $1" strace -f -o trace ./score 'main(' 'f(' nap ')' nap ')'
}
signals() { grep -Ec -- '--- SIG' trace; }
timers() { grep -Ec '(timer_create|timer_settime|setitimer|tgkill)\(' trace; }
interrupted() { grep -Ec 'EINTR|ERESTART' trace; }

for options in "-collect=samples -pc='REAL 1000'" "-pc='VIRTUAL 1000'" \
    '-time=sampled -sample-period=1000' '-collect=stack'; do
    claim "$options: the host runs" trace "$options"
    claim "no signal" same 0 "$(signals)"
    claim "no timer" same 0 "$(timers)"
    claim "no interrupted call" same 0 "$(interrupted)"
done
claim "without samples: the host runs" trace -time=exact
claim "no thread is made" same 0 "$(grep -Ec 'clone3?\(' trace)"

claim "with -pc-signal" trace "-collect=samples -pc='REAL 1000' -pc-signal=yes"
claim "there are signals" test "$(signals)" -gt 0
claim "of timers" test "$(timers)" -gt 0
claim "that interrupt" test "$(interrupted)" -gt 0
finish
