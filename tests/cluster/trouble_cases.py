"""What goes wrong in clusters: operators that die, servers that restart, streams that break, rights that lack.

Each has operators of its own that look after its namespace only; the operator of the other cases is stopped
meanwhile. Those that change what all share, or measure, run alone.
"""

import contextlib
import json
import os
import re
import signal
import threading
import time

from api import ApiError
from cluster import ROOT
from proxy import Proxy, slow, too_many
from yard import NAMESPACE, PATIENCE, OperatorProcess, case, check, role, same, t9k, t9k_role, tfjob, until


@contextlib.contextmanager
def operators(world, count=1, proxied=False, flags=(), wait=True, leader=True, first=0):
    """Operators for the namespace of this case, behind one proxy if wanted: (operators, proxy). `first` is the number of
    the first, where a case has several such groups."""
    proxy = Proxy(world.cluster) if proxied else None
    common = ["--namespace", world.ns, "--leader-election-id", world.ns, *flags]
    if not leader:
        common.append("--no-leader-elect")
    made = [
        OperatorProcess(world.cluster, world.cluster.folder, f"{world.ns}-{i}", common, proxy.port if proxy else None)
        for i in range(first, first + count)
    ]
    try:
        for each in made:
            each.start(wait=wait)
        yield made, proxy
    finally:
        for each in made:
            each.kill()
        if proxy:
            proxy.close()


def checked_life(world, name, workers=3):
    """A job from its submission to its end, with what must always hold checked at the end."""
    world.submit(tfjob(name, {"Chief": role(), "Worker": role(workers)}, {"cleanPodPolicy": "All"}))
    world.wait_true(name, "Running")
    world.finish(f"{name}-chief-0")
    world.wait_true(name, "Succeeded")
    until(lambda: not world.pods(name), "pods go")
    until(lambda: not [each for each in world.services() if each.startswith(name + "-")], "services go")


def starts(world, name):
    return {key[1]: count for key, count in world.kubelet.starts.items() if key[0] == world.ns and key[1].startswith(name)}


@case("trouble: the operator is killed after each single write, and the job still has one life", apart=True)
def killed_after_each_write(world):
    with operators(world, proxied=True, leader=False, wait=False) as ((one,), proxy):
        state = {"wrote": False, "kills": 0}
        gate = threading.Lock()

        def counts(request):
            return request.is_write and not request.is_event and not request.is_lease

        def before(request):
            """Of what one life writes at the same time, the first is let through."""
            if not counts(request):
                return None
            with gate:
                late, state["wrote"] = state["wrote"], True
            return (503, {}, b"") if late else None

        def after(request, _status):
            if counts(request):
                state["kills"] += 1
                one.process.child.kill()  # before it hears the answer

        proxy.before = before
        proxy.after = after
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(1)}, {"cleanPodPolicy": "All"}))
        finished = False
        end = time.monotonic() + 90
        while not finished and time.monotonic() < end:
            if not one.process.running():
                state["wrote"] = False
                one.start(wait=False)
            if world.is_true("j", "Running") and not state.get("ended"):
                world.finish("j-chief-0")
                state["ended"] = True
            finished = world.is_true("j", "Succeeded") and not world.pods() and not world.services()
            time.sleep(0.05)
        check(finished, f"after {state['kills']} kills: {world.conditions('j')} {sorted(world.pods())} {sorted(world.services())}")
        check(state["kills"] >= 9, f"only {state['kills']} kills")  # 4 objects made and removed, and a status
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1}, "every replica started once")


@case("trouble: where no operator runs a job has no pods and no status; it gets them when one comes", apart=True)
def no_operator(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role()}))
    time.sleep(3)  # longer than an operator takes
    same(sorted(world.pods("j")), [], "pods of a job that nobody looks after")
    same(sorted(each for each in world.services() if each.startswith("j-")), [], "its services")
    same(world.api.get("tfjob", world.ns, "j").get("status", {}).get("conditions", []), [], "its conditions")
    with operators(world):
        world.wait_true("j", "Running")


@case("trouble: two operators, one leads; when it dies the other carries on", apart=True, early=True)
def leader_change(world):
    with operators(world, 2, wait=False) as (both, _):
        holder = until(lambda: (world.api.find("lease", NAMESPACE, world.ns) or {}).get("spec", {}).get("holderIdentity"), "a leader")
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        world.wait_true("j", "Running")
        leader = until(lambda: next((each for each in both if "leads 1" in leads(each)), None), "which one leads")
        leader.kill()
        until(lambda: world.api.get("lease", NAMESPACE, world.ns)["spec"]["holderIdentity"] not in ("", holder), "another leads")
        world.finish("j-chief-0")
        world.wait_true("j", "Succeeded")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1}, "nothing was started twice")


