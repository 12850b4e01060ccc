"""What the API server itself takes and refuses of our kinds."""

import copy
import json
import re

from api import ApiError
from cluster import ROOT
from yard import Failed, case, check, role, same, t9k, t9k_role, template, tfjob

LONG = "a" * 64


def changed(job, path, value):
    """A copy with the field at this path set; None takes it away."""
    made = copy.deepcopy(job)
    at = made
    for key in path[:-1]:
        at = at[key] if isinstance(at, list) else at.setdefault(key, {})
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


GOOD_TF = tfjob("good", {"Chief": role(1), "Worker": role(2, policy="OnFailure")}, {"suspend": True})
WORKER = ("spec", "tfReplicaSpecs", "Worker")
RUN = ("spec", "runPolicy")

TF_REFUSALS = [
    (("metadata", "name"), "Train", "a lowercase RFC 1123 subdomain"),
    (("metadata", "name"), "2048-train", "a DNS-1035 label must consist of"),
    (("metadata", "name"), "train.mnist", "a DNS-1035 label must consist of"),
    (("metadata", "name"), LONG, "no more than 63 characters"),
    (("metadata", "name"), "a" * 55, "metadata.name is too long"),
    (("spec",), None, "spec: Required value"),
    (("spec", "tfReplicaSpecs"), None, "spec.tfReplicaSpecs: Required value"),
    (("spec", "tfReplicaSpecs"), {}, "spec.tfReplicaSpecs"),
    (("spec", "tfReplicaSpecs"), ["Worker"], "must be of type object"),
    (("spec", "tfReplicaSpecs"), {"PS": role(0), "Evaluator": role(0)}, "must have at least one replica"),
    (("spec", "tfReplicaSpecs", "Trainer"), role(), "supported roles: Chief, Master, PS, Worker, Evaluator"),
    (("spec", "tfReplicaSpecs", "Eval"), role(), "supported roles"),
    (("spec", "tfReplicaSpecs", "worker"), role(), "a role is given twice"),
    (("spec", "tfReplicaSpecs", "Master"), role(), "must not have more than 1 Chief or Master role"),
    (("spec", "tfReplicaSpecs", "Chief", "replicas"), 2, "a job has one Chief or Master"),
    (("spec", "tfReplicaSpecs", "Chief", "replicas"), 0, "a job has one Chief or Master"),
    ((*WORKER, "replicas"), -1, "should be greater than or equal to 0"),
    ((*WORKER, "replicas"), 100001, "should be less than or equal to 100000"),
    ((*WORKER, "replicas"), 100000, "at most 100000 replicas in all"),
    ((*WORKER, "replicas"), "2", "must be of type integer"),
    ((*WORKER, "restartPolicy"), "Sometimes", 'Unsupported value: "Sometimes"'),
    ((*WORKER, "template"), None, "template: Required value"),
    ((*WORKER, "template", "spec"), {}, "containers: Required value"),
    ((*WORKER, "template", "spec", "containers"), [], "should have at least 1 items"),
    ((*WORKER, "template", "spec", "containers", 0, "image"), None, "image: Required value"),
    ((*WORKER, "template", "spec", "containers", 0, "image"), "", "should be at least 1 chars long"),
    ((*WORKER, "template", "spec", "containers", 0, "name"), "pytorch", "must have at least one container with name tensorflow"),
    ((*RUN, "cleanPodPolicy"), "Some", 'Unsupported value: "Some"'),
    ((*RUN, "cleanPodPolicy"), "Unfinished", "Unsupported value"),
    ((*RUN, "backoffLimit"), -1, "should be greater than or equal to 0"),
    ((*RUN, "activeDeadlineSeconds"), -5, "should be greater than or equal to 0"),
    ((*RUN, "ttlSecondsAfterFinished"), -1, "should be greater than or equal to 0"),
    ((*RUN, "suspend"), "true", "must be of type boolean"),
    ((*RUN, "managedBy"), "me", 'Unsupported value: "me"'),
    ((*RUN, "managedBy"), "", "Unsupported value"),
    ((*RUN, "schedulingPolicy"), {"minAvailable": -1}, "should be greater than or equal to 0"),
    ((*RUN, "schedulingPolicy"), {"minAvailable": 2**31}, "should be less than or equal to 2147483647"),
    ((*RUN, "schedulingPolicy"), {"minResources": {"cpu": "lots"}}, "minResources.cpu"),
    (("spec", "successPolicy"), "AllRoles", 'Unsupported value: "AllRoles"'),
]

