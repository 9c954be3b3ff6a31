"""store.py STORE[=PID,...]...: what stores of the profiles p*.qprof of this folder take, on disk and in time; PIDs are of its servers.

Each time is the median of 5 (RUNS): what a command took until it ended, and in brackets what it and the servers took of processors."""
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")
RUNS = int(os.environ.get("RUNS", "5"))


def used(pids):
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = use.ru_utime + use.ru_stime
    for pid in pids:
        with open("/proc/%s/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / TICKS
    return seconds


def run(pids, *words):
    """@return seconds until it ended, and of processors"""
    begin, before = time.monotonic(), used(pids)
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin, used(pids) - before


def median(pids, *words):
    runs = [run(pids, *words) for _ in range(RUNS)]
    return "%.0f (%.0f)" % tuple(1000 * statistics.median(column) for column in zip(*runs))


def bytes_on_disk(store):
    if not store.startswith("clickhouse:"):
        return os.path.getsize(store)
    n = 0
    for address in store[len("clickhouse:") :].split(","):
        url, _, database = address.rpartition("/")
        question = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '%s'" % database
        with urllib.request.urlopen(url, question.encode()) as answer:
            n += int(answer.read())
    return n


def measure(store, pids, files):
    lines = {}
    elapsed, of_processors = run(pids, "qprof", "store", "import", store, *files)
    listed = json.loads(subprocess.run(["qprof", "store", "list", "--format=json", store], stdout=subprocess.PIPE, check=True).stdout)
    n = sum(profile["paths"] for profile in listed["profiles"])
    lines["profiles"] = "%d" % len(listed["profiles"])
    lines["call paths"] = "%d" % n
    lines["bytes a call path"] = "%.2f" % (bytes_on_disk(store) / n)
    lines["call paths a second, import"] = "%.0f (%.0f)" % (n / elapsed, n / of_processors)
    for text, words in (
        ("top, ms", ["top"]),
        ("top of a host, ms", ["top", "--label=host=h3"]),
        ("tree, ms", ["tree"]),
        ("tree of an endpoint, ms", ["tree", "--endpoint=check stages"]),
        ("requests, ms", ["requests"]),
        ("diff of two hosts, ms", ["diff", "--base=host=h3", "--new=host=h4"]),
        ("series, ms", ["series"]),
    ):
        lines[text] = median(pids, "qprof", "store", *words, store)
    lines["roll, ms"] = "%.0f (%.0f)" % tuple(1000 * t for t in run(pids, "qprof", "store", "roll", "--before=2100-01-01", store))
    for text, words in (
        ("top of rolled hours, ms", ["top"]),
        ("diff of two versions, rolled, ms", ["diff", "--base=1.0", "--new=1.1"]),
    ):
        lines[text] = median(pids, "qprof", "store", *words, store)
    return lines


files = sorted(name for name in os.listdir(".") if name.startswith("p") and name.endswith(".qprof"))
columns = []
for word in sys.argv[1:]:
    store, _, pids = word.partition("=")
    columns.append(measure(store, pids.split(",") if pids else [], files))
    print("%s is done" % store, file=sys.stderr)
for text in columns[0]:
    print("| %-33s |" % text, *("%20s |" % column[text] for column in columns))