def leads(operator):
    """"leads 1" or "leads 0", from the metrics."""
    for line in operator.metrics().splitlines():
        if line.startswith(("trainyard_leads", "trainyard_leader", "leader_election_master_status")):
            return "leads " + line.split()[-1].split(".")[0]
    return ""


@case("trouble: a leader that slept through its lease writes nothing when it wakes", apart=True, early=True)
def slept_leader(world):
    with operators(world, proxied=True, wait=False) as ((one,), one_proxy), operators(world, proxied=True, wait=False, first=1) as ((two,), two_proxy):
        both = {one: one_proxy, two: two_proxy}
        leader = until(lambda: next((each for each in both if "leads 1" in leads(each)), None), "which one leads")
        other = next(each for each in both if each is not leader)
        world.submit(tfjob("before", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        world.wait_true("before", "Running")
        os.kill(leader.pid, signal.SIGSTOP)
        try:
            until(lambda: "leads 1" in leads(other), "the other leads")
            # What it missed: a job that ended, and one that began.
            world.finish("before-chief-0")
            world.wait_true("before", "Succeeded")
            world.submit(tfjob("meanwhile", {"Worker": role(2)}))
            world.wait_true("meanwhile", "Running")
        finally:
            log = both[leader].log
            asleep = len(log)
            os.kill(leader.pid, signal.SIGCONT)
        until(lambda: "leads 0" in leads(leader), "it knows that it leads no more")
        world.submit(tfjob("after", {"Worker": role()}))
        world.wait_true("after", "Running")
        # Events that it had in its hand tell of what it did while it led.
        written = [each for each in log[asleep:] if each[0] != "GET" and "/leases/" not in each[1] and not each[1].endswith("/events")]
        same(written, [], "what it wrote after it woke")
        check(leader.process.running(), "it stands by")
        names = ["before-chief-0", "before-worker-0", "before-worker-1"]
        same(starts(world, "before"), {name: 1 for name in names}, "nothing was started twice")


@case("trouble: an operator that is told to stop gives its lease away, and the other leads within seconds", alone=True)
def graceful_handover(world):
    with operators(world, 2, wait=False) as (both, _):
        leader = until(lambda: next((each for each in both if "leads 1" in leads(each)), None), "which one leads")
        began = time.monotonic()
        leader.stop()
        other = next(each for each in both if each is not leader)
        until(lambda: "leads 1" in leads(other), "the other leads")
        check(time.monotonic() - began < 12, f"{time.monotonic() - began:.1f} s: longer than a lease lasts")


@case("trouble: the API server is restarted while a job runs", alone=True)
def apiserver_restart(world):
    with operators(world) as ((one,), _):
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        world.wait_true("j", "Running")
        world.cluster.restart_apiserver()
        world.finish("j-chief-0")
        world.wait_true("j", "Succeeded")
        until(lambda: not world.pods(), "pods go")
        check(one.process.running(), "the operator lived through it")
        checked_life(world, "after")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1})


@case("trouble: watches are dropped again and again", apart=True)
def watches_dropped(world):
    with operators(world, proxied=True) as (_, proxy):
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        dropped = proxy.cut_watches()
        world.wait_true("j", "Running")
        dropped += proxy.cut_watches()
        world.finish("j-chief-0")
        world.wait_true("j", "Succeeded")
        dropped += proxy.cut_watches()
        until(lambda: not world.pods(), "pods go")
        check(dropped >= 3, f"only {dropped} were dropped")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1})


@case("trouble: history is compacted while watches are away: 410, and a new list", alone=True)
def compaction(world):
    with operators(world, proxied=True) as (_, proxy):
        world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"cleanPodPolicy": "All"}))
        world.wait_true("j", "Running")
        proxy.before = lambda request: (503, {}, b"") if request.is_watch else None
        proxy.cut_watches()
        world.finish("j-chief-0")
        world.cluster.compact()
        world.cluster.restart_apiserver()  # it holds the newest history in memory
        same(proxy.counts["expired"], 0, "watches that were told that they are too old")
        proxy.before = None
        world.wait_true("j", "Succeeded")
        until(lambda: not world.pods(), "pods go")
        check(proxy.counts["expired"] > 0, "no watch was too old: nothing was tried")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1})