GOOD_T9K = t9k("good", [t9k_role("chief"), t9k_role("worker", 2)], runMode={"pause": {"enabled": True}})
SPECS = ("spec", "replicaSpecs")

T9K_REFUSALS = [
    (SPECS, None, "spec.replicaSpecs: Required value"),
    (SPECS, [], "should have at least 1 items"),
    ((*SPECS, 1, "type"), "trainer", 'Unsupported value: "trainer"'),
    ((*SPECS, 1, "type"), "Worker", "Unsupported value"),
    ((*SPECS, 1, "type"), None, "type: Required value"),
    ((*SPECS, 1, "type"), "chief", "Duplicate value"),
    ((*SPECS, 0, "replicas"), 2, "a job has at most one chief"),
    ((*SPECS, 1, "replicas"), -2, "should be greater than or equal to 0"),
    (SPECS, [t9k_role("ps")], "must have a chief or a worker"),
    (SPECS, [t9k_role("worker", 0)], "must have a chief or a worker"),
    ((*SPECS, 1, "restartPolicy"), "Always!", 'Unsupported value: "Always!"'),
    ((*SPECS, 1, "template"), None, "template: Required value"),
    ((*SPECS, 1, "template", "spec", "containers", 0, "name"), "pytorch", "container with name tensorflow"),
    (("metadata", "name"), "train.mnist", "a DNS-1035 label must consist of"),
    (("metadata", "name"), "a" * 50, "metadata.name is too long"),
    (("spec", "runPolicy"), {"activeDeadlineSeconds": 0}, "should be greater than or equal to 1"),
    (("spec", "runPolicy"), {"backoffLimit": -1}, "should be greater than or equal to 0"),
    (("spec", "runPolicy"), {"cleanUpPolicy": "unfinished"}, "Unsupported value"),
    (("spec", "scheduler"), {"t9kScheduler": {"queue": "default", "priority": 101}}, "less than or equal to 100"),
    (("spec", "runMode"), {"debug": {"enabled": True, "replicaSpecs": [{"type": "ps"}]}}, "the job has no replicas of this type"),
    (("spec", "runMode"), {"debug": {"enabled": True, "replicaSpecs": [{"command": ["sh"]}]}}, "type: Required value"),
    (("spec", "runMode"), {"pause": {"resumeSpecs": [{"type": "worker", "args": [1]}]}}, "must be of type string"),
]


TEMPLATE = (*WORKER, "template")
BESIDE = (*TEMPLATE, "spec", "containers")
NO_NAME = "should match '^[a-z0-9]"


def beside(**container):
    """The containers of a replica, and one more."""
    return [*template()["spec"]["containers"], {"name": "other", "image": "i", **container}]


