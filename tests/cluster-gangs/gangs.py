"""What the cases are written with: nodes, gangs, our scheduler and operator as processes."""

import json
import pathlib
import re
import sys
import threading
import time
import traceback
import urllib.request
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from api import ApiError, PLURALS  # noqa: E402
from cluster import ROOT, Process, free_ports  # noqa: E402

import os  # noqa: E402

TRAINYARD = os.environ.get("TRAINYARD", str(ROOT / "build/release/trainyard"))
PATIENCE = 120  # seconds that something may take before it is a failure
GROUP = "scheduling.k8s.io/group-name"

PLURALS.update({
    "vc-queue": "/apis/scheduling.volcano.sh/v1beta1/queues",
    "kb-podgroup": "/apis/scheduling.incubator.k8s.io/v1alpha1/{ns}podgroups",
})

CASES = []


class Failed(Exception):
    pass


def check(condition, words):
    if not condition:
        raise Failed(words)


def same(found, wanted, what=""):
    if found != wanted:
        raise Failed(f"{what}: found {found!r}, wanted {wanted!r}")


def until(question, what, seconds=PATIENCE, pause=0.2):
    """Asks until the answer is true, and gives it; `what` is told when it never is."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = question()
            if last:
                return last
        except (ApiError, OSError) as error:
            last = error
        time.sleep(pause)
    raise Failed(f"not within {seconds} s: {what() if callable(what) else what} (last: {str(last)[:300]})")


def case(name):
    def add(function):
        CASES.append((name, function))
        return function

    return add


def crd(group, plural, kind, version, namespaced=True, status=True):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    one = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if status:
        one["subresources"] = {"status": {}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}",
                         "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {"group": group, "scope": "Namespaced" if namespaced else "Cluster", "versions": [one],
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"}}}


# Those that `trainyard install` does not bring: they belong to other schedulers.
FOREIGN_CRDS = [
    crd("scheduling.incubator.k8s.io", "podgroups", "PodGroup", "v1alpha1"),
    crd("scheduling.volcano.sh", "podgroups", "PodGroup", "v1beta1", status=False),
    crd("scheduling.volcano.sh", "queues", "Queue", "v1beta1", namespaced=False),
    crd("batch.volcano.sh", "jobs", "Job", "v1alpha1"),
    crd("bus.volcano.sh", "commands", "Command", "v1alpha1", status=False),
]


def pod(name, group, cpu="1", scheduler="trainyard"):
    container = {"name": "main", "image": "example/none:1", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {GROUP: group}},
            "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [container]}}


def pod_group(name, members, queue="default"):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name},
            "spec": {"minMember": members, "queue": queue}}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


class Program:
    """`trainyard scheduler` or `operator` as a cluster administrator."""

    def __init__(self, cluster, verb, name, flags=(), port=None):
        config = cluster.write_kubeconfig(name, cluster.token, port)
        self.port, = free_ports(1)
        env = {**os.environ, "HOME": str(cluster.folder)}
        env.pop("KUBECONFIG", None)
        self.process = Process(
            [TRAINYARD, verb, "--kubeconfig", config, "--leader-election-namespace", "default", "--metrics-addr", "0"]
            + ["--health-addr", f"127.0.0.1:{self.port}", *flags], cluster.folder / f"{name}.log", env)

    def start(self, wait=True):
        self.process.start()
        if wait:
            until(self.ready, lambda: f"it is ready: {self.process.log()[-1500:]}", 60)
        return self

    def ready(self):
        check(self.process.running(), f"it ended: {self.process.log()[-1500:]}")
        return b"ok" in urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).read()

    @property
    def pid(self):
        return self.process.child.pid

    def kill(self):
        import signal

        self.process.stop(signal.SIGKILL)

    def stop(self):
        self.process.stop()


class Watching:
    """How many pods of each gang have a node, followed by a watch: asking again and again for thousands of
    pods would keep the API server busier than the scheduler does."""

    def __init__(self, world):
        self.world, self.nodes, self.lock = world, {}, threading.Lock()
        listed = world.api.request("GET", f"/api/v1/namespaces/{world.ns}/pods")
        for one in listed["items"]:
            self.take("ADDED", one)
        self.stopping = False
        self.thread = threading.Thread(target=self.follow, args=(listed["metadata"]["resourceVersion"],), daemon=True)
        self.thread.start()

    def take(self, kind, one):
        gang = one["metadata"].get("annotations", {}).get(GROUP, "")
        has = bool(one["spec"].get("nodeName")) and "deletionTimestamp" not in one["metadata"]
        with self.lock:
            self.nodes[one["metadata"]["uid"]] = (gang, has and kind != "DELETED")

    def follow(self, version):
        while not self.stopping:
            try:
                for kind, one in self.world.api.watch(f"/api/v1/namespaces/{self.world.ns}/pods", version):
                    version = one["metadata"]["resourceVersion"]
                    if kind != "BOOKMARK":
                        self.take(kind, one)
                    if self.stopping:
                        return
            except (OSError, ApiError):
                time.sleep(0.2)

    def bound(self):
        counts = {}
        with self.lock:
            for gang, has in self.nodes.values():
                counts[gang] = counts.get(gang, 0) + has
        return counts

    def partial(self, size):
        return {gang for gang, has in self.bound().items() if has not in (0, size)}

    def close(self):
        self.stopping = True


class World:
    """A namespace, nodes of its own (told apart by a label) and what is started for one case."""

    def __init__(self, cluster, number):
        self.cluster, self.api, self.ns = cluster, cluster.api, f"gangs-{number}"
        self.pool = ThreadPoolExecutor(16)
        self.nodes, self.programs, self.closers = [], [], []
        self.api.create("namespace", None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.ns}})

    def each(self, function, items):
        return list(self.pool.map(function, items))

    def add_nodes(self, count, cpu):
        def make(i):
            room = {"cpu": str(cpu), "memory": "64Gi", "pods": "200"}
            name = f"{self.ns}-n{i}"
            self.api.create("node", None, {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "status": {"capacity": room, "allocatable": room,
                           "conditions": [{"type": "Ready", "status": "True", "reason": "Test",
                                           "lastHeartbeatTime": "2030-01-01T00:00:00Z",
                                           "lastTransitionTime": "2030-01-01T00:00:00Z"}]}})
            # The API server marks new nodes as not ready, until a controller that does not run here looks.
            self.api.patch("node", None, name, {"spec": {"taints": None}})
            self.nodes.append(name)

        self.each(make, range(count))

    def add_gang(self, name, members, cpu="1", groups=True):
        if groups:
            self.api.create("vc-podgroup", self.ns, pod_group(name, members))
        self.each(lambda i: self.api.create("pod", self.ns, pod(f"{name}-{i}", name, cpu)), range(members))

    def scheduler(self, *flags, port=None, wait=True):
        program = Program(self.cluster, "scheduler", f"scheduler-{self.ns}-{len(self.programs)}",
                          ["--no-leader-elect", *flags], port)
        self.programs.append(program)
        return program.start(wait)

    def operator(self, *flags):
        program = Program(self.cluster, "operator", f"operator-{self.ns}-{len(self.programs)}",
                          ["--namespace", self.ns, "--no-leader-elect", *flags])
        self.programs.append(program)
        return program.start()

    def apply(self, text):
        return self.cluster.kubectl("apply", "-n", self.ns, "-f", "-", stdin=text)

    def pods(self):
        return self.api.list("pod", self.ns)

    def bound(self):
        """How many pods of each gang have a node, by gang."""
        counts = {}
        for one in self.pods():
            gang = one["metadata"].get("annotations", {}).get(GROUP, "")
            has = bool(one["spec"].get("nodeName")) and "deletionTimestamp" not in one["metadata"]
            counts[gang] = counts.get(gang, 0) + has
        return counts

    def finish(self, pods):
        for one in pods:
            self.api.patch("pod", self.ns, one["metadata"]["name"], {"status": {"phase": "Succeeded"}}, "status")

    def close(self):
        for program in self.programs:
            program.stop()
        for closer in self.closers:
            closer()
        for kind in ("pod", "vc-podgroup", "kb-podgroup", "tfjob", "vcjob", "t9k-podgroup"):
            try:
                options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
                path = PLURALS[kind].format(ns=f"namespaces/{self.ns}/")
                self.api.request("DELETE", path, options)
            except ApiError:
                pass
        self.each(lambda name: self.api.delete("node", None, name) if self.api.find("node", None, name) else None,
                  self.nodes)
        until(lambda: not self.pods(), "pods of the case are gone", 120)
        self.pool.shutdown()


def run_cases(cluster, only):
    passed = failed = 0
    for number, (name, function) in enumerate(CASES):
        if not re.search(only, name):
            continue
        began = time.monotonic()
        world = World(cluster, number)
        try:
            words = function(world)
            passed += 1
            print(f"ok      {name} ({time.monotonic() - began:.1f} s){': ' + words if words else ''}", flush=True)
        except Exception as error:  # noqa: BLE001
            failed += 1
            what = str(error) if isinstance(error, Failed) else traceback.format_exc()
            print(f"FAILED  {name}: {what}", flush=True)
            for program in world.programs:
                print(program.process.log()[-1000:], flush=True)
        finally:
            world.close()
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed == 0 and passed > 0
