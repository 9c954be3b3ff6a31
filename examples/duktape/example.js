// example.js: a coroutine produces words, and an object counts them.
function words(text) {
    text.split(' ').forEach(function check(word) { if (!word) throw new Error('empty word'); });
    for (var i = 0, list = text.split(' '); i < list.length; i++) Duktape.Thread.yield(list[i]);
    return null;
}

function Counter() { this.counts = {}; }
Counter.prototype.add = function (word) {
    if (word === 'fox') throw new Error('forbidden: ' + word);
    this.counts[word] = (this.counts[word] || 0) + 1;
};

var counter = new Counter();
var next = new Duktape.Thread(words);
for (var word; (word = Duktape.Thread.resume(next, 'the quick brown fox jumps over the lazy dog')) !== null;) {
    try { counter.add(word); } catch (e) { print(e.message); }
}
print(JSON.stringify(counter.counts));
