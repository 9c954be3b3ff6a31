"""serve.py ADDRESS ACTION ...: requests that curl or a browser would not send. See test_serve.sh."""
import json
import re
import socket
import sys
import time
from html.parser import HTMLParser

HOST, PORT = re.match(r"http://\[?([^\]]+?)\]?:(\d+)/$", sys.argv[1]).groups()


def connect():
    return socket.create_connection((HOST, int(PORT)), timeout=100)


def answer(connection):
    """The status, the headers and the body of what is sent until the connection ends."""
    data = b""
    try:
        while part := connection.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    connection.close()
    head, _, body = data.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1].decode() if head.startswith(b"HTTP/") else "closed"
    return status, head.decode("latin-1"), body


def ask(target, method="GET", headers=(), host="localhost"):
    connection = connect()
    lines = [f"{method} {target} HTTP/1.1".encode("latin-1")]
    if host is not None:
        lines.append(f"Host: {host}".encode())
    connection.sendall(b"\r\n".join(lines + [h.encode() for h in headers]) + b"\r\n\r\n")
    return answer(connection)


class Blocks(HTMLParser):
    """The JSON blocks of a page, by their ids."""

    def __init__(self, page):
        super().__init__()
        self.id, self.found = None, {}
        self.feed(page.decode())

    def handle_starttag(self, tag, attributes):
        self.id = dict(attributes).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.id = None

    def handle_data(self, data):
        if self.id:
            self.found[self.id] = self.found.get(self.id, "") + data


def index(target):
    status, _, body = ask(target)
    assert status == "200", (status, body[:300])
    return json.loads(Blocks(body).found["index"])


def expect(what, wanted, found):
    assert wanted == found, f"{what}: {wanted!r} expected, not {found!r}"


# ---- actions ------------------------------------------------------------------------------------

def reason(target):
    """Why it is refused."""
    code, _, text = ask(target)
    if text.startswith(b"{"):
        return code, json.loads(text)["error"]
    if text.startswith(b"qprof serve: "):
        return code, text.decode().strip().partition(": ")[2]
    return code, json.loads(Blocks(text).found["index"])["note"]


def refused(wanted, target, pattern):
    code, why = reason(target)
    expect(target, wanted, code)
    assert re.search(pattern, why), why
    assert "usage" not in why and "--b" not in why and not why.startswith("-") and "\n" not in why, why


def status(wanted, target, method="GET", *headers, host="localhost"):
    expect(target[:80], wanted, ask(target, method, headers, host)[0])


def body(target):
    sys.stdout.buffer.write(ask(target)[2])


def refuses(address):
    try:
        socket.create_connection((address, int(PORT)), timeout=5)
    except OSError:
        return
    raise AssertionError(f"{address} is open")


def hosts():
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", f"127.0.0.1:{PORT}", "[::1]:99"):
        status("200", "/series.json", host=host)
    for host in ("example.org", "localhost.example.org", "127.0.0.1.example.org", "localhost:", "localhost:x", "[::1", "",
                 "127.0.0.1@example.org", "localhost:80:80", "0.0.0.0", "user@localhost"):
        expect(host, True, ask("/series.json", host=host)[0] in ("421", "400"))
    for second in ("localhost", "example.org"):
        expect("two hosts", "400", ask("/series.json", "GET", [f"host: {second}"])[0])
    assert b"ask this server as localhost" in ask("/series.json", host="example.org")[2]
    expect("no host", True, ask("/series.json", host=None)[0] in ("421", "400"))


