#!/usr/bin/env python3
"""A small distributed trainer that needs nothing but Python 3.9.

It finds its peers in TF_CONFIG, as TensorFlow does, and trains a two-layer network on
two interleaved half-moons. A cluster with parameter servers trains asynchronously
through them; any other cluster averages its gradients (all-reduce). Without TF_CONFIG
it trains alone. The first replica (chief, master or worker 0) writes checkpoints and
TensorBoard events into --dir; an evaluator reads the checkpoints from there.

A replica that is lost may come back alone or with all others: training resumes from
the most advanced state that anybody has, in memory or in the checkpoint. SIGTERM saves
a checkpoint and exits with 42, TensorFlow's code for "preempted, run me again". A
parameter server never exits by itself.
"""

import argparse
import json
import math
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import time

PREEMPTED_EXIT = 42
HIDDEN = 12
BATCH = 32
LEARNING_RATE = 0.2
MOMENTUM = 0.9


class Preempted(Exception):
    """SIGTERM arrived: leave as soon as the state is safe."""


class PeerLost(Exception):
    """A connection broke or was refused: meet again."""


# --- who is there ------------------------------------------------------------------


class Cluster:
    """What TF_CONFIG says: everybody's addresses by role and index, and who I am."""

    def __init__(self, text):
        config = json.loads(text) if text else {}
        self.addresses = {}
        for role, entries in config.get("cluster", {}).items():
            # The sparse form names its entries: {"worker": {"3": "host:port"}}.
            pairs = entries.items() if isinstance(entries, dict) else enumerate(entries)
            self.addresses[role.lower()] = {int(index): address for index, address in pairs}
        task = config.get("task", {})
        self.role = task.get("type", "worker").lower()
        self.index = int(task.get("index", 0))

    @property
    def name(self):
        return "%s-%d" % (self.role, self.index)

    @property
    def own_address(self):
        return self.addresses.get(self.role, {}).get(self.index)

    @property
    def servers(self):
        return [address for _, address in sorted(self.addresses.get("ps", {}).items())]

    @property
    def trainers(self):
        """(role, index) of everybody who computes gradients; the first one leads."""
        found = []
        for role in ("chief", "master", "worker"):
            found += [(role, index) for index in sorted(self.addresses.get(role, {}))]
        return found or [(self.role, self.index)]

    @property
    def rank(self):
        me = (self.role, self.index)
        return self.trainers.index(me) if me in self.trainers else 0

    @property
    def leads(self):
        leaders = self.addresses.get("chief") or self.addresses.get("master")
        return self.role in ("chief", "master") if leaders else self.index == 0

    def address_of(self, rank):
        role, index = self.trainers[rank]
        return self.addresses[role][index]


# --- what is learned ---------------------------------------------------------------


def half_moons(seed, count):
    """Points of two classes that no straight line parts: (x, y, class)."""
    rng = random.Random(seed)
    points = []
    for i in range(count):
        angle = rng.random() * math.pi
        x, y = math.cos(angle), math.sin(angle)
        if i % 2:
            x, y = 1 - x, 0.5 - y
        points.append((x + rng.gauss(0, 0.12), y + rng.gauss(0, 0.12), i % 2))
    return points


def initial_parameters(seed):
    rng = random.Random(seed)
    return [rng.gauss(0, 0.8) for _ in range(HIDDEN * 4 + 1)]


def predict(parameters, x, y):
    hidden = [
        math.tanh(parameters[i * 4] * x + parameters[i * 4 + 1] * y + parameters[i * 4 + 2])
        for i in range(HIDDEN)
    ]
    total = parameters[-1] + sum(h * parameters[i * 4 + 3] for i, h in enumerate(hidden))
    return hidden, 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def loss_and_gradient(parameters, points):
    gradient = [0.0] * len(parameters)
    loss = 0.0
    for x, y, wanted in points:
        hidden, likely = predict(parameters, x, y)
        loss -= math.log(max(1e-12, likely if wanted else 1 - likely))
        error = likely - wanted
        gradient[-1] += error
        for i, h in enumerate(hidden):
            through = error * parameters[i * 4 + 3] * (1 - h * h)
            gradient[i * 4] += through * x
            gradient[i * 4 + 1] += through * y
            gradient[i * 4 + 2] += through
            gradient[i * 4 + 3] += error * h
    return loss / len(points), [g / len(points) for g in gradient]


