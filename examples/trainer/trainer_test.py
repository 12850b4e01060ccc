"""Tests of the trainer: run with `python3 -m unittest discover -s examples/trainer -p '*_test.py'`."""

import glob
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import trainer  # noqa: E402

PATIENCE = 60


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 1:
            value, at = data[at : at + 8], at + 8
        elif key & 7 == 5:
            value, at = data[at : at + 4], at + 4
        else:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def read_scalars(path):
    """[(step, tag, value)] of a tfevents file, each checksum verified."""
    with open(path, "rb") as source:
        data = source.read()
    found = []
    at = 0
    while at < len(data):
        head = data[at : at + 8]
        (size,) = struct.unpack("<Q", head)
        assert struct.unpack("<I", data[at + 8 : at + 12])[0] == trainer.masked_crc32c(head)
        body = data[at + 12 : at + 12 + size]
        assert struct.unpack("<I", data[at + 12 + size : at + 16 + size])[0] == trainer.masked_crc32c(body)
        at += 16 + size
        event = dict(fields(body))
        for number, value in fields(event.get(5, b"")):
            parts = dict(fields(value))
            tensor = dict(fields(parts[8]))
            found.append((event.get(2, 0), parts[1].decode(), struct.unpack("<f", tensor[4])[0]))
    return found


