"""Our scheduler on a real API server."""

import json
import pathlib
import random
import subprocess
import tempfile
import time

from cluster import ROOT
from gangs import GROUP, Watching, cpu_seconds, pod, pod_group, resident_mib
from proxy import Proxy
from yard import NAMESPACE, case, check, same, until


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
    world.add_gangs(500, 2)
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


@case("killed at random moments while it binds 40 gangs of 100, and 4 more for which there is no room: none stays in part")
def killed(world):
    return kill_while_binding(world)


@case("killed likewise while it holds the lease, as it is deployed: started again in the same pod it leads at once")
def killed_leading(world):
    told = kill_while_binding(world, "--leader-elect", "--leader-election-id", world.ns, "--identity", f"{world.ns}-pod")
    lease = world.api.get("lease", NAMESPACE, world.ns)["spec"]
    same((lease["holderIdentity"], lease["leaseTransitions"]), (f"{world.ns}-pod", 0), "who leads, and how often another took over")
    return told


def kill_while_binding(world, *flags):
    # Whoever forgets a gang that it bound in part, and begins another, has no room left for the rest of it.
    world.add_nodes(40, 100)
    world.add_gangs(44, 100)
    watching = Watching(world)
    world.closers.append(watching.close)
    chance = random.Random(7)
    kills = cut = 0
    while kills < 8 and sum(watching.bound().values()) < 3000:
        scheduler = world.scheduler(*flags, wait=False)
        before = sum(watching.bound().values())
        # Not before it binds, or it is only ever killed while it reads.
        until(lambda: sum(watching.bound().values()) > before, "it binds", pause=0.01)
        time.sleep(chance.random() * 0.5)
        scheduler.kill()
        kills += 1
        cut += bool(watching.partial(100))
    check(cut > 0, f"none of {kills} kills left a gang in part: nothing was tried")
    torn = watching.partial(100)
    world.scheduler(*flags, wait=False)
    began = time.monotonic()
    until(lambda: not torn & watching.partial(100), lambda: f"{torn} are whole: {watching.bound()}", pause=0.05)
    mended = time.monotonic() - began
    check(mended <= 5, f"{torn} were whole only {mended:.1f} s after the last start")
    until(lambda: sum(watching.bound().values()) == 4000, lambda: f"all that fit are bound: {watching.bound()}")
    took = time.monotonic() - began
    same(partial(world, 100), {}, "gangs in part")
    return (f"{kills} kills, {cut} of them left a gang in part; those are whole {mended:.1f} s after the last start, "
            f"4,000 pods are bound after {took:.1f} s, in whole gangs")


@case("the API server goes away while it binds")
def server_away(world):
    world.add_nodes(20, 50)
    world.add_gangs(24, 50)
    watching = Watching(world)
    world.closers.append(watching.close)
    world.scheduler(wait=False)
    until(lambda: sum(watching.bound().values()) > 0, "it has begun", pause=0.01)
    before = sum(watching.bound().values())
    check(before < 1000, "all were bound before the server went: nothing was tried")
    world.cluster.restart_apiserver()
    until(lambda: sum(world.bound().values()) == 1000, lambda: f"20 gangs of 24 are bound: {world.bound()}")
    same(partial(world, 50), {}, "gangs in part")
    return f"{before} of 1,000 were bound when it went"


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
    for gang in ("g", "h", "i"):  # for one of them there is no room
        world.add_gang(gang, 20)
    before = {one["metadata"]["uid"] for one in world.pods()}
    world.scheduler(port=proxy.port)
    until(lambda: sorted(world.bound().values()) == [0, 20, 20], lambda: f"two are whole, and one has nothing: {world.bound()}")
    same(len(lost), 7, "answers lost")
    same({one["metadata"]["uid"] for one in world.pods()}, before, "the pods: none was deleted")


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