@case("trouble: the server says 429 to every third request", apart=True)
def throttled(world):
    with operators(world, proxied=True) as (_, proxy):
        counter = [0]

        def before(request):
            counter[0] += 1
            return too_many(1) if counter[0] % 3 == 0 and not request.is_lease else None

        proxy.before = before
        checked_life(world, "j")
        check(proxy.counts["refused"] > 0, "nothing was refused")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1, "j-worker-2": 1})


@case("trouble: a slow API server", apart=True)
def slow_server(world):
    with operators(world, proxied=True) as (_, proxy):
        proxy.before = slow(0.5)
        checked_life(world, "j")


@case("trouble: answers are lost: the write was done and the operator never hears of it", apart=True)
def lost_answers(world):
    with operators(world, proxied=True) as (_, proxy):
        counter = [0]

        def after(request, _status):
            if request.is_write and not request.is_lease and not request.is_event:
                counter[0] += 1
                if counter[0] % 2 == 0:
                    raise OSError("the connection is cut before the answer")

        proxy.after = after
        checked_life(world, "j")
        check(counter[0] > 4, "writes were cut")
        same(starts(world, "j"), {"j-chief-0": 1, "j-worker-0": 1, "j-worker-1": 1, "j-worker-2": 1})


@case("trouble: a right is missing: the error names it, and when it is given the job runs", alone=True)
def missing_right(world):
    role_object = world.api.get("clusterrole", None, "trainyard-operator")
    kept = [dict(rule) for rule in role_object["rules"]]
    for rule in role_object["rules"]:
        if "pods" in rule["resources"]:
            rule["verbs"] = [verb for verb in rule["verbs"] if verb != "create"]
    world.api.update("clusterrole", None, role_object)
    try:
        with operators(world) as ((one,), _):
            world.submit(tfjob("j", {"Worker": role()}))
            until(lambda: "forbidden" in one.process.log().lower() or "cannot create" in one.process.log(), lambda: "the log names it: " + one.process.log()[-800:])
            until(lambda: any("cannot create resource" in each.get("message", "") for each in world.events("j")), lambda: f"an event names it: {[each['message'] for each in world.events('j')]}")
            restore_role(world, kept)
            world.wait_true("j", "Running")
    finally:
        restore_role(world, kept)


def restore_role(world, rules):
    role_object = world.api.get("clusterrole", None, "trainyard-operator")
    role_object["rules"] = rules
    world.api.update("clusterrole", None, role_object)


# Those that are apart at the same time do without its kind.
@case("trouble: a CRD is missing: the operator says which and waits; it works once it is there", apart=True, early=True)
def missing_crd(world):
    name = "tensorflowtrainingjobs.batch.tensorstack.dev"
    crd = world.api.get("crd", None, name)
    world.api.delete("crd", None, name)
    try:
        until(lambda: not world.api.find("crd", None, name), "the CRD goes")
        with operators(world, wait=False) as ((one,), _):
            until(lambda: "tensorflowtrainingjobs" in one.process.log() or "TensorFlowTrainingJob" in one.process.log(), lambda: "the log names it: " + one.process.log()[-800:])
            check(one.process.running(), "it waits")
            world.submit(tfjob("other", {"Worker": role()}))
            restore_crd(world, crd)
            world.submit(t9k("j", [t9k_role("worker")]), "t9k")
            world.wait_phase("j", "Running", PATIENCE)  # it is looked for once a minute
            world.wait_true("other", "Running")
    finally:
        restore_crd(world, crd)


def wait_served(world, name):
    """Until the CRD is. (kubectl wait fails where it has no conditions yet.)"""

    def established():
        found = world.api.get("crd", None, name).get("status", {}).get("conditions") or []
        return any(each["type"] == "Established" and each["status"] == "True" for each in found)

    until(established, f"the CRD {name} is served")


def restore_crd(world, crd):
    name = crd["metadata"]["name"]
    if not world.api.find("crd", None, name):
        crd = {**crd, "metadata": {"name": name, "labels": crd["metadata"].get("labels", {})}}
        crd.pop("status", None)
        world.api.create("crd", None, crd)

    wait_served(world, name)
    until(lambda: world.api.list("t9k", world.ns) is not None, "its objects can be listed")


