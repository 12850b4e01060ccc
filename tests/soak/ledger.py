"""The ledger: what clients were told, kept by the checker itself. Every entry is in a file
before the client goes on, so that a failed run can be read afterwards."""

import hashlib
import json
import threading

GONE = None  # the value of an object that is not there


def digest(thing):
    """Of everything in an object but what lists leave out."""
    rest = {key: value for key, value in thing.items() if key not in ("kind", "apiVersion")}
    return hashlib.sha1(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:16]


class Ledger:
    """Thread-safe. Times are numbers that grow: the order in which the checker learned of things."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = open(path, "a")
        self.clock = 0
        self.acked = 0
        self.values = {}    # object -> the value that it surely had last (GONE: none)
        self.possible = {}  # object -> values of later writes without an answer, in order
        self.versions = {}  # resourceVersion -> (object, digest)
        self.writes = []    # (began, ended, version, object, what) of each acknowledged write
        self.counts = []    # (version, count) of each acknowledged write to the counter
        self.events = {}    # stream -> [(version, type, object, digest)]
        self.starts = {}    # stream -> the version it began after, and every one it began anew after
        self.wrong = []     # what cannot be, found on the way

    def write(self, **entry):
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()

    def tick(self):
        with self.lock:
            self.clock += 1
            return self.clock

    def saw_version(self, version, thing, mark):
        """Holds the lock. One version, one content of one object."""
        known = self.versions.setdefault(version, (thing, mark))
        if known[0] != thing or (mark and known[1] and known[1] != mark):
            self.wrong.append(("versions", f"resourceVersion {version} is of {known} and of {(thing, mark)}"))
        elif mark and not known[1]:
            self.versions[version] = (thing, mark)

    def intends(self, thing, value):
        """A write goes out. Until it is answered, either value is right."""
        with self.lock:
            self.clock += 1
            self.possible.setdefault(thing, []).append(value)
            self.write(at=self.clock, intends=thing, value=value)
            return self.clock

    def acknowledged(self, began, thing, value, version, mark):
        with self.lock:
            self.clock += 1
            self.acked += 1
            self.values[thing] = value
            self.possible[thing] = []
            if version:  # the answer to a delete may not carry one
                self.writes.append((began, self.clock, version, thing, value))
                self.saw_version(version, thing, mark)
            self.write(at=self.clock, acknowledged=thing, value=value, version=version)

    def counted(self, began, thing, count, version, mark):
        """An acknowledged write to an object that several write."""
        with self.lock:
            self.clock += 1
            self.acked += 1
            self.counts.append((version, count))
            self.writes.append((began, self.clock, version, thing, count))
            self.saw_version(version, thing, mark)
            self.write(at=self.clock, counted=thing, count=count, version=version)

    def refused(self, thing):
        """The write of the last intends() was not carried out."""
        with self.lock:
            self.possible[thing].pop()
            self.write(refused=thing)

    def read(self, thing, value, version, mark):
        """Somebody was told that the object has this value: it must stay so."""
        with self.lock:
            self.clock += 1
            allowed = [self.values.get(thing, GONE), *self.possible.get(thing, [])]
            if value not in allowed:
                self.wrong.append(("writes", f"{thing} has {value!r}, must have one of {allowed}"))
            self.values[thing] = value
            self.possible[thing] = []
            if version:
                self.saw_version(version, thing, mark)
            self.write(at=self.clock, read=thing, value=value, version=version)

    def stream_begins(self, stream, version):
        with self.lock:
            self.starts.setdefault(stream, []).append(version)
            self.write(stream=stream, begins=version)

    def event(self, stream, version, what, thing, mark):
        with self.lock:
            self.events.setdefault(stream, []).append((version, what, thing, mark))
            self.saw_version(version, thing, mark)
            self.write(stream=stream, version=version, type=what, object=thing)

    def last_of(self, stream):
        """The version of the last acknowledged write to an object of the stream."""
        with self.lock:
            of_stream = [write[2] for write in self.writes if write[3].split("/")[0] == stream]
            return max(of_stream, default=0)
