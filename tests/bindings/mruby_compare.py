# mruby_compare.py COUNTS PROFILE.json: calls of every function, as mruby_count.c and as the profile has them
import collections, json, re, sys
from compare import report

def place(file, line):
    return "Ruby %s:%d" % (re.sub(r".*/(mrblib|mrbgems|test)/", r"\1/", file), line) if file else "Ruby :0"

counted, recorded = collections.Counter(), collections.Counter()
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    text, n = line.rstrip("\n").rsplit("\t", 1)
    match = re.match(r"Ruby (.*):(-?\d+)$", text)
    counted[place(match[1], int(match[2])) if match else text] += int(n)
for m in json.load(open(sys.argv[2]))["methods"]:
    name = m["name"]
    if name == "<Garbage collector>":
        continue
    if m["file"]:
        key = place(m["file"], m["line"])
    elif name.startswith("C block"):
        key = "C block"
    elif re.match(r"(block in |<main>|<class:|<module:)", name):
        key = "Ruby :0"
    else:
        key = "C " + name
    if key.startswith("C ") and key not in counted:  # Ruby code of which mruby has no file: Class#new
        key = "Ruby :0"
    recorded[key] += m["calls"]
report("functions", counted, recorded)
