"""A test case with a namespace of its own on a running plane, and one job in it."""

import os
import time
import unittest

import yaml
from kubernetes import client, config, dynamic

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOB_KINDS = ("TFJob", "TensorFlowTrainingJob", "Job")
PATIENCE = float(os.environ.get("PATIENCE", "120"))
GIVEN_BY_THE_SERVER = ("resourceVersion", "uid", "creationTimestamp", "selfLink", "generation")


class PlaneCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.load_kube_config(os.environ["KUBECONFIG"])
        cls.core = client.CoreV1Api()
        cls.api = dynamic.DynamicClient(client.ApiClient())

    def setUp(self):
        self.namespace = "case-%d-%d" % (time.time() * 1000 % 1e9, os.getpid())
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))
        self.addCleanup(self.core.delete_namespace, self.namespace)

    def create(self, path, change=lambda job: job):
        """Creates what a manifest holds, its job changed by `change`; gives the job."""
        with open(path) as text:
            documents = list(yaml.safe_load_all(text))
        for body in documents:
            metadata = body["metadata"]
            metadata["namespace"] = self.namespace
            for name in GIVEN_BY_THE_SERVER:
                metadata.pop(name, None)
            body.pop("status", None)
            if body["kind"] in JOB_KINDS:
                body = change(body)
            kind = self.api.resources.get(api_version=body["apiVersion"], kind=body["kind"])
            made = kind.create(body=body, namespace=self.namespace)
            if body["kind"] in JOB_KINDS:
                self.kind, self.name = kind, made.metadata.name
        return self.job()

    def job(self):
        return self.kind.get(name=self.name, namespace=self.namespace).to_dict()

    def pods(self):
        found = self.core.list_namespaced_pod(self.namespace).items
        return {pod.metadata.name: pod.status.phase for pod in found}

    def log(self, pod):
        return self.core.read_namespaced_pod_log(pod, self.namespace)

    def restarts(self, pod):
        return self.core.read_namespaced_pod(pod, self.namespace).status.container_statuses[0].restart_count

    def starts(self, pod):
        """How often a container of the pod was started, from its events."""
        events = self.core.list_namespaced_event(self.namespace).items
        return sum(event.count or 1 for event in events
                   if event.reason == "Started" and event.involved_object.name == pod)

    def eventually(self, what, said, patience=PATIENCE):
        end = time.monotonic() + patience
        while not what():
            if time.monotonic() > end:
                self.fail("never came true: %s\n%s\n%s" % (said, yaml.dump(self.job().get("status")), self.story()))
            time.sleep(0.2)

    def story(self):
        """What the pods and events say, for a failure."""
        lines = ["%s %s" % pair for pair in sorted(self.pods().items())]
        for pod in sorted(self.pods()):
            try:
                lines.append("--- %s\n%s" % (pod, self.log(pod)[-1500:]))
            except client.ApiException as error:
                lines.append("--- %s: %s" % (pod, error.reason))
        for event in self.core.list_namespaced_event(self.namespace).items:
            lines.append("%s %s: %s" % (event.reason, event.involved_object.name, event.message))
        return "\n".join(lines)

    def has_condition(self, wanted):
        conditions = self.job().get("status", {}).get("conditions") or []
        return any(c["type"] == wanted and c["status"] == "True" for c in conditions)

    def has_succeeded(self):
        """In the words of each dialect."""
        status = self.job().get("status") or {}
        if self.job()["kind"] == "TFJob":
            return self.has_condition("Succeeded")
        if self.job()["kind"] == "TensorFlowTrainingJob":
            return status.get("phase") == "Succeeded"
        return status.get("state", {}).get("phase") == "Completed"

    def succeeds(self, patience=PATIENCE):
        self.eventually(self.has_succeeded, "the job succeeds", patience)
