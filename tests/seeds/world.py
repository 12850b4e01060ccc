"""The world in which the documents are tried: a plane of our own, or the cluster of a kubeconfig.

`Case` gives each test a namespace, a folder and a shell whose kubectl works there, so that the
commands of the documents are typed as they are printed. Waiting is done on the API, with a
deadline; nothing is timed.
"""

import base64
import http.client
import itertools
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import images

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 300
PATHS = {
    "tfjob": "/apis/kubeflow.org/v1/namespaces/{}/tfjobs",
    "tj": "/apis/batch.tensorstack.dev/v1beta1/namespaces/{}/tensorflowtrainingjobs",
    "vcjob": "/apis/batch.volcano.sh/v1alpha1/namespaces/{}/jobs",
    "pod": "/api/v1/namespaces/{}/pods",
    "service": "/api/v1/namespaces/{}/services",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "t9k-group": "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/{}/podgroups",
    "kube-batch-group": "/apis/scheduling.incubator.k8s.io/v1alpha1/namespaces/{}/podgroups",
    "volcano-group": "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups",
    "event": "/api/v1/namespaces/{}/events",
    "quota": "/api/v1/namespaces/{}/resourcequotas",
    "tensorboard": "/apis/tensorstack.dev/v1beta1/namespaces/{}/tensorboards",
}


def rows(*names):
    """Says which rows of docs/SEEDS.md a test shows."""

    def mark(test):
        test.rows = names
        return test

    return mark


def on_clusters(test=None, but=(), only=False):
    """The test also (or `only`) runs against a cluster whose nodes are simulated; it shows its rows there `but` these."""
    if test is None:
        return lambda method: on_clusters(method, but, only)
    test.on_clusters = True
    test.only_on_clusters = only
    test.not_on_clusters = but
    return test


class Api:
    """The API server of a kubeconfig, for waiting and looking; one connection per thread."""

    def __init__(self, config):
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        self.address = urllib.parse.urlparse(cluster["server"]).netloc
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.tls = ssl.create_default_context(cadata=authority)
        self.headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        else:
            with tempfile.NamedTemporaryFile() as pem:
                pem.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
                pem.write(base64.b64decode(user["client-key-data"]))
                pem.flush()
                self.tls.load_cert_chain(pem.name)
        self.local = threading.local()

    def ask(self, method, path, body=None):
        """(status, decoded body)"""
        for last in (False, True):
            line = getattr(self.local, "line", None)
            if line is None:
                line = self.local.line = http.client.HTTPSConnection(self.address, context=self.tls, timeout=60)
            try:
                line.request(method, path, json.dumps(body) if body is not None else None, self.headers)
                answer = line.getresponse()
                return answer.status, json.loads(answer.read() or b"{}")
            except (OSError, http.client.HTTPException):
                self.local.line = None
                if last:
                    raise

    def get(self, path):
        """The object; None when it is not there."""
        status, body = self.ask("GET", path)
        if status == 404:
            return None
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body.get('message')}")
        return body


