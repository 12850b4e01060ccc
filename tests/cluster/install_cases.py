"""What is installed: the three ways to it agree, its rights are what the operator asks for, and others' clients work."""

import json
import os
import subprocess

from api import ApiError
from cluster import ROOT, component
from proxy import Proxy
from rights import granted_to, used_in
from yard import NAMESPACE, Failed, OperatorProcess, case, check, role, same, t9k, t9k_role, tfjob, trainyard, until

PREFIX = "training.kubeflow.org/"


def objects_of(world, text):
    """Objects by what they are, as the API server would read the YAML."""
    said = world.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text).stdout
    found = {}
    decoder, at = json.JSONDecoder(), 0
    while at < len(said):
        value, end = decoder.raw_decode(said, at)
        for each in value["items"] if value["kind"] == "List" else [value]:
            found[(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])] = each
        at = end
        while at < len(said) and said[at].isspace():
            at += 1
    return found


def expect_same_objects(left, right, what):
    same(sorted(left), sorted(right), what)
    for key in left:
        if left[key] != right[key]:
            raise Failed(f"{what}: {key} differs:\n{json.dumps(left[key], sort_keys=True)[:2000]}\n{json.dumps(right[key], sort_keys=True)[:2000]}")


OVERLAYS = {
    "base": (),
    "overlays/volcano": ("--gang", "volcano"),
    "overlays/kube-batch": ("--gang", "kube-batch"),
    "overlays/coscheduling": ("--gang", "coscheduling"),
    "overlays/t9k": ("--gang", "t9k"),
    "overlays/trainyard": ("--gang", "trainyard"),
    "overlays/namespaced": ("--namespaced",),
    "overlays/volcano-jobs": ("--with-volcano-crds",),
    "crds": ("--crds-only",),
}


@case("install: kustomize and `trainyard install` give the same objects, for every overlay")
def kustomize(world):
    for folder, flags in OVERLAYS.items():
        built = world.cluster.kubectl("kustomize", str(ROOT / "deploy" / folder)).stdout
        expect_same_objects(objects_of(world, built), objects_of(world, trainyard("install", *flags)), folder)


@case("install: everything that is printed is taken by the API server, and applying it again changes nothing")
def apply_again(world):
    for flags in ((), ("--gang", "trainyard", "--with-volcano-crds", "-n", world.ns), ("--namespaced", "-n", world.ns)):
        text = trainyard("install", *flags)
        world.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)
    said = world.cluster.kubectl("apply", "-f", "-", stdin=trainyard("install")).stdout
    # A budget's selector is replaced by each patch, so kubectl calls it configured every time.
    changed = [line for line in said.splitlines() if not line.endswith("unchanged") and "poddisruptionbudget" not in line]
    same(changed, [], "what a second apply changes")


# Settings of the chart, the flags of `trainyard install` that mean the same, and what the settings leave out.
CHART = (
    ("", (), ()),
    ("gang=volcano", ("--gang", "volcano"), ()),
    ("gang=kube-batch", ("--gang", "kube-batch"), ()),
    ("gang=coscheduling", ("--gang", "coscheduling"), ()),
    ("gang=t9k", ("--gang", "t9k"), ()),
    ("gang=trainyard", ("--gang", "trainyard"), ()),
    ("scheduler.enabled=true", ("--scheduler",), ()),
    ("namespaced=true", ("--namespaced",), ()),
    ("ownVolcanoJobs=true", ("--with-volcano-crds",), ()),
    ("namespaced=true,ownVolcanoJobs=true", ("--namespaced", "--with-volcano-crds"), ()),
    ("image.repository=r.example/t,image.tag=2", ("--image", "r.example/t:2"), ()),
    ("apiServerPorts={443,6443,8443,16443,7443}", ("--api-port", "7443"), ()),
    ("networkPolicy=false", (), ("NetworkPolicy/trainyard-operator",)),
    ("podDisruptionBudget=false", (), ("PodDisruptionBudget/trainyard-operator",)),
    ("userRoles=false", (), ("ClusterRole/trainyard-edit", "ClusterRole/trainyard-view")),
)


