"""What the cases are written with: nodes, gangs, schedulers and operators as processes."""

import http.client
import os
import pathlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from api import ApiError, PLURALS  # noqa: E402
from cluster import ROOT, Process, component  # noqa: E402
from yard import ServiceProcess, until  # noqa: E402

GROUP = "scheduling.k8s.io/group-name"

PLURALS.update({
    "vc-queue": "/apis/scheduling.volcano.sh/v1beta1/queues",
    "priorityclass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "kb-podgroup": "/apis/scheduling.incubator.k8s.io/v1alpha1/{ns}podgroups",
    "cs-podgroup": "/apis/scheduling.x-k8s.io/v1alpha1/{ns}podgroups",
    "claim": "/api/v1/{ns}persistentvolumeclaims",
    "volume": "/api/v1/persistentvolumes",
    "storageclass": "/apis/storage.k8s.io/v1/storageclasses",
    "csidriver": "/apis/storage.k8s.io/v1/csidrivers",
    "csistoragecapacity": "/apis/storage.k8s.io/v1/{ns}csistoragecapacities",
})


def crd(group, plural, kind, version):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    one = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}",
                         "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
            "spec": {"group": group, "scope": "Namespaced", "versions": [one],
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"}}}


# Volcano does not bring it; `trainyard install --gang trainyard`, which these cases do not use, does.
KUBE_BATCH_CRD = crd("scheduling.incubator.k8s.io", "podgroups", "PodGroup", "v1alpha1")


def volcano_crds():
    """The files of Volcano's own definitions."""
    told = subprocess.run([ROOT / "tools/real-components", "--crds", "volcano-scheduler"], capture_output=True, text=True, check=True)
    return sorted(pathlib.Path(told.stdout.strip()).glob("*/bases/*.yaml"))


def pod(name, group, cpu="1", scheduler="trainyard"):
    container = {"name": "main", "image": "example/none:1", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {GROUP: group}},
            "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [container]}}


def pod_group(name, members, queue="default", api="scheduling.volcano.sh/v1beta1"):
    return {"apiVersion": api, "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": members, "queue": queue}}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


class Watching:
    """How many pods of each gang have a node, followed by a watch: asking again and again for thousands of
    pods would keep the API server busier than the scheduler does."""

    def __init__(self, world):
        self.world, self.nodes, self.lock = world, {}, threading.Lock()
        self.stopping = False
        self.thread = threading.Thread(target=self.follow, args=(self.look(),), daemon=True)
        self.thread.start()

    @staticmethod
    def place(one):
        """The gang of a pod, and whether it has a node."""
        gang = one["metadata"].get("annotations", {}).get(GROUP, "")
        return gang, bool(one["spec"].get("nodeName")) and "deletionTimestamp" not in one["metadata"]

    def look(self):
        """All there is, and the version from which to go on."""
        listed = self.world.api.request("GET", f"/api/v1/namespaces/{self.world.ns}/pods")
        nodes = {one["metadata"]["uid"]: self.place(one) for one in listed["items"]}
        with self.lock:
            self.nodes = nodes
        return listed["metadata"]["resourceVersion"]

    def take(self, kind, one):
        gang, has = self.place(one)
        with self.lock:
            self.nodes[one["metadata"]["uid"]] = (gang, has and kind != "DELETED")

    def follow(self, version):
        while not self.stopping:
            try:
                version = version or self.look()
                for kind, one in self.world.api.watch(f"/api/v1/namespaces/{self.world.ns}/pods", version):
                    if kind == "ERROR":
                        version = ""
                        break
                    version = one["metadata"]["resourceVersion"]
                    if kind != "BOOKMARK":
                        self.take(kind, one)
                    if self.stopping:
                        return
            except (OSError, ApiError, ValueError, http.client.HTTPException):
                version = ""
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


class RealVolcano:
    """volcano-scheduler or volcano-controller-manager as it is released."""

    def __init__(self, cluster, part, name):
        config = cluster.write_kubeconfig(f"volcano-{part}", cluster.token)
        self.process = Process([component(f"volcano-{part}"), "--kubeconfig", config, "--leader-elect=false"],
                               cluster.folder / f"volcano-{name}.log")

    def start(self, _wait):
        self.process.start()
        return self

    def stop(self):
        self.process.stop()


class World:
    """A namespace, nodes of its own (told apart by a label) and what is started for one case."""

    def __init__(self, cluster, number):
        self.cluster, self.api, self.ns = cluster, cluster.api, f"gangs-{number}"
        self.pool = ThreadPoolExecutor(16)
        self.nodes, self.programs, self.closers = [], [], []

    def make_namespace(self):
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

    def add_for_all(self, kind, name, body):
        """An object of no namespace, for as long as the case lasts."""
        self.api.create(kind, None, {"metadata": {"name": name}, **body})
        self.closers.append(lambda: self.api.delete(kind, None, name))

    def add_gangs(self, count, size):
        """g0, g1 and so on; all groups before the first pod."""
        self.each(lambda i: self.api.create("vc-podgroup", self.ns, pod_group(f"g{i}", size)), range(count))
        self.each(lambda i: self.api.create("pod", self.ns, pod(f"g{i // size}-{i % size}", f"g{i // size}")), range(count * size))

    def start(self, program, wait=True):
        self.programs.append(program)
        return program.start(wait)

    def service(self, verb, flags, port=None):
        name = f"{self.ns}-{len(self.programs)}"
        return ServiceProcess(self.cluster, self.cluster.folder, verb, name, self.cluster.token, ["--no-leader-elect", *flags], port)

    def scheduler(self, *flags, port=None, wait=True):
        return self.start(self.service("scheduler", flags, port), wait)

    def operator(self, *flags):
        return self.start(self.service("operator", ["--namespace", self.ns, *flags]))

    def volcano(self, *parts):
        """Real Volcano: "scheduler", "controller-manager" or both."""
        for part in parts:
            self.start(RealVolcano(self.cluster, part, f"{self.ns}-{part}"))

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

    def play(self, pod, phase):
        """What a kubelet would say of the pod; one that is gone meanwhile is no matter."""
        container = pod["spec"]["containers"][0]["name"]
        state = {"terminated": {"exitCode": 0, "reason": "Completed"}} if phase == "Succeeded" else {"running": {}}
        status = {"phase": phase, "containerStatuses": [
            {"name": container, "ready": phase == "Running", "restartCount": 0, "image": "i", "imageID": "", "state": state}]}
        try:
            self.api.patch("pod", self.ns, pod["metadata"]["name"], {"status": status}, "status")
        except ApiError as error:
            if error.code != 404:
                raise

    def remove_leaving(self):
        """What a kubelet does with pods that somebody deleted."""
        for one in self.pods():
            if "deletionTimestamp" in one["metadata"]:
                self.api.delete("pod", self.ns, one["metadata"]["name"], {"gracePeriodSeconds": 0})

    def story(self):
        return "".join("\n" + program.process.log()[-1500:] for program in self.programs)

    def close(self):
        for program in self.programs:
            program.stop()
        for closer in self.closers:
            closer()
        for kind in ("pod", "vc-podgroup", "kb-podgroup", "tfjob", "vcjob", "t9k", "t9k-podgroup"):
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
