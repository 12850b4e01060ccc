"""The scheduler with nothing but the rights that it is installed with, and two of them with one lease."""

import json

from gangs import GROUP, crd, pod, pod_group
from proxy import Proxy
from rights import granted_to, used_in
from volume_cases import SELECTED, claim, pod_with, storage_class, volume
from yard import NAMESPACE, ServiceProcess, case, check, same, token_of, until

ACCOUNT = "trainyard-scheduler"


class Elected:
    """A scheduler that may have to wait for the lease, behind a proxy that knows what it asked for."""

    def __init__(self, world, name):
        self.proxy = Proxy(world.cluster)
        self.refused = []
        self.proxy.after = self.after
        self.lose = 0  # how many bindings are done without an answer
        flags = ["--leader-elect", "--leader-election-id", world.ns]
        self.service = world.start(ServiceProcess(world.cluster, world.cluster.folder, "scheduler", f"{world.ns}-{name}",
                                                  token_of(world.cluster, ACCOUNT), flags, self.proxy.port))
        world.closers.append(self.proxy.close)

    def after(self, request, status):
        if status == 403:
            self.refused.append((request.method, request.path))
        if self.lose > 0 and request.method == "POST" and request.path.endswith("/bindings"):
            self.lose -= 1
            raise OSError("the answer is lost")


def group_of(kind, api_version, name, members, **more):
    return {"apiVersion": api_version, "kind": "PodGroup", "metadata": {"name": name}, "spec": {"minMember": members, **more}}


def add_groups(world):
    """One gang of each of the other kinds of group, and a queue of each kind."""
    world.api.create("vc-queue", None, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": world.ns}, "spec": {"weight": 1}})
    world.api.create("t9k-queue", world.ns, {"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "Queue", "metadata": {"name": world.ns}, "spec": {}})
    for kind, api_version, key, value in (
            ("kb-podgroup", "scheduling.incubator.k8s.io/v1alpha1", "annotations", {GROUP: "kb"}),
            ("cs-podgroup", "scheduling.x-k8s.io/v1alpha1", "labels", {"scheduling.x-k8s.io/pod-group": "cs"}),
            ("t9k-podgroup", "scheduler.tensorstack.dev/v1beta1", "labels", {"scheduler.tensorstack.dev/group-name": "t9"})):
        name = list(value.values())[0]
        more = {"queue": world.ns} if kind == "t9k-podgroup" else {}
        world.api.create(kind, world.ns, group_of(kind, api_version, name, 1, **more))
        one = pod(f"{name}-0", name)
        one["metadata"].pop("annotations")
        one["metadata"][key] = value
        world.api.create("pod", world.ns, one)


def add_volumes(world):
    """A pod with two claims: the volume of one is there, that of the other is made when the pod has a node."""
    storage_class(world, world.ns, "example.com/none")
    storage_class(world, f"{world.ns}-local", "kubernetes.io/no-provisioner")
    volume(world, f"{world.ns}-local", f"{world.ns}-local", max(world.nodes))  # the other is full
    claim(world, "data", world.ns)
    claim(world, "scratch", f"{world.ns}-local")
    world.api.create("vc-podgroup", world.ns, pod_group("stored", 1))
    pod_with(world, "stored-0", "stored", ["data", "scratch"])


def node_of(world, name):
    return world.api.get("pod", world.ns, name)["spec"].get("nodeName", "")


def volume_is_made(world):
    node = until(lambda: world.api.get("claim", world.ns, "data")["metadata"].get("annotations", {}).get(SELECTED), "the claim is told its node")
    same(node, max(world.nodes), "where the other volume is")
    same(node_of(world, "stored-0"), "", "the pod's node before it has its volume")
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "data", "namespace": world.ns}
    volume(world, world.ns, world.ns, node, claimRef=reference)
    until(lambda: node_of(world, "stored-0") == node, "the pod goes to its volumes")


def preempt(world):
    """A gang of a higher class takes the place of a lower one."""
    world.api.create("priorityclass", None, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": world.ns}, "value": 1000})
    world.closers.append(lambda: world.api.delete("priorityclass", None, world.ns))
    world.api.create("vc-podgroup", world.ns, group_of("vc-podgroup", "scheduling.volcano.sh/v1beta1", "high", 2, queue="default", priorityClassName=world.ns))
    for i in range(2):
        one = pod(f"high-{i}", "high", cpu="4")
        one["spec"]["priorityClassName"] = world.ns
        world.api.create("pod", world.ns, one)
    until(lambda: world.bound().get("high") == 2, "the higher gang runs")


@case("two schedulers with their own rights: one leads, asks for all that is granted and nothing else, and the other takes over")
def rights(world):
    world.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(crd("scheduling.x-k8s.io", "podgroups", "PodGroup", "v1alpha1")))
    world.cluster.kubectl("wait", "--for=condition=Established", "crd", "podgroups.scheduling.x-k8s.io", "--timeout=60s")
    world.add_nodes(2, 8)
    first = Elected(world, "first")
    second = Elected(world, "second")
    leader = until(lambda: world.api.find("lease", NAMESPACE, world.ns), "a lease")["spec"]["holderIdentity"]
    first.lose = second.lose = 1
    world.add_gang("low", 6)
    until(lambda: world.bound().get("low") == 6, "a gang runs")
    add_groups(world)
    for name in ("kb-0", "cs-0", "t9-0"):
        until(lambda: node_of(world, name), f"{name} has a node")
    add_volumes(world)
    volume_is_made(world)
    preempt(world)
    world.add_gang("late", 20)
    until(lambda: any("Unschedulable" in json.dumps(one["status"]) for one in world.pods()), "it is told why it waits")

    writers = [one for one in (first, second) if any("/bindings" in path for _, path in one.proxy.log)]
    same(len(writers), 1, "how many of them bound pods")
    writers[0].service.kill()
    other = second if writers[0] is first else first
    world.api.create("pod", world.ns, {**pod("after-0", "after"), "metadata": {"name": "after-0"}})
    until(lambda: node_of(world, "after-0"), lambda: f"the other takes over: {world.api.get('pod', world.ns, 'after-0')['status']}")
    check(world.api.get("lease", NAMESPACE, world.ns)["spec"]["holderIdentity"] != leader, "the lease has another holder")

    same(first.refused + second.refused, [], "refused requests")
    used = used_in(first.proxy.log) | used_in(second.proxy.log)
    granted = granted_to(world.api, ACCOUNT, NAMESPACE)
    same(sorted(used - granted), [], "asked for and not granted")
    # An event that comes again is told by a patch of the first; none comes twice here.
    same(sorted(granted - used - {("", "events", "patch")}), [], "granted and not asked for")
    check(any("/bindings" in path for _, path in other.proxy.log), "the other bound the pod")