def accuracy_of(parameters, points):
    right = sum((predict(parameters, x, y)[1] > 0.5) == bool(wanted) for x, y, wanted in points)
    return right / len(points)


class State:
    """The step that was reached and what was learned by then."""

    def __init__(self, step, parameters, velocity=None):
        self.step = step
        self.parameters = parameters
        self.velocity = velocity or [0.0] * len(parameters)

    def apply(self, gradient):
        self.velocity = [MOMENTUM * v - LEARNING_RATE * g for v, g in zip(self.velocity, gradient)]
        self.parameters = [p + v for p, v in zip(self.parameters, self.velocity)]
        self.step += 1

    def to_json(self):
        return {"step": self.step, "parameters": self.parameters, "velocity": self.velocity}

    @staticmethod
    def from_json(value):
        return State(value["step"], value["parameters"], value["velocity"])


# --- what is kept ------------------------------------------------------------------


def write_whole(path, text):
    """A reader sees the old file or the new one, whatever happens on the way."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    part = "%s.%d.part" % (path, os.getpid())
    with open(part, "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    os.replace(part, path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checkpoint_path(folder):
    return os.path.join(folder, "checkpoint.json")


def save_checkpoint(folder, state):
    if folder:
        write_whole(checkpoint_path(folder), json.dumps(state.to_json()))


def load_checkpoint(folder):
    try:
        with open(checkpoint_path(folder)) as text:
            return State.from_json(json.load(text))
    except (FileNotFoundError, TypeError):
        return None


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC32C = crc32c_table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


class EventWriter:
    """TensorBoard's files: scalars of TensorFlow 2, one record each, written through."""

    def __init__(self, folder):
        self.out = None
        self.described = set()
        if not folder:
            return
        os.makedirs(folder, exist_ok=True)
        now = time.time()
        name = "events.out.tfevents.%010d.%s.%d.0.v2" % (now, socket.gethostname(), os.getpid())
        self.out = open(os.path.join(folder, name), "ab")
        self.record(struct.pack("<Bd", 0x09, now) + field(3, b"brain.Event:2"))

    def record(self, data):
        head = struct.pack("<Q", len(data))
        self.out.write(head + struct.pack("<I", masked_crc32c(head)))
        self.out.write(data + struct.pack("<I", masked_crc32c(data)))
        self.out.flush()

    def scalars(self, step, values):
        if not self.out:
            return
        summary = b""
        for tag, number in values.items():
            # A tensor of type float without dimensions.
            tensor = b"\x08\x01" + field(2, b"") + field(4, struct.pack("<f", number))
            value = field(1, tag.encode()) + field(8, tensor)
            if tag not in self.described:
                self.described.add(tag)
                value += field(9, field(1, field(1, b"scalars")) + b"\x20\x01")
            summary += field(1, value)
        self.record(struct.pack("<Bd", 0x09, time.time()) + b"\x10" + varint(step) + field(5, summary))


# --- talking -----------------------------------------------------------------------


class Line:
    """One connection: JSON values with their length in front."""

    def __init__(self, connection):
        self.connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def send(self, value):
        data = json.dumps(value).encode()
        try:
            self.connection.sendall(struct.pack("<I", len(data)) + data)
        except OSError as error:
            raise PeerLost(str(error))

    def receive(self, patience=None):
        """The next value. `patience` is called while there is none, and may raise."""
        (size,) = struct.unpack("<I", self._exactly(4, patience))
        return json.loads(self._exactly(size, patience))

    def ask(self, value, patience=None):
        self.send(value)
        return self.receive(patience)

    def _exactly(self, size, patience):
        data = b""
        while len(data) < size:
            try:
                while patience and not select.select([self.connection], [], [], 0.1)[0]:
                    patience()
                more = self.connection.recv(size - len(data))
            except OSError as error:
                raise PeerLost(str(error))
            if not more:
                raise PeerLost("the other side closed the connection")
            data += more
        return data

    def close(self):
        self.connection.close()


