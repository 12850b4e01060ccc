"""The examples, unchanged, on a running plane: `tests/python/run examples_test`.

Those with TensorFlow run where `tools/tensorflow-venv` has installed it, with its python as their
command; TRAINYARD_TENSORFLOW=1 makes its absence a failure.
"""

import os
import subprocess
import unittest

from plane_case import ROOT, PlaneCase

VENV_TOOL = os.path.join(ROOT, "tools", "tensorflow-venv")
PYTHON = subprocess.run([VENV_TOOL, "--path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


class TrainerTest(PlaneCase):
    def all_reduce(self, dialect):
        self.create(os.path.join(ROOT, "examples", dialect + "-allreduce.yaml"))
        self.succeeds()
        first = next(name for name in self.pods() if name.endswith("worker-0"))
        self.assertIn("lost a peer at step 20", self.log(first))
        self.assertIn("step 60/60", self.log(first))
        self.assertEqual(self.restarts(first), 0)

    def test_tfjob_all_reduce(self):
        self.all_reduce("tfjob")
        # Its pod may be cleaned up by now; what was told of it stays.
        self.eventually(lambda: self.starts("moons-worker-1") == 2, "worker 1 was started twice")

    def test_t9k_all_reduce(self):
        self.all_reduce("t9k")

    def test_volcano_all_reduce(self):
        self.all_reduce("volcano")

    def servers(self, dialect):
        self.create(os.path.join(ROOT, "examples", dialect + "-ps.yaml"))
        self.succeeds()
        # Parameter servers never end by themselves.
        self.eventually(lambda: "Running" not in self.pods().values(), "nothing runs any more")

    def test_tfjob_ps(self):
        self.servers("tfjob")

    def test_t9k_ps(self):
        self.servers("t9k")

    def test_volcano_ps(self):
        self.servers("volcano")


class TensorFlowTest(PlaneCase):
    def setUp(self):
        if not os.path.exists(PYTHON):
            if os.environ.get("TRAINYARD_TENSORFLOW"):
                self.fail("TensorFlow is not installed; run tools/tensorflow-venv")
            self.skipTest("TensorFlow is not installed; tools/tensorflow-venv does it")
        super().setUp()

    def run_example(self, name):
        manifest = subprocess.run(
            [VENV_TOOL, "--manifest", os.path.join(ROOT, "examples", "tensorflow", name)],
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout
        path = os.path.join(ROOT, "build", "examples-test-%d.yaml" % os.getpid())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(manifest)
        self.addCleanup(os.unlink, path)
        self.create(path)
        self.succeeds(patience=300)

    def test_tfjob_mirrored(self):
        self.run_example("tfjob-mirrored.yaml")

    def test_t9k_mirrored(self):
        self.run_example("t9k-mirrored.yaml")

    def test_volcano_mirrored(self):
        self.run_example("volcano-mirrored.yaml")

    def test_tfjob_ps(self):
        self.run_example("tfjob-ps.yaml")

    def test_t9k_ps(self):
        self.run_example("t9k-ps.yaml")

    def test_volcano_ps(self):
        self.run_example("volcano-ps.yaml")


if __name__ == "__main__":
    unittest.main(verbosity=2)