# Of a pod template, which is of one shape in all kinds.
TEMPLATE_REFUSALS = [
    (BESIDE, beside(name="Side_Car"), NO_NAME),
    (BESIDE, beside(imagePullPolicy="always"), "(Always|IfNotPresent|Never)"),
    (BESIDE, beside(ports=[{"containerPort": 1, "protocol": "tcp"}]), "(TCP|UDP|SCTP)"),
    (BESIDE, beside(ports=[{"containerPort": 1, "name": "a--b"}]), "ports[0].name"),
    (BESIDE, beside(ports=[{"containerPort": 1, "name": "12"}]), "ports[0].name"),
    (BESIDE, beside(ports=[{"containerPort": 1, "hostPort": 70000}]), "less than or equal to 65535"),
    (BESIDE, beside(workingDir=3), "must be of type string"),
    (BESIDE, beside(envFrom={"a": 1}), "must be of type array"),
    (BESIDE, beside(env=[{"name": "A", "valueFrom": {}}]), "should have at least 1 properties"),
    (BESIDE, beside(volumeMounts=[{"name": "a", "mountPath": "/a"}] * 2), "Duplicate value"),
    (BESIDE, beside(volumeMounts=[{"name": "a", "mountPath": "/a", "readOnly": "yes"}]), "must be of type boolean"),
    ((*TEMPLATE, "spec", "initContainers"), [{"name": "Fetch", "image": "i"}], NO_NAME),
    ((*TEMPLATE, "spec", "initContainers"), [{"name": "a", "image": "i", "env": [{"name": "A", "value": 1}]}], "must be of type string"),
    ((*TEMPLATE, "spec", "volumes"), [{"name": "My_Data", "emptyDir": {}}], NO_NAME),
    ((*TEMPLATE, "spec", "hostNetwork"), "yes", "must be of type boolean"),
    ((*TEMPLATE, "spec", "schedulerName"), 3, "must be of type string"),
    ((*TEMPLATE, "spec", "activeDeadlineSeconds"), 0, "greater than or equal to 1"),
    ((*TEMPLATE, "spec", "terminationGracePeriodSeconds"), -1, "greater than or equal to 0"),
    ((*TEMPLATE, "spec", "affinity"), [], "must be of type object"),
    ((*TEMPLATE, "spec", "tolerations"), {}, "must be of type array"),
    ((*TEMPLATE, "metadata", "labels"), {"a": "not a value"}, "metadata.labels.a"),
    ((*TEMPLATE, "metadata", "finalizers"), "x", "must be of type array"),
]
# Null stands for nothing, as wherever Go reads it.
NOTHING = {"imagePullPolicy": None, "workingDir": None, "env": [{"name": "A", "value": None, "valueFrom": None}], "envFrom": None}
TEMPLATES_TAKEN = [
    (BESIDE, beside(**NOTHING, ports=[{"containerPort": 1, "protocol": None, "name": None, "hostPort": None}])),
    (BESIDE, beside(ports=[{"containerPort": 1, "name": "1-a", "protocol": "UDP"}], imagePullPolicy="Never")),
    (BESIDE, beside(volumeMounts=[{"name": "v", "mountPath": "/a", "readOnly": None}, {"name": "v", "mountPath": "/b", "subPath": "c"}])),
    ((*TEMPLATE, "spec", "initContainers"), [{"name": "fetch", "image": "i", "resources": {"limits": {"cpu": 1}}}]),
    ((*TEMPLATE, "spec", "volumes"), [{"name": "0", "emptyDir": {}}]),
    ((*TEMPLATE, "spec", "affinity"), {"nodeAffinity": {}}),
    ((*TEMPLATE, "spec", "tolerations"), [{"operator": "Exists"}]),
    ((*TEMPLATE, "spec", "terminationGracePeriodSeconds"), 0),
    ((*TEMPLATE, "metadata", "labels"), {"a": "", "b": "x_y.z-1"}),
    ((*TEMPLATE, "metadata", "finalizers"), ["example.com/held"]),
]


def dry(world, kind, job):
    return world.api.create(kind, world.ns, job, "?dryRun=All")


@case("S33 CRD: every TFJob that is wrong is refused with words that say why")
def refuse_tfjobs(world):
    dry(world, "tfjob", GOOD_TF)
    for path, value, words in TF_REFUSALS:
        world.refused(changed(GOOD_TF, path, value), words)


@case("CRD: every TensorFlowTrainingJob that is wrong is refused with words that say why")
def refuse_t9k(world):
    dry(world, "t9k", GOOD_T9K)
    for path, value, words in T9K_REFUSALS:
        world.refused(changed(GOOD_T9K, path, value), words, "t9k")


@case("CRD: every pod template that is wrong is refused, and what means nothing is taken")
def refuse_templates(world):
    for path, value, words in TEMPLATE_REFUSALS:
        world.refused(changed(GOOD_TF, path, value), words)
    for path, value in TEMPLATES_TAKEN:
        dry(world, "tfjob", changed(GOOD_TF, path, value))


@case("CRD: fields under spec and under runPolicy that differ are refused")
def refuse_two_places(world):
    for field, one, other in (("cleanPodPolicy", "All", "None"), ("backoffLimit", 1, 2), ("ttlSecondsAfterFinished", 1, 2), ("activeDeadlineSeconds", 10, 20)):
        job = changed(changed(GOOD_TF, ("spec", field), one), (*RUN, field), other)
        world.refused(job, f"{field} differs from spec.runPolicy.{field}: write it in one place")
        dry(world, "tfjob", changed(changed(GOOD_TF, ("spec", field), one), (*RUN, field), one))