def split(address):
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def listen(address):
    """Binds as TensorFlow does: the port of the own entry, on every interface."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("0.0.0.0", split(address)[1]))
    server.listen(64)
    return server


# --- one replica -------------------------------------------------------------------


class Replica:
    """What every role shares: options, signals, misbehaviour on demand, reports."""

    def __init__(self, options, cluster):
        self.options = options
        self.cluster = cluster
        self.stopping = False
        self.ballast = None
        self.deadline = time.monotonic() + options.wait
        self.validation = half_moons(options.seed + 1, 400)
        self.points = half_moons(options.seed + 100 + cluster.rank, 512)
        self.rng = random.Random(options.seed * 1000 + cluster.rank)
        self.events = EventWriter(None)
        self.server = None
        if not options.ignore_sigterm:
            signal.signal(signal.SIGTERM, self.on_sigterm)
        else:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def on_sigterm(self, *_):
        if self.cluster.role == "ps":
            os._exit(128 + signal.SIGTERM)
        self.stopping = True

    def say(self, text):
        print("[%s] %s" % (self.cluster.name, text), flush=True)

    def patience(self):
        """Called while waiting: leaves on SIGTERM, gives up when it has been too long."""
        if self.stopping:
            raise Preempted()
        if time.monotonic() > self.deadline:
            raise SystemExit("[%s] gave up waiting after %g s" % (self.cluster.name, self.options.wait))

    def patience_with_strangers(self):
        """For a connection that has not said yet who it is."""
        since = time.monotonic()

        def patience():
            self.patience()
            if time.monotonic() > since + 5:
                raise PeerLost("it says nothing")

        return patience

    def progressed(self):
        self.deadline = time.monotonic() + self.options.wait

    def dial(self, address):
        """Connects to a peer, however long it takes to appear."""
        said = False
        while True:
            try:
                return Line(socket.create_connection(split(address), timeout=None))
            except OSError as error:
                if not said:
                    self.say("waiting for %s: %s" % (address, error))
                    said = True
            self.patience()
            time.sleep(0.1)

    def open_port(self):
        address = self.cluster.own_address
        if not address:
            return
        self.server = listen(address)
        # Peers reach me by this name; so must I.
        self.dial(address).close()
        self.say("listening on port %d, reachable as %s" % (split(address)[1], address))

    def batch(self):
        return self.rng.sample(self.points, BATCH)

    def first_state(self):
        state = load_checkpoint(self.options.dir)
        if state:
            self.say("resumed from the checkpoint of step %d" % state.step)
        return state or State(0, initial_parameters(self.options.seed))

    def report(self, state, loss):
        if state.step % self.options.log_every and state.step < self.options.steps:
            return
        accuracy = accuracy_of(state.parameters, self.validation)
        self.say("step %d/%d loss %.4f accuracy %.3f" % (state.step, self.options.steps, loss, accuracy))
        self.events.scalars(state.step, {"loss": loss, "accuracy": accuracy})

    def due(self, step):
        return step % self.options.checkpoint_every == 0 or step >= self.options.steps

    def misbehave(self, step):
        """Does what the options ask for when its step has come, on the replica they name."""
        options = self.options
        if options.on and options.on != self.cluster.name or step < options.at_step:
            return
        if options.memory_mb and not self.ballast:
            self.say("taking %d MB of memory" % options.memory_mb)
            self.ballast = bytearray(os.urandom(4096)) * (options.memory_mb * 256)
        if options.hang:
            self.say("hanging at step %d" % step)
            while True:
                time.sleep(0.1)
                if self.stopping:
                    raise Preempted()
        if options.exit_code is None:
            return
        if options.fail_once:
            marker = os.path.join(options.dir, "failed-" + self.cluster.name)
            if os.path.exists(marker):
                return
            write_whole(marker, "")
        self.say("exiting with %d at step %d, as asked" % (options.exit_code, step))
        os._exit(options.exit_code)


# --- all-reduce --------------------------------------------------------------------


class Leader:
    """Rank 0 of an all-reduce: gathers everybody's gradients, gives back their mean."""

    def __init__(self, replica):
        self.replica = replica
        self.lines = {}

    def meet(self, state):
        """Waits for all others, then makes the most advanced state everybody's."""
        while True:
            self.close()
            try:
                state = self.agree(state, self.gather())
            except PeerLost:
                continue
            self.replica.progressed()
            if self.lines:
                self.replica.say("all %d replicas are here; going on from step %d" % (len(self.lines) + 1, state.step))
            return state

    def gather(self):
        """Fills lines; gives the step that each rank has reached."""
        steps = {}
        while len(self.lines) < len(self.replica.cluster.trainers) - 1:
            while not select.select([self.replica.server], [], [], 0.1)[0]:
                self.replica.patience()
            line = Line(self.replica.server.accept()[0])
            try:
                hello = line.receive(self.replica.patience_with_strangers())
            except PeerLost:
                line.close()  # somebody who only looked whether the port is open
                continue
            if hello["rank"] in self.lines:
                self.lines[hello["rank"]].close()
            self.lines[hello["rank"]] = line
            steps[hello["rank"]] = hello["step"]
        return steps

    def agree(self, state, steps):
        ahead = max(steps, key=steps.get, default=None)
        if ahead is not None and steps[ahead] > state.step:
            state = State.from_json(self.lines[ahead].ask({"want": "state"}, self.replica.patience))
            self.replica.say("took over step %d from replica %d" % (state.step, ahead))
        for line in self.lines.values():
            line.send({"state": state.to_json()})
        return state

    def exchange(self, state, loss, gradient):
        """One step: the mean goes out only when a checkpoint that is due is on disk."""
        losses, total, leaving = [loss], gradient, False
        for rank in sorted(self.lines):
            message = self.lines[rank].receive(self.replica.patience)
            losses.append(message["loss"])
            total = [a + b for a, b in zip(total, message["gradient"])]
            leaving = leaving or message["leaving"]
        mean = [value / len(losses) for value in total]
        state.apply(mean)
        if leaving or self.replica.due(state.step):
            save_checkpoint(self.replica.options.dir, state)
        for rank in sorted(self.lines):
            self.lines[rank].send({"gradient": mean})
        return sum(losses) / len(losses)

    def close(self):
        for line in self.lines.values():
            line.close()
        self.lines = {}


