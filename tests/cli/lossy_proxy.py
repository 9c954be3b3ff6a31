#!/usr/bin/env python3
"""lossy_proxy.py FOLDER PORT: forwards requests to a server on loopback, as FOLDER/mode says, which is read at each request:

pass        forward
lose K      forward, but close the connection instead of the answer of each K-th request
cut K       forward half of the body of each K-th request, and close both connections
limit N     413 for a body of more than N bytes
answer N S  answer N; S: Retry-After
insert N S  the same for a body that begins with INSERT
last        forward, but close the connection instead of the answer to a profile's row, which comes last

Its port is in FOLDER/port; FOLDER/log has a line for each request: what was done, and how many bytes its body had."""
import os
import socket
import sys

folder, target = sys.argv[1], int(sys.argv[2])
n_requests = 0


def read_request(client):
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(65536)
        if not part:
            return None, None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    n = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            n = int(line.split(b":")[1])
    while len(body) < n:
        part = client.recv(1 << 20)
        if not part:
            return None, None
        body += part
    lines = [x for x in head.split(b"\r\n") if not x.lower().startswith(b"connection:")]
    return b"\r\n".join(lines + [b"Connection: close"]), body


def forward(head, body, is_whole=True):
    answer = b""
    with socket.create_connection(("127.0.0.1", target)) as server:
        server.sendall(head + b"\r\n\r\n" + (body if is_whole else body[: len(body) // 2]))
        while is_whole:
            part = server.recv(1 << 20)
            if not part:
                break
            answer += part
    return answer


def serve(client):
    global n_requests
    head, body = read_request(client)
    if head is None:
        return
    n_requests += 1
    with open(os.path.join(folder, "mode")) as f:
        word, *numbers = f.read().split()
    numbers = [int(n) for n in numbers]
    answer, done = None, word
    if word == "lose":
        answer = forward(head, body)
        if n_requests % numbers[0] == 0:
            answer = None
        else:
            done = "pass"
    elif word == "last" and body.startswith(b"INSERT") and b".qprof_profile " in body[:200]:
        forward(head, body)
    elif word == "cut" and n_requests % numbers[0] == 0:
        forward(head, body, False)
    elif word == "limit" and len(body) > numbers[0]:
        answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    elif word == "answer" or (word == "insert" and body.startswith(b"INSERT")):
        more = b"Retry-After: %d\r\n" % numbers[1] if len(numbers) > 1 else b""
        answer = b"HTTP/1.1 %d No\r\n%sContent-Length: 2\r\nConnection: close\r\n\r\nno" % (numbers[0], more)
    else:
        answer, done = forward(head, body), "pass"
    with open(os.path.join(folder, "log"), "a") as f:
        f.write("%s %d %s\n" % (done, len(body), body[:200].split(b"\n")[0].decode("utf-8", "replace")))
    if answer is not None:
        client.sendall(answer)


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(16)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
while True:
    client, _ = listener.accept()
    with client:
        try:
            serve(client)
        except OSError:
            pass