def hostile():
    for target in ("/../etc/passwd", "/..", "/.%2e/x", "/%2e%2e/etc/passwd", "//etc/passwd", "/window/../window", "/%00",
                   "/window%00", "/a\\b", "http://localhost/", "x", "*", "/window?%", "/window?a=%4", "/window?a=%zz",
                   "/window?service=%00", "/window?service=a%00b", "/window?service", "/window?=%", "/?a\x80=1", "/#x",
                   "/window?service=\x7f", "/window?unknown=1", "/window?output=x", "/window?format=csv", "/window?help=1",
                   "/top.json?format=text", "/list.json?before=1d", "/window?--service=x", "/diff.json?force-merge=1",
                   "/top.json?limit=x", "/?by=month", "/dead?base=1", "/window?" + "label=a=b&" * 101,
                   "/top.json?since=0", "/top.json?since=-1h", "/series.json?until=2026-13-45", "/tree.json?label=x",
                   "/?since=0", "/window?label=x", "/diff.json", "/diff.json?new=2", "/diff.json?base=1&new=",
                   "/top.json?force-merge=2", "/top.json?force-merge=", "/tree.json?hottest=0",
                   "/top.json?service=a&service=b", "/top.json?service=a&service="):
        expect(target[:80], "400", ask(target)[0])
    for target in ("/etc/passwd", "/index.html", "/fleet.db", "/window/", "/Window", "/."):
        expect(target, True, ask(target)[0] in ("404", "400"))
    for n in (101, 200, 500, 4000):  # of the shortest there are, up to all that fit into an address
        expect(f"{n} parameters", ("400", "too many parameters: at most 100"), reason("/top.json?" + "&".join(["a="] * n)[:8000]))
    status("200", "/top.json?" + "&".join(["label="] * 100))
    refused("400", "/top.json?nosuch=1", "^nosuch: no such parameter here; there are service, version, label, since, until, sort, limit, filter")
    refused("400", "/list.json?nosuch=1", "there are service, version, label, since, until$")
    refused("400", "/diff.json?base=1", "^missing new: expected base=VERSION and new=VERSION")
    refused("400", "/top.json?limit=x", "^limit=x: expected")
    refused("400", "/top.json?since=soon", "^since=soon: expected a moment")
    refused("422", "/diff.json?base=9&new=1", "^fleet.db: no profile of it has the version 9$")
    for n in (8193, 20000):
        expect(f"{n} bytes", True, ask("/window?service=" + "x" * n)[0] in ("414", "431", "413"))
    status("422", "/window?service=" + "x" * 8000)
    # a header without an end, and a NUL in the target
    connection = connect()
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 500000)
    expect("a long header", True, answer(connection)[0] in ("413", "431", "closed"))
    connection = connect()
    connection.sendall(b"GET /\0../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n")
    code, _, text = answer(connection)  # what follows NUL is no part of the address
    expect("NUL", True, code in ("400", "closed") or (code == "200" and text == ask("/")[2]))


def methods():
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get", "X"):
        code, head, _ = ask("/series.json", method)
        expect(method, "405", code)
        assert "Allow: GET, HEAD" in head, head
    code, head, text = ask("/", "HEAD")
    expect("HEAD", ("200", b""), (code, text))
    assert int(re.search(r"Content-Length: (\d+)", head)[1]) > 1000, head
    status("400", "/", "GET", "Content-Length: 5")
    status("400", "/", "GET", "Transfer-Encoding: chunked")