class Follower:
    """Any other rank of an all-reduce."""

    def __init__(self, replica):
        self.replica = replica
        self.line = None

    def meet(self, state):
        self.close()
        while True:
            self.line = self.replica.dial(self.replica.cluster.address_of(0))
            try:
                answer = self.line.ask({"rank": self.replica.cluster.rank, "step": state.step}, self.replica.patience)
                if "want" in answer:
                    answer = self.line.ask(state.to_json(), self.replica.patience)
                self.replica.progressed()
                return State.from_json(answer["state"])
            except PeerLost:
                self.close()
                self.replica.patience()
                time.sleep(0.1)

    def exchange(self, state, loss, gradient):
        leaving = self.replica.stopping
        # A replica that was told to leave still finishes the step the others wait for.
        told = time.monotonic()
        self.line.send({"loss": loss, "gradient": gradient, "leaving": leaving})
        patience = self.replica.patience
        if leaving:
            patience = lambda: None if time.monotonic() < told + 5 else self.replica.patience()
        state.apply(self.line.receive(patience)["gradient"])
        if leaving:
            raise Preempted()
        return loss

    def close(self):
        if self.line:
            self.line.close()
        self.line = None


def train_all_reduce(replica):
    cluster, options = replica.cluster, replica.options
    state = replica.first_state()
    if state.step >= options.steps:
        replica.say("step %d was reached before: nothing left to do" % state.step)
        return
    peers = Leader(replica) if cluster.rank == 0 else Follower(replica)
    if cluster.rank == 0 and options.dir:
        replica.events = EventWriter(os.path.join(options.dir, "train"))
    try:
        state = peers.meet(state)
        while state.step < options.steps:
            replica.misbehave(state.step)
            if replica.stopping and cluster.rank == 0:
                raise Preempted()
            loss, gradient = loss_and_gradient(state.parameters, replica.batch())
            try:
                loss = peers.exchange(state, loss, gradient)
            except PeerLost as error:
                replica.say("lost a peer at step %d (%s); waiting for it" % (state.step, error))
                state = peers.meet(state)
                continue
            replica.progressed()
            replica.report(state, loss)
            time.sleep(options.pause)
    except Preempted:
        if cluster.rank == 0:
            save_checkpoint(options.dir, state)
        replica.say("SIGTERM: stopped at step %d" % state.step)
        raise
    finally:
        peers.close()


