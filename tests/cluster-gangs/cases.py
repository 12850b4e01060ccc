"""Our scheduler on a real API server."""

import random
import time

from cluster import ROOT
from gangs import GROUP, Watching, cpu_seconds, pod, pod_group, resident_mib
from proxy import Proxy
from yard import case, check, same, until


def partial(world, size):
    return {gang: has for gang, has in world.bound().items() if has not in (0, size)}


@case("two gangs that each need more than half: one runs, the other waits whole and is told why")
def deadlock(world):
    world.add_nodes(2, 4)
    world.scheduler()
    world.add_gang("first", 6)
    world.add_gang("second", 6)
    until(lambda: sorted(world.bound().values()) == [0, 6], "one of them is whole")
    loser = min(world.bound(), key=lambda gang: world.bound()[gang])
    winner = "first" if loser == "second" else "second"

    def words():
        for one in world.pods():
            for condition in one["status"].get("conditions", []):
                told = condition["type"] == "PodScheduled" and condition["status"] == "False"
                if one["metadata"]["annotations"][GROUP] == loser and told:
                    return condition["message"]
        return ""

    text = until(words, "it is told why")
    check("needs 6 cpu; 2 free" in text and winner in text, text)
    group = until(lambda: world.api.get("vc-podgroup", world.ns, loser).get("status", {}).get("conditions"), "a condition")
    same(group[0]["type"], "Unschedulable", "the group's condition")
    for one in world.pods():
        if one["metadata"]["annotations"][GROUP] == winner:
            world.api.delete("pod", world.ns, one["metadata"]["name"], {"gracePeriodSeconds": 0})
    until(lambda: world.bound().get(loser) == 6, "the other runs")
    return text


@case("of 500 gangs 300 fit: 300 whole, none in part, the rest told why, and waiting costs nothing")
def contention(world):
    world.add_nodes(60, 10)
    names = [f"g{i}" for i in range(500)]
    world.each(lambda name: world.api.create("vc-podgroup", world.ns, pod_group(name, 2)), names)
    world.each(lambda i: world.api.create("pod", world.ns, pod(f"g{i // 2}-{i % 2}", f"g{i // 2}")), range(1000))
    proxy = Proxy(world.cluster)
    world.closers.append(proxy.close)
    scheduler = world.scheduler(port=proxy.port)
    began = time.monotonic()
    until(lambda: list(world.bound().values()).count(2) == 300, "300 are whole", 120)
    took = time.monotonic() - began
    same(partial(world, 2), {}, "gangs in part")

    def told():
        count = 0
        for one in world.pods():
            conditions = one["status"].get("conditions", [])
            count += not one["spec"].get("nodeName") and any("needs 2 cpu" in c.get("message", "") for c in conditions)
        return count == 400

    until(told, "the other 400 pods are told why")
    seen = [-1]

    def quiet():
        before, seen[0] = seen[0], len(proxy.log)
        return before == seen[0]

    until(quiet, "it comes to rest", 60, pause=3)
    before, cpu = len(proxy.log), cpu_seconds(scheduler.pid)
    time.sleep(15)
    asked, used = proxy.log[before:], cpu_seconds(scheduler.pid) - cpu
    asked = [one for one in asked if "watch=" not in one[1] and "/leases" not in one[1]]
    same(asked, [], "requests while nothing changes")
    check(used <= 0.05, f"{used} s of CPU in 15 s of nothing")
    same(list(world.bound().values()).count(2), 300, "whole gangs")
    return f"300 whole after {took:.1f} s; 15 s at rest: 0 requests, {used:.2f} s CPU; {resident_mib(scheduler.pid):.0f} MiB"


@case("killed at random moments while it binds 40 gangs of 100: none stays in part")
def killed(world):
    world.add_nodes(40, 100)
    names = [f"g{i}" for i in range(40)]
    world.each(lambda name: world.api.create("vc-podgroup", world.ns, pod_group(name, 100)), names)
    world.each(lambda i: world.api.create("pod", world.ns, pod(f"g{i // 100}-{i % 100}", f"g{i // 100}")), range(4000))
    watching = Watching(world)
    world.closers.append(watching.close)
    chance = random.Random(7)
    kills = cut = 0
    while kills < 8 and sum(watching.bound().values()) < 3000:
        scheduler = world.scheduler(wait=False)
        before = sum(watching.bound().values())
        # Not before it binds, or it is only ever killed while it reads.
        until(lambda: sum(watching.bound().values()) > before, "it binds", pause=0.01)
        time.sleep(chance.random() * 0.5)
        scheduler.kill()
        kills += 1
        cut += bool(watching.partial(100))
    torn = watching.partial(100)
    world.scheduler(wait=False)
    began = time.monotonic()
    until(lambda: not torn & watching.partial(100), lambda: f"{torn} are whole: {watching.bound()}", pause=0.05)
    mended = time.monotonic() - began
    until(lambda: sum(watching.bound().values()) == 4000, lambda: f"all are bound: {watching.bound()}")
    return (f"{kills} kills, {cut} of them left a gang in part; those are whole {mended:.1f} s after the last start, "
            f"all 4,000 pods bound after {time.monotonic() - began:.1f} s")


