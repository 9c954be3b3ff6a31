# What programs do: strings, hashes, closures, methods, sorting, iterators. As ../mixed.lua.
use strict;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

package Account;
sub new {
    my ($class, $name) = @_;
    return bless {name => $name, balance => 0, log => []}, $class;
}
sub deposit {
    my ($self, $amount) = @_;
    $self->{balance} += $amount;
    push @{$self->{log}}, $amount;
}
sub average {
    my ($self) = @_;
    my $sum = 0;
    $sum += $_ for @{$self->{log}};
    return @{$self->{log}} ? $sum / @{$self->{log}} : 0;
}

package main;

sub words {
    my ($n) = @_;
    my @list;
    for my $i (1 .. $n) {
        push @list, sprintf("w%05d", $i * 7919 % 10007);
    }
    return \@list;
}

sub histogram {
    my ($text) = @_;
    my %counts;
    while ($text =~ /(\w+)/g) {
        $counts{$1}++;
    }
    return \%counts;
}

sub transform {
    my ($list, $f) = @_;
    my @out;
    for my $item (@$list) {
        push @out, $f->($item);
    }
    return \@out;
}

sub matrix {
    my ($n) = @_;
    my @m;
    for my $i (1 .. $n) {
        my @row;
        for my $k (1 .. $n) {
            push @row, $i * $k % 10 + 0.5;
        }
        push @m, \@row;
    }
    return \@m;
}

sub multiply {
    my ($x, $y) = @_;
    my $n = @$x;
    my @c;
    for my $left (@$x) {
        my @row;
        for my $k (0 .. $n - 1) {
            my $sum = 0;
            for my $j (0 .. $n - 1) {
                $sum += $left->[$j] * $y->[$j][$k];
            }
            push @row, $sum;
        }
        push @c, \@row;
    }
    return \@c;
}

sub sieve {
    my ($n) = @_;
    my (%composite, $primes);
    for my $i (2 .. $n) {
        if (!$composite{$i}) {
            $primes++;
            for (my $k = $i * $i; $k <= $n; $k += $i) {
                $composite{$k} = 1;
            }
        }
    }
    return $primes;
}

sub by_text {
    return $a cmp $b;
}

sub one_round {
    my ($size) = @_;
    my @list = sort by_text @{words($size)};
    my $text = join " ", @list;
    my $counts = histogram("$text $text");
    my $mark = sub { return "<$_[0]>" };
    (my $upper = $text) =~ s/(\d+)/$mark->($1)/ge;
    my $accounts = transform(\@list, sub { return Account->new($_[0]) });
    my $i = 0;
    for my $account (@$accounts) {
        for my $k (1 .. 5) {
            $account->deposit($i * $k % 97);
        }
        $i++;
    }
    my $total = 0;
    for my $account (@$accounts) {
        $total += $account->average();
    }
    my $m = multiply(matrix(60), matrix(60));
    return $total + length($upper) + $counts->{$list[0]} + $m->[2][6] + sieve(30000);
}

my $began = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
for (1 .. $ARGV[0]) {
    one_round(2000) > 0 or die;
}
print clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $began, "\n";