# --- parameter servers -------------------------------------------------------------


def serve_parameters(replica):
    """Holds a part of the parameters, for ever. Empty until the leader loads it."""
    lock = threading.Lock()
    held = {"state": None}

    def answer(message):
        with lock:
            state = held["state"]
            if message["op"] == "load":
                held["state"] = State.from_json(message["state"])
                replica.say("loaded with the state of step %d" % held["state"].step)
                return {"ready": True}
            if state is None:
                return {"ready": False}
            if message["op"] == "push":
                state.apply(message["gradient"])
            return {"ready": True, "state": state.to_json()}

    def serve(line):
        try:
            while True:
                line.send(answer(line.receive()))
        except PeerLost:
            line.close()

    replica.misbehave(0)
    while True:
        line = Line(replica.server.accept()[0])
        threading.Thread(target=serve, args=(line,), daemon=True).start()


class Shards:
    """The parameters as the parameter servers hold them, every n-th on the n-th server."""

    def __init__(self, replica):
        self.replica = replica
        self.addresses = replica.cluster.servers
        self.lines = []

    def connect(self):
        self.close()
        self.lines = [self.replica.dial(address) for address in self.addresses]

    def close(self):
        for line in self.lines:
            line.close()
        self.lines = []

    def ask(self, messages):
        for line, message in zip(self.lines, messages):
            line.send(message)
        answers = [line.receive(self.replica.patience) for line in self.lines]
        return [answer.get("state") for answer in answers] if all(a["ready"] for a in answers) else None

    def parts(self, values):
        return [values[i :: len(self.lines)] for i in range(len(self.lines))]

    def joined(self, states):
        """One state out of all parts; None when a server is empty. Server 0 counts the steps."""
        if states is None:
            return None
        size = sum(len(state["parameters"]) for state in states)
        whole = State(states[0]["step"], [0.0] * size)
        for i, state in enumerate(states):
            whole.parameters[i :: len(states)] = state["parameters"]
            whole.velocity[i :: len(states)] = state["velocity"]
        return whole

    def pull(self):
        return self.joined(self.ask([{"op": "pull"}] * len(self.lines)))

    def push(self, gradient):
        return self.joined(self.ask([{"op": "push", "gradient": part} for part in self.parts(gradient)]))

    def load(self, state):
        parameters, velocity = self.parts(state.parameters), self.parts(state.velocity)
        self.ask(
            [
                {"op": "load", "state": State(state.step, p, v).to_json()}
                for p, v in zip(parameters, velocity)
            ]
        )


def train_with_servers(replica):
    cluster, options = replica.cluster, replica.options
    shards = Shards(replica)
    state = None
    if cluster.leads and options.dir:
        replica.events = EventWriter(os.path.join(options.dir, "train"))
    try:
        while True:
            try:
                if not shards.lines:
                    shards.connect()
                replica.misbehave(state.step if state else 0)
                if replica.stopping:
                    raise Preempted()
                state = train_step(replica, shards, state)
            except PeerLost as error:
                replica.say("lost a parameter server (%s); waiting for it" % error)
                shards.close()
                time.sleep(0.1)
                continue
            if state and state.step >= options.steps:
                return
            time.sleep(options.pause)
    except Preempted:
        if cluster.leads and state:
            save_checkpoint(options.dir, state)
        replica.say("SIGTERM: stopped at step %d" % (state.step if state else 0))
        raise
    finally:
        shards.close()


