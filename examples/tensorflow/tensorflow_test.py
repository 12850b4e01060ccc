"""Tests of the TensorFlow examples, with real TensorFlow on loopback ports. Minutes, not seconds.

    $(tools/tensorflow-venv) -m unittest discover -s examples/tensorflow -p '*_test.py'

Replicas that end with another status than 0 are started again, as restartPolicy OnFailure does.
"""

import glob
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 300


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Job:
    def __init__(self, test, script, *options, **counts):
        self.test = test
        self.command = [sys.executable, os.path.join(HERE, script)] + list(options)
        self.folder = tempfile.TemporaryDirectory()
        self.dir = os.path.join(self.folder.name, "train")
        os.makedirs(self.dir)
        ports = iter(free_ports(sum(counts.values())))
        self.cluster = {role: ["127.0.0.1:%d" % next(ports) for _ in range(n)] for role, n in counts.items()}
        self.ended = {(role, i): [] for role, n in counts.items() for i in range(n)}
        self.running = {}
        test.addCleanup(self.end)
        for replica in self.ended:
            self.start(replica)

    def start(self, replica):
        config = {"cluster": self.cluster, "task": {"type": replica[0], "index": replica[1]}}
        with open(self.path(replica), "a") as out:
            self.running[replica] = subprocess.Popen(
                self.command + ["--dir", self.dir],
                env=dict(os.environ, TF_CONFIG=json.dumps(config)),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def path(self, replica):
        return os.path.join(self.folder.name, "%s-%d" % replica)

    def output(self, replica):
        with open(self.path(replica)) as text:
            return text.read()

    def turn(self):
        """Starts again what failed."""
        for replica, process in list(self.running.items()):
            if process.poll() is None:
                continue
            self.ended[replica].append(process.returncode)
            del self.running[replica]
            if process.returncode != 0:
                self.start(replica)

    def until(self, what, said):
        deadline = time.monotonic() + PATIENCE
        while not what():
            self.turn()
            if time.monotonic() > deadline:
                everything = "\n".join("--- %s-%d\n%s" % (*r, self.output(r)[-2000:]) for r in self.ended)
                self.test.fail("never came true: %s\n%s" % (said, everything))
            time.sleep(0.1)

    def succeeded(self, replica):
        return self.ended[replica][-1:] == [0]

    def end(self):
        for process in self.running.values():
            process.kill()
            process.wait()
        self.folder.cleanup()


class MirroredTest(unittest.TestCase):
    def test_learns_though_a_worker_is_lost(self):
        job = Job(self, "mirrored.py", "--lose-worker", "1", worker=2)
        job.until(lambda: job.succeeded(("worker", 0)) and job.succeeded(("worker", 1)), "both workers succeed")
        self.assertEqual(job.ended[("worker", 1)][0], 137)
        self.assertEqual(job.ended[("worker", 0)], [1, 0], "TensorFlow ends the survivor too")
        text = job.output(("worker", 0))
        self.assertEqual([text.count("] epoch %d " % i) for i in range(6)], [1] * 6, "no epoch is trained twice")
        self.assertGreater(float(text.rsplit("accuracy ", 1)[1].split()[0]), 0.8)
        self.assertTrue(glob.glob(os.path.join(job.dir, "logs/train/events.out.tfevents.*")))


class ParameterServerTest(unittest.TestCase):
    def test_learns_though_a_worker_is_lost(self):
        job = Job(self, "parameter_server.py", "--lose-worker", "1", chief=1, ps=1, worker=2)
        job.until(lambda: job.succeeded(("chief", 0)), "the chief succeeds")
        self.assertEqual(job.ended[("chief", 0)], [0], "the chief does not notice")
        self.assertEqual(job.ended[("worker", 1)], [137])
        self.assertTrue(glob.glob(os.path.join(job.dir, "logs/events.out.tfevents.*")))
        self.assertIn(("ps", 0), job.running, "a parameter server never ends")
        self.assertIn(("worker", 0), job.running)

    def test_goes_on_from_the_checkpoint_when_the_server_is_lost(self):
        job = Job(self, "parameter_server.py", "--epochs", "40", chief=1, ps=1, worker=1)
        job.until(lambda: "epoch 3 " in job.output(("chief", 0)), "three epochs")
        job.running[("ps", 0)].send_signal(signal.SIGKILL)
        job.until(lambda: job.succeeded(("chief", 0)), "the chief succeeds")
        self.assertIn("resumed after epoch", job.output(("chief", 0)))
        self.assertEqual(job.ended[("worker", 0)], [], "workers go on")


if __name__ == "__main__":
    unittest.main()
