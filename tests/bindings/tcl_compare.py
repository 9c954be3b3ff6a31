# tcl_compare.py COUNTS EMPTY_COUNTS PROFILE.json EMPTY.json: calls of every command, as Tcl's own trace and as the
# profile has them, each without those of an empty program
import collections, json, re, sys
from compare import report

KINDS = [("::oo::Obj[0-9]+::my|my of .*", "my"), ("::oo::Obj[0-9]+|::oo::define::(superclass|variable)|object of .*", "object"),
         ("::co_[a-z]+|resume of a coroutine", "coroutine")]

def kind(name):
    for pattern, text in KINDS:
        if re.fullmatch(pattern, name):
            return text
    return name

def counts(file):
    rows = collections.Counter()
    for line in open(file):
        name, n = line.rstrip("\n").rsplit("\t", 1)
        rows[kind(name)] += int(n)
    return rows

def calls(file):
    rows = collections.Counter()
    for m in json.load(open(file))["methods"]:
        name = kind(m["name"])
        if " " not in name and name != "lambda":  # methods and lambdas are not commands
            rows[name] += m["calls"]
    return rows

counted, recorded = counts(sys.argv[1]), calls(sys.argv[3])
counted.subtract(counts(sys.argv[2]))
recorded.subtract(calls(sys.argv[4]))
report("commands", counted, recorded)
