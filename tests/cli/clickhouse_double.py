#!/usr/bin/env python3
"""clickhouse_double.py FOLDER PORT: a small server on loopback that answers as ClickHouse does, where there is none.

It takes the statements that a store of qprof sends, and no others; its answers are in the format RowBinary. A column exists if
CREATE TABLE has made it, and rows that are sent twice are there twice until FINAL asks. FOLDER/changes has each statement that
changes a table before it is answered, so that the double may be killed. It shows nothing of a real server:
`tests/long.sh clickhouse` makes the same claims with two of them."""
import os
import re
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder, port = sys.argv[1], int(sys.argv[2])
tables = {}  # "database.name" -> Table
lock = threading.Lock()


class Refused(Exception):
    pass


# ---- RowBinary ------------------------------------------------------------------------------------------------

NUMBERS = {"UInt8": "<B", "UInt16": "<H", "Date": "<H", "UInt32": "<I", "DateTime": "<I", "UInt64": "<Q"}


def take_count(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return n, at


def put_count(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def item_of(kind):
    return kind[len("Array(") : -1]


def take(kind, data, at):
    if kind in NUMBERS:
        return struct.unpack_from(NUMBERS[kind], data, at)[0], at + struct.calcsize(NUMBERS[kind])
    n, at = take_count(data, at)
    if kind == "String":
        if at + n > len(data):
            raise Refused("Cannot read all data")
        return data[at : at + n], at + n
    items = []
    for _ in range(n):
        item, at = take(item_of(kind), data, at)
        items.append(item)
    return tuple(items), at


def put(kind, value):
    if kind in NUMBERS:
        return struct.pack(NUMBERS[kind], value)
    if kind == "String":
        return put_count(len(value)) + value
    return put_count(len(value)) + b"".join(put(item_of(kind), item) for item in value)


# ---- tables ---------------------------------------------------------------------------------------------------


class Table:
    def __init__(self, columns, key):
        self.columns, self.key, self.rows = columns, key, []

    def final(self):
        return list({tuple(row[name] for name in self.key): row for row in self.rows}.values())


def find(name):
    if name not in tables:
        raise Refused("Table %s doesn't exist" % name)
    return tables[name]


def create(m):
    columns = dict(part.split()[:2] for part in m["columns"].split(","))
    tables.setdefault(m["table"], Table(columns, re.findall(r"\w+", m["key"])))


def insert(m, data):
    table = find(m["table"])
    names = re.findall(r"\w+", m["names"]) if m["names"] else list(table.columns)
    for name in names:
        if name not in table.columns:
            raise Refused("No such column %s in table %s" % (name, m["table"]))
    at, rows = 0, []
    while at < len(data):
        row = {name: int(time.time()) if kind == "DateTime" else None for name, kind in table.columns.items()}
        for name in names:
            row[name], at = take(table.columns[name], data, at)
        rows.append(row)
    table.rows += rows


def insert_values(m):
    table = find(m["table"])
    table.rows.append({next(iter(table.columns)): int(m["value"])})


def truncate(m):
    find(m["table"]).rows = []


def delete(m):
    table = find(m["table"])
    is_gone = expression(m["where"], table)
    table.rows = [row for row in table.rows if not is_gone([row])]


# ---- questions ------------------------------------------------------------------------------------------------

OF_ROW = {
    "toDate": lambda n: n,
    "toUInt64": lambda n: n,
    "toUInt32": lambda n: n,
    "now": lambda: int(time.time()),
    "notEmpty": lambda items: len(items) > 0,
    "has": lambda items, item: item in items,
    "bitAnd": lambda a, b: a & b,
    "bitShiftRight": lambda a, b: a >> b,
}
OF_ROWS = {
    "count": lambda rows: len(rows),
    "countIf": lambda rows, each: sum(1 for row in rows if each(row)),
    "sum": lambda rows, each: sum(map(each, rows)) & (1 << 64) - 1,
    "min": lambda rows, each: min(map(each, rows), default=0),
    "max": lambda rows, each: max(map(each, rows), default=0),
}

def expression(text, table):
    """@return a function of a list of rows. Names of columns, numbers and the functions above are all that eval() sees."""
    code = re.sub(r" IN \(([\d,]+)\)", r" in {\1}", text).replace(" AND ", " and ")
    code = re.sub(r"(?<![<>=])=", "==", code)
    if not re.fullmatch(r"[\w\s(){},<>=+-]*", code):
        raise Refused("Syntax error: " + text)

    def word(m):
        name, is_call = m[1], m[2]
        if name in ("and", "in"):
            return m[0]
        if is_call and name in OF_ROWS:
            return name + ("(rows" if name == "count" else "(rows, lambda row: ")
        if is_call and name in OF_ROW:
            return m[0]
        if is_call or name not in table.columns:
            raise Refused("Unknown identifier: " + name)
        return "row['%s']" % name

    code = re.sub(r"([A-Za-z_]\w*)(\()?", word, code)
    make = eval("lambda rows, row: " + code, {**OF_ROW, **OF_ROWS})
    return lambda rows: make(rows, rows[0] if rows else None)


def split(text):
    """At the commas that are in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def select(m, is_binary):
    """@return the rows of the answer, as bytes"""
    table = find(m["table"])
    rows = table.final() if m["final"] else table.rows
    if m["where"]:
        is_wanted = expression(m["where"], table)
        rows = [row for row in rows if is_wanted([row])]
    groups = {}
    for i, row in enumerate(rows):
        groups.setdefault(row[m["group"]] if m["group"] else i, []).append(row)
    parts = list(groups.values())
    if not m["group"] and re.search(r"\b(%s)\(" % "|".join(OF_ROWS), m["what"]):
        parts = [rows]
    items = []
    for text in split(m["what"]):
        kind = "UInt32" if text.startswith("toUInt32(") else table.columns.get(text, "UInt64")
        items.append((kind, expression(text, table)))
    if not is_binary:
        return [b"\t".join(b"%d" % make(part) for _, make in items) + b"\n" for part in parts]
    lines = [b"".join(put(kind, make(part)) for kind, make in items) for part in parts]
    return list(dict.fromkeys(lines)) if m["distinct"] else lines


CHANGES = [
    (r"CREATE DATABASE (IF NOT EXISTS )?\w+", lambda m: None),
    (r"CREATE TABLE (?:IF NOT EXISTS )?(?P<table>\w+\.\w+) \((?P<columns>.*)\) ENGINE = ReplacingMergeTree"
     r"(?: PARTITION BY day)? ORDER BY (?P<key>.*)", create),
    (r"INSERT INTO (?P<table>\w+\.\w+) VALUES \((?P<value>\d+)\)", insert_values),
    (r"ALTER TABLE (?P<table>\w+\.\w+) DELETE WHERE (?P<where>.*)", delete),
    (r"TRUNCATE TABLE (?P<table>\w+\.\w+)", truncate),
]
INSERT = r"INSERT INTO (?P<table>\w+\.\w+)(?: \((?P<names>.*)\))? FORMAT RowBinary"
IS_THERE = r"SELECT count\(\) FROM system\.tables WHERE database = '(?P<database>\w+)' AND name = '(?P<name>\w+)'"
SELECT = (r"SELECT (?P<distinct>DISTINCT )?(?P<what>.*?) FROM (?P<table>\w+\.\w+)(?P<final> FINAL)?(?: WHERE (?P<where>.*?))?"
          r"(?: GROUP BY (?P<group>\w+))?")


def answer(text):
    """To a question: a text, or numbers as text where no format is asked for."""
    text = text.strip()
    questions = text.removesuffix(" FORMAT RowBinary")
    out = []
    for question in questions.split(" UNION ALL "):
        m = re.fullmatch(IS_THERE, question)
        if m:
            out.append(put("UInt64", int("%s.%s" % (m["database"], m["name"]) in tables)))
            continue
        m = re.fullmatch(SELECT, question, re.S)
        if not m:
            raise Refused("Syntax error: " + question[:200])
        out += select(m, questions != text)
    return b"".join(out)


def change(body):
    """@return False: it is no change"""
    head, _, data = body.partition(b"\n")
    m = re.fullmatch(INSERT, head.decode())
    if m:
        insert(m, data)
        return True
    text = body.decode().strip()
    for pattern, make in CHANGES:
        m = re.fullmatch(pattern, text)
        if m:
            make(m)
            return True
    return False


# ---- the server -----------------------------------------------------------------------------------------------


def remember():
    """What was changed before the double was killed; of the last change perhaps a part, which was not answered."""
    changes.seek(0)
    data = changes.read()
    at = 0
    while at + 8 <= len(data):
        (n,) = struct.unpack_from("<Q", data, at)
        if at + 8 + n > len(data):
            break
        change(data[at + 8 : at + 8 + n])
        at += 8 + n
    changes.seek(at)
    changes.truncate()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:  # else the next request would find it closed, or not yet
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        self.reply(200, b"Ok.\n")

    def do_POST(self):
        n = int(self.headers["Content-Length"])
        body = self.rfile.read(n)
        if len(body) < n:  # the connection broke
            self.close_connection = True
            return
        with lock:
            try:
                if change(body):
                    changes.write(struct.pack("<Q", n) + body)
                    changes.flush()
                    self.reply(200, b"")
                else:
                    self.reply(200, answer(body.decode()))
            except (Refused, IndexError, struct.error) as e:
                self.reply(500, b"Code: 1, e.displayText() = DB::Exception: " + str(e).encode())

    def log_message(self, *_):
        pass


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


os.makedirs(folder, exist_ok=True)
changes = open(os.path.join(folder, "changes"), "a+b")
remember()
threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
Server(("127.0.0.1", port), Handler).serve_forever()
