"""TensorBoards: from a job's tensorboardSpec and made by hand, with a stand-in for the program; with
TENSORBOARD=/path/to/tensorboard the real one."""

import json
import os
import sys
import unittest
import urllib.request

from plane import PlaneCase, t9k_job
from yard import PATIENCE, ROOT, shell_role

REAL = os.environ.get("TENSORBOARD", "")
PROGRAM = [REAL] if REAL else [sys.executable, str(ROOT / "tests/e2e/stand_in_tensorboard.py")]


def claim(name):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}}


def board(name, **spec):
    return {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "metadata": {"name": name},
            "spec": {"image": "t9kpublic/tensorboard:2.11.0", **spec}}


class BoardCases:
    """Cases that hold in every runtime."""

    patience = 300 if REAL else PATIENCE  # the real one loads TensorFlow first

    def writer(self):
        """A worker that leaves events below /log of the claim."""
        script = (f"python3 {ROOT}/examples/trainer/trainer.py --dir /log/log" if REAL else
                  "mkdir -p /log/log; echo x > /log/log/events.out.tfevents.1.host")
        return shell_role(1, script, container={"volumeMounts": [{"name": "v", "mountPath": "/log"}]},
                          pod={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "logs"}}]})

    def wait_ready(self, name):
        self.wait_for_phase("TensorBoard", name, "Running")
        return self.api.get("TensorBoard", name)

    def served(self, url):
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read().decode()

    def test_a_job_with_a_board(self):
        self.api.create(claim("logs"))
        self.api.create(t9k_job("seen", {"worker": self.writer()}, tensorboardSpec={
            "image": "t9kpublic/tensorboard:2.11.0", "trainingLogFilesets": ["t9k://pvc/logs/log"]}))
        self.wait_for_phase("TensorFlowTrainingJob", "seen", "Succeeded")

        def told():
            status = self.api.get("TensorFlowTrainingJob", "seen")["status"].get("tensorboard", {})
            return status if status.get("ready") else None
        status = self.wait_until("the job to show its board", told)
        name = status["dependent"]["name"]
        made = self.wait_ready(name)
        self.assertRegex(name, "^seen-[0-9a-f]{5}$")
        self.assertEqual(status, {
            "action": "NOP", "ready": True, "reason": "DependentReady", "type": "Normal",
            "note": f"TensorBoard [{name}] is ready",
            "dependent": {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "name": name,
                          "namespace": "default", "uid": made["metadata"]["uid"]}})
        url = made["status"]["url"]
        if REAL:
            self.wait_until("the loss to be shown", lambda: "loss" in self.served(url + "data/plugin/scalars/tags"))
        else:
            self.assertEqual(json.loads(self.served(url))["files"], ["events.out.tfevents.1.host"])
        pod = made["status"]["pod"]
        self.assertEqual(pod["phase"], "Running")
        self.assertEqual(self.api.get("Pod", pod["reference"]["name"])["metadata"]["uid"], pod["reference"]["uid"])
        # It outlives the end of the job, not the job.
        self.api.delete("TensorFlowTrainingJob", "seen")
        child = pod["reference"]["name"]
        for kind, one in (("TensorBoard", name), ("Pod", child), ("Service", child)):
            self.wait_until(f"{kind} {one} to be gone", lambda k=kind, n=one: self.api.get(k, n) is None)

    def test_made_by_hand_suspended_and_resumed(self):
        self.api.create(claim("by-hand"))
        self.api.create(claim("more"))
        self.api.create(board("hand", logDir={"pvc": [{"name": "by-hand", "subPath": ["./a", "b"]}, {"name": "more"}]}))
        ready = self.wait_ready("hand")
        first = ready["status"]["pod"]["reference"]
        self.assertTrue(self.served(ready["status"]["url"]))
        self.api.patch("TensorBoard", "hand", {"spec": {"suspend": True}})
        self.wait_for_phase("TensorBoard", "hand", "Paused")
        self.wait_until("its pod to be gone", lambda: self.api.get("Pod", first["name"]) is None)
        self.assertTrue(self.api.get("Service", "hand-tensorboard"))
        self.assertNotIn("url", self.api.get("TensorBoard", "hand")["status"])
        self.api.patch("TensorBoard", "hand", {"spec": {"suspend": False}})
        second = self.wait_ready("hand")["status"]["pod"]["reference"]
        self.assertNotEqual(first["uid"], second["uid"])
        self.api.delete("TensorBoard", "hand")
        self.wait_until("its pod to be gone", lambda: self.api.get("Pod", first["name"]) is None)

    def test_one_that_makes_no_sense_says_so(self):
        self.api.create(board("odd", trainingLogFilesets=["t9k://s3/x"]))

        def told():
            conditions = self.api.get("TensorBoard", "odd").get("status", {}).get("conditions", [])
            return any("spec.trainingLogFilesets[0]" in c["message"] for c in conditions)
        self.wait_until("a condition", told)
        self.assertIsNone(self.api.get("Pod", "odd-tensorboard"))

    def test_it_is_reached_through_the_api(self):
        self.api.create(claim("proxied"))
        self.api.create(board("proxied", logDir={"pvc": [{"name": "proxied"}]}))
        self.wait_ready("proxied")
        for path in ("pods/proxied-tensorboard", "pods/http:proxied-tensorboard:http", "services/proxied-tensorboard",
                     "services/proxied-tensorboard:http"):
            status, body = self.api.raw("GET", f"/api/v1/namespaces/default/{path}/proxy/data/environment?x=1")
            self.assertEqual(status, 200, body)
            if not REAL:
                told = json.loads(body)
                self.assertEqual(told["path"], "/data/environment?x=1")
                self.assertIsNone(told["authorization"])
        status, _ = self.api.raw("GET", "/api/v1/namespaces/default/pods/proxied-tensorboard/proxy")
        self.assertEqual(status, 301)
        status, _ = self.api.raw("GET", "/api/v1/namespaces/default/pods/proxied-tensorboard:1/proxy/")
        self.assertEqual(status, 503)
        status, _ = self.api.raw("GET", "/api/v1/namespaces/default/pods/none/proxy/")
        self.assertEqual(status, 404)


def options(runtime):
    words = ["--runtime", runtime]
    for word in PROGRAM:
        words += ["--tensorboard-command", word]
    return words


class SandboxBoards(BoardCases, PlaneCase):
    options = options("sandbox")


class ProcessBoards(BoardCases, PlaneCase):
    options = options("process")


if __name__ == "__main__":
    unittest.main()