@case("trouble: a node is lost: its pods are made again elsewhere", alone=True)
def node_lost(world):
    with operators(world):
        world.submit(tfjob("j", {"Worker": role(4, policy="OnFailure")}))
        world.wait_true("j", "Running")
        pods = world.pods()
        node = pods["j-worker-0"]["spec"]["nodeName"]
        lost = {name: pod["metadata"]["uid"] for name, pod in pods.items() if pod["spec"]["nodeName"] == node}
        world.kubelet.silent.add(node)
        try:
            until(lambda: any(each["type"] == "Ready" and each["status"] != "True" for each in world.api.get("node", None, node)["status"]["conditions"]), "the node is seen to be lost", 90)
            until(lambda: all(world.api.get("pod", world.ns, name)["metadata"].get("deletionTimestamp") for name in lost), "its pods are evicted", 90)
            # What an administrator or the cloud does when a machine is gone for good.
            for name in lost:
                world.api.delete("pod", world.ns, name, {"gracePeriodSeconds": 0})
            until(lambda: all(world.pods().get(name, {}).get("metadata", {}).get("uid", uid) != uid for name, uid in lost.items()), "new pods")
            until(lambda: all(world.pods()[name]["spec"].get("nodeName", node) != node for name in lost), "elsewhere")
            world.wait_true("j", "Running")
            check(not world.is_true("j", "Failed"), "it did not fail")
        finally:
            world.kubelet.come_back(node)


@case("trouble: kubectl drain: the pods move and the job goes on", alone=True)
def drain(world):
    with operators(world):
        world.submit(tfjob("j", {"Worker": role(4, policy="OnFailure")}))
        world.wait_true("j", "Running")
        pods = world.pods()
        node = pods["j-worker-0"]["spec"]["nodeName"]
        moved = {name: pod["metadata"]["uid"] for name, pod in pods.items() if pod["spec"]["nodeName"] == node}
        try:
            world.cluster.kubectl("drain", node, "--force", "--ignore-daemonsets", "--timeout=60s", "--pod-selector=training.kubeflow.org/job-name=j")
            until(lambda: all(world.pods().get(name, {}).get("metadata", {}).get("uid", uid) != uid for name, uid in moved.items()), "new pods")
            world.wait_true("j", "Running")
            check(not world.is_true("j", "Failed"), "it did not fail")
            check(all(pod["spec"]["nodeName"] != node for pod in world.pods().values()), "none on the drained node")
        finally:
            world.cluster.kubectl("uncordon", node)


@case("trouble: nothing is asked of the server while nothing changes", alone=True)
def idle(world):
    with operators(world, proxied=True, leader=False) as (_, proxy):
        for index in range(5):
            world.submit(tfjob(f"j{index}", {"Worker": role(2)}))
        board = {"image": "i", "trainingLogFilesets": ["t9k://pvc/logs/path"]}
        world.submit(t9k("t", [t9k_role("worker")], tensorboardSpec=board), "t9k")
        for index in range(5):
            world.wait_true(f"j{index}", "Running")
        world.wait_phase("t", "Running")
        until(lambda: [each for each in world.api.list("tensorboard", world.ns) if each.get("status")], "the TensorBoard has a status")
        time.sleep(2)
        before = len(proxy.log)
        time.sleep(10)
        asked = [each for each in proxy.log[before:] if "watch=" not in each[1]]
        same(asked, [], "requests in ten idle seconds")


