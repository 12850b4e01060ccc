"""`trainyard up` and `down`: the plane as a service, killed and adopted."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from yard import Yard, processes_with, shell_role, tfjob


class Up(Yard):
    def setUp(self):
        super().setUp()
        self.data = self.home / "plane"
        self.addCleanup(self.take_down)

    def take_down(self):
        subprocess.run([os.environ["TRAINYARD"], "down", "--data-dir", str(self.data)], env=self.env,
                       capture_output=True, timeout=90)

    def up(self):
        status, out, err = self.trainyard("up", "--detach", "--data-dir", self.data)
        self.assertEqual(status, 0, out + err)
        return out

    def pid(self):
        return int((self.data / "lock").read_text())

    def test_it_comes_up_once_and_goes_down(self):
        self.assertIn("KUBECONFIG", self.up())
        status, _, err = self.trainyard("up", "--detach", "--data-dir", self.data)
        self.assertEqual(status, 1)
        self.assertIn("a plane is up already", err)
        self.assertEqual(self.trainyard("status", "--data-dir", self.data)[0], 0)
        self.assertEqual(self.trainyard("down", "--data-dir", self.data)[0], 0)
        self.assertEqual(self.trainyard("status", "--data-dir", self.data)[0], 1)

    def test_what_it_says_can_be_typed_as_it_stands(self):
        self.data = self.home / "with space"
        self.assertIn(f"  export KUBECONFIG='{self.data}/kubeconfig'\n", self.up())

    def test_secrets_of_the_plane_are_private(self):
        self.up()
        for path in [self.data / "kubeconfig", *(self.data / "pki").iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        self.assertEqual((self.data / "pki").stat().st_mode & 0o777, 0o700)
        self.assertEqual(self.data.stat().st_mode & 0o777, 0o700)

    def test_a_killed_plane_leaves_replicas_and_adopts_them(self):
        marker = f"TRAINYARD_E2E_MARK={self.id()}-{os.getpid()}"
        name, value = marker.split("=")
        runs = self.home / "runs"
        job = tfjob("kept", {"Worker": shell_role(2, "echo $HOSTNAME >> $RUNS; sleep 6; exit 0", container={
            "env": [{"name": name, "value": value}, {"name": "RUNS", "value": str(runs)}],
            "volumeMounts": [{"name": "home", "mountPath": str(self.home)}]},
            pod={"volumes": [{"name": "home", "hostPath": {"path": str(self.home)}}]})})
        self.up()
        status, out, err = self.trainyard("submit", "--data-dir", self.data, self.manifest(job))
        self.assertEqual(status, 0, out + err)
        self.wait_until("both replicas", lambda: runs.exists() and len(runs.read_text().split()) == 2)
        os.kill(self.pid(), signal.SIGKILL)
        time.sleep(0.5)
        self.assertTrue(processes_with(marker))
        for command in ("status", "down"):
            status, out, err = self.trainyard(command, "--data-dir", self.data)
            self.assertEqual(status, 1, out + err)
            self.assertIn(f"2 of its replicas still run: 'trainyard up --data-dir {self.data}' takes them over", out)
        self.assertTrue(processes_with(marker))
        self.up()
        status, out, err = self.trainyard("wait", "--data-dir", self.data, "kept", "--for=succeeded", "--timeout", "60s")
        self.assertEqual(status, 0, out + err)
        self.assertEqual(sorted(runs.read_text().split()), ["kept-worker-0", "kept-worker-1"])


if __name__ == "__main__":
    unittest.main()
