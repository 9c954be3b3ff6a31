"""python_programs.py: work for the comparison of counters: parts of the standard library that are Python."""
import ast
import asyncio
import difflib
import dis
import io
import json.decoder
import json.encoder
import pickle
import textwrap
import tokenize
import unittest

with open(unittest.__file__) as file:
    TEXT = file.read()


def unparse():
    tree = ast.parse(TEXT)
    return ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)


def compare_lines():
    lines = TEXT.splitlines()
    changed = [line.upper() if i % 7 == 0 else line for i, line in enumerate(lines)]
    return sum(1 for _ in difflib.unified_diff(lines, changed))


def disassemble():
    out = io.StringIO()
    dis.dis(compile(TEXT, "text", "exec"), file=out)
    return len(out.getvalue().splitlines())


def slow_json():
    data = {"a": [1, 2.5, None, {"b": "c" * 20}] * 20}
    text = "".join(json.encoder.JSONEncoder(indent=1).iterencode(data))
    decoder = json.decoder.JSONDecoder()
    decoder.parse_array = json.decoder.JSONArray
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    return decoder.decode(text) == data


def slow_pickle():
    out = io.BytesIO()
    pickle._Pickler(out).dump({"key": list(range(50)), "text": TEXT})
    return pickle._loads(out.getvalue())["text"] == TEXT


def tasks():
    async def turn(n):
        for _ in range(n):
            await asyncio.sleep(0)
        return n

    async def all_turns():
        return sum(await asyncio.gather(*(turn(n) for n in range(20))))

    return asyncio.run(all_turns())


def errors():
    n = 0
    for text in ("1", "x", "2", "(", ""):
        try:
            list(tokenize.generate_tokens(io.StringIO(text).readline))
            n += ast.literal_eval(text)
        except (ValueError, SyntaxError, tokenize.TokenError):
            n += 100
    return n


for work in (unparse, compare_lines, disassemble, slow_json, slow_pickle, tasks, errors):
    print(work.__name__, work())
print(len(textwrap.fill(TEXT, 40)))
