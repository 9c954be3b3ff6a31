# The worst case for a recorder: a call does next to nothing.
use strict;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

sub fib {
    my ($n) = @_;
    return $n if $n < 2;
    return fib($n - 1) + fib($n - 2);
}

my $began = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
fib($ARGV[0]);
print clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $began, "\n";
