"""Claims and volumes on a real API server, with the real controller that binds them."""

from gangs import pod, pod_group
from yard import case, check, same, until

SELECTED = "volume.kubernetes.io/selected-node"


def storage_class(world, name, provisioner):
    world.add_for_all("storageclass", name, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": provisioner,
                                             "volumeBindingMode": "WaitForFirstConsumer"})


def volume(world, name, kind, node, size="1Gi", **more):
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}
    world.add_for_all("volume", name, {
        "apiVersion": "v1", "kind": "PersistentVolume",
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": kind,
                 "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/none"}, "nodeAffinity": affinity, **more}})


def claim(world, name, kind, size="1Gi"):
    world.api.create("claim", world.ns, {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": kind, "resources": {"requests": {"storage": size}}}})


def pod_with(world, name, group, claims):
    one = pod(name, group)
    one["spec"]["volumes"] = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    world.api.create("pod", world.ns, one)


def told(world, name):
    conditions = world.api.get("pod", world.ns, name)["status"].get("conditions", [])
    return next((one.get("message", "") for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"), "")


@case("local volumes: a gang gets all it needs and goes to their nodes, or waits and takes none")
def local_volumes(world):
    world.add_nodes(3, 4)
    kind = f"{world.ns}-local"
    storage_class(world, kind, "kubernetes.io/no-provisioner")
    volume(world, f"{world.ns}-small", kind, world.nodes[0], "500Mi")
    for i in range(2):
        volume(world, f"{world.ns}-{i}", kind, world.nodes[i])
    world.scheduler()
    world.api.create("vc-podgroup", world.ns, pod_group("train", 3))
    for i in range(3):
        claim(world, f"data-{i}", kind)
        pod_with(world, f"train-{i}", "train", [f"data-{i}"])
    text = until(lambda: told(world, "train-0"), "it is told why it waits")
    check(f"its claims need 3 volumes of class {kind}; 2 that would do are free" in text, text)
    for i in range(2):
        check("claimRef" not in world.api.get("volume", None, f"{world.ns}-{i}")["spec"], "nothing is taken for a part of it")
    volume(world, f"{world.ns}-2", kind, world.nodes[2], "2Gi")
    until(lambda: world.bound().get("train") == 3, lambda: f"all of it runs: {told(world, 'train-0')}")
    for i in range(3):
        one = world.api.get("claim", world.ns, f"data-{i}")
        same(one["status"]["phase"], "Bound", "the claim's phase")
        check(SELECTED not in one["metadata"].get("annotations", {}), "nobody was asked to make one")
        bound = world.api.get("volume", None, one["spec"]["volumeName"])
        node = bound["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0]
        same(world.api.get("pod", world.ns, f"train-{i}")["spec"]["nodeName"], node, "the node of the pod and of its volume")
        check(not bound["metadata"]["name"].endswith("small"), "the one that is too small is nobody's")
    return text


@case("a driver tells where it has room: a gang goes there, and waits while nobody has enough")
def storage_capacity(world):
    world.add_nodes(2, 4)
    kind, driver = f"{world.ns}-csi", f"{world.ns}.example.com"
    storage_class(world, kind, driver)
    world.add_for_all("csidriver", driver, {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
                                            "spec": {"storageCapacity": True, "attachRequired": False}})

    def room(name, node, size):
        world.api.create("csistoragecapacity", world.ns, {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": name}, "storageClassName": kind,
            "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": node}}, "capacity": size})

    room("first", world.nodes[0], "5Gi")
    world.scheduler()
    world.api.create("vc-podgroup", world.ns, pod_group("train", 2))
    for i in range(2):
        claim(world, f"data-{i}", kind, "10Gi")
        pod_with(world, f"train-{i}", "train", [f"data-{i}"])
    text = until(lambda: told(world, "train-0"), "it is told why it waits")
    check(f"{driver} can make none larger than 5Gi" in text, text)
    room("second", world.nodes[1], "25Gi")

    def selected(i):
        return world.api.get("claim", world.ns, f"data-{i}")["metadata"].get("annotations", {}).get(SELECTED)

    for i in range(2):
        same(until(lambda: selected(i), "the claim is told its node"), world.nodes[1], "the node with room")
        # What the driver would do.
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": f"data-{i}", "namespace": world.ns}
        same(world.bound().get("train"), 0, "pods with a node before all volumes are there")
        volume(world, f"{world.ns}-made-{i}", kind, world.nodes[1], "10Gi", claimRef=reference)
    until(lambda: world.bound().get("train") == 2, lambda: f"all of it runs: {told(world, 'train-0')}")
    return text
