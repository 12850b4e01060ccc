"""A plane of its own for each class of tests, and its API without any client library."""

import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest

from yard import PATIENCE, TRAINYARD, shell_role

PATHS = {
    "TFJob": "apis/kubeflow.org/v1/namespaces/{ns}/tfjobs",
    "TensorFlowTrainingJob": "apis/batch.tensorstack.dev/v1beta1/namespaces/{ns}/tensorflowtrainingjobs",
    "Job": "apis/batch.volcano.sh/v1alpha1/namespaces/{ns}/jobs",
    "Command": "apis/bus.volcano.sh/v1alpha1/namespaces/{ns}/commands",
    "TensorBoard": "apis/tensorstack.dev/v1beta1/namespaces/{ns}/tensorboards",
    "Pod": "api/v1/namespaces/{ns}/pods",
    "Service": "api/v1/namespaces/{ns}/services",
    "ConfigMap": "api/v1/namespaces/{ns}/configmaps",
    "Secret": "api/v1/namespaces/{ns}/secrets",
    "Event": "api/v1/namespaces/{ns}/events",
    "PersistentVolumeClaim": "api/v1/namespaces/{ns}/persistentvolumeclaims",
    "Node": "api/v1/nodes",
}


class Refused(Exception):
    """An answer that is not a success: its status and what the server says."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:500]}")
        self.status = status
        self.body = body


class Api:
    """The API of the plane in a data folder."""

    def __init__(self, data):
        self.port = int((data / "port").read_text())
        self.token = (data / "pki/token").read_text().strip()
        self.tls = ssl.create_default_context(cafile=str(data / "pki/ca.crt"))

    def raw(self, method, path, body=None, headers=None, token=True):
        """(status, body as bytes)"""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=60)
        try:
            sent = {"Authorization": f"Bearer {self.token}"} if token else {}
            connection.request(method, path, body=body, headers={**sent, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, kind="application/json"):
        headers = {"Content-Type": kind} if body is not None else {}
        status, answer = self.raw(method, path, json.dumps(body) if body is not None else None, headers)
        if status >= 300:
            raise Refused(status, answer.decode(errors="replace"))
        return json.loads(answer)

    def path(self, kind, name="", ns="default"):
        return "/" + PATHS[kind].format(ns=ns) + (f"/{name}" if name else "")

    def create(self, document):
        return self.call("POST", self.path(document["kind"]), document)

    def get(self, kind, name):
        """None when it is not there."""
        try:
            return self.call("GET", self.path(kind, name))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def list(self, kind, selector=""):
        query = f"?labelSelector={selector}" if selector else ""
        return self.call("GET", self.path(kind) + query)["items"]

    def patch(self, kind, name, patch):
        return self.call("PATCH", self.path(kind, name), patch, "application/merge-patch+json")

    def delete(self, kind, name):
        return self.call("DELETE", self.path(kind, name))

    def log(self, pod):
        return self.raw("GET", self.path("Pod", pod) + "/log")[1].decode()


class PlaneCase(unittest.TestCase):
    """One plane for all tests of the class; each test names its jobs after itself."""

    options = ()
    patience = PATIENCE

    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        cls.data = cls.home / "plane"
        cls.env = dict(os.environ, HOME=str(cls.home), XDG_STATE_HOME=str(cls.home / "state"))
        cls.env.pop("KUBECONFIG", None)
        cls.addClassCleanup(cls.trainyard, "down", "--data-dir", cls.data)
        status, out, err = cls.trainyard("up", "--detach", "--data-dir", cls.data, *cls.options)
        if status != 0:
            raise AssertionError(f"the plane does not come up\n{out}\n{err}")
        cls.api = Api(cls.data)

    @classmethod
    def trainyard(cls, *arguments, timeout=PATIENCE):
        done = subprocess.run([TRAINYARD, *map(str, arguments)], env=cls.env, capture_output=True, text=True,
                              timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def verb(self, name, *arguments):
        """A verb that must succeed; what it prints."""
        status, out, err = self.trainyard(name, "--data-dir", self.data, *arguments)
        self.assertEqual(status, 0, out + err)
        return out

    def wait_until(self, what, condition):
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            time.sleep(0.05)
        return self.fail(f"waited {self.patience} s for {what}\n{self.around()}")

    def around(self):
        """What a person would look at when a test does not go on."""
        lines = []
        for kind in ("TFJob", "TensorFlowTrainingJob", "Job", "TensorBoard", "Pod"):
            for one in self.api.list(kind):
                lines.append(f"{kind} {one['metadata']['name']} {json.dumps(one.get('status', {}))[:600]}")
        return "\n".join(lines)

    def phase_of(self, kind, name):
        status = (self.api.get(kind, name) or {}).get("status", {})
        state = status.get("state", {})
        return status.get("phase") or (state.get("phase") if isinstance(state, dict) else state) or ""

    def wait_for_phase(self, kind, name, phase):
        self.wait_until(f"{kind} {name} to be {phase}", lambda: self.phase_of(kind, name) == phase)

    def wait_for_condition(self, name, condition, value="True"):
        def holds():
            status = (self.api.get("TFJob", name) or {}).get("status", {})
            return any(c["type"] == condition and c["status"] == value for c in status.get("conditions", []))
        self.wait_until(f"TFJob {name} to be {condition}={value}", holds)

    def pods_of(self, job):
        """Names and phases of the pods whose controller has that name, those that are going left out."""
        pods = {}
        for pod in self.api.list("Pod"):
            owners = pod["metadata"].get("ownerReferences", [])
            if any(o["name"] == job for o in owners) and "deletionTimestamp" not in pod["metadata"]:
                pods[pod["metadata"]["name"]] = pod.get("status", {}).get("phase")
        return pods


def t9k_job(name, roles, **spec):
    """A TensorFlowTrainingJob; roles as of shell_role, by type."""
    replicas = []
    for kind, role in roles.items():
        replicas.append({"type": kind, "replicas": role["replicas"],
                         "restartPolicy": role.get("restartPolicy", "Never"), "template": role["template"]})
    return {"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "TensorFlowTrainingJob",
            "metadata": {"name": name}, "spec": {"replicaSpecs": replicas, **spec}}


def volcano_job(name, tasks, **spec):
    listed = [{"name": task, "replicas": role["replicas"], "template": role["template"]}
              for task, role in tasks.items()]
    for task in listed:
        task["template"]["spec"].setdefault("restartPolicy", "Never")
    total = sum(task["replicas"] for task in listed)
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"minAvailable": total, "schedulerName": "volcano", "tasks": listed, **spec}}


def plain_pod(name, script, **extra):
    """A pod that runs a shell script."""
    spec = shell_role(1, script, **extra)["template"]["spec"]
    spec.setdefault("restartPolicy", "Never")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