class Job:
    """Replicas of one job on loopback ports, each a process of its own."""

    def __init__(self, test, **counts):
        self.test = test
        self.folder = tempfile.TemporaryDirectory()
        self.outputs = tempfile.TemporaryDirectory()
        self.dir = self.folder.name
        ports = iter(free_ports(sum(counts.values())))
        self.cluster = {
            role: ["127.0.0.1:%d" % next(ports) for _ in range(count)]
            for role, count in counts.items()
            if role != "evaluator"
        }
        self.replicas = [(role, i) for role, count in counts.items() for i in range(count)]
        self.processes = {}
        self.starts = 0
        test.addCleanup(self.end)

    def start(self, role, index, *options):
        config = {"cluster": self.cluster, "task": {"type": role, "index": index}}
        self.starts += 1
        path = os.path.join(self.outputs.name, "%s-%d.%d" % (role, index, self.starts))
        with open(path, "w") as out:
            process = subprocess.Popen(
                [sys.executable, os.path.join(HERE, "trainer.py"), "--dir", self.dir, "--wait", str(PATIENCE)]
                + list(options),
                env=dict(os.environ, TF_CONFIG=json.dumps(config)),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        process.output_path = path
        self.processes[(role, index)] = process
        return process

    def start_all(self, *options):
        for role, index in self.replicas:
            self.start(role, index, *options)

    def output(self, role, index):
        with open(self.processes[(role, index)].output_path) as text:
            return text.read()

    def wait(self, role, index):
        try:
            return self.processes[(role, index)].wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.test.fail("%s-%d does not end:\n%s" % (role, index, self.output(role, index)))

    def wait_for_output(self, role, index, text):
        deadline = time.monotonic() + PATIENCE
        while text not in self.output(role, index):
            if time.monotonic() > deadline:
                self.test.fail("%s-%d never said %r:\n%s" % (role, index, text, self.output(role, index)))
            time.sleep(0.02)

    def checkpoint(self):
        return trainer.load_checkpoint(self.dir)

    def end(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
        self.folder.cleanup()
        self.outputs.cleanup()


class PartsTest(unittest.TestCase):
    def test_checksum_is_castagnolis(self):
        self.assertEqual(trainer.masked_crc32c(b"123456789"), 0xC78AB0E5)
        self.assertEqual(trainer.masked_crc32c(struct.pack("<Q", 24)), 0x224B7FA3)

    def test_gradient_is_the_slope_of_the_loss(self):
        parameters = trainer.initial_parameters(1)
        points = trainer.half_moons(2, 20)
        loss, gradient = trainer.loss_and_gradient(parameters, points)
        for i in range(0, len(parameters), 7):
            moved = list(parameters)
            moved[i] += 1e-6
            slope = (trainer.loss_and_gradient(moved, points)[0] - loss) / 1e-6
            self.assertAlmostEqual(slope, gradient[i], places=4)

    def test_cluster_forms(self):
        def cluster(value, role, index):
            return trainer.Cluster(json.dumps({"cluster": value, "task": {"type": role, "index": index}}))

        alone = trainer.Cluster("")
        self.assertEqual((alone.name, alone.rank, alone.leads, alone.own_address), ("worker-0", 0, True, None))
        chief = {"chief": ["c:1"], "worker": ["w0:1", "w1:1"], "ps": ["p:1"]}
        self.assertEqual(cluster(chief, "worker", 1).rank, 2)
        self.assertFalse(cluster(chief, "worker", 0).leads)
        self.assertTrue(cluster(chief, "chief", 0).leads)
        self.assertEqual(cluster(chief, "worker", 0).servers, ["p:1"])
        self.assertTrue(cluster({"master": ["m:1"], "worker": ["w:1"]}, "master", 0).leads)
        self.assertTrue(cluster({"worker": ["w0:1", "w1:1"]}, "worker", 0).leads)
        sparse = cluster({"ps": ["p:1"], "worker": {"3": "w3:1"}}, "worker", 3)
        self.assertEqual((sparse.own_address, sparse.leads), ("w3:1", False))

    def test_checkpoint_survives_a_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(trainer.load_checkpoint(folder))
            state = trainer.State(3, [0.1, -2.5], [1e-17, 3.0])
            trainer.save_checkpoint(folder, state)
            self.assertEqual(trainer.load_checkpoint(folder).to_json(), state.to_json())
            self.assertEqual(os.listdir(folder), ["checkpoint.json"])


class AloneTest(unittest.TestCase):
    def run_alone(self, *options):
        environment = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
        return subprocess.run(
            [sys.executable, os.path.join(HERE, "trainer.py"), "--pause", "0"] + list(options),
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
        )

    def test_learns_without_tf_config(self):
        done = self.run_alone()
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = [line.split() for line in done.stdout.splitlines() if " loss " in line]
        self.assertLess(float(lines[-1][4]), float(lines[0][4]))
        self.assertGreater(float(lines[-1][6]), 0.88, done.stdout)

    def test_exit_code_and_fail_once(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = ["--dir", folder, "--exit-code", "137", "--at-step", "20", "--fail-once"]
            self.assertEqual(self.run_alone(*bad).returncode, 137)
            second = self.run_alone(*bad)
            self.assertEqual(second.returncode, 0)
            self.assertIn("resumed from the checkpoint of step 20", second.stdout)

    def test_misbehaviour_of_another_replica_is_not_mine(self):
        self.assertEqual(self.run_alone("--exit-code", "3", "--on", "worker-1").returncode, 0)

    def test_memory_is_taken(self):
        done = self.run_alone("--memory-mb", "20", "--steps", "1")
        self.assertIn("taking 20 MB", done.stdout)

    def test_bad_options(self):
        self.assertEqual(self.run_alone("--fail-once").returncode, 2)


class AllReduceTest(unittest.TestCase):
    def test_three_workers_learn_the_same(self):
        job = Job(self, worker=3, evaluator=1)
        job.start_all("--pause", "0.01")
        for i in range(3):
            self.assertEqual(job.wait("worker", i), 0, job.output("worker", i))
        self.assertEqual(job.wait("evaluator", 0), 0, job.output("evaluator", 0))
        self.assertIn("evaluated step 60", job.output("evaluator", 0))
        self.assertEqual(job.checkpoint().step, 60)
        accuracies = {job.output("worker", i).split("accuracy ")[-1].split()[0] for i in range(3)}
        self.assertEqual(len(accuracies), 1, accuracies)
        (path,) = glob.glob(os.path.join(job.dir, "train", "events.out.tfevents.*"))
        scalars = read_scalars(path)
        self.assertEqual([s for s, tag, _ in scalars if tag == "loss"], list(range(5, 61, 5)))
        losses = [value for _, tag, value in scalars if tag == "loss"]
        self.assertLess(losses[-1], losses[0])
        self.assertGreater([v for _, tag, v in scalars if tag == "accuracy"][-1], 0.88)

    def killed_and_resumed(self, victims, marks, *options):
        job = Job(self, chief=1, worker=2)
        job.start_all("--pause", "0.02", *options)
        for role, index in job.replicas:
            job.wait_for_output(role, index, "step 20/")
        for victim in victims:
            job.processes[victim].kill()
            job.processes[victim].wait()
        for victim in victims:
            job.start(*victim)
        for role, index in job.replicas:
            self.assertEqual(job.wait(role, index), 0, job.output(role, index))
            self.assertIn("step 60/60", job.output(role, index))
        for victim, mark in marks.items():
            self.assertIn(mark, job.output(*victim))
        self.assertGreaterEqual(job.checkpoint().step, 60)

    def test_a_killed_worker_comes_back_alone(self):
        self.killed_and_resumed([("worker", 1)], {("chief", 0): "lost a peer", ("worker", 0): "lost a peer"})

    def test_a_killed_chief_comes_back_alone(self):
        self.killed_and_resumed([("chief", 0)], {("chief", 0): "took over step"}, "--checkpoint-every", "1000")

    def test_all_are_killed_and_come_back(self):
        everybody = [("chief", 0), ("worker", 0), ("worker", 1)]
        self.killed_and_resumed(everybody, {("chief", 0): "resumed from the checkpoint"})

    def test_sigterm_saves_and_exits_42(self):
        for victim in (("worker", 0), ("worker", 1)):
            job = Job(self, worker=2)
            job.start_all("--checkpoint-every", "1000")
            job.wait_for_output("worker", 0, "step 15/")
            self.assertIsNone(job.checkpoint())
            job.processes[victim].send_signal(signal.SIGTERM)
            self.assertEqual(job.wait(*victim), 42, job.output(*victim))
            self.assertGreaterEqual(job.checkpoint().step, 15)
            job.start(*victim)
            for i in range(2):
                self.assertEqual(job.wait("worker", i), 0, job.output("worker", i))

    def test_sigterm_while_waiting_for_peers(self):
        job = Job(self, worker=2)
        job.start("worker", 0)
        job.wait_for_output("worker", 0, "listening")
        job.processes[("worker", 0)].send_signal(signal.SIGTERM)
        self.assertEqual(job.wait("worker", 0), 42)

    def test_a_finished_training_is_not_repeated(self):
        job = Job(self, worker=2)
        job.start_all("--steps", "5", "--pause", "0")
        for i in range(2):
            self.assertEqual(job.wait("worker", i), 0)
        job.start("worker", 1, "--steps", "5")
        self.assertEqual(job.wait("worker", 1), 0)
        self.assertIn("nothing left to do", job.output("worker", 1))

    def test_gives_up_on_absent_peers(self):
        job = Job(self, worker=2)
        job.start("worker", 1, "--wait", "0.5")
        self.assertEqual(job.wait("worker", 1), 1)
        self.assertIn("gave up waiting", job.output("worker", 1))

    def test_sigterm_can_be_ignored_and_a_hang_leaves_on_it(self):
        job = Job(self, worker=1)
        job.start("worker", 0, "--hang", "--at-step", "3", "--pause", "0")
        job.wait_for_output("worker", 0, "hanging at step 3")
        job.processes[("worker", 0)].send_signal(signal.SIGTERM)
        self.assertEqual(job.wait("worker", 0), 42)
        stubborn = Job(self, worker=1)
        stubborn.start("worker", 0, "--ignore-sigterm", "--pause", "0.02")
        stubborn.wait_for_output("worker", 0, "step 5/")
        stubborn.processes[("worker", 0)].send_signal(signal.SIGTERM)
        self.assertEqual(stubborn.wait("worker", 0), 0)


class ParameterServerTest(unittest.TestCase):
    def finish(self, job):
        for role, index in job.replicas:
            if role != "ps":
                self.assertEqual(job.wait(role, index), 0, job.output(role, index))
        for role, index in job.replicas:
            if role == "ps":
                self.assertIsNone(job.processes[(role, index)].poll())
        self.assertGreaterEqual(job.checkpoint().step, 60)
        accuracy = trainer.accuracy_of(job.checkpoint().parameters, trainer.half_moons(8, 400))
        self.assertGreater(accuracy, 0.88)

    def test_learns_and_the_servers_stay(self):
        job = Job(self, chief=1, ps=2, worker=2, evaluator=1)
        job.start_all("--pause", "0.02")
        self.finish(job)
        job.processes[("ps", 0)].send_signal(signal.SIGTERM)
        self.assertEqual(job.wait("ps", 0), 143)

    def test_worker_zero_leads_without_a_chief(self):
        job = Job(self, ps=1, worker=2)
        job.start_all("--pause", "0.02")
        self.finish(job)

    def test_a_killed_worker_does_not_stop_the_others(self):
        job = Job(self, chief=1, ps=1, worker=2)
        job.start_all()
        job.wait_for_output("chief", 0, "step")
        job.processes[("worker", 1)].kill()
        job.processes[("worker", 1)].wait()
        job.start("worker", 1)
        self.finish(job)

    def test_a_killed_server_is_filled_from_the_checkpoint(self):
        job = Job(self, chief=1, ps=2, worker=1)
        job.start_all("--steps", "100", "--log-every", "1")
        deadline = time.monotonic() + PATIENCE
        while not job.checkpoint() and time.monotonic() < deadline:
            time.sleep(0.02)
        job.processes[("ps", 1)].kill()
        job.processes[("ps", 1)].wait()
        job.start("ps", 1)
        self.finish(job)
        self.assertIn("resumed from the checkpoint", job.output("chief", 0))

    def test_the_chief_alone_and_all_come_back(self):
        for again in ([("chief", 0)], [("chief", 0), ("ps", 0), ("worker", 0)]):
            job = Job(self, chief=1, ps=1, worker=1)
            job.start_all()
            deadline = time.monotonic() + PATIENCE
            while not job.checkpoint() and time.monotonic() < deadline:
                time.sleep(0.02)
            for victim in again:
                job.processes[victim].kill()
                job.processes[victim].wait()
            for victim in again:
                job.start(*victim)
            self.finish(job)

    def test_sigterm_of_the_chief(self):
        job = Job(self, chief=1, ps=1, worker=1)
        job.start_all("--checkpoint-every", "1000", "--pause", "0.1")
        job.wait_for_output("ps", 0, "loaded")
        job.processes[("chief", 0)].send_signal(signal.SIGTERM)
        self.assertEqual(job.wait("chief", 0), 42)
        job.start("chief", 0)
        self.finish(job)


if __name__ == "__main__":
    unittest.main()
