"""What the house rules of a cluster do to jobs: pod security, limits, namespaces that end, deletions in the foreground,
others' finalizers, autoscalers."""

import json
import time

from trouble_cases import operators
from yard import case, check, role, same, t9k, t9k_role, tfjob, until


def told(world, name, reason):
    return [each["message"] for each in world.events(name) if each["reason"] == reason]


@case("house: pods that pod security refuses: the job says so, and runs once it may")
def pod_security(world):
    label = "pod-security.kubernetes.io/enforce"
    world.api.patch("namespace", None, world.ns, {"metadata": {"labels": {label: "restricted"}}})
    world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}))
    until(lambda: told(world, "j", "FailedCreatePod"), lambda: f"the event; there are {world.reasons('j')}")
    check("violates PodSecurity" in told(world, "j", "FailedCreatePod")[0], told(world, "j", "FailedCreatePod")[0])
    check(world.conditions("j"), "the job has a status all the same")
    spec = {"image": "tensorflow/tensorflow:2.11.0", "trainingLogFilesets": ["t9k://pvc/data/run"]}
    board = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "metadata": {"name": "tb"}, "spec": spec}
    world.api.create("tensorboard", world.ns, board)

    def ready():
        status = world.api.get("tensorboard", world.ns, "tb").get("status", {})
        return next((each for each in status.get("conditions", ()) if each["type"] == "Ready"), None)

    until(lambda: ready() and "violates PodSecurity" in ready()["message"], lambda: f"the TensorBoard says so: {ready()}")
    world.api.patch("namespace", None, world.ns, {"metadata": {"labels": {label: None}}})
    world.wait_true("j", "Running")


@case("house: a limit range gives pods what they do not name, and refuses what is too much")
def limit_range(world):
    limits = [{"type": "Container", "default": {"cpu": "200m"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "1"}}]
    body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits"}, "spec": {"limits": limits}}
    world.api.request("POST", f"/api/v1/namespaces/{world.ns}/limitranges", body)
    world.submit(tfjob("small", {"Worker": role(2)}))
    world.wait_true("small", "Running")
    pods = {name: pod["metadata"]["uid"] for name, pod in world.pods().items()}
    job = tfjob("large", {"Worker": role()})
    job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "8"}}
    world.submit(job)
    until(lambda: told(world, "large", "FailedCreatePod"), lambda: f"the event; there are {world.reasons('large')}")
    check("maximum cpu usage per Container is 1" in told(world, "large", "FailedCreatePod")[0], told(world, "large", "FailedCreatePod")[0])
    same({name: pod["metadata"]["uid"] for name, pod in world.pods("small").items()}, pods, "changed by the server, and left so")


@case("house: a job that is deleted in the foreground goes after its pods, and none is made meanwhile")
def foreground(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}))
    world.wait_true("j", "Running")
    pods = {name: pod["metadata"]["uid"] for name, pod in world.pods().items()}
    world.api.patch("pod", world.ns, "j-worker-1", {"metadata": {"finalizers": ["example.com/look"]}})
    world.api.delete("tfjob", world.ns, "j", {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"})
    until(lambda: sorted(world.pods()) == ["j-worker-1"], lambda: f"the others go: {sorted(world.pods())}")
    world.still(lambda: sorted(world.pods()) == ["j-worker-1"] and world.api.find("tfjob", world.ns, "j"), "the job waits for the last")
    same(world.pods()["j-worker-1"]["metadata"]["uid"], pods["j-worker-1"])
    # The same name at once: it waits for the pod of before.
    world.api.patch("pod", world.ns, "j-worker-1", {"metadata": {"finalizers": None}})
    until(lambda: not world.api.find("tfjob", world.ns, "j"), "the job goes")
    same(world.pods(), {})


@case("house: a namespace that ends takes its jobs along, and nothing is made in it any more")
def namespace_ends(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}))
    world.submit(t9k("t", [t9k_role("worker", 2)], tensorboardSpec={"image": "i", "trainingLogFilesets": ["t9k://pvc/logs/path"]}), "t9k")
    world.wait_true("j", "Running")
    world.wait_phase("t", "Running")
    world.api.delete("namespace", None, world.ns)
    until(lambda: not world.api.find("namespace", None, world.ns), lambda: f"it goes: {json.dumps(world.api.find('namespace', None, world.ns))[:900]}")


@case("house: an autoscaler finds how many workers there are, and which pods they are")
def autoscaler(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, enableDynamicWorker=True))
    world.wait_true("j", "Running")

    def scale():
        return world.api.request("GET", f"/apis/kubeflow.org/v1/namespaces/{world.ns}/tfjobs/j/scale")

    until(lambda: scale()["status"].get("replicas") == 2, lambda: f"{scale()}")
    selector = scale()["status"].get("selector")
    check(selector, f"a selector: {scale()}")
    same(sorted(each["metadata"]["name"] for each in world.api.list("pod", world.ns, selector)), ["j-worker-0", "j-worker-1"])


@case("house: jobs that wait, rest, are refused or have ended cost nothing", alone=True)
def nothing_for_nothing(world):
    with operators(world, proxied=True, leader=False) as (_, proxy):
        world.submit(tfjob("suspended", {"Worker": role()}, {"suspend": True}))
        world.submit(tfjob("managed", {"Worker": role()}, {"managedBy": "kueue.x-k8s.io/multikueue"}))
        world.submit(tfjob("ended", {"Worker": role(2, "0")}))
        world.submit(tfjob("failed", {"Worker": role(2, "1")}))
        world.submit(tfjob("old", {"Worker": role()}, {"cleanPodPolicy": "None", "activeDeadlineSeconds": 1}))
        world.submit(t9k("paused", [t9k_role("worker")], runMode={"pause": {"enabled": True}}), "t9k")
        world.submit(t9k("debug", [t9k_role("worker")], runMode={"debug": {"enabled": True}}), "t9k")
        world.submit(t9k("over", [t9k_role("worker", 2, "0")]), "t9k")
        world.submit(t9k("gang", [t9k_role("worker", 2)], scheduler={"t9kScheduler": {"queue": "q"}}), "t9k")
        board = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "metadata": {"name": "tb"},
                 "spec": {"image": "i", "suspend": True, "trainingLogFilesets": ["t9k://pvc/data/run"]}}
        world.api.create("tensorboard", world.ns, board)
        wrong = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "metadata": {"name": "wrong"},
                 "spec": {"image": "i", "trainingLogFilesets": ["t9k://pvc/data/../run"]}}
        world.api.create("tensorboard", world.ns, wrong)
        # Nothing in the CRD can tell: what only the operator refuses.
        job = tfjob("refused", {"Worker": role()})
        job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["tolerations"] = [{"operator": "Sometimes"}]
        world.submit(job)
        for name, word in (("suspended", "Suspended"), ("ended", "Succeeded"), ("failed", "Failed"), ("old", "Failed")):
            world.wait_true(name, word)
        world.wait_phase("over", "Succeeded")
        world.wait_phase("paused", "Paused")
        time.sleep(4)
        before = len(proxy.log)
        time.sleep(10)
        asked = [each for each in proxy.log[before:] if "watch=" not in each[1]]
        same(asked, [], "requests in ten idle seconds")