@case("the API server goes away while it binds")
def server_away(world):
    world.add_nodes(20, 50)
    names = [f"g{i}" for i in range(20)]
    world.each(lambda name: world.api.create("vc-podgroup", world.ns, pod_group(name, 50)), names)
    world.each(lambda i: world.api.create("pod", world.ns, pod(f"g{i // 50}-{i % 50}", f"g{i // 50}")), range(1000))
    world.scheduler(wait=False)
    until(lambda: sum(world.bound().values()) > 0, "it has begun", pause=0.02)
    world.cluster.restart_apiserver()
    until(lambda: sum(world.bound().values()) == 1000, "all are bound")


@case("bindings that were done though no answer came")
def unanswered(world):
    world.add_nodes(4, 10)
    proxy = Proxy(world.cluster)
    world.closers.append(proxy.close)
    lost = []

    def after(request, status):
        if request.path.endswith("/bindings") and request.method == "POST" and len(lost) < 7 and status < 300:
            lost.append(request.path)
            raise OSError("the answer is lost")

    proxy.after = after
    world.add_gang("g", 20)
    world.scheduler(port=proxy.port)
    until(lambda: world.bound().get("g") == 20, "it is whole")
    same(len(lost), 7, "answers lost")
    names = {one["metadata"]["name"] for one in world.pods()}
    same(len(names), 20, "no pod was deleted or made anew")


@case("a node is lost: the job's pod is made anew and the gang is whole again")
def node_lost(world):
    world.add_nodes(3, 2)
    world.scheduler("--scheduler-name", "trainyard,volcano")
    world.operator("--gang-scheduler-name", "volcano")
    container = {"name": "tensorflow", "image": "example/none:1", "resources": {"requests": {"cpu": "1"}}}
    role = {"replicas": 3, "restartPolicy": "ExitCode", "template": {"spec": {"containers": [container]}}}
    world.api.create("tfjob", world.ns, {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "train"},
                                         "spec": {"tfReplicaSpecs": {"Worker": role}}})

    def placed():
        return [one for one in world.pods() if one["spec"].get("nodeName")]

    until(lambda: len(placed()) == 3, "three replicas have nodes")
    node = placed()[0]["spec"]["nodeName"]
    gone = {one["metadata"]["uid"] for one in placed() if one["spec"]["nodeName"] == node}
    world.api.delete("node", None, node)
    for one in placed():  # as the node's controller does after a while
        if one["metadata"]["uid"] in gone:
            world.api.delete("pod", world.ns, one["metadata"]["name"], {"gracePeriodSeconds": 0})
    until(lambda: len([one for one in placed() if one["metadata"]["uid"] not in gone]) == 3, "three replicas again")
    check(all(one["spec"]["nodeName"] != node for one in placed()), "none on the node that is gone")


def seed(manifest):
    return (ROOT / "tests/golden/seeds" / manifest).read_text()


def run_seed(world, text, job, group_kind, pods):
    """Applies the manifest to a world whose programs run, plays the kubelet, and sees the job to its end."""
    kind, name = job
    world.add_nodes(2, 8)
    world.apply(text)
    until(lambda: sum(bool(one["spec"].get("nodeName")) for one in world.pods()) == pods, "all replicas have nodes")

    def phases_of_groups():
        return [one.get("status", {}).get("phase") for one in world.api.list(group_kind, world.ns)]

    until(lambda: phases_of_groups() == ["Running"], lambda: f"the group runs: {phases_of_groups()}")
    for phase in ("Running", "Succeeded"):
        for one in world.pods():
            world.play(one, phase)

    def finished():
        status = world.api.get(kind, world.ns, name).get("status", {})
        phases = [c["type"] for c in status.get("conditions") or [] if c.get("status") == "True"]
        return "Succeeded" in phases or status.get("state", {}).get("phase") == "Completed"

    until(finished, lambda: f"the job is done: {world.api.get(kind, world.ns, name).get('status')}")


def our_programs(world, *flags):
    world.scheduler("--scheduler-name", "trainyard,volcano,kube-batch")
    world.operator(*flags)


TFJOB = ("tfjob", "dist-mnist-for-e2e-test")
VOLCANO_JOB = ("vcjob", "tensorflow-dist-mnist")


@case("seed 004: a TFJob with a PodGroup of kube-batch")
def seed_kube_batch(world):
    our_programs(world, "--gang-scheduler-name", "kube-batch")
    run_seed(world, seed("tfjob-kube-batch.yaml"), TFJOB, "kb-podgroup", 6)


@case("seed 004: a TFJob with a PodGroup of Volcano")
def seed_volcano(world):
    our_programs(world, "--gang-scheduler-name", "volcano")
    run_seed(world, seed("tfjob-volcano.yaml"), TFJOB, "vc-podgroup", 6)


@case("seed 004: a Volcano Job")
def seed_volcano_job(world):
    our_programs(world, "--own-volcano-jobs")
    run_seed(world, seed("volcano-job.yaml"), VOLCANO_JOB, "vc-podgroup", 3)
