// duktape_calls.js: calls, and ends of calls, of all kinds
function sum() { var n = 0; for (var i = 0; i < arguments.length; i++) n += arguments[i]; return n; }
function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.length = function () { return Math.sqrt(this.x * this.x + this.y * this.y); };
Point.prototype.add = function add(o) { return new Point(this.x + o.x, this.y + o.y); };
Object.defineProperty(Point.prototype, 'double', {
    get: function () { return this.x * 2; },
    set: function (v) { this.x = v / 2; }
});

// plain calls, constructors, accessors
var p = new Point(3, 4).add(new Point(0, 0));
print(p.length(), p.double);
p.double = 20;
print(p.x, new (Point.bind(null, 7))(8).x);

// targets that are found on the way
print(sum.call(null, 1, 2), sum.apply(null, [1, 2, 3]), sum.bind(null, 4, 5)(6), sum.bind(null, 1).bind(null, 2)(3));
print(Reflect.apply(sum, null, [1, 2]), Reflect.construct(Point, [5, 6]).y);
print(Function.prototype.call.call(sum, null, 9), Function.prototype.apply.call(sum, null, [1, 9]));
print(Math.max.apply(Math, [1, 5, 3]), Array.prototype.slice.call([1, 2, 3], 1));

// Proxies
var log = 0;
var handler = {
    get: function get_trap(t, k) { log++; return t[k]; },
    has: function has_trap(t, k) { log++; return k in t; },
    set: function set_trap(t, k, v) { log++; t[k] = v; return true; },
    deleteProperty: function delete_trap(t, k) { log++; return delete t[k]; },
    ownKeys: function keys_trap(t) { log++; return Object.keys(t); },
    apply: function apply_trap(t, self, args) { log++; return t.apply(self, args); },
    construct: function construct_trap(t, args) { log++; return new t(args[0], args[1]); }
};
var proxy = new Proxy({ a: 1 }, handler);
proxy.b = proxy.a + 1;
print('a' in proxy, delete proxy.a, Object.keys(proxy), log);
print(new Proxy(sum, handler)(1, 2), new (new Proxy(Point, handler))(1, 2).y, new Proxy(sum, {})(3));

// C functions that call back, and conversions
print([3, 1, 2].sort(function (a, b) { return a - b; }).map(function (x) { return x * 2; }).join());
print('a-b-c'.replace(/-/g, function dash(s) { return s + s; }), [1, 2, 3].reduce(sum));
print(JSON.stringify({ toJSON: function () { return 1; } }), JSON.parse('{"a":[1,2]}', function reviver(k, v) { return v; }).a);
var speaks = { toString: function () { return 'text'; }, valueOf: function () { return 42; } };
print(speaks + 1, String(speaks), speaks > 41);

// tail calls
function even(n) { 'use strict'; if (n === 0) return true; return odd(n - 1); }
function odd(n) { 'use strict'; if (n === 0) return false; return even(n - 1); }
print(even(100000));
function tail_native(x) { return Math.abs(x); }
function tail_new(x) { return new Point(x, x); }
function tail_try(n) { try { return n ? tail_try(n - 1) : 0; } finally { log++; } }
print(tail_native(-2), tail_new(3).y, tail_try(5), [1, 2].map(function tail_in(x) { return sum(x, 1); }));

// errors
function raises(n) { if (n === 0) throw new TypeError('deep'); raises(n - 1); }
function finally_counts(n) { try { raises(n); } finally { log++; } }
for (var i = 0; i < 5; i++) try { finally_counts(20); } catch (e) { print(e.message); }
try { [1, 2].forEach(function (x) { null.x; }); } catch (e) { print(e.name); }
try { [3, 1, 2].sort(function (a, b) { raises(3); }); } catch (e) { print(e.message); }
try { undefined_function(); } catch (e) { print(e.name); }
try { new Array(-1); } catch (e) { print(e.name); }
try { ({ get a() { raises(2); } }).a; } catch (e) { print(e.message); }
try { 'x'.repeat(-1); } catch (e) { print(e.name); }
function recurse(n) { return 1 + recurse(n + 1); }
try { recurse(0); } catch (e) { print(e.name); }
function through_native(n) { return [n].map(function (x) { return through_native(x + 1); }); }
try { through_native(0); } catch (e) { print(e.name); }
Duktape.errCreate = function (e) { e.seen = true; return e; };
try { raises(1); } catch (e) { print(e.seen); }
delete Duktape.errCreate;

