"""What an operator asked of the API server, read from the server's audit log."""

import collections
import datetime
import json
import time

OPERATORS = ("trainyard-operator", "training-operator")
STILL_SECONDS = 3


class Requests(collections.Counter):
    """How many requests, by (verb, resource, whether it went well)."""

    def __sub__(self, other):
        return Requests({key: count - other[key] for key, count in self.items() if count > other[key]})

    def by_verb(self):
        """Without Events, which have a figure of their own."""
        verbs = collections.Counter()
        for (verb, resource, _), count in self.items():
            if resource != "events":
                verbs[verb] += count
        return dict(sorted(verbs.items()))

    def events(self):
        return sum(count for (_, resource, _), count in self.items() if resource == "events")

    def failed(self):
        return sum(count for (_, _, well), count in self.items() if not well)


class Audit:
    def __init__(self, path):
        self.path, self.offset, self.rest, self.seen = path, 0, b"", Requests()
        self.last_create = 0.0  # when the last object or Event was made; a status may be written long after that

    def read(self):
        """All requests of operators so far, those for leases aside."""
        with open(self.path, "rb") as log:
            log.seek(self.offset)
            text = self.rest + log.read()
            self.offset = log.tell()
        *lines, self.rest = text.split(b"\n")
        for line in lines:
            self.take(json.loads(line))
        return Requests(self.seen)

    def take(self, entry):
        if not entry.get("userAgent", "").startswith(OPERATORS):
            return
        # A watch is told of when it begins and when it ends.
        if entry["stage"] != ("ResponseStarted" if entry["verb"] == "watch" else "ResponseComplete"):
            return
        resource = entry.get("objectRef", {}).get("resource", "")
        if resource != "leases":
            self.seen[entry["verb"], resource, entry["responseStatus"]["code"] < 400] += 1
            if entry["verb"] == "create":
                self.last_create = max(self.last_create, datetime.datetime.fromisoformat(entry["stageTimestamp"]).timestamp())

    def settle(self):
        """Waits until operators have asked for nothing for a while."""
        before, since = self.read().total(), time.monotonic()
        while time.monotonic() - since < STILL_SECONDS:
            time.sleep(0.5)
            now = self.read().total()
            if now != before:
                before, since = now, time.monotonic()