@case("install: the Helm chart, rendered by helm, gives the same objects")
def chart(world):
    # A chart has one set of CRDs, whatever its values are.
    own = {key for key in objects_of(world, trainyard("install", "--crds-only"))}
    for setting, flags, without in CHART:
        arguments = [component("helm"), "template", "trainyard", str(ROOT / "deploy/helm/trainyard"), "--namespace", NAMESPACE, "--include-crds", "--kube-version", "1.33.0"]
        done = subprocess.run(arguments + (["--set", setting] if setting else []), capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, done.stderr)
        wanted = {
            key: each
            for key, each in objects_of(world, trainyard("install", *flags)).items()
            if key[0] != "Namespace" and (key[0] != "CustomResourceDefinition" or key in own) and f"{key[0]}/{key[2]}" not in without
        }
        expect_same_objects(objects_of(world, done.stdout), wanted, setting or "defaults")
    return f"{len(CHART)} settings"


JOBS = (("kubeflow.org", "tfjobs"), ("batch.tensorstack.dev", "tensorflowtrainingjobs"))
OTHER_GANGS = ("scheduling.volcano.sh", "scheduling.incubator.k8s.io", "scheduling.x-k8s.io")
# Rights that this case does not see used. Each has its use, which needs what is not here.
UNSEEN = {
    # How a job is when its status could not be written: somebody else was faster.
    ("batch.tensorstack.dev", "tensorflowtrainingjobs", "get"),
    # A finalizer of a job, when its annotation asks for pods to go first.
    ("batch.tensorstack.dev", "tensorflowtrainingjobs", "update"),
    # Gangs whose job has changed, and those that are no longer wanted.
    *(("scheduler.tensorstack.dev", "podgroups", verb) for verb in ("update", "delete")),
    # Services and TensorBoards that lost their labels.
    ("", "services", "update"),
    ("tensorstack.dev", "tensorboards", "update"),
    # Asked for by an admission plugin on our behalf, where a cluster has it, when an owner is blocked.
    *((group, f"{plural}/finalizers", "update") for group, plural in (*JOBS, ("tensorstack.dev", "tensorboards"))),
    # An event that happens again.
    ("", "events", "patch"),
    # Gangs of other schedulers, by --gang-scheduler-name.
    *((group, "podgroups", verb) for group in OTHER_GANGS for verb in ("get", "list", "watch", "create", "update", "delete")),
}


class Forgetful:
    """Of what is made, the first of each kind is made without an answer: the operator must look."""

    def __init__(self):
        self.lost = set()
        self.refused = []

    def __call__(self, request, status):
        if status == 403:
            self.refused.append((request.method, request.path))
        kind = request.path.split("?")[0].rsplit("/", 1)[-1]
        if request.method == "POST" and kind != "events" and kind not in self.lost:
            self.lost.add(kind)
            raise OSError("the answer is lost")