@case("our scheduler by its name, both programs with the flags that they come with: a job with a group of its own, and one with the user's")
def by_our_name(world):
    world.add_nodes(2, 4)
    world.scheduler()
    world.operator("--gang-scheduler-name", "trainyard")
    world.api.create("vc-podgroup", world.ns, pod_group("theirs", 3))
    container = {"name": "tensorflow", "image": "example/none:1", "resources": {"requests": {"cpu": "1"}}}
    role = {"replicas": 3, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    for name in ("own", "theirs"):
        world.api.create("tfjob", world.ns, {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
                                             "spec": {"tfReplicaSpecs": {"Worker": role}}})
    until(lambda: world.bound() == {"own": 3, "theirs": 3}, lambda: f"both have nodes: {world.bound()}")


@case("kube-batch's queues: one may hold all while it is alone, and gives back what is another's part by weight")
def fair_shares(world):
    world.add_nodes(2, 4)
    for queue, weight in (("large", 3), ("small", 1)):
        world.add_for_all("vc-queue", queue, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "spec": {"weight": weight}})
    world.scheduler("--scheduler-name", "trainyard,kube-batch")

    def add(queue):
        for i in range(8):
            group = pod_group(f"{queue}-{i}", 1, queue, "scheduling.incubator.k8s.io/v1alpha1")
            world.api.create("kb-podgroup", world.ns, group)
            world.api.create("pod", world.ns, pod(f"{queue}-{i}", f"{queue}-{i}", scheduler="kube-batch"))

    def held():
        counts = {"large": 0, "small": 0}
        for gang, has in world.bound().items():
            counts[gang.split("-")[0]] += has
        return counts

    add("small")
    until(lambda: held() == {"large": 0, "small": 8}, lambda: f"the small queue holds all: {held()}")
    add("large")
    until(lambda: held() == {"large": 6, "small": 2}, lambda: f"three quarters and one: {held()}")