@case("Kueue: a job is created suspended, admitted with node selectors, evicted, admitted again, finished")
def kueue(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role(2)}, {"suspend": True}))
    world.wait_true("j", "Suspended")

    def active():
        found = world.job("j").get("status", {}).get("replicaStatuses") or {}
        return any(each.get("active", 0) for each in found.values())

    def write(suspend, selector):
        job = world.job("j")
        job["spec"]["runPolicy"]["suspend"] = suspend
        for each in job["spec"]["tfReplicaSpecs"].values():
            each["template"]["spec"]["nodeSelector"] = selector
            each["template"]["metadata"].setdefault("labels", {})["kueue.x-k8s.io/podset"] = "p"
        try:
            world.api.update("tfjob", world.ns, job)
            return True
        except ApiError as error:
            if error.reason != "Conflict":
                raise
            return False

    def admit(suspend, selector):
        until(lambda: write(suspend, selector), "written, though the operator writes as well")

    check(not active(), "a suspended job is not active")
    admit(False, {"kubernetes.io/hostname": "node-0"})
    world.wait_true("j", "Running")  # Kueue's PodsReady
    same({pod["spec"]["nodeName"] for pod in world.pods().values()}, {"node-0"})
    selector = "training.kubeflow.org/job-name=j,training.kubeflow.org/operator-name=tfjob-controller"
    same(len(world.api.list("pod", world.ns, selector)), 3, "as Kueue selects them")
    same({pod["metadata"]["labels"]["kueue.x-k8s.io/podset"] for pod in world.pods().values()}, {"p"})
    admit(True, None)
    until(lambda: not active() and not world.pods(), "evicted: not active, no pods")
    admit(False, {"kubernetes.io/hostname": "node-1"})
    world.wait_true("j", "Running")
    same({pod["spec"]["nodeName"] for pod in world.pods().values()}, {"node-1"})
    world.finish("j-chief-0")
    world.wait_true("j", "Succeeded")
    ended = [each for each in world.conditions("j") if each["type"] in ("Succeeded", "Failed") and each["status"] == "True"]
    same(len(ended), 1, "Kueue takes the first; there is one")


def counted(metrics, name, ns):
    """What a counter of Kubeflow's name says of TFJobs in the namespace."""
    found = re.search(rf'(?m)^training_operator_jobs_{name}_total{{job_namespace="{ns}",framework="tensorflow"}} (\d+)$', metrics)
    return int(found.group(1)) if found else 0


def in_states(metrics, ns):
    """How many TFJobs of the namespace are in which state."""
    found = re.findall(rf'(?m)^trainyard_jobs{{kind="TFJob",namespace="{ns}",state="(\w+)"}} (\d+)$', metrics)
    return {state: int(count) for state, count in found if count != "0"}


@case("operator: metrics, health, and Kubeflow's names of metrics")
def metrics(world):
    def counts():
        text = world.operator.metrics()
        return {name: counted(text, name, world.ns) for name in ("created", "successful", "failed", "restarted", "deleted")}

    nothing = dict.fromkeys(("created", "successful", "failed", "restarted", "deleted"), 0)
    same(counts(), nothing, "before anything happens here")
    world.submit(tfjob("j", {"Worker": role(plan="0")}))
    world.submit(tfjob("bad", {"Worker": role(plan="1")}))
    world.submit(tfjob("again", {"Worker": role(plan="137 run", policy="ExitCode")}))
    world.wait_true("j", "Succeeded")
    world.wait_true("bad", "Failed")
    until(lambda: counts() == {"created": 3, "successful": 1, "failed": 1, "restarted": 1, "deleted": 0}, lambda: f"each is counted once: {counts()}")
    world.wait_true("again", "Running")
    until(lambda: in_states(world.operator.metrics(), world.ns) == {"succeeded": 1, "failed": 1, "running": 1}, lambda: f"{in_states(world.operator.metrics(), world.ns)}")
    for name in ("j", "again"):
        world.api.delete("tfjob", world.ns, name)
    until(lambda: counts() == {"created": 3, "successful": 1, "failed": 1, "restarted": 1, "deleted": 2}, lambda: f"two are deleted: {counts()}")
    same(in_states(world.operator.metrics(), world.ns), {"failed": 1}, "states of jobs that are there")
    text = world.operator.metrics()
    dashboard = json.loads((ROOT / "deploy/grafana/trainyard-operator.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    check(len(shown) > 10, "a dashboard with panels")
    for expression in shown:
        check_shown(expression, text)


def check_shown(expression, metrics):
    """What a panel shows is told by /metrics, with the labels by which it is added up."""
    names = re.findall(r"[a-z]+_[a-z_]+", re.sub(r'\{[^}]*\}|"[^"]*"|histogram_quantile|\$__rate_interval', "", expression))
    check(names, expression)
    for name in names:
        if name == "container_memory_working_set_bytes":  # the kubelet's
            continue
        family = re.sub(r"_bucket$", "", name)
        check(f"# TYPE {family} " in metrics, f"the dashboard shows {family}, which is not in /metrics")
        series = re.findall(rf"(?m)^{name}(?:{{(.*)}})? \S+$", metrics)
        by = re.search(r"by \(([^)]*)\)", expression)
        for label in by.group(1).split(", ") if by else ():
            if label not in ("pod", "instance") and series:  # those two are given by who scrapes
                check(all(f'{label}="' in each for each in series), f"{name} has no {label}: {series[:3]}")