@case("CRD: what is odd and was always taken is taken")
def take_odd_ones(world):
    odd = [
        tfjob("odd", {"WORKER": role(2)}),
        tfjob("odd", {"Ps": role(2), "Worker": role(0), "chief": role(1)}),
        tfjob("odd", {"Worker": role(1)}, backoffLimit=3, cleanPodPolicy="All"),
        tfjob("odd", {"Worker": {"template": template()}}),
        tfjob("odd", {"Worker": {"restartPolicy": "", "template": template()}}),
        tfjob("odd", {"Worker": role(1)}, {"schedulingPolicy": {"minResources": {"cpu": 4, "memory": "1Gi"}}}),
    ]
    loose = template(initContainers=None, volumes=None, nodeSelector=None, restartPolicy="", hostNetwork=None, affinity=None)
    nothing = {"args": None, "env": None, "ports": None, "volumeMounts": None}
    amounts = {"requests": {"cpu": 0.5, "memory": "1.5Gi", "example.com/card": 1}, "limits": None}
    loose["spec"]["containers"][0].update(**nothing, resources=amounts)
    odd.append(tfjob("odd", {"Worker": {"template": loose}}))
    for job in odd:
        dry(world, "tfjob", job)
    dry(world, "t9k", t9k("odd", [t9k_role("worker")], scheduler={"t9kScheduler": {"queue": None, "priority": 0}}))


def updated(world, kind, name, change, words):
    try:
        world.api.patch(kind, world.ns, name, change)
    except ApiError as error:
        check(error.code == 422, str(error))
        check(words in error.message, f"'{words}' is not in '{error.message}'")
        return
    raise Failed(f"the change is taken; it should say '{words}'")


