<?php
// php_requests.php: qprof_request() counts every request, and passes on what its function did. Read by test_php.sh.
const HEADER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
function leaf() {}
function fail(int $n) { if ($n == 0) throw new RuntimeException('on purpose'); fail($n - 1); }
function serve(int $i, ?string $more = null): string
{
    leaf();
    if ($i % 5 == 0) fail(2);
    leaf();
    return "$i$more";
}
class Site
{
    public static function page(int $n) { for ($i = 0; $i < $n; $i++) leaf(); }
    public function __invoke() { return qprof_request('GET /inner', null, 'Site::page', 3); }
}
function claim(bool $is_so) { if (!$is_so) { debug_print_backtrace(); exit(1); } }

claim(qprof_request('nothing is on', null, 'strlen', 'abc') === 3);
qprof_start(['output' => 'requests.qprof', 'check_host' => true, 'open_frames' => false]);
qprof_request('GET /first', 'no header', fn() => leaf()); // in no call that is recorded
leaf();
for ($i = 0; $i < 100; $i++) {
    try {
        claim(qprof_request($i % 2 ? 'GET /odd' : 'GET /even', HEADER, 'serve', $i, more: 'x') === $i . 'x' && $i % 5 != 0);
    } catch (RuntimeException $error) {
        claim($i % 5 == 0 && $error->getTrace()[2]['function'] == 'fail');
    }
}
qprof_request('GET /outer', null, new Site);

// fibers that are suspended inside of requests, in turn; one is left
$fibers = [];
for ($k = 0; $k < 5; $k++) {
    $fibers[$k] = new Fiber(fn() => qprof_request('fiber', null, function () use ($k) {
        leaf();
        Fiber::suspend();
        leaf();
        if ($k == 4) fail(0);
        return $k;
    }));
    $fibers[$k]->start();
}
for ($k = 0; $k < 5; $k++) {
    try {
        if ($k != 2) $fibers[$k]->resume();
    } catch (RuntimeException $error) {
        claim($k == 4);
    }
}
claim($fibers[3]->getReturn() === 3);
unset($fibers);
try {
    qprof_request('no function', null, 'there is none');
    claim(false);
} catch (TypeError $error) {
}
function outside() { qprof_request('exits', null, fn() => exit(0)); }
outside();
