"""What flags of the operator change: Volcano's Jobs without Volcano, one service for a job.

These run apart or alone, as trouble_cases do.
"""

import contextlib
import json
import pathlib
import subprocess
import threading

from cluster import ROOT
from trouble_cases import operators, restore_role, wait_served
from yard import ServiceProcess, case, check, role, same, t9k, t9k_role, template, tfjob, trainyard, until


@contextlib.contextmanager
def volcano_kinds(world):
    """Volcano's own CRDs, and the rights that `install --with-volcano-crds` gives."""
    folder = subprocess.run([ROOT / "tools/real-components", "--crds", "volcano-scheduler"], capture_output=True, text=True, check=True)
    crds = sorted(pathlib.Path(folder.stdout.strip(), "volcano/bases").glob("*.yaml"))
    check(crds, "Volcano's CRDs are there")
    files = [word for crd in crds for word in ("-f", crd)]
    for line in world.cluster.kubectl("apply", "--server-side", "-o", "name", *files).stdout.splitlines():
        wait_served(world, line.split("/")[-1])
    kept = world.api.get("clusterrole", None, "trainyard-operator")["rules"]
    wanted = world.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin=trainyard("install", "--with-volcano-crds")).stdout
    objects = json_objects(wanted)
    rules = next(each["rules"] for each in objects if each["kind"] == "ClusterRole" and each["metadata"]["name"] == "trainyard-operator")
    restore_role(world, rules)
    try:
        yield
    finally:
        restore_role(world, kept)


def json_objects(text):
    """What kubectl prints for several objects: a List, or one document after the other."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        one, at = decoder.raw_decode(text, at)
        found += one["items"] if one["kind"] == "List" else [one]
    return found


def volcano_job(name):
    task = {"template": {"metadata": template()["metadata"], "spec": {**template()["spec"], "restartPolicy": "Never"}}}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "minAvailable": 3,
            "schedulerName": "default-scheduler",
            "queue": "default",
            "plugins": {"env": [], "svc": []},
            "tasks": [
                {"name": "ps", "replicas": 1, **task},
                {"name": "worker", "replicas": 2, "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}], **task},
            ],
        },
    }


@contextlib.contextmanager
def their_controller(world):
    """A pod that looks like Volcano's controller, gone afterwards: other cases look in the whole cluster."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "theirs", "labels": {"app": "volcano-controller"}}, "spec": template()["spec"]}
    world.api.create("pod", world.ns, pod)
    try:
        yield
    finally:
        world.api.delete("pod", world.ns, "theirs", {"gracePeriodSeconds": 0})
        until(lambda: not world.api.find("pod", world.ns, "theirs"), "it goes")


def volcano_phase(world, name):
    return world.job(name, "vcjob").get("status", {}).get("state", {}).get("phase")


@case("volcano: a Job of Volcano's own CRDs from its PodGroup to its end, with --own-volcano-jobs", alone=True)
def own_volcano_jobs(world):
    with volcano_kinds(world), operators(world, flags=["--own-volcano-jobs"]):
        uid = world.submit(volcano_job("mnist"), "vcjob")["metadata"]["uid"]
        group = until(lambda: world.api.find("vc-podgroup", world.ns, f"mnist-{uid}"), "the PodGroup")
        same(group["spec"]["minMember"], 3)
        until(lambda: volcano_phase(world, "mnist") == "Pending", "the Job waits for its PodGroup")
        same(sorted(world.pods()), [], "pods before the PodGroup is let in")
        world.api.patch("vc-podgroup", world.ns, f"mnist-{uid}", {"status": {"phase": "Inqueue"}})
        world.wait_pods("mnist-ps-0", "mnist-worker-0", "mnist-worker-1")
        until(lambda: volcano_phase(world, "mnist") == "Running", lambda: f"it runs: {world.job('mnist', 'vcjob').get('status')}")
        until(lambda: "mnist" in world.services(), "the service of the svc plugin")
        until(lambda: world.api.find("configmap", world.ns, "mnist-svc"), "its hosts")
        for pod in ("mnist-worker-0", "mnist-worker-1"):
            world.finish(pod)
        until(lambda: volcano_phase(world, "mnist") == "Completed", lambda: f"it ends: {world.job('mnist', 'vcjob').get('status')}")


@case("volcano: where Volcano's controller runs its Jobs are left to it, and the log says so", alone=True)
def volcano_left_alone(world):
    with volcano_kinds(world), their_controller(world), operators(world, flags=["--own-volcano-jobs"]) as ((one,), _):
        until(lambda: "Volcano's own controller runs" in one.process.log(), lambda: "the log says so: " + one.process.log()[-800:])
        uid = world.submit(volcano_job("mnist"), "vcjob")["metadata"]["uid"]
        # It has seen what came before this job.
        world.submit(tfjob("later", {"Worker": role()}))
        world.wait_true("later", "Running")
        same(world.api.find("vc-podgroup", world.ns, f"mnist-{uid}"), None, "a PodGroup")
        same(world.job("mnist", "vcjob").get("status"), None, "a status")


