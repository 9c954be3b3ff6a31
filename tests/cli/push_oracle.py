"""Is what was sent the same as what was recorded, but for the rests of what was cut?

push_oracle.py SENT FOLDED NAME SAMPLES FRAMES: lines of push_decode.py, and all call paths ("a;b 12"). With a naive rule: a path that
was not sent counts for the rest of its longest beginning that was sent or leads to a path that was."""
import sys

sent_file, folded_file, name, samples, frames = sys.argv[1:]
sent, most = {}, None
for line in open(sent_file):
    word, _, rest = line.rstrip("\n").partition(" ")
    if word == "stack" and rest.startswith(name + " "):
        value, _, stack = rest[len(name) + 1:].partition(" ")
        sent[stack] = int(value)
    if word == "most":
        most = [int(x) for x in rest.split()]
paths = {}
for line in open(folded_file):
    stack, _, value = line.rstrip("\n").rpartition(" ")
    paths[stack] = int(value)

kept = {s for s in sent if s in paths and s.split(";")[-1] != "<other>"}
assert all(sent[s] == paths[s] for s in kept), "a path that was kept has another figure"
lost = {s: v for s, v in paths.items() if s not in kept}
shown = {""}
for s in sent:
    parts = [p for p in s.split(";") if p != "<other>"]
    shown.update(";".join(parts[:i]) for i in range(len(parts) + 1))
want = dict((s, paths[s]) for s in kept)
for stack, value in lost.items():
    parts = stack.split(";")
    while ";".join(parts) not in shown or len(parts) > int(frames) - 1:
        parts.pop()
    rest = ";".join(parts + ["<other>"])
    want[rest] = want.get(rest, 0) + value
assert want == sent, sorted(set(want.items()) ^ set(sent.items()))[:10]
assert sum(sent.values()) == sum(paths.values())
assert most[0] <= int(samples) and most[1] <= int(frames), most
if lost and len(kept) > 1:
    light = [v for s, v in lost.items() if s.count(";") < int(frames)]
    assert not light or min(sent[s] for s in kept) >= max(light), "a heavier path was cut"
print(len(kept), len(lost))
