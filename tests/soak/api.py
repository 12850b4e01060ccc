"""A client of the API with nothing but the standard library: one connection each, JSON in and
out, watches as a stream of events. It knows nothing of Trainyard but where its keys lie."""

import http.client
import json
import pathlib
import socket
import ssl

ANSWER_PATIENCE = 20  # seconds; longer means that it hangs


class Refused(Exception):
    """The server answered, with an error: nothing was done."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body[:300]}")
        self.status = status


class Broken(Exception):
    """No answer: nobody knows whether it was done."""


class Door:
    """Where the plane of a data folder answers."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ready = False

    def open(self):
        """Reads the keys, once the plane has made them."""
        self.port = int((self.folder / "port").read_text())
        self.token = (self.folder / "pki/token").read_text().strip()
        self.context = ssl.create_default_context(cafile=str(self.folder / "pki/ca.crt"))
        self.ready = True


class Client:
    """One connection, opened anew whenever it broke."""

    def __init__(self, door):
        self.door = door
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def send(self, method, path, body=None, kind="application/json", patience=ANSWER_PATIENCE):
        if not self.door.ready:
            raise Broken("not up yet")
        try:
            if not self.connection:
                self.connection = http.client.HTTPSConnection(
                    "127.0.0.1", self.door.port, context=self.door.context, timeout=patience)
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request(method, path, json.dumps(body) if body is not None else None, {
                "Authorization": f"Bearer {self.door.token}", "Content-Type": kind, "Accept": "application/json"})
            return self.connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Broken(repr(error)) from error

    def ask(self, method, path, body=None, kind="application/json"):
        """The answer's object. Raises Refused or Broken."""
        response = self.send(method, path, body, kind)
        try:
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Broken(repr(error)) from error
        if response.status >= 500:
            raise Broken(f"{response.status} {text[:200]}")
        if response.status >= 400:
            raise Refused(response.status, text.decode(errors="replace"))
        return json.loads(text)

    def watch(self, path, version):
        """Yields events after the version until the stream ends."""
        query = f"{path}?watch=1&resourceVersion={version}&allowWatchBookmarks=true"
        response = self.send("GET", query, patience=120)
        if response.status != 200:
            text = response.read().decode(errors="replace")
            raise Refused(response.status, text) if response.status < 500 else Broken(text)
        try:
            while line := response.readline():
                if not line.endswith(b"\n"):
                    break  # cut in the middle
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            self.close()


def version_of(thing):
    return int(thing["metadata"]["resourceVersion"])
