"""The load: threads that write objects, count together, run jobs and watch, each on a connection of
its own, each putting down in the ledger what it was told before it goes on."""

import base64
import json
import random
import threading
import time

from api import Broken, Client, Refused, version_of
from ledger import GONE, digest

NAMESPACES = ("default", "soak")
CORE = "/api/v1/namespaces"
JOBS = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
STREAMS = {  # what is watched, by the name that objects begin with
    "configmaps": "/api/v1/configmaps",
    "secrets": "/api/v1/secrets",
    "pods": "/api/v1/pods",
    "tfjobs.kubeflow.org": "/apis/kubeflow.org/v1/tfjobs",
}


def is_of_stream(stream, thing):
    return thing.split("/")[0] == stream


def value_of(body):
    """What the load has put into an object, as one text."""
    return (body.get("data") or {}).get("value", "")


def count_of(body):
    """What the counter says."""
    return int(base64.b64decode(value_of(body)) or 0)


class Worker(threading.Thread):
    """A thread with a client, that goes on until it is told to stop."""

    def __init__(self, name, door, ledger, seed):
        super().__init__(name=name, daemon=True)
        self.client = Client(door)
        self.ledger = ledger
        self.rng = random.Random(f"{seed} {name}")
        self.stopping = threading.Event()
        self.failed = None

    def run(self):
        try:
            while not self.stopping.is_set():
                try:
                    self.turn()
                except Broken:
                    self.stopping.wait(0.05)
        except Exception as error:  # noqa: a thread that dies silently would check nothing
            self.failed = f"{self.name}: {error!r}"
        self.client.close()

    def settle(self, thing, path):
        """After a write without an answer: reads what became of it."""
        while not self.stopping.is_set():
            try:
                body = self.client.ask("GET", path)
                self.ledger.read(thing, value_of(body), version_of(body), digest(body))
                return
            except Refused as refusal:
                if refusal.status != 404:
                    raise
                self.ledger.read(thing, GONE, 0, None)
                return
            except Broken:
                self.stopping.wait(0.05)

    def write(self, method, thing, path, read_path, value, body=None, kind="application/json"):
        """One write, acknowledged, refused (raises) or settled later."""
        began = self.ledger.intends(thing, value)
        try:
            answer = self.client.ask(method, path, body, kind)
        except Refused:
            self.ledger.refused(thing)
            raise
        except Broken:
            self.settle(thing, read_path)
            return None
        meta = answer.get("metadata", {})
        version = int(meta.get("resourceVersion") or 0) if "uid" in meta else 0
        mark = digest(answer) if version and value is not GONE else None
        self.ledger.acknowledged(began, thing, value, version, mark)
        return answer


class Writer(Worker):
    """Creates, patches, replaces and deletes objects that are its own."""

    def __init__(self, name, door, ledger, seed):
        super().__init__(name, door, ledger, seed)
        self.count = 0

    def body(self, name, value):
        text = {"value": value, "pad": "x" * self.rng.choice((0, 100, 2000))}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": text}

    def turn(self):
        ns = self.rng.choice(NAMESPACES)
        name = f"{self.name}-{self.rng.randrange(30)}"
        thing, path = f"configmaps/{ns}/{name}", f"{CORE}/{ns}/configmaps"
        self.count += 1
        value = f"{self.name}.{self.count}"
        if self.ledger.values.get(thing) is GONE:
            self.write("POST", thing, path, f"{path}/{name}", value, self.body(name, value))
        elif self.rng.random() < 0.25:
            self.write("DELETE", thing, f"{path}/{name}", f"{path}/{name}", GONE)
        elif self.rng.random() < 0.3:
            self.write("PUT", thing, f"{path}/{name}", f"{path}/{name}", value, self.body(name, value))
        else:
            patch = {"data": {"value": value}}
            self.write("PATCH", thing, f"{path}/{name}", f"{path}/{name}", value, patch,
                       "application/merge-patch+json")


class Counter(Worker):
    """Several of these add one to the same secret, each naming the version that it read."""

    THING = "secrets/default/counter"
    PATH = f"{CORE}/default/secrets"

    def turn(self):
        try:
            body = self.client.ask("GET", f"{self.PATH}/counter")
        except Refused as refusal:
            if refusal.status != 404:
                raise
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "counter"}, "data": {"value": ""}}
        is_new = "resourceVersion" not in body["metadata"]
        count = count_of(body) + 1
        body["data"]["value"] = base64.b64encode(str(count).encode()).decode()
        began = self.ledger.tick()
        try:
            path = self.PATH if is_new else f"{self.PATH}/counter"
            answer = self.client.ask("POST" if is_new else "PUT", path, body)
        except Refused as refusal:
            if refusal.status != 409:
                raise
            return
        self.ledger.counted(began, self.THING, count, version_of(answer), digest(answer))
        self.stopping.wait(0.02)


class Watch(Worker):
    """Follows one stream over all lives of the plane."""

    def __init__(self, stream, door, ledger, seed):
        super().__init__(f"watch-{stream}", door, ledger, seed)
        self.stream = stream
        self.version = None

    def begin(self):
        page = self.client.ask("GET", STREAMS[self.stream])
        self.version = int(page["metadata"]["resourceVersion"])
        self.ledger.stream_begins(self.stream, self.version)

    def turn(self):
        if self.version is None:
            self.begin()
        try:
            for event in self.client.watch(STREAMS[self.stream], self.version):
                if event["type"] == "ERROR":
                    raise Refused(event["object"].get("code", 0), json.dumps(event["object"]))
                self.hear(event)
                if self.stopping.is_set():
                    return
        except Refused as refusal:
            if refusal.status != 410:
                raise
            self.version = None
        self.stopping.wait(0.02)

    def hear(self, event):
        version, body = version_of(event["object"]), event["object"]
        if event["type"] != "BOOKMARK":
            meta = body["metadata"]
            thing = f"{self.stream}/{meta.get('namespace', '')}/{meta['name']}"
            self.ledger.event(self.stream, version, event["type"], thing, digest(body))
        self.version = max(self.version, version)


def wait_for_streams(watches, ledger, patience):
    """Until every watch has been told everything that is known to have happened in its stream."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        late = [watch for watch in watches if watch.version is None or watch.version < ledger.last_of(watch.stream)]
        if not late:
            return []
        time.sleep(0.05)
    return [f"watch {watch.stream} is at {watch.version}, not at {ledger.last_of(watch.stream)}" for watch in late]
