"""A server on the loopback for test_push.sh: answers as a plan says, and keeps what it was sent.

push_receiver.py FOLDER [CERTIFICATE]: FOLDER/plan has a line for each request, in their order; then 200:
  200 TEXT        the text is the body; \\xNN are bytes
  503 SECONDS     with Retry-After; without SECONDS none
  413 | 400 TEXT | 302 ADDRESS
  below N         413 unless the body is shorter than N bytes
  move FROM TO    moves a file, then 200
  page TEXT       200 with text/html
  status N TEXT   an error of the type of the protocol
  hang            no answer until the other side ends
  half            closes after the half of an answer
  long [STATUS]   an answer without an end
FOLDER/port has the port, FOLDER/N.body and N.head what came, from 1; N.head begins with the request line.
"""
import http.server
import os
import ssl
import sys

folder = sys.argv[1]
n = 0


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def kind(self):
        return "application/proto" if self.path.startswith("/push.") else "application/x-protobuf"

    def answer(self, status, body=b"", headers=(), kind=None):
        self.send_response(status)
        self.send_header("Content-Type", kind or (self.kind() if status == 200 else "text/plain"))
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        global n
        body = self.rfile.read(int(self.headers["Content-Length"]))
        n += 1
        for name, data in ("head", (self.requestline + "\n" + str(self.headers)).encode()), ("body", body):
            with open(f"{folder}/new", "wb") as f:
                f.write(data)
            os.rename(f"{folder}/new", f"{folder}/{n}.{name}")
        plan = []
        if os.path.exists(folder + "/plan"):
            with open(folder + "/plan") as f:
                plan = f.read().splitlines()
        word, _, rest = (plan[n - 1] if n <= len(plan) else "200").partition(" ")
        if word == "below":
            word = "200" if len(body) < int(rest) else "413"
        if word == "move":
            os.rename(*rest.split())
            word, rest = "200", ""
        if word == "hang":
            self.rfile.read(1)
            self.close_connection = True
        elif word == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            self.close_connection = True
        elif word == "long":
            self.send_response(int(rest or 200))
            self.send_header("Content-Type", self.kind())
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.close_connection = True
        elif word == "page":
            self.answer(200, rest.encode(), kind="text/html; charset=utf-8")
        elif word == "status":
            status, _, text = rest.partition(" ")
            self.answer(int(status), text.encode().decode("unicode_escape").encode("latin-1"), kind=self.kind())
        elif word == "503":
            self.answer(503, b"busy\n", [("Retry-After", rest)] if rest else [])
        elif word == "302":
            self.answer(302, b"", [("Location", rest)])
        else:
            self.answer(int(word), rest.encode().decode("unicode_escape").encode("latin-1"))

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(folder + "/port.new", "w") as f:
    f.write(str(server.server_port))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
