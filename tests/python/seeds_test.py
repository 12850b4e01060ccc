"""The manifests people publish, with their programs replaced by the example trainer, run for real.

Needs KUBECONFIG of a running plane and the packages that `run` in this folder installs:
`tests/python/run seeds_test`. Every manifest of tests/golden/seeds must be here.
"""

import glob
import os
import unittest

from kubernetes import client

from plane_case import ROOT, PlaneCase

SEEDS = os.path.join(ROOT, "tests", "golden", "seeds")
TRAINER = ["python3", "/opt/example/trainer.py", "--pause=0.01"]


def containers_of(job):
    """(pod spec, container) of every role, whichever the dialect."""
    spec = job["spec"]
    roles = spec.get("tfReplicaSpecs", {}).values() or spec.get("replicaSpecs") or spec.get("tasks")
    for role in roles:
        pod = role["template"]["spec"]
        for container in pod["containers"]:
            yield pod, container


def with_trainer(job):
    """The same job, each of its containers running the trainer from a ConfigMap."""
    for pod, container in containers_of(job):
        if container.get("command", [""])[0] == "sh":
            # The script writes TF_CONFIG itself; only its last line is the program.
            lines = container["command"][2].rstrip().splitlines()
            container["command"][2] = "\n".join(lines[:-1] + [" ".join(TRAINER)])
        elif "args" in container:
            container["args"] = list(TRAINER)
        else:
            container["command"] = list(TRAINER)
        container["image"] = "python:3.11-slim"
        container.setdefault("volumeMounts", []).append({"name": "example", "mountPath": "/opt/example"})
        pod.setdefault("volumes", []).append({"name": "example", "configMap": {"name": "example"}})
    return job


class SeedTest(PlaneCase):
    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "examples", "trainer", "trainer.py")) as script:
            data = {"trainer.py": script.read()}
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="example"), data=data)
        self.core.create_namespaced_config_map(self.namespace, body)

    def start(self, seed):
        return self.create(os.path.join(SEEDS, seed + ".yaml"), with_trainer)

    def has_gpu(self):
        nodes = self.core.list_node().items
        return any(int((node.status.allocatable or {}).get("nvidia.com/gpu", "0")) > 0 for node in nodes)

    def event_about(self, word):
        events = self.core.list_namespaced_event(self.namespace).items
        return any(word in (event.message or "") for event in events)

    def succeeds_or_waits_for_a_gpu(self):
        """With a GPU it runs; without one its pod waits and says for what."""
        if self.has_gpu():
            self.succeeds()
            return
        self.eventually(lambda: "Pending" in self.pods().values(), "a pod waits")
        self.eventually(lambda: self.event_about("nvidia.com/gpu"), "an event says that a GPU is missing")

    def test_t9k_worker(self):
        self.start("t9k-worker")
        self.succeeds()

    def test_tfjob_generate_name(self):
        job = self.start("tfjob-generate-name")
        self.assertRegex(job["metadata"]["name"], "^tfjob[a-z0-9]{5}$")
        self.succeeds()
        # The parameter server never ends by itself: the clean-up takes it.
        self.eventually(lambda: not any("-ps-" in name for name in self.pods()), "the parameter server goes")
        self.assertIn(self.name + "-worker-0", self.pods())

    def test_tfjob_gpu(self):
        self.start("tfjob-gpu")
        self.succeeds_or_waits_for_a_gpu()

    def test_tfjob_v1beta1(self):
        self.start("tfjob-v1beta1")
        self.succeeds_or_waits_for_a_gpu()

    def test_tfjob_v1beta1_gpu(self):
        self.start("tfjob-v1beta1-gpu")
        self.succeeds_or_waits_for_a_gpu()

    def test_tfjob_kube_batch(self):
        self.start("tfjob-kube-batch")
        self.succeeds()

    def test_tfjob_volcano(self):
        self.start("tfjob-volcano")
        self.succeeds()

    def test_tfjob_secret(self):
        meta = client.V1ObjectMeta(name="user-gcp-sa")
        secret = client.V1Secret(metadata=meta, string_data={"user-gcp-sa.json": "{}"})
        self.core.create_namespaced_secret(self.namespace, secret)
        self.start("tfjob-secret")
        self.succeeds()

    def test_tfjob_with_status(self):
        wanted = client.V1VolumeResourceRequirements(requests={"storage": "1Gi"})
        claim = client.V1PersistentVolumeClaim(
            metadata=client.V1ObjectMeta(name="tfevent-volume"),
            spec=client.V1PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=wanted),
        )
        self.core.create_namespaced_persistent_volume_claim(self.namespace, claim)
        self.start("tfjob-with-status")
        self.succeeds()
        status = self.job()["status"]
        self.assertIn("startTime", status)
        self.assertIn("completionTime", status)
        self.assertEqual(status["replicaStatuses"]["Worker"].get("succeeded"), 1)
        self.assertEqual(self.pods(), {"mnist-worker-0": "Succeeded"})

    def test_volcano_job(self):
        runtime = self.core.list_node().items[0].status.node_info.container_runtime_version
        if runtime.startswith("process"):
            self.skipTest("its script gives every replica port 2222, which plain processes cannot share")
        self.start("volcano-job")
        self.succeeds()

    def test_every_seed_is_here(self):
        names = {os.path.basename(path)[: -len(".yaml")] for path in glob.glob(os.path.join(SEEDS, "*.yaml"))}
        tests = {name[len("test_") :].replace("_", "-") for name in dir(self) if name.startswith("test_")}
        self.assertEqual(names - tests, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