def headers():
    for target in ("/", "/window", "/series.json", "/nothing", "/%"):
        head = ask(target)[1]
        for line in ("Content-Security-Policy: ", "frame-ancestors 'none'", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                     "Referrer-Policy: no-referrer", "Connection: close"):
            assert line in head, (target, line, head)
    for target in ("/", "/window", "/dead"):
        policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', ask(target)[2])[1]
        assert b"default-src 'none'" in policy and b"unsafe" not in policy, policy
    status("403", "/top.json", "GET", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors")
    status("200", "/", "GET", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")


def token(good):
    import base64
    basic = lambda text: "Authorization: Basic " + base64.b64encode(text.encode()).decode()
    for target in ("/", "/window", "/series.json", "/nothing", "/%00"):
        code, head, text = ask(target)
        expect(target, "401", code)
        assert 'WWW-Authenticate: Basic realm="qprof"' in head and good.encode() not in text, head
    status("401", "/", "POST")
    for wrong in ("Bearer", "Bearer ", f"Bearer {good}x", f"Bearer {good[:-1]}", f"Bearer  {good}", f"Bearer x{good}", good,
                  f"Token {good}", "Bearer " + "x" * 5000, "Basic", "Basic ====", "Basic !!!!", "Basic " + "A" * 3000):
        status("401", "/", "GET", f"Authorization: {wrong}")
    for wrong in (good, f":{good}x", f"{good}:", "a:b", ""):
        status("401", "/", "GET", basic(wrong))
    for right in (f"Authorization: Bearer {good}", f"authorization: bearer {good}", basic(f":{good}"), basic(f"somebody:{good}")):
        status("200", "/", "GET", right)
    status("200", "/", "GET", f"Authorization: Bearer {good}", host="profiles.example.org")


def slow():
    """Clients that send a byte at a time, or nothing, do not hold the server; others are served meanwhile."""
    slow_one, silent = connect(), [connect() for _ in range(62)]
    slow_one.sendall(b"GET / HTTP/1.1\r\nX: ")
    status("200", "/series.json")
    closed, sent = False, 0
    while not closed and sent < 1000:
        try:
            slow_one.sendall(b"x")
            sent += 1
            slow_one.settimeout(0.2)
            closed = slow_one.recv(1) == b""
        except (BrokenPipeError, ConnectionResetError):
            closed = True
        except socket.timeout:
            pass
    assert closed, "a client that sends a byte at a time is not left"
    more = [connect() for _ in range(70)]  # more than there may be: the last waits until others are left
    status("200", "/series.json")
    for connection in silent + more:
        connection.close()
    status("200", "/series.json")


def is_open(connection):
    """Whether the server has not closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def crowd():
    """Idle connections leave, the oldest first, when another one comes: not all of them, after their time."""
    for _ in range(5):  # on a machine that stands still they may all have had their time
        idle = [connect() for _ in range(64)]
        for connection in idle[::2]:
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        status("200", "/series.json")
        left = [is_open(connection) for connection in idle]
        for connection in idle:
            connection.close()
        if not left[0] and left[-1] and sum(left) > 32:
            break
    else:
        raise AssertionError(f"of 64 idle connections {sum(left)} are open after an answer")
    idle = [connect() for _ in range(200)]
    status("200", "/series.json")
    expect("the oldest of 200", False, is_open(idle[0]))
    for connection in idle:
        connection.close()


def unread():
    """An answer that is not read has its part of the room for answers, until its connection ends."""
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    lazy.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # else the system takes all of the page
    lazy.connect((HOST, int(PORT)))
    lazy.sendall(b"GET /window HTTP/1.1\r\nHost: localhost\r\n\r\n")
    expect("its beginning", b"H", lazy.recv(1))
    refused("503", "/window", "^busy: answers that have not been read yet fill the room")
    status("200", "/list.json")  # there is room for a short one
    lazy.close()
    for _ in range(600):
        code = ask("/window")[0]
        if code == "200":
            return
        time.sleep(0.1)
    raise AssertionError(f"after it is gone: {code}")


def waits(database):
    """Answers that wait for another command do not hold up the server."""
    import sqlite3
    import threading
    lock = sqlite3.connect(database, isolation_level=None)
    lock.execute("PRAGMA locking_mode = EXCLUSIVE")
    lock.execute("BEGIN EXCLUSIVE")
    found = []
    threads = [threading.Thread(target=lambda: found.append(ask("/top.json")[0])) for _ in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    status("404", "/nothing")
    status("400", "/%")
    expect("before the lock is gone", [], found)
    lock.execute("COMMIT")
    lock.close()
    for thread in threads:
        thread.join()
    expect("after it", ["200"] * 6, found)


def window(target, report):
    """The functions of a page are those of a report."""
    with open(report) as file:
        methods = json.load(file)["methods"]
    wanted = sorted((m["name"], m["calls"], m["self"], m["total"]) for m in methods)
    found = sorted((m[0], m[4], m[5], m[6]) for m in index(target)["methods"][1:] if m[4])
    expect(target, [row for row in wanted if row[1]], found)


def diff(target, report):
    with open(report) as file:
        rows = json.load(file)["rows"]
    page = index(target)
    states = ("alike", "changed", "added", "gone")
    wanted = sorted((r["name"], r["calls"]["base"], r["calls"]["new"], r["self"]["base"], r["self"]["new"], r["self"]["noise"]) for r in rows)
    pairs = list(zip(page["methods"], page["changes"]))[1:]
    found = sorted((m[0], c[1], m[4], c[3], m[5], c[4]) for m, c in pairs if states[c[0]] != "alike")
    expect(target, wanted, found)


def start(target, report):
    with open(report) as file:
        wanted = json.load(file)
    page = index(target)
    rows = [[r["key"], r["profiles"], r["calls"], r["self"], r["calls_each"], r["self_each"]] for r in wanted["series"]]
    expect(target, (rows, wanted["by"], wanted["unit"]), (page["series"], page["by"], page["unit"]))
    # the lines of services and versions add up to the same
    lines = [row for line in page["lines"] for row in line["rows"]]
    expect("lines", [sum(r[i] for r in rows) for i in (1, 2, 3)], [sum(r[i] for r in lines) for i in (1, 2, 3)])


def dead(target, report):
    with open(report) as file:
        wanted = json.load(file)
    page = index(target)
    rows = [[r["name"], r["module"], r["file"], r["line"]] for r in wanted["dead"]]
    expect(target, (rows, wanted["functions"], wanted["profiles"]), (page["dead"], page["functions"], page["profiles"]))


def trouble(wanted, target, pattern):
    code, _, text = ask(target)
    expect(target, wanted, code)
    note = json.loads(Blocks(text).found["index"])["note"]
    assert re.search(pattern, note), note


def hold():
    """Connections that never end, and a request whose answer is not read."""
    idle = [connect() for _ in range(5)]
    idle[0].sendall(b"GET /window HTTP/1.1\r\nHost: localhost\r\n\r\n")
    print("held", flush=True)
    time.sleep(100)


globals()[sys.argv[2]](*sys.argv[3:])