// code that is compiled now
print(eval('sum(1, 2)'), (0, eval)('sum(3, 4)'), new Function('a', 'b', 'return a * b')(3, 4));
for (i = 0; i < 100; i++) eval('(function made(x) { return x; })(' + i + ')');
try { eval('var = 1'); } catch (e) { print(e.name); }
try { eval('raises(2)'); } catch (e) { print(e.message); }

// coroutines
function numbers(n) { for (var i = 0; i < n; i++) Duktape.Thread.yield(i); return 'end'; }
function drain(t, x) { var out = [], v; do { v = Duktape.Thread.resume(t, x); out.push(v); } while (v !== 'end'); return out.join(); }
print(drain(new Duktape.Thread(numbers), 3));
function outer(n) { var t = new Duktape.Thread(numbers), v; while ((v = Duktape.Thread.resume(t, n)) !== 'end') Duktape.Thread.yield(v * 10); return 'end'; }
print(drain(new Duktape.Thread(outer), 4));
function fails(x) { Duktape.Thread.yield(1); raises(4); }
var t = new Duktape.Thread(fails);
Duktape.Thread.resume(t);
try { Duktape.Thread.resume(t); } catch (e) { print(e.message); }
try { Duktape.Thread.resume(t); } catch (e) { print(e.name); }
function catches() { for (;;) try { Duktape.Thread.yield('ready'); } catch (e) { Duktape.Thread.yield('caught ' + e.message); } }
t = new Duktape.Thread(catches);
print(Duktape.Thread.resume(t), Duktape.Thread.resume(t, new Error('thrown in'), true), Duktape.Thread.resume(t));
function yields_error() { Duktape.Thread.yield(new Error('yielded'), true); return 'end'; }
t = new Duktape.Thread(yields_error);
try { Duktape.Thread.resume(t); } catch (e) { print(e.message); }
print(Duktape.Thread.resume(t));
t = new Duktape.Thread(fails);
try { Duktape.Thread.resume(t, new Error('before it runs'), true); } catch (e) { print(e.message); }
for (i = 0; i < 300; i++) { t = new Duktape.Thread(numbers); Duktape.Thread.resume(t, 5); if (i % 3) drain(t); }
t = null;
try { [1].map(function () { Duktape.Thread.yield(1); }); } catch (e) { print(e.name); }
t = new Duktape.Thread(function () { [1].map(function () { Duktape.Thread.yield(1); }); });
try { Duktape.Thread.resume(t); } catch (e) { print(e.name); }
t = new Duktape.Thread(function deep(x) { return even(1001) ? 1 : recurse(0); });
try { Duktape.Thread.resume(t); } catch (e) { print(e.name); }

// finalizers and the collector
var ended = 0;
function finalizer(o) { ended++; if (o.bad) raises(2); }
for (i = 0; i < 50; i++) { var o = { bad: i % 10 === 0 }; Duktape.fin(o, finalizer); if (i % 2) o.self = o; o = null; }
Duktape.gc();
Duktape.gc();
print(ended);
t = new Duktape.Thread(function () { for (var i = 0; i < 3; i++) { var o = {}; Duktape.fin(o, finalizer); o = null; Duktape.Thread.yield(i); } });
for (i = 0; i < 4; i++) Duktape.Thread.resume(t);
Duktape.gc();
print(ended);
var kept = {};
Duktape.fin(kept, function at_the_end() { sum(1, 2); });

// functions as bytecode do not exist for programs; getters of the language
print(new Uint8Array(4).length, new ArrayBuffer(8).byteLength, /a/gi.flags === undefined, 'abc'[Symbol ? 1 : 0]);
