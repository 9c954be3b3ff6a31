"""Says what a request of `qprof push` has, decoded by protoc: push_decode.py pyroscope|otlp PROTO BODY.

A line each, sorted within its kind:
  label NAME VALUE
  type NAME UNIT
  stack NAME VALUE OUTERMOST;...;INNERMOST    values that are 0 are left out
  sum NAME VALUE
  most SAMPLES FRAMES
  id ID
"""
import ast
import collections
import gzip
import os
import subprocess
import sys

kind, schema, path = sys.argv[1:]


def decode(message, data):
    """A message as {field: [value]}."""
    text = subprocess.run(["protoc", "-I", os.path.dirname(schema), "--decode=" + message, schema], input=data,
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    top = collections.defaultdict(list)
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            assert not line[0].isdigit(), "a field that the schema does not have: " + line
            inner = collections.defaultdict(list)
            stack[-1][line[:-2]].append(inner)
            stack.append(inner)
        else:
            name, value = line.split(": ", 1)
            assert not name.isdigit(), "a field that the schema does not have: " + line
            stack[-1][name].append(ast.literal_eval("b" + value) if value[0] == '"' else
                                   int(value) if value.lstrip("-").isdigit() else value)
    return top


def one(message, field, otherwise=0):
    return message[field][0] if message[field] else otherwise


def text(value):
    return value.decode("utf-8") if value else ""


lines = []
figures = collections.Counter()
most = [0, 0]


def count(name, samples, frames_of, values_of):
    most[0] = max(most[0], len(samples))
    for sample in samples:
        frames = frames_of(sample)
        most[1] = max(most[1], len(frames))
        figures[name, ";".join(reversed(frames))] += values_of(sample)


def pyroscope(data):
    request = decode("PushRequest", data)
    assert len(request["series"]) == 1
    series = request["series"][0]
    for pair in series["labels"]:
        lines.append("label %s %s" % (text(one(pair, "name")), text(one(pair, "value"))))
    assert len(series["samples"]) == 1
    raw = series["samples"][0]
    lines.append("id " + text(one(raw, "ID")))
    profile = decode("Pprof", gzip.decompress(one(raw, "raw_profile")))
    strings = [text(s) for s in profile["string_table"]]
    assert strings[0] == ""
    functions = {one(f, "id"): strings[one(f, "name")] for f in profile["function"]}
    places = {one(p, "id"): [functions[one(x, "function_id")] for x in p["line"]] for p in profile["location"]}
    assert 0 not in functions and 0 not in places
    assert len(functions) == len(profile["function"]) and len(places) == len(profile["location"])
    for i, t in enumerate(profile["sample_type"]):
        name = strings[one(t, "type")]
        lines.append("type %s %s" % (name, strings[one(t, "unit")]))
        count(name, profile["sample"], lambda s: [f for p in s["location_id"] for f in places[p]], lambda s: s["value"][i])


def otlp(data):
    request = decode("ExportRequest", gzip.decompress(data))
    assert len(request["resource_profiles"]) == 1 and len(request["dictionary"]) == 1
    tables = request["dictionary"][0]
    strings = [text(s) for s in tables["string_table"]]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    for table in "mapping", "location", "function", "attribute", "stack":
        first = tables[table + "_table"][0]
        assert not any(first.values()), table
    assert len(one(tables["link_table"][0], "trace_id")) == 16
    of = request["resource_profiles"][0]
    for pair in of["resource"][0]["attributes"]:
        lines.append("label %s %s" % (text(one(pair, "key")), text(one(pair["value"][0], "string_value"))))
    scope = of["scope_profiles"][0]
    assert text(one(scope["scope"][0], "name")) == "qprof"

    def frames(sample):
        stack = tables["stack_table"][one(sample, "stack_index")]
        places = [tables["location_table"][i] for i in stack["location_indices"]]
        return [strings[one(tables["function_table"][one(p["lines"][0], "function_index")], "name_strindex")]
                for p in places]

    for profile in scope["profiles"]:
        t = profile["sample_type"][0]
        name = strings[one(t, "type_strindex")]
        lines.append("type %s %s" % (name, strings[one(t, "unit_strindex")]))
        lines.append("id " + one(profile, "profile_id").hex())
        assert len(one(profile, "profile_id")) == 16 and one(profile, "time_unix_nano")
        stacks = [one(s, "stack_index") for s in profile["samples"]]
        assert 0 not in stacks and len(set(stacks)) == len(stacks)
        count(name, profile["samples"], frames, lambda s: s["values"][0])


with open(path, "rb") as f:
    {"pyroscope": pyroscope, "otlp": otlp}[kind](f.read())
sums = collections.Counter()
for (name, stack), value in figures.items():
    if value:
        lines.append("stack %s %d %s" % (name, value, stack))
        sums[name] += value
lines += ["sum %s %d" % pair for pair in sums.items()] + ["most %d %d" % tuple(most)]
sys.stdout.buffer.write("".join(line + "\n" for line in sorted(lines)).encode())
