"""The manifests people publish, with their programs replaced by the example trainer, run for real.

Needs KUBECONFIG of a running plane and the packages that `run` in this folder installs:
`tests/python/run seeds_test`. Every manifest of tests/golden/seeds must be here.
"""

import glob
import os
import time
import unittest

import yaml
from kubernetes import client, config, dynamic

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEEDS = os.path.join(ROOT, "tests", "golden", "seeds")
TRAINER = ["python3", "/opt/example/trainer.py", "--pause=0.01"]
PATIENCE = 120


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


class SeedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.load_kube_config(os.environ["KUBECONFIG"])
        cls.core = client.CoreV1Api()
        cls.api = dynamic.DynamicClient(client.ApiClient())
        with open(os.path.join(ROOT, "examples", "trainer", "trainer.py")) as script:
            cls.script = script.read()

    def setUp(self):
        self.namespace = "seed-%d-%d" % (time.time() * 1000 % 1e9, os.getpid())
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))
        self.addCleanup(self.core.delete_namespace, self.namespace)
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="example"), data={"trainer.py": self.script})
        self.core.create_namespaced_config_map(self.namespace, body)

    def create(self, name):
        """Creates everything of a manifest in a namespace of its own; gives the job."""
        with open(os.path.join(SEEDS, name + ".yaml")) as text:
            documents = list(yaml.safe_load_all(text))
        for body in documents:
            metadata = body["metadata"]
            metadata["namespace"] = self.namespace
            for given in ("resourceVersion", "uid", "creationTimestamp", "selfLink", "generation"):
                metadata.pop(given, None)
            body.pop("status", None)
            if body["kind"] != "PodGroup":
                body = with_trainer(body)
            kind = self.api.resources.get(api_version=body["apiVersion"], kind=body["kind"])
            made = kind.create(body=body, namespace=self.namespace)
        self.kind, self.name = kind, made.metadata.name
        return made

    def eventually(self, what, said):
        end = time.monotonic() + PATIENCE
        while not what():
            if time.monotonic() > end:
                job = self.kind.get(name=self.name, namespace=self.namespace).to_dict()
                self.fail("never came true: %s\n%s\n%s" % (said, yaml.dump(job.get("status")), self.pods()))
            time.sleep(0.2)

    def job(self):
        return self.kind.get(name=self.name, namespace=self.namespace).to_dict()

    def pods(self):
        found = self.core.list_namespaced_pod(self.namespace).items
        return {pod.metadata.name: pod.status.phase for pod in found}

    def has_condition(self, wanted):
        conditions = self.job().get("status", {}).get("conditions") or []
        return any(c["type"] == wanted and c["status"] == "True" for c in conditions)

    def has_gpu(self):
        nodes = self.core.list_node().items
        return any(int((node.status.allocatable or {}).get("nvidia.com/gpu", "0")) > 0 for node in nodes)

    def succeeds(self):
        self.eventually(lambda: self.has_condition("Succeeded"), "the job succeeds")

    def waits_or_succeeds(self):
        """With a GPU it runs; without one its pod waits and says for what."""
        if self.has_gpu():
            self.succeeds()
            return
        self.eventually(lambda: "Pending" in self.pods().values(), "a pod waits for a GPU")
        self.eventually(
            lambda: any("nvidia.com/gpu" in (e.message or "") for e in self.core.list_namespaced_event(self.namespace).items),
            "an event says that a GPU is missing",
        )

    def test_t9k_worker(self):
        self.create("t9k-worker")
        self.eventually(lambda: self.job().get("status", {}).get("phase") == "Succeeded", "the job succeeds")

    def test_tfjob_generate_name(self):
        job = self.create("tfjob-generate-name")
        self.assertRegex(job.metadata.name, "^tfjob[a-z0-9]{5}$")
        self.succeeds()
        # The parameter server never ends by itself: the clean-up takes it.
        self.eventually(lambda: not any("-ps-" in name for name in self.pods()), "the parameter server goes")
        self.assertIn(self.name + "-worker-0", self.pods())

    def test_tfjob_gpu(self):
        self.create("tfjob-gpu")
        self.waits_or_succeeds()

    def test_tfjob_v1beta1(self):
        self.create("tfjob-v1beta1")
        self.waits_or_succeeds()

    def test_tfjob_v1beta1_gpu(self):
        self.create("tfjob-v1beta1-gpu")
        self.waits_or_succeeds()

    def test_tfjob_kube_batch(self):
        self.create("tfjob-kube-batch")
        self.succeeds()

    def test_tfjob_volcano(self):
        self.create("tfjob-volcano")
        self.succeeds()

    def test_tfjob_secret(self):
        secret = client.V1Secret(metadata=client.V1ObjectMeta(name="user-gcp-sa"), string_data={"user-gcp-sa.json": "{}"})
        self.core.create_namespaced_secret(self.namespace, secret)
        self.create("tfjob-secret")
        self.succeeds()

    def test_tfjob_with_status(self):
        claim = client.V1PersistentVolumeClaim(
            metadata=client.V1ObjectMeta(name="tfevent-volume"),
            spec=client.V1PersistentVolumeClaimSpec(
                access_modes=["ReadWriteOnce"], resources=client.V1VolumeResourceRequirements(requests={"storage": "1Gi"})
            ),
        )
        self.core.create_namespaced_persistent_volume_claim(self.namespace, claim)
        self.create("tfjob-with-status")
        self.succeeds()
        status = self.job()["status"]
        self.assertIn("startTime", status)
        self.assertIn("completionTime", status)
        self.assertEqual(status["replicaStatuses"]["Worker"].get("succeeded"), 1)
        self.assertEqual(self.pods(), {"mnist-worker-0": "Succeeded"})

    def test_volcano_job(self):
        self.create("volcano-job")
        self.eventually(lambda: self.job().get("status", {}).get("state", {}).get("phase") == "Completed", "it completes")

    def test_every_seed_is_here(self):
        names = {os.path.basename(path)[: -len(".yaml")] for path in glob.glob(os.path.join(SEEDS, "*.yaml"))}
        tests = {name[len("test_") :].replace("_", "-") for name in dir(self) if name.startswith("test_")}
        self.assertEqual(names - tests, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