class World:
    """Made once, by `run`; every Case looks at `World.the`."""

    the = None

    def __init__(self, kubectl, trainyard, kubeconfig=None):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-seeds-"))
        self.trainyard = trainyard
        self.own_plane = kubeconfig is None
        self.numbers = itertools.count(1)
        (self.home / "bin").mkdir()
        (self.home / "bin/kubectl").symlink_to(kubectl)
        (self.home / "bin/trainyard").symlink_to(trainyard)
        self.env = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
        self.env.update(PATH=f"{self.home}/bin:{os.environ['PATH']}", HOME=str(self.home))
        self.config_path = pathlib.Path(kubeconfig) if kubeconfig else self.home / "plane/kubeconfig"

    def start(self):
        if self.own_plane:
            making = threading.Thread(target=self.make_images)
            making.start()
            self.run("up", "--detach", "--data-dir", self.home / "plane", "--gpus", "2")
            making.join()
        told = subprocess.run(
            ["kubectl", "config", "view", "--raw", "--flatten", "-o", "json", "--kubeconfig", self.config_path],
            env=self.env, capture_output=True, text=True, check=True)
        self.config = json.loads(told.stdout)
        self.api = Api(self.config)
        # Some manifests of the documents name their namespace.
        self.api.ask("POST", "/api/v1/namespaces", {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow"}})

    def make_images(self):
        for name, place in images.make(self.home / "images").items():
            self.run("import", "--data-dir", self.home / "plane", place, name)

    def run(self, *words):
        done = subprocess.run([self.trainyard, *map(str, words)], env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"trainyard {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def stop(self):
        if self.own_plane:
            self.run("down", "--data-dir", self.home / "plane")
        shutil.rmtree(self.home, ignore_errors=True)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.world = World.the
        number = next(self.world.numbers)
        self.namespace = f"seeds-{os.getpid()}-{number}"
        self.home = self.world.home / self.namespace
        self.home.mkdir()
        config = json.loads(json.dumps(self.world.config))
        for context in config["contexts"]:
            context["context"]["namespace"] = self.namespace
        (self.home / "kubeconfig").write_text(json.dumps(config))
        self.env = dict(self.world.env, KUBECONFIG=str(self.home / "kubeconfig"))
        self.make_namespace(self.namespace)

    def make_namespace(self, name):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        status, answer = self.world.api.ask("POST", "/api/v1/namespaces", body)
        self.assertEqual(status, 201, answer)
        self.addCleanup(self.world.api.ask, "DELETE", f"/api/v1/namespaces/{name}")

    # --- what a person types --------------------------------------------------------

    def sh(self, line, fails=False):
        """Types a line; gives what it printed. `fails`: it must end with another status than 0."""
        done = subprocess.run(["sh", "-c", line], cwd=self.home, env=self.env, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode != 0, fails, f"$ {line}\n{done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if fails else "")

    def write(self, name, text):
        """A file in the folder where lines are typed."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else "\n---\n".join(json.dumps(one) for one in text))
        return path

    def create(self, what, name="job.yaml"):
        """A manifest of the documents goes the way they say; one of ours, a dict, straight to the API."""
        if isinstance(what, str):
            self.write(name, what)
            return self.sh(f"kubectl create -f {name}")
        kind = {"TFJob": "tfjob", "TensorFlowTrainingJob": "tj", "Job": "vcjob"}.get(what["kind"], what["kind"])
        status, answer = self.world.api.ask("POST", self.path(kind), what)
        self.assertEqual(status, 201, answer)
        if what["kind"] == "PersistentVolumeClaim" and not self.world.own_plane:
            self.bind(what)

    def bind(self, wanted):
        """What a provisioner of volumes does; simulated nodes have none."""
        name = f"{self.namespace}-{wanted['metadata']['name']}"
        spec = wanted["spec"]
        volume = {"capacity": spec["resources"]["requests"], "accessModes": spec["accessModes"], "hostPath": {"path": "/none"},
                  "storageClassName": spec.get("storageClassName", ""),
                  "claimRef": {"namespace": self.namespace, "name": wanted["metadata"]["name"]}}
        self.world.api.ask("POST", "/api/v1/persistentvolumes", {
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume})
        self.addCleanup(self.world.api.ask, "DELETE", f"/api/v1/persistentvolumes/{name}")
        path = self.path("PersistentVolumeClaim", wanted["metadata"]["name"])
        bound = self.world.api.get(path)
        bound["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        bound["spec"]["volumeName"] = name
        _, bound = self.world.api.ask("PUT", path, bound)
        bound["status"] = {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": volume["capacity"]}
        status, answer = self.world.api.ask("PUT", path + "/status", bound)
        self.assertEqual(status, 200, answer)

    def logs(self, pod, pattern):
        """`kubectl logs` prints this."""
        self.assertRegex(self.sh(f"kubectl -n {self.namespace} logs {pod}"), pattern)

    # --- what is there --------------------------------------------------------------

    def path(self, kind, name=None):
        return PATHS[kind].format(self.namespace) + (f"/{name}" if name else "")

    def get(self, kind, name):
        return self.world.api.get(self.path(kind, name))

    def all(self, kind, selector=""):
        path = self.path(kind) + ("?labelSelector=" + urllib.parse.quote(selector) if selector else "")
        return self.world.api.get(path)["items"]

    def pods(self):
        """{name: phase}"""
        return {pod["metadata"]["name"]: pod["status"].get("phase") for pod in self.all("pod")}

    def status(self, kind, name):
        return (self.get(kind, name) or {}).get("status", {})

    def conditions(self, kind, name):
        """{type: condition}"""
        return {one["type"]: one for one in self.status(kind, name).get("conditions", [])}

    def reasons(self, about):
        """Reasons of the events about an object, by its name, in their order."""
        return [event["reason"] for event in self.all("event") if event["involvedObject"]["name"] == about]

    def messages(self, about):
        return [event["message"] for event in self.all("event") if event["involvedObject"]["name"] == about]

    def follow(self, kind):
        """From now on; gives a function that tells every version of the job of that name since, up to now."""
        start = self.world.api.get(self.path(kind))["metadata"]["resourceVersion"]

        def versions(name):
            last = self.get(kind, name)["metadata"]["resourceVersion"]
            return [job for job in self.watched(f"{self.path(kind)}?watch=1&resourceVersion={start}&timeoutSeconds=2", last)
                    if job["metadata"]["name"] == name]

        return versions

    def watched(self, path, until):
        """The objects that a watch tells, up to that version."""
        api = self.world.api
        line = http.client.HTTPSConnection(api.address, context=api.tls, timeout=60)
        line.request("GET", path, headers=api.headers)
        found = []
        for text in line.getresponse():
            found.append(json.loads(text)["object"])
            if found[-1]["metadata"]["resourceVersion"] == until:
                break
        line.close()
        return found

    # --- waiting --------------------------------------------------------------------

    def until(self, what, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.15)
        self.fail(f"waited {seconds} s for: {what}\n{self.told()}")

    def is_told(self, about, reason, message=""):
        """Waits for an event about the object: Events go out beside the work, some time after the status."""
        self.until(f"an event about {about}: {reason} {message}", lambda: any(
            event["reason"] == reason and message in event["message"]
            for event in self.all("event") if event["involvedObject"]["name"] == about))

    def told(self):
        lines = subprocess.run(
            ["sh", "-c", "kubectl get tfjob,tj,vcjob,pods -o wide 2>&1; kubectl get events 2>&1 | tail -n 30; "
             "kubectl get tfjob,tj,vcjob -o yaml | sed -n '/ status:/,$p' | head -n 120"],
            env=self.env, capture_output=True, text=True)
        return lines.stdout

    def phase(self, kind, name):
        """How the job stands, in the words of its dialect."""
        if kind == "tfjob":
            for word in ("Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created"):
                if self.conditions(kind, name).get(word, {}).get("status") == "True":
                    return word
            return ""
        status = self.status(kind, name)
        return status.get("phase", "") if kind == "tj" else status.get("state", {}).get("phase", "")

    def becomes(self, kind, name, word):
        """Waits until the job is there; fails at once when it ends otherwise."""

        def there():
            now = self.phase(kind, name)
            ends = {"Succeeded", "Failed", "Completed", "Terminated"}
            if now in ends and word in ends and now != word:
                self.fail(f"{name} {now}\n{self.told()}")
            return now == word

        self.until(f"{kind} {name} {word}", there)


# --- manifests with a shell line instead of a training ----------------------------------


def container(script, **extra):
    return {"name": "tensorflow", "image": "tensorflow/tensorflow:2.11.0", "command": ["sh", "-c", script], **extra}


def pod_spec(script, container_extra=None, **extra):
    return {"containers": [container(script, **(container_extra or {}))], **extra}


def forever(script="true", **extra):
    """A pod spec that ends only when it is told to, and soon then."""
    return pod_spec(f"{script}; exec sleep 300", terminationGracePeriodSeconds=1, **extra)


def tj(name, roles, run_policy=None, annotations=None, **spec):
    """roles: (type, replicas, restartPolicy, script or pod spec)"""
    specs = []
    for role, replicas, policy, what in roles:
        pod = pod_spec(what) if isinstance(what, str) else what
        specs.append({"type": role, "replicas": replicas, "restartPolicy": policy, "template": {"spec": pod}})
    return {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "TensorFlowTrainingJob",
        "metadata": {"name": name, **({"annotations": annotations} if annotations else {})},
        "spec": {"replicaSpecs": specs, **({"runPolicy": run_policy} if run_policy else {}), **spec},
    }


def tfjob(name, roles, run_policy=None, annotations=None, **spec):
    """roles: (type, replicas, restartPolicy, script or pod spec)"""
    specs = {}
    for role, replicas, policy, what in roles:
        pod = pod_spec(what) if isinstance(what, str) else what
        specs[role] = {"replicas": replicas, "restartPolicy": policy, "template": {"spec": pod}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, **({"annotations": annotations} if annotations else {})},
        "spec": {"tfReplicaSpecs": specs, **({"runPolicy": run_policy} if run_policy else {}), **spec},
    }


def claim(name, size="1Gi"):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }


def keeps(script, claim_name="state", mount="/state"):
    """A pod spec whose replicas share what the claim holds."""
    return pod_spec(
        script,
        {"volumeMounts": [{"name": "state", "mountPath": mount}]},
        volumes=[{"name": "state", "persistentVolumeClaim": {"claimName": claim_name}}],
    )


def once(code):
    """Ends with that code the first time, and well the second."""
    return keeps(f"f=/state/$HOSTNAME; test -e $f && exit 0; touch $f; echo first; exit {code}")