@case("a replica of higher priority takes the place of others; they wait whole, and run after it")
def higher_priority(world):
    world.add_nodes(1, 4)
    world.scheduler("--scheduler-name", "t9k-scheduler")
    world.operator()
    urgent = f"{world.ns}-urgent"
    world.add_for_all("priorityclass", urgent, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000})

    def submit(name, replicas, **spec):
        container = {"name": "tensorflow", "image": "example/none:1", "resources": {"requests": {"cpu": "1"}}}
        role = {"type": "worker", "replicas": replicas, "restartPolicy": "Never",
                "template": {"spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}}}
        world.api.create("t9k", world.ns, {
            "apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "TensorFlowTrainingJob", "metadata": {"name": name},
            "spec": {"replicaSpecs": [role], "scheduler": {"t9kScheduler": {"queue": "default", "priority": 50}}}})

    def placed():
        """By job: how many pods there are, and how many of them have a node."""
        counts = {}
        for one in world.pods():
            count = counts.setdefault(one["metadata"]["name"].split("-")[0], [0, 0])
            count[0] += 1
            count[1] += bool(one["spec"].get("nodeName"))
        return counts

    submit("low", 4)
    until(lambda: placed() == {"low": [4, 4]}, lambda: f"the first has all there is: {placed()}")
    submit("high", 2, priorityClassName=urgent)
    until(lambda: placed() == {"low": [4, 0], "high": [2, 2]}, lambda: f"the second has its place: {placed()}")
    for phase in ("Running", "Succeeded"):
        for one in world.pods():
            if one["metadata"]["name"].startswith("high-"):
                world.play(one, phase)
    until(lambda: placed()["low"] == [4, 4], lambda: f"the first runs again: {placed()}")


@case("a node is lost while it binds 20 gangs of 50: what was on it is made anew, and none stays in part")
def node_lost_while_binding(world):
    world.add_nodes(20, 60)
    world.add_gangs(20, 50)
    watching = Watching(world)
    world.closers.append(watching.close)
    world.scheduler(wait=False)
    until(lambda: sum(watching.bound().values()) > 0, "it has begun", pause=0.01)
    node = world.nodes[0]
    world.api.delete("node", None, node)
    before = sum(watching.bound().values())
    check(before < 1000, "all were bound before the node went: nothing was tried")

    def renew(one):
        """As the node's controller and the job's own do."""
        name = one["metadata"]["name"]
        world.api.delete("pod", world.ns, name, {"gracePeriodSeconds": 0})
        world.api.create("pod", world.ns, pod(name, one["metadata"]["annotations"][GROUP]))

    def whole():
        lost = [one for one in world.pods() if one["spec"].get("nodeName") == node]
        world.each(renew, lost)
        return not lost and sum(world.bound().values()) == 1000

    until(whole, lambda: f"all are whole: {world.bound()}", pause=0.5)
    same(partial(world, 50), {}, "gangs in part")
    return f"{before} of 1,000 were bound when it went"


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


def three_placed(world):
    """Starts our programs and the Volcano Job as printed; its three pods have nodes."""
    our_programs(world, "--own-volcano-jobs")
    world.add_nodes(2, 8)
    world.apply(seed("volcano-job.yaml"))
    until(lambda: sum(bool(one["spec"].get("nodeName")) for one in world.pods()) == 3, "all replicas have nodes")


@case("seed 004: a Volcano Job whose pod is evicted starts anew as a whole")
def evicted_pod(world):
    three_placed(world)

    def running():
        for one in world.pods():
            if one["spec"].get("nodeName"):
                world.play(one, "Running")
        return world.api.get("vcjob", world.ns, VOLCANO_JOB[1]).get("status", {}).get("state", {}).get("phase") == "Running"

    until(running, "the job runs")
    before = {one["metadata"]["uid"] for one in world.pods()}
    name = f"{VOLCANO_JOB[1]}-worker-0"
    world.api.request("POST", f"/api/v1/namespaces/{world.ns}/pods/{name}/eviction", {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": world.ns}})

    def all_new():
        world.remove_leaving()
        now = world.pods()
        return len(now) == 3 and all(one["spec"].get("nodeName") and one["metadata"]["uid"] not in before for one in now)

    until(all_new, lambda: f"three new pods: {[one['metadata']['name'] for one in world.pods()]}")
    until(running, "the job runs again")


def tf_config(container, files):
    """What the script of the container builds, of files that it finds in /etc/volcano."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_text(text)
        script = container["command"][2].replace("/etc/volcano", folder)
        script = script.replace("python /var/tf_dist_mnist/dist_mnist.py", 'echo "$TF_CONFIG"')
        env = {one["name"]: one["value"] for one in container["env"] if "value" in one}
        told = subprocess.run(["sh", "-c", script], env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


@case("seed 004: the script of a Volcano Job finds the files and variables from which it builds TF_CONFIG")
def plugins(world):
    three_placed(world)
    hosts = {role: [f"tensorflow-dist-mnist-{role}-{i}.tensorflow-dist-mnist" for i in range(count)]
             for role, count in (("ps", 1), ("worker", 2))}
    for role, index in (("ps", 0), ("worker", 0), ("worker", 1)):
        spec = world.api.get("pod", world.ns, f"tensorflow-dist-mnist-{role}-{index}")["spec"]
        main = spec["containers"][0]
        check({"name": "VK_TASK_INDEX", "value": str(index)} in main["env"], f"VK_TASK_INDEX in {main['env']}")
        volume = next(one["name"] for one in main["volumeMounts"] if one["mountPath"] == "/etc/volcano")
        source = next(one["configMap"]["name"] for one in spec["volumes"] if one["name"] == volume)
        files = world.api.get("configmap", world.ns, source)["data"]
        same({name: files[name].split() for name in ("ps.host", "worker.host")},
             {f"{name}.host": names for name, names in hosts.items()}, "the files")
        same(tf_config(main, files),
             {"cluster": {name: [f"{host}:2222" for host in names] for name, names in hosts.items()},
              "task": {"type": role, "index": index}, "environment": "cloud"}, "what the script builds")


@case("seed 004: a Volcano Job")
def seed_volcano_job(world):
    our_programs(world, "--own-volcano-jobs")
    run_seed(world, seed("volcano-job.yaml"), VOLCANO_JOB, "vc-podgroup", 3)
