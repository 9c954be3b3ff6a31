# duktape_compare.py COUNTS PROFILE.json: calls of every function, as duktape_count.c and as the profile has them.
# A function in ECMAScript is known by file, the begin of its name, and line, a C function by the last part of its name.
import collections, json, re, sys
from compare import report

def short(name):
    return re.sub(r"[^\w$]", "", re.sub(r".*\.|^[gs]et ", "", name), flags=re.ASCII)

counted, recorded = collections.Counter(), collections.Counter()
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    kind, name, file, at, n = line.rstrip("\n").split("\t")
    counted["C " + short(name) if kind == "C" else "JS %s:%s" % (file[:100], at)] += int(n)
for m in json.load(open(sys.argv[2]))["methods"]:
    if m["name"] == "<Garbage collector>":
        continue
    key = "JS %s:%d" % (m["file"][:100], m["line"]) if m["file"] else "C " + short(m["name"])
    if key not in counted and not m["file"]:  # the recorder finds names for C functions that have none themselves
        key = "C "
    recorded[key] += m["calls"]
for key in [key for key in counted if key.startswith("C ") and key not in recorded]:  # or none, where these have one
    counted["C "] += counted.pop(key)
report("functions", counted, recorded)
