"""A proxy between the operator and the API server that makes trouble on purpose.

Every request is passed on and counted. `before` and `after` may be set to functions that see each
request: what `before` returns is the answer (status, headers, body) and nothing is passed on, or None;
`after` is called when the API server has answered and the operator has not heard of it yet.
"""

import http.client
import json
import socket
import ssl
import threading
import time
from collections import Counter


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    @property
    def is_watch(self):
        return "watch=1" in self.path or "watch=true" in self.path

    @property
    def is_write(self):
        return self.method in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def is_lease(self):
        return "/leases" in self.path

    @property
    def is_event(self):
        return "/events" in self.path


def too_many(seconds=1):
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "TooManyRequests", "code": 429}
    return 429, {"Retry-After": str(seconds), "Content-Type": "application/json"}, json.dumps(body).encode()


class Proxy:
    def __init__(self, cluster):
        self.cluster = cluster
        self.before = None
        self.after = None
        self.counts = Counter()
        self.log = []  # (method, path) of what was passed on
        self.watches = set()  # sockets of watches that are open
        self.lock = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cluster.folder / "server.crt", cluster.folder / "server.key")
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.context = context
        self.closing = False
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.closing = True
        self.listener.close()
        self.cut_watches()

    def cut_watches(self):
        with self.lock:
            watches = list(self.watches)
        for each in watches:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return len(watches)

    def accept(self):
        while not self.closing:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(raw,), daemon=True).start()

    def serve(self, raw):
        try:
            raw.settimeout(120)
            with self.context.wrap_socket(raw, server_side=True) as client:
                reader = client.makefile("rb")
                upstream = None
                while True:
                    request = self.read_request(reader)
                    if request is None:
                        return
                    upstream = self.answer(client, request, upstream)
        except (OSError, ssl.SSLError, ValueError, http.client.HTTPException):
            pass

    @staticmethod
    def read_request(reader):
        line = reader.readline().decode()
        if not line.strip():
            return None
        method, path, _ = line.split(" ", 2)
        headers = {}
        while True:
            line = reader.readline().decode().strip()
            if not line:
                break
            name, value = line.split(":", 1)
            headers[name.strip().lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        return Request(method, path, headers, body)

    def answer(self, client, request, upstream):
        before = self.before
        made = before(request) if before else None
        if made:
            self.send(client, made[0], made[1], made[2])
            self.counts["refused"] += 1
            return upstream
        self.counts[request.method] += 1
        with self.lock:
            self.log.append((request.method, request.path))
        if upstream is None:
            upstream = self.cluster.api.connect(timeout=90)
        headers = {k: v for k, v in request.headers.items() if k not in ("host", "content-length", "connection", "accept-encoding")}
        try:
            upstream.request(request.method, request.path, request.body or None, headers)
            response = upstream.getresponse()
        except (OSError, http.client.HTTPException):
            upstream.close()
            raise
        if request.is_watch and response.status == 200:
            self.relay_watch(client, response)
            upstream.close()
            raise OSError("the watch is over")
        body = response.read()
        after = self.after
        if after:
            after(request, response.status)
        self.send(client, response.status, dict(response.getheaders()), body)
        return upstream

    @staticmethod
    def send(client, status, headers, body):
        lines = [f"HTTP/1.1 {status} X"]
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                lines.append(f"{name}: {value}")
        lines.append(f"Content-Length: {len(body)}")
        client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def relay_watch(self, client, response):
        with self.lock:
            self.watches.add(client)
        try:
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            for line in response:
                self.counts["expired"] += line.startswith(b'{"type":"ERROR"') and b'"code":410' in line
                client.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            client.sendall(b"0\r\n\r\n")
        finally:
            with self.lock:
                self.watches.discard(client)


def slow(seconds):
    def before(_request):
        time.sleep(seconds)

    return before
