"""Disks that are full or do not keep what they are given: the plane says so, loses nothing that it
acknowledged, and comes back when the disk does."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from api import Broken, Client, Door

TRAINYARD = os.environ["TRAINYARD"]
FAILING_FSYNC = os.environ.get("FAILING_FSYNC", "")
MAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE = 60
SLEEPER = """
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: sleeper}
spec:
  tfReplicaSpecs:
    Worker:
      template: {spec: {containers: [{name: tensorflow, image: none, command: [sleep, "1000"]}]}}
"""


def config(name, size=0):
    return {"metadata": {"name": name}, "data": {"value": name, "pad": "x" * size}}


class Plane(unittest.TestCase):
    env = {}

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-disk-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.data = self.folder / "plane"
        self.data.mkdir(mode=0o700)
        self.door = Door(self.data)
        self.client = Client(self.door)
        self.addCleanup(self.client.close)
        self.log = self.folder / "log"

    def begin(self, **env):
        with open(self.log, "a") as log:
            process = subprocess.Popen(
                [TRAINYARD, "up", "--data-dir", str(self.data), "--runtime", "process"], stdout=log, stderr=log,
                env={**os.environ, "HOME": str(self.folder), **env}, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def up(self, **env):
        process = self.begin(**env)
        self.client.close()
        self.until("the plane", self.answers)
        return process

    def answers(self):
        try:
            self.door.open()
            return self.client.ask("GET", "/version")
        except (Broken, OSError, ValueError):
            return None

    def until(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if result := condition():
                return result
            time.sleep(0.02)
        self.fail(f"waited {PATIENCE} s for {what}: {self.log.read_text()}")

    def create(self, name, size=0):
        return self.client.ask("POST", MAPS, config(name, size))

    def names(self):
        return {item["metadata"]["name"] for item in self.client.ask("GET", MAPS)["items"]}


class FullDisk(Plane):
    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m,mode=0700", "small", self.data], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.data])

    def fill(self):
        with open(self.data / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass

    def take_room_of_log(self):
        """What the log was given in advance goes back to the disk: the next write has to ask for room. REQUIRES: nobody writes."""
        log = next(self.data.rglob("*-wal"))
        size, used = log.stat().st_size, len(log.read_bytes().rstrip(b"\0"))
        self.assertLess(used, size)
        subprocess.run(["fallocate", "--punch-hole", "--offset", str(used), "--length", str(size - used), log], check=True)

    def fill_until_refused(self):
        """The names that were acknowledged before the disk was full."""
        self.fill()
        made = set()
        for n in range(1000):
            try:
                self.create(f"c{n}", 20000)
            except Broken as refusal:
                self.assertIn("the disk is full", str(refusal))
                return made
            made.add(f"c{n}")
        self.fail("the disk is never full")

    def test_it_refuses_goes_on_and_comes_back(self):
        process = self.up()
        self.create("before")
        made = self.fill_until_refused() | {"before"}
        self.assertEqual(self.names(), made)
        self.assertIsNone(process.poll())
        (self.data / "filler").unlink()
        self.until("room", lambda: self.try_create("after"))
        made.add("after")
        process.kill()
        process.wait()
        self.up()
        self.assertEqual(self.names(), made)

    def try_create(self, name):
        try:
            return self.create(name)
        except Broken:
            return None

    def test_killed_while_the_disk_is_full(self):
        process = self.up()
        made = self.fill_until_refused()
        process.kill()
        process.wait()
        (self.data / "filler").unlink()
        self.up()
        self.assertEqual(self.names(), made)

    def test_a_run_that_is_told_to_stop_stops_when_there_is_room_again(self):
        job = self.folder / "job.yaml"
        job.write_text(SLEEPER)
        with open(self.log, "a") as log:
            process = subprocess.Popen(
                [TRAINYARD, "run", "--data-dir", str(self.data), "--runtime", "process", str(job)], stdout=log,
                stderr=log, env={**os.environ, "HOME": str(self.folder)}, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until("the replica", lambda: "TFJob sleeper: running" in self.log.read_text())
        process.send_signal(signal.SIGSTOP)
        self.take_room_of_log()
        self.fill()
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        self.until("a refusal", lambda: "the disk is full" in self.log.read_text())
        (self.data / "filler").unlink()
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.assertIn("was stopped by you", self.log.read_text())

    def test_a_disk_without_room_from_the_start(self):
        self.fill()
        process = self.begin()
        self.assertNotEqual(process.wait(timeout=PATIENCE), 0)
        self.assertRegex(self.log.read_text(), "the disk is full|No space left on device")


class BrokenDisk(Plane):
    def test_a_failed_fsync_stops_the_plane_and_nothing_acknowledged_is_lost(self):
        broken = self.folder / "broken"
        process = self.up(LD_PRELOAD=FAILING_FSYNC, TRAINYARD_FAIL_FSYNC=str(broken))
        made = set()
        for n in range(20):
            self.create(f"c{n}")
            made.add(f"c{n}")
        broken.touch()
        with self.assertRaises(Broken) as refusal:
            self.create("doubtful")
        self.assertIn("fsync", str(refusal.exception))
        self.assertNotEqual(process.wait(timeout=PATIENCE), 0)
        self.assertIn("the plane cannot go on", self.log.read_text())
        broken.unlink()
        self.up()
        self.assertEqual(self.names() - {"doubtful"}, made)


if __name__ == "__main__":
    if os.environ.get("TRAINYARD_OWN_MOUNTS") != "1":
        os.environ["TRAINYARD_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "-m" if os.geteuid() == 0 else "-rm", sys.executable, __file__, *sys.argv[1:]])
    unittest.main()