@case("CRD: what may not change does not: resumeSpecs, queue, managedBy, replica types")
def immutable_fields(world):
    held = {"pause": {"enabled": True, "resumeSpecs": [{"type": "worker", "command": ["a"]}]}}
    world.submit(t9k("held", [t9k_role("worker", 2)], runMode=held), "t9k")
    words = "field is immutable: resume settings are set when the job is created"
    updated(world, "t9k", "held", {"spec": {"runMode": {"pause": {"resumeSpecs": [{"type": "worker", "command": ["b"]}]}}}}, words)
    updated(world, "t9k", "held", {"spec": {"runMode": {"pause": {"resumeSpecs": None}}}}, words)
    updated(world, "t9k", "held", {"spec": {"replicaSpecs": [t9k_role("worker"), t9k_role("ps")]}}, "replica types cannot be added or removed")
    updated(world, "t9k", "held", {"spec": {"scheduler": {"t9kScheduler": {"queue": "q"}}}}, "pods cannot change their queue")
    world.api.patch("t9k", world.ns, "held", {"metadata": {"labels": {"a": "b"}}, "spec": {"runMode": {"pause": {"enabled": True}}}})
    world.submit(t9k("queued", [t9k_role("worker")], runMode={"pause": {"enabled": True}}, scheduler={"t9kScheduler": {"queue": "q"}}), "t9k")
    updated(world, "t9k", "queued", {"spec": {"scheduler": {"t9kScheduler": {"queue": "other"}}}}, "pods cannot change their queue")
    world.api.patch("t9k", world.ns, "queued", {"spec": {"scheduler": {"t9kScheduler": {"priority": 5}}}})
    world.submit(t9k("plain", [t9k_role("worker")], runMode={"pause": {"enabled": True}}), "t9k")
    updated(world, "t9k", "plain", {"spec": {"runMode": {"pause": {"resumeSpecs": [{"type": "worker"}]}}}}, words)
    world.submit(changed(GOOD_TF, (*RUN, "schedulingPolicy"), {"queue": "a"}))
    updated(world, "tfjob", "good", {"spec": {"runPolicy": {"schedulingPolicy": {"queue": "b"}}}}, "spec.runPolicy.schedulingPolicy.queue is immutable")
    updated(world, "tfjob", "good", {"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}}, "spec.runPolicy.managedBy: field is immutable")


@case("CRD: older versions of TFJob are served, stored as v1, and warned about")
def old_versions(world):
    for version in ("v1beta2", "v1beta1", "v1alpha2"):
        job = tfjob("old-" + version, {"Worker": role(1)}, {"suspend": True}, cleanPodPolicy="All")
        job["apiVersion"] = "kubeflow.org/" + version
        world.api.request("POST", f"/apis/kubeflow.org/{version}/namespaces/{world.ns}/tfjobs", job)
        stored = world.job("old-" + version)
        same(stored["apiVersion"], "kubeflow.org/v1")
        same(stored["spec"]["cleanPodPolicy"], "All", "a field of the older version")
    said = world.cluster.kubectl("get", "tfjobs.v1beta1.kubeflow.org", "-n", world.ns)
    check("deprecated" in said.stderr, said.stderr)


@case("CRD: kubectl explain describes every field of every kind")
def explain(world):
    for kind in ("tfjob", "tensorflowtrainingjob", "tensorboard", "queues.scheduler.tensorstack.dev", "podgroups.scheduler.tensorstack.dev"):
        said = world.cluster.kubectl("explain", kind + ".spec").stdout
        check("<no description>" not in said, f"{kind}: {said}")
        check("FIELDS:" in said, said)
    said = world.cluster.kubectl("explain", "tfjob.spec.runPolicy.cleanPodPolicy").stdout
    check("All, Running or None" in said, said)
    said = world.cluster.kubectl("explain", "tj", "--recursive").stdout
    check("resumeSpecs" in said, said)


@case("CRD: kubectl get shows the columns that people know; short names and categories work")
def columns(world):
    world.submit(GOOD_TF)
    lines = world.cluster.kubectl("get", "tfjobs", "-n", world.ns).stdout.splitlines()
    same(lines[0].split(), ["NAME", "STATE", "AGE"])
    world.submit(GOOD_T9K, "t9k")
    lines = world.cluster.kubectl("get", "tj", "-n", world.ns).stdout.splitlines()
    same(lines[0].split(), ["NAME", "PHASE", "AGE"])
    for short in ("tb", "q"):
        world.cluster.kubectl("get", short, "-n", world.ns)
    everything = world.cluster.kubectl("get", "all", "-n", world.ns, "-o", "name").stdout
    check("tfjob.kubeflow.org/good" in everything, everything)


@case("CRD: kubectl scale changes the workers of a TFJob")
def scale(world):
    world.submit(GOOD_TF)
    world.cluster.kubectl("scale", "tfjob/good", "--replicas=5", "-n", world.ns)
    same(world.job("good")["spec"]["tfReplicaSpecs"]["Worker"]["replicas"], 5)


@case("CRD: client-side and server-side apply both work, and again change nothing")
def apply_twice(world):
    manifest = json.dumps(changed(GOOD_TF, ("metadata", "namespace"), world.ns))
    for flags in ((), ("--server-side", "--force-conflicts")):
        world.cluster.kubectl("apply", *flags, "-f", "-", stdin=manifest)
        before = world.job("good")["metadata"]["generation"]
        world.cluster.kubectl("apply", *flags, "-f", "-", stdin=manifest)
        same(world.job("good")["metadata"]["generation"], before)


SERVED = ("kubeflow.org/", "batch.tensorstack.dev/", "tensorstack.dev/", "scheduler.tensorstack.dev/")


def golden_documents():
    """The documents of the golden manifests that are of our kinds: (file name, text)."""
    for folder in ("seeds", "more"):
        for path in sorted((ROOT / "tests/golden" / folder).glob("*.yaml")):
            for text in re.split(r"(?m)^---\s*$", path.read_text()):
                version = re.search(r"(?m)^apiVersion: *(\S+)", text)
                if version and version.group(1).startswith(SERVED):
                    yield path.name, text


@case("CRD: every manifest of the golden tests is taken by kubectl with strict validation")
def golden_manifests(world):
    taken = 0
    for name, text in golden_documents():
        text = re.sub(r"(?m)^  namespace: .*$", f"  namespace: {world.ns}", text)
        done = world.cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-n", world.ns, "-f", "-", stdin=text, check=False)
        check(done.returncode == 0, f"{name}: {done.stderr}")
        taken += 1
    check(taken >= 12, f"only {taken} manifests")
