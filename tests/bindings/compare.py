# compare.py: calls that were counted and calls that were recorded: how many differ, and which
import sys

def report(what, counted, recorded, most=30):
    names = sorted(n for n in counted.keys() | recorded.keys() if counted[n] or recorded[n])
    differ = [n for n in names if counted[n] != recorded[n]]
    print("%d %s, %d calls, %d differ" % (len(names), what, sum(counted.values()), len(differ)))
    for n in differ[:most]:
        print("    %s: %d counted, %d recorded" % (n, counted[n], recorded[n]))
    sys.exit(bool(differ))