@case("volcano: an operator with rights in one namespace looks after the Jobs there", alone=True)
def volcano_in_one_namespace(world):
    wanted = world.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin=trainyard("install", "--namespaced", "--with-volcano-crds", "-n", world.ns)).stdout
    rights = [each for each in json_objects(wanted) if each["kind"] in ("ServiceAccount", "Role", "RoleBinding")]
    world.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": rights}))
    path = f"/api/v1/namespaces/{world.ns}/serviceaccounts/trainyard-operator/token"
    token = world.api.request("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    with volcano_kinds(world):
        one = ServiceProcess(world.cluster, world.cluster.folder, "operator", "narrow", token, ["--namespace", world.ns, "--own-volcano-jobs", "--no-leader-elect"])
        try:
            one.start()
            uid = world.submit(volcano_job("mnist"), "vcjob")["metadata"]["uid"]
            until(lambda: world.api.find("vc-podgroup", world.ns, f"mnist-{uid}"), lambda: "the PodGroup: " + one.process.log()[-800:])
            until(lambda: volcano_phase(world, "mnist") == "Pending", "the Job waits for its PodGroup")
        finally:
            one.stop()


@case("volcano: when Volcano's controller comes later, Jobs are left to it from then on", apart=True, early=True)
def volcano_comes_later(world):
    with volcano_kinds(world), operators(world, flags=["--own-volcano-jobs"]) as ((one,), _):
        uid = world.submit(volcano_job("first"), "vcjob")["metadata"]["uid"]
        until(lambda: world.api.find("vc-podgroup", world.ns, f"first-{uid}"), "the first Job is looked after")
        with their_controller(world):
            until(lambda: "Volcano's own controller runs" in one.process.log(), "it is seen within a minute")
            until(lambda: one.process.log().count("looking after jobs") == 2, "it begins anew without them")
            one.wait_ready()
            uid = world.submit(volcano_job("second"), "vcjob")["metadata"]["uid"]
            world.submit(tfjob("later", {"Worker": role()}))
            world.wait_true("later", "Running")
            same(world.api.find("vc-podgroup", world.ns, f"second-{uid}"), None, "a PodGroup")


@case("S46: with gangs, a job that names another scheduler keeps it, and is told", alone=True)
def another_scheduler(world):
    with volcano_kinds(world), operators(world, flags=["--gang-scheduler-name", "volcano"]):
        for name, scheduler in (("theirs", "mine"), ("plain", "volcano")):
            job = tfjob(name, {"Worker": role()})
            if name == "theirs":
                job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["schedulerName"] = scheduler
            world.submit(job)
            until(lambda: world.api.find("vc-podgroup", world.ns, name), "the PodGroup")
            world.api.patch("vc-podgroup", world.ns, name, {"status": {"phase": "Inqueue"}})
            pod = until(lambda: world.pods(name).get(f"{name}-worker-0"), "the pod")
            same(pod["spec"]["schedulerName"], scheduler, name)
        until(lambda: "SettedPodTemplateSchedulerName" in world.reasons("theirs"), lambda: f"the event; there are {world.reasons('theirs')}")
        check("SettedPodTemplateSchedulerName" not in world.reasons("plain"), "nothing is told of the other")


@case("S47: a job is not planned again before what was written for it is seen", apart=True)
def expectations(world):
    with operators(world, proxied=True) as (_, proxy):
        shown = threading.Event()

        def before(request):
            if request.is_watch and "/pods?" in request.path:
                shown.wait(60)

        def made():
            return [path for method, path in proxy.log if method == "POST" and path.split("?")[0].endswith("/pods")]

        proxy.before = before
        proxy.cut_watches()
        try:
            world.submit(tfjob("j", {"Worker": role(2)}))
            until(lambda: len(made()) == 2, lambda: f"two pods are asked for: {made()}")
            for turn in range(3):
                world.patch_job("j", {"metadata": {"annotations": {"turn": str(turn)}}})
                world.still(lambda: len(made()) == 2, "a pod that is not seen yet is asked for again", 1)
        finally:
            shown.set()
        world.wait_true("j", "Running")
        same(len(made()), 2, "pods that were asked for")


@case("S48: kinds that are not enabled are left alone; those of Kubeflow that are not ours are named in the log", alone=True)
def enabled_kinds(world):
    with operators(world, flags=["--enable-scheme=tfjob", "--enable-scheme=pytorchjob"]) as ((one,), _):
        check("--enable-scheme=pytorchjob: not run by Trainyard" in one.process.log(), one.process.log()[-800:])
        world.submit(t9k("other", [t9k_role("worker")]), "t9k")
        world.submit(tfjob("j", {"Worker": role()}))
        world.wait_true("j", "Running")
        same(sorted(world.pods()), ["j-worker-0"], "pods")
        same(world.job("other", "t9k").get("status"), None, "its status")


@case("options: one service for all replicas of a job, by which each is found", apart=True)
def one_service(world):
    with operators(world, flags=["--one-service-per-job"]):
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        world.wait_true("j", "Running")
        same(sorted(world.services()), ["j"])
        service = world.services()["j"]["spec"]
        same(service["clusterIP"], "None")
        for name, pod in world.pods("j").items():
            same((pod["spec"]["hostname"], pod["spec"]["subdomain"]), (name, "j"))
            labels = pod["metadata"]["labels"]
            check(service["selector"].items() <= labels.items(), f"the service finds {name}: {service['selector']} in {labels}")
            config = next(each["value"] for each in pod["spec"]["containers"][0]["env"] if each["name"] == "TF_CONFIG")
            same(json.loads(config)["cluster"]["worker"], [f"j-worker-{i}.j.{world.ns}.svc:2222" for i in range(2)])
        world.finish("j-chief-0")
        world.wait_true("j", "Succeeded")
        until(lambda: not world.pods("j"), "pods go")
