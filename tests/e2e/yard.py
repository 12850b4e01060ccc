"""What the end-to-end tests share: the binary under test, a home of its own for each test,
manifests with the example trainer or a shell line, and a look at what is left behind."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAINYARD = os.environ.get("TRAINYARD", str(ROOT / "build/release/trainyard"))
TRAINER = ROOT / "examples/trainer/trainer.py"
PATIENCE = 90


def shell_role(replicas, script, **extra):
    """A role whose replicas run a shell script."""
    container = {"name": "tensorflow", "image": "example/none:1", "command": ["/bin/sh", "-c", script]}
    container.update(extra.pop("container", {}))
    spec = {"containers": [container]}
    spec.update(extra.pop("pod", {}))
    return {"replicas": replicas, "template": {"spec": spec}, **extra}


def tfjob(name, roles, success="", **run_policy):
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {"runPolicy": run_policy, "successPolicy": success, "tfReplicaSpecs": roles},
    }


def processes_with(marker):
    """Ids of processes whose environment holds the marker."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


class Yard(unittest.TestCase):
    """A home in a folder of its own, removed at the end."""

    runtime = "auto"

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-e2e-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.env = dict(os.environ, HOME=str(self.home), XDG_STATE_HOME=str(self.home / "state"))
        self.env.pop("KUBECONFIG", None)

    def manifest(self, *documents):
        """One file with all the documents; JSON is YAML."""
        path = self.home / "manifest.yaml"
        path.write_text("\n---\n".join(json.dumps(document) for document in documents))
        return path

    def start(self, *arguments, **options):
        process = subprocess.Popen(
            [TRAINYARD, *map(str, arguments)],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def trainyard(self, *arguments, timeout=PATIENCE):
        """Runs it to its end: (exit status, stdout, stderr)."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
            self.fail(f"{arguments} did not end\n{out}\n{err}")
        return process.returncode, out, err

    def run_job(self, *documents, options=()):
        return self.trainyard("run", "--runtime", self.runtime, *options, self.manifest(*documents))

    def wait_until(self, what, condition, timeout=PATIENCE):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            time.sleep(0.05)
        self.fail(f"waited {timeout} s for {what}")
