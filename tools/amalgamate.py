#!/usr/bin/env python3
"""amalgamate.py FOLDER: write qprof.h, the public headers in one file, and qprof.c, the recorder in one file.

A host compiles qprof.c and links it with pthread; no other file is needed. The sources are taken as they
are, in the order of the rooms, each header where it is first included. Names that several files have for
themselves get the name of their file as an ending; macros of a file end with it. Guide: docs/platforms.md.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ["base", "format", "code", "config", "cover", "xbase", "record", "api"]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[^\n]*\n', re.M)
TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|->|\.\.\.|[0-9][\w.]*|\s+|.', re.S)
NOT_NAMES = {"static", "const", "inline", "extern", "typedef", "struct", "union", "enum", "void",
             "__attribute__", "_Static_assert", "_Thread_local", "if", "while", "for", "switch", "return",
             "sizeof"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def find(name):
    for folder in ("src", "include"):
        path = os.path.join(ROOT, folder, name)
        if os.path.exists(path):
            return path
    raise SystemExit("amalgamate.py: no " + name)


def sources():
    paths = []
    for room in ROOMS:
        for folder, _, files in os.walk(os.path.join(ROOT, "src", room)):
            paths += [os.path.join(folder, f) for f in files if f.endswith(".c")]
        paths[:] = list(dict.fromkeys(paths))
    order = {room: i for i, room in enumerate(ROOMS)}
    return sorted(paths, key=lambda p: (order[os.path.relpath(p, ROOT).split(os.sep)[1]], p))


def names_of(text):
    """The names that a file defines outside of functions: types, variables, static functions, constants of enums."""
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.M)
    tokens = [t for t in TOKEN.findall(text) if not t.isspace() and not t.startswith(("/*", "//"))]
    names, depth, parens, in_enum, chunk = set(), 0, 0, False, []
    for i, t in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        before = tokens[i - 1] if i else ""
        is_name = re.match(r"[A-Za-z_]", t) and t not in NOT_NAMES
        if depth == 0 and parens == 1 and is_name and before == "*" and chunk[-2:-1] == ["("] and "static" in chunk:
            names.add(t)  # a pointer to a function
        if depth == 0 and parens == 0 and is_name:
            if before in ("struct", "union", "enum"):
                if after == "{":
                    names.add(t)
            elif after in ("=", "[", ";", ","):
                names.add(t)
            elif after == "(" and tokens[i + 2] != "*" and ("static" in chunk or chunk[:1] == ["QPROF_APART"]):
                names.add(t)
        if in_enum and depth == 1 and is_name and before in ("{", ","):
            names.add(t)
        if t == "{":
            in_enum = in_enum or (depth == 0 and "enum" in chunk[-2:])
            depth += 1
        elif t == "}":
            depth -= 1
            in_enum = in_enum and depth > 0
        elif t == "(":
            parens += 1
        elif t == ")":
            parens -= 1
        chunk = [] if depth == 0 and t in (";", "}") and after != ";" else chunk + [t]
    return names


def rename(text, names, ending):
    out, before = [], ""
    for t in TOKEN.findall(text):
        out.append(t + ending if t in names and before not in (".", "->") else t)
        if not t.isspace():
            before = t
    return "".join(out)


def flatten(path, seen, is_public):
    """The text of a file with what it includes for the first time."""
    def one(match):
        name = match.group(1)
        target = find(name)
        public = os.sep + "include" + os.sep in target
        if public and not is_public or target in seen:
            return ""
        seen.add(target)
        return flatten(target, seen, is_public)
    return INCLUDE.sub(one, read(path))


def version():
    return re.search(r"project\(qprof VERSION ([0-9.]+)", read(os.path.join(ROOT, "CMakeLists.txt"))).group(1)


def write_header(folder):
    seen, parts = set(), []
    for name in ("qprof.h", "qprof/embed.h"):
        path = find(name)
        if path not in seen:
            seen.add(path)
            parts.append(flatten(path, seen, True))
    with open(os.path.join(folder, "qprof.h"), "w", encoding="utf-8") as file:
        file.write("/* qprof.h: the public headers of qprof %s in one file, made by tools/amalgamate.py. */\n"
                   % version() + "".join(parts))


def write_source(folder):
    files = sources()
    defined = {}
    for path in files:
        for name in names_of(read(path)):
            defined.setdefault(name, []).append(path)
    hidden = INCLUDE.sub("", read(find("base/hidden.h")))
    hidden = hidden[:hidden.index("/* Of these functions of")] + "#endif\n"
    out = ["/* qprof.c: the recorder of qprof %s in one file, made by tools/amalgamate.py. */\n"
           "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE 1\n#endif\n"
           "#define QPROF_SINGLE_FILE 1\n"
           '#ifndef QPROF_VERSION_TEXT\n#define QPROF_VERSION_TEXT "%s"\n#endif\n' % (version(), version()), hidden, '#include "qprof.h"\n']
    seen = {find("base/hidden.h")}
    for path in files:
        text = read(path)
        local = os.path.relpath(path, os.path.join(ROOT, "src"))
        includes = []
        for match in INCLUDE.finditer(text):
            target = find(match.group(1))
            if target not in seen and os.sep + "include" + os.sep not in target:
                seen.add(target)
                includes.append(flatten(target, seen, False))
        text = INCLUDE.sub("", text)
        clashes = {n for n in names_of(text) if len(defined[n]) > 1}
        ending = "_" + re.sub(r"\W", "_", local[:-2].replace("record/", ""))
        macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)
        out += includes + ["/* ---- %s ---- */\n" % local, rename(text, clashes, ending)]
        out += ["#undef %s\n" % m for m in dict.fromkeys(macros)]
    with open(os.path.join(folder, "qprof.c"), "w", encoding="utf-8") as file:
        file.write("".join(out))


write_header(sys.argv[1])
write_source(sys.argv[1])