@case("install: the operator asks for nothing that its role does not grant, and is granted nothing that it does not ask for", alone=True)
def rights(world):
    proxy = Proxy(world.cluster)
    flags = ["--namespace", world.ns, "--leader-election-id", world.ns]
    one = OperatorProcess(world.cluster, world.cluster.folder, "rights", flags, proxy.port)
    proxy.after = forgetful = Forgetful()
    try:
        one.start()
        job = tfjob("j", {"Chief": role(), "Worker": role(2, "137 run", "ExitCode")}, {"ttlSecondsAfterFinished": 1, "cleanPodPolicy": "All"})
        job["metadata"]["annotations"] = {"trainyard.dev/hold-deletion": "true"}
        world.submit(job)
        world.wait_true("j", "Running")
        until(lambda: world.kubelet.starts.get((world.ns, "j-worker-1")) == 2, "it was started again")
        world.wait_pod_phase("j-worker-1", "Running")
        # Somebody takes the labels off, by which it is found.
        world.api.patch("pod", world.ns, "j-worker-1", {"metadata": {"labels": None}})
        until(lambda: "j-worker-1" in world.pods("j"), "it has them again")
        spec = {"image": "i", "trainingLogFilesets": ["t9k://pvc/logs/path"]}
        world.submit(t9k("t", [t9k_role("worker")], tensorboardSpec=spec, scheduler={"t9kScheduler": {"queue": "q"}}), "t9k")
        until(lambda: world.api.list("tensorboard", world.ns), "a TensorBoard")
        world.finish("j-chief-0")
        until(lambda: not world.api.find("tfjob", world.ns, "j"), "the job goes")
    finally:
        one.stop()
        proxy.close()
    same(forgetful.refused, [], "refused requests")
    granted = granted_to(world.api, "trainyard-operator", NAMESPACE)
    used = used_in(proxy.log)
    same(sorted(used - granted), [], "asked for and not granted")
    same(sorted(granted - used), sorted(UNSEEN), "granted and not asked for here")


@case("install: jobs that another operator started are taken over, pods and all", alone=True)
def takeover(world):
    job = world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "None"}))
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "name": "j", "uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    uids = {}
    for type_, index in (("chief", 0), ("worker", 0), ("worker", 1)):
        name = f"j-{type_}-{index}"
        labels = {PREFIX + "operator-name": "tfjob-controller", PREFIX + "job-name": "j", PREFIX + "replica-type": type_, PREFIX + "replica-index": str(index)}
        metadata = {"name": name, "labels": labels, "ownerReferences": [owner]}
        spec = dict(job["spec"]["tfReplicaSpecs"]["Chief"]["template"]["spec"], restartPolicy="Never")
        made = world.api.create("pod", world.ns, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        uids[name] = made["metadata"]["uid"]
        ports = [{"name": "tfjob-port", "port": 2222}]
        world.api.create("service", world.ns, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"clusterIP": "None", "selector": labels, "ports": ports}})
    now = world.api.get("pod", world.ns, "j-chief-0")["metadata"]["creationTimestamp"]
    job["status"] = {
        "conditions": [
            {"type": "Created", "status": "True", "reason": "TFJobCreated", "message": "TFJob j is created.", "lastUpdateTime": now, "lastTransitionTime": now},
            {"type": "Running", "status": "True", "reason": "TFJobRunning", "message": f"TFJob {world.ns}/j is running.", "lastUpdateTime": now, "lastTransitionTime": now},
        ],
        "replicaStatuses": {"Chief": {"active": 1}, "Worker": {"active": 2}},
        "startTime": now,
    }
    world.api.update("tfjob", world.ns, job, "status")
    for name in uids:
        world.wait_pod_phase(name, "Running")
    one = OperatorProcess(world.cluster, world.cluster.folder, "takeover", ["--namespace", world.ns, "--leader-election-id", world.ns])
    try:
        one.start()
        until(lambda: world.job("j")["status"].get("trainyard"), "it is taken up")
        world.finish("j-chief-0")
        world.wait_true("j", "Succeeded")
        same({name: pod["metadata"]["uid"] for name, pod in world.pods().items()}, uids, "the same pods")
        same(world.job("j")["status"]["startTime"], now, "startTime stays")
    finally:
        one.stop()


@case("SDK: kubeflow-training creates, waits for, reads the log of and deletes a TFJob, unmodified")
def python_sdk(world):
    script = str(ROOT / "tests/cluster/sdk_story.py")
    done = subprocess.run(
        [os.environ["CLIENTS_PYTHON"], "-B", script, str(world.cluster.kubeconfig), world.ns],
        capture_output=True, text=True, timeout=120,
    )
    check(done.returncode == 0, done.stdout + done.stderr)
    check("deleted" in done.stdout, done.stdout)
