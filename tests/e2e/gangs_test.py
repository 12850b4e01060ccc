"""Gangs on the embedded plane: their pods start together or not at all, in queues."""

import json
import os
import pathlib
import subprocess
import unittest

from plane import PlaneCase
from yard import Yard, shell_role, tfjob

GPU = {"limits": {"nvidia.com/gpu": 1}}


class Gangs(Yard):
    """A plane that believes in three GPUs: two gangs of two do not fit side by side."""

    gpus = 3

    def setUp(self):
        super().setUp()
        self.data = self.home / "plane"
        self.addCleanup(self.take_down)
        status, out, err = self.trainyard("up", "--detach", "--data-dir", self.data, "--runtime", "process",
                                          "--gpus", self.gpus)
        self.assertEqual(status, 0, out + err)

    def take_down(self):
        subprocess.run([os.environ["TRAINYARD"], "down", "--data-dir", str(self.data)], env=self.env,
                       capture_output=True, timeout=90)

    def submit(self, *documents):
        status, out, err = self.trainyard("submit", "--data-dir", self.data, self.manifest(*documents))
        self.assertEqual(status, 0, out + err)

    def get(self, kind, name):
        status, out, err = self.trainyard("get", "--data-dir", self.data, kind, name, "-o", "json")
        self.assertEqual(status, 0, out + err)
        found = json.loads(out)
        return found["items"][0] if "items" in found else found

    def described(self, job):
        return self.trainyard("describe", "--data-dir", self.data, job)[1]

    def queue(self, *words):
        status, out, err = self.trainyard("queue", words[0], "--data-dir", self.data, *words[1:])
        self.assertEqual(status, 0, out + err)
        return out

    def wait_for(self, job, goal):
        status, out, err = self.trainyard("wait", "--data-dir", self.data, job, "--for", goal, "--timeout", "80s")
        self.assertEqual(status, 0, out + err + self.described(job))

    def hold(self):
        """A file; replicas that hold on to it end when it is there."""
        return self.home / "let-go"

    def holding_script(self, name):
        started = self.home / f"{name}-started"
        return f"echo x >> {started}; while [ ! -e {self.hold()} ]; do sleep 0.1; done"

    def started(self, name):
        path = self.home / f"{name}-started"
        return len(path.read_text().split()) if path.exists() else 0

    def one_waits_whole(self, first, second, kind, names):
        self.submit(first)
        self.wait_until("the first gang", lambda: self.started(names[0]) == 2)
        self.submit(second)
        self.wait_until("a reason", lambda: "needs 2 x nvidia.com/gpu" in self.described(f"{kind}/{names[1]}"))
        self.assertEqual(self.started(names[1]), 0)
        self.hold().write_text("")
        for name in names:
            self.wait_for(f"{kind}/{name}", "succeeded")
        self.assertEqual(self.started(names[1]), 2)

    def gang_tfjob(self, name, restart="Never", **policy):
        role = shell_role(2, self.holding_script(name), restartPolicy=restart, container={"resources": GPU})
        return tfjob(name, {"Worker": role}, success="AllWorkers", schedulingPolicy=policy)

    def test_tfjobs_with_a_scheduling_policy(self):
        self.one_waits_whole(self.gang_tfjob("one", minAvailable=2), self.gang_tfjob("two", minAvailable=2), "tfjob",
                             ["one", "two"])

    def volcano_job(self, name, queue="default"):
        container = {"name": "main", "image": "example/none:1", "resources": GPU,
                     "command": ["/bin/sh", "-c", self.holding_script(name)]}
        return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
                "spec": {"minAvailable": 2, "schedulerName": "volcano", "queue": queue, "tasks": [
                    {"name": "worker", "replicas": 2,
                     "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}]}}

    def test_volcano_jobs(self):
        self.one_waits_whole(self.volcano_job("one"), self.volcano_job("two"), "vcjob", ["one", "two"])

    def a_higher_queue_takes(self, low, high, kind):
        """What runs in a lower queue makes room, whole, and starts anew when there is room again."""
        self.queue("create", "low", "--weight", "1")
        self.queue("create", "high", "--priority", "10")
        self.submit(low)
        self.wait_until("the lower gang", lambda: self.started("low") == 2)
        self.submit(high)
        self.wait_until("the higher gang", lambda: self.started("high") == 2)
        self.hold().write_text("")
        self.wait_for(f"{kind}/high", "succeeded")
        self.wait_for(f"{kind}/low", "succeeded")
        self.assertEqual(self.started("low"), 4, "both of its replicas began twice")

    def test_a_higher_queue_takes_from_tfjobs(self):
        self.a_higher_queue_takes(
            self.gang_tfjob("low", restart="OnFailure", minAvailable=2, queue="low"),
            self.gang_tfjob("high", minAvailable=2, queue="high"), "tfjob")

    def test_a_higher_queue_takes_from_volcano_jobs(self):
        self.a_higher_queue_takes(self.volcano_job("low", "low"), self.volcano_job("high", "high"), "vcjob")

    def t9k_job(self, name, queue, priority, restart="Never"):
        container = {"name": "tensorflow", "image": "example/none:1", "resources": GPU,
                     "command": ["/bin/sh", "-c", self.holding_script(name)]}
        return {"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "TensorFlowTrainingJob",
                "metadata": {"name": name},
                "spec": {"scheduler": {"t9kScheduler": {"queue": queue, "priority": priority}},
                         "replicaSpecs": [{"type": "worker", "replicas": 2, "restartPolicy": restart,
                                           "template": {"spec": {"containers": [container]}}}]}}

    def test_a_preempted_t9k_job_is_told_as_it_is(self):
        self.queue("create", "low", "--weight", "1")
        self.queue("create", "high", "--priority", "10")
        self.submit(self.t9k_job("low", "low", 50, restart="OnFailure"))
        self.wait_until("the lower gang", lambda: self.started("low") == 2)
        self.wait_for("tft/low", "running")
        self.submit(self.t9k_job("high", "high", 50))
        self.wait_until("the higher gang", lambda: self.started("high") == 2)
        self.wait_until("a reason in its queue",
                        lambda: "needs 2 x nvidia.com/gpu" in self.queue("describe", "low"))
        gang = next(line for line in self.queue("describe", "low").splitlines() if " low-" in line)
        self.assertIn("Waiting", gang)
        row = self.trainyard("get", "--data-dir", self.data, "tft")[1].splitlines()
        low = next(line for line in row if line.startswith("low ")).split()
        self.assertEqual(low[2:5], ["Restarting", "0/2", "0"])
        told = self.described("tft/low")
        self.assertIn("it starts again", told)
        self.assertNotIn("must not", told)
        status, _, err = self.trainyard("wait", "--data-dir", self.data, "tft/low", "--for", "running", "--timeout", "1s")
        self.assertNotEqual(status, 0, err)
        self.hold().write_text("")
        for name in ("high", "low"):
            self.wait_for(f"tft/{name}", "succeeded")

    def test_t9k_jobs_go_by_priority(self):
        queue = {"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "Queue",
                 "metadata": {"name": "lab"}, "spec": {"priority": 1}}
        self.submit(queue, self.t9k_job("one", "lab", 10))
        self.wait_until("the first gang", lambda: self.started("one") == 2)
        self.submit(self.t9k_job("low", "lab", 10))
        self.submit(self.t9k_job("high", "lab", 90))
        self.wait_until("both to wait", lambda: " 2 " in self.queue("list"))
        self.wait_until("both to be told why",
                        lambda: self.queue("describe", "lab").count("needs 2 x nvidia.com/gpu") == 2)
        self.hold().write_text("")
        for name in ["one", "high", "low"]:
            self.wait_for(f"tft/{name}", "succeeded")
        order = [(self.home / f"{name}-started").stat().st_mtime for name in ["one", "high", "low"]]
        self.assertEqual(order, sorted(order))

    def test_a_closed_queue_lets_nothing_in(self):
        self.queue("create", "research", "--weight", "2", "--capacity", "nvidia.com/gpu=2")
        self.queue("close", "research")
        self.submit(self.volcano_job("one", "research"))
        self.wait_until("a reason", lambda: "closed" in self.queue("describe", "research").lower())
        self.assertEqual(self.started("one"), 0)
        self.queue("open", "research")
        self.wait_until("the gang", lambda: self.started("one") == 2)
        self.assertIn("research", self.queue("list"))
        self.hold().write_text("")
        self.wait_for("vcjob/one", "succeeded")


class DeclaredNodes(PlaneCase):
    """Nodes that only exist as objects: gangs far larger than this machine are placed and played on them."""

    options = ("--runtime", "process")

    def declare(self, *names, cpu="8", **capacity):
        for name in names:
            self.api.create({"apiVersion": "v1", "kind": "Node",
                             "metadata": {"name": name, "labels": {"trainyard.dev/simulated": "true"}},
                             "status": {"capacity": {"cpu": cpu, **capacity}}})
            self.addCleanup(self.drop, "Node", name)

    def gang(self, name, replicas, gpus, annotations=None):
        container = {"name": "tensorflow", "image": "example/none:1",
                     "resources": {"limits": {"nvidia.com/gpu": gpus}}}
        template = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": [container]}}
        self.addCleanup(self.drop, "TFJob", name)
        self.api.create(tfjob(name, {"Worker": {"replicas": replicas, "restartPolicy": "Never", "template": template}},
                              success="AllWorkers", schedulingPolicy={"minAvailable": replicas}))

    def drop(self, kind, name):
        if self.api.get(kind, name):
            self.api.delete(kind, name)

    def nodes_of(self, job):
        return sorted(pod["spec"].get("nodeName", "") for pod in self.api.list("Pod")
                      if pod["metadata"].get("labels", {}).get("training.kubeflow.org/job-name") == job
                      and "deletionTimestamp" not in pod["metadata"])

    def ready(self, name):
        node = self.api.get("Node", name)
        return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))

    def test_gangs_on_them(self):
        names = ["big-0", "big-1"]
        self.declare(*names, **{"nvidia.com/gpu": "8"})
        self.wait_until("them to be ready", lambda: all(self.ready(name) for name in names))
        self.assertEqual(self.api.get("Node", "big-0")["status"]["allocatable"]["nvidia.com/gpu"], "8")
        self.gang("first", 3, 4)
        self.wait_for_condition("first", "Running")
        self.assertTrue(set(self.nodes_of("first")) <= set(names))
        self.gang("second", 3, 4, {"trainyard.dev/simulated-seconds": "1"})
        self.wait_until("a reason", lambda: "needs 12 x nvidia.com/gpu" in self.verb("describe", "second"))
        self.assertEqual(set(self.nodes_of("second")) - {""}, set())
        self.api.delete("TFJob", "first")
        self.wait_for_condition("second", "Succeeded")
        self.gang("third", 2, 8, {"trainyard.dev/simulated-seconds": "0", "trainyard.dev/simulated-exit-code": "3"})
        self.wait_for_condition("third", "Failed")

    def test_a_node_is_lost(self):
        self.declare("lost-0", "lost-1", "spare", **{"example.com/thing": "1"})
        container = {"name": "tensorflow", "image": "example/none:1", "resources": {"limits": {"example.com/thing": 1}}}
        role = {"replicas": 2, "restartPolicy": "ExitCode", "template": {"spec": {"containers": [container]}}}
        self.addCleanup(self.drop, "TFJob", "stays")
        self.api.create(tfjob("stays", {"Worker": role}, schedulingPolicy={"minAvailable": 2}))
        self.wait_for_condition("stays", "Running")
        lost = self.nodes_of("stays")[0]
        self.api.delete("Node", lost)
        self.wait_until("it to be whole elsewhere",
                        lambda: len(self.nodes_of("stays")) == 2 and lost not in self.nodes_of("stays")
                        and "" not in self.nodes_of("stays"))


if __name__ == "__main__":
    unittest.main()