def train_step(replica, shards, before):
    """Pulls, computes, pushes; the leader also fills empty servers and saves."""
    cluster, options = replica.cluster, replica.options
    state = shards.pull()
    if state is None:
        if cluster.leads:
            shards.load(replica.first_state())
        else:
            replica.patience()
            time.sleep(0.1)
        return before
    if state.step < options.steps:
        loss, gradient = loss_and_gradient(state.parameters, replica.batch())
        state = shards.push(gradient) or state
        replica.progressed()
        replica.report(state, loss)
    elif cluster.leads:  # others took the last step: the leader says how it ended all the same
        replica.report(state, loss_and_gradient(state.parameters, replica.batch())[0])
    since = before.step if before else 0
    passed_one = since // options.checkpoint_every != state.step // options.checkpoint_every
    if cluster.leads and (passed_one or state.step >= options.steps):
        save_checkpoint(options.dir, state)
    return state


# --- evaluator ---------------------------------------------------------------------


def evaluate(replica):
    """Judges every checkpoint it sees and ends with the last one."""
    options = replica.options
    if not options.dir:
        raise SystemExit("an evaluator needs --dir")
    replica.events = EventWriter(os.path.join(options.dir, "eval"))
    seen = -1
    while seen < options.steps:
        replica.misbehave(max(seen, 0))
        replica.patience()
        state = load_checkpoint(options.dir)
        if state is None or state.step == seen:
            time.sleep(0.1)
            continue
        seen = state.step
        replica.progressed()
        accuracy = accuracy_of(state.parameters, replica.validation)
        loss = loss_and_gradient(state.parameters, replica.validation)[0]
        replica.say("evaluated step %d: loss %.4f accuracy %.3f" % (seen, loss, accuracy))
        replica.events.scalars(seen, {"loss": loss, "accuracy": accuracy})


# --- command line ------------------------------------------------------------------


def parse_options(arguments):
    parser = argparse.ArgumentParser(description="A small distributed trainer that uses TF_CONFIG.")
    parser.add_argument("--steps", type=int, default=60, help="train until this step (default %(default)s)")
    parser.add_argument("--dir", default="", help="folder for checkpoints and TensorBoard events (default: none)")
    parser.add_argument("--checkpoint-every", type=int, default=10, metavar="STEPS")
    parser.add_argument("--log-every", type=int, default=5, metavar="STEPS")
    parser.add_argument("--pause", type=float, default=0.05, metavar="SECONDS", help="rest after each step")
    parser.add_argument("--wait", type=float, default=600, metavar="SECONDS", help="patience with absent peers")
    parser.add_argument("--seed", type=int, default=7)
    bad = parser.add_argument_group("misbehaviour, for tests")
    bad.add_argument("--on", default="", metavar="ROLE-INDEX", help="which replica misbehaves (default: all)")
    bad.add_argument("--at-step", type=int, default=0, metavar="STEP", help="when it begins")
    bad.add_argument("--exit-code", type=int, metavar="N", help="exit with N")
    bad.add_argument("--fail-once", action="store_true", help="exit so only the first time (needs --dir)")
    bad.add_argument("--hang", action="store_true", help="make no progress any more")
    bad.add_argument("--ignore-sigterm", action="store_true")
    bad.add_argument("--memory-mb", type=int, default=0, metavar="N", help="take N MB of memory")
    options = parser.parse_args(arguments)
    if options.fail_once and not options.dir:
        parser.error("--fail-once needs --dir")
    return options


def main(arguments=None):
    options = parse_options(arguments)
    cluster = Cluster(os.environ.get("TF_CONFIG", ""))
    replica = Replica(options, cluster)
    try:
        replica.open_port()
        if cluster.role == "ps":
            serve_parameters(replica)
        elif cluster.role == "evaluator":
            evaluate(replica)
        elif cluster.servers:
            train_with_servers(replica)
        else:
            train_all_reduce(replica)
    except Preempted:
        return PREEMPTED_EXIT
    replica.say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
