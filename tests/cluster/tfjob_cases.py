"""The scenarios of Kubeflow's own tests, by the number of their group, on a real API server.

Groups 21, 27, 36, 37 and 40 to 49 are about functions of theirs; where a job can show them they are
shown here with the group they belong to, the tables themselves are in tests/scenarios.
"""

import json
import time

from api import ApiError
from yard import Failed, case, check, role, same, t9k, t9k_role, template, tfjob, until

PREFIX = "training.kubeflow.org/"


def owner_of(world, name):
    uid = world.job(name)["metadata"]["uid"]
    return [{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "name": name, "uid": uid, "controller": True, "blockOwnerDeletion": True}]


def env_of(pod, name):
    for container in pod["spec"]["containers"]:
        for each in container.get("env", []):
            if each["name"] == name:
                return each.get("value", "")
    return ""


def shown(world, name):
    """Conditions as "Created=True Running=False"."""
    return " ".join(f"{each['type']}={each['status']}" for each in world.conditions(name))


def wait_shown(world, name, wanted):
    until(lambda: shown(world, name) == wanted, lambda: f"{wanted}; it is {shown(world, name)}")


def counts(world, name):
    return world.job(name).get("status", {}).get("replicaStatuses")


def wait_counts(world, name, wanted):
    until(lambda: counts(world, name) == wanted, lambda: f"{wanted}; it is {counts(world, name)}")


def finish_all(world, pods, code=0):
    for pod in pods:
        world.finish(pod, code)


@case("S01 S02 S31 S32: every replica gets a pod and a service with the job's labels and owner")
def creation(world):
    world.submit(tfjob("j", {"WORKER": {"replicas": 4, "template": template("pending")}, "Ps": role(2, "pending")}))
    names = [f"j-worker-{i}" for i in range(4)] + ["j-ps-0", "j-ps-1"]
    world.wait_pods(*names)
    until(lambda: sorted(world.services()) == sorted(names), "services")
    labels = {PREFIX + "job-name": "j", PREFIX + "operator-name": "tfjob-controller", PREFIX + "replica-index": "1", PREFIX + "replica-type": "worker"}
    pod = world.pods()["j-worker-1"]
    same(pod["metadata"]["labels"], labels, "labels")
    same(world.pods()["j-worker-0"]["metadata"]["labels"][PREFIX + "job-role"], "master")
    for each in (*world.pods().values(), *world.services().values()):
        same(each["metadata"]["ownerReferences"], owner_of(world, "j"), "owner")
    wait_shown(world, "j", "Created=True")
    same(world.condition("j", "Created")["reason"], "TFJobCreated")
    same(world.condition("j", "Created")["message"], "TFJob j is created.")


@case("S03 S04 S08: pending, running, succeeded: counts, conditions, times, events")
def normal_path(world):
    world.submit(tfjob("j", {"Worker": role(4), "PS": role(2)}, {"cleanPodPolicy": "None"}))
    world.wait_true("j", "Running")
    wait_counts(world, "j", {"PS": {"active": 2}, "Worker": {"active": 4}})
    same(world.condition("j", "Running")["message"], f"TFJob {world.ns}/j is running.")
    check(world.job("j")["status"].get("startTime"), "startTime")
    finish_all(world, ["j-ps-0", "j-ps-1", "j-worker-3", "j-worker-2", "j-worker-1", "j-worker-0"])
    succeeded = world.wait_true("j", "Succeeded")
    same(succeeded["reason"], "TFJobSucceeded")
    same(succeeded["message"], f"TFJob {world.ns}/j successfully completed.")
    wait_shown(world, "j", "Created=True Running=False Succeeded=True")
    check(world.job("j")["status"].get("completionTime"), "completionTime")
    until(lambda: {"SuccessfulCreatePod", "SuccessfulCreateService", "ExitedWithCode", "TFJobSucceeded"} <= world.reasons("j"), "events")


@case("S05 S06 S07: what is missing is made again")
def missing(world):
    world.submit(tfjob("j", {"Worker": role(2, "pending"), "PS": role(1, "pending")}))
    world.wait_pods("j-worker-0", "j-worker-1", "j-ps-0")
    before = world.pods()["j-worker-1"]["metadata"]["uid"]
    world.api.delete("pod", world.ns, "j-worker-1", {"gracePeriodSeconds": 0})
    until(lambda: world.api.find("service", world.ns, "j-ps-0"), "the service")
    world.api.delete("service", world.ns, "j-ps-0")
    until(lambda: world.pods().get("j-worker-1", {}).get("metadata", {}).get("uid", before) != before, "the pod again")
    until(lambda: "j-ps-0" in world.services(), "the service again")


@case("S09: created suspended")
def created_suspended(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role()}, {"suspend": True}))
    wait_shown(world, "j", "Created=True Suspended=True")
    same(world.condition("j", "Suspended")["message"], "TFJob j is suspended.")
    same(world.condition("j", "Suspended")["reason"], "TFJobSuspended")
    world.still(lambda: not world.pods() and not world.services(), "a suspended job has no pods")
    same(world.job("j")["status"].get("startTime"), None)


@case("S10: run, suspend, resume")
def suspend_resume(world):
    world.submit(tfjob("j", {"Chief": role(), "Worker": role()}))
    world.wait_true("j", "Running")
    first = world.job("j")["status"]["startTime"]
    world.patch_job("j", {"spec": {"runPolicy": {"suspend": True}}})
    wait_shown(world, "j", "Created=True Running=False Suspended=True")
    until(lambda: not world.pods() and not world.services(), "pods and services go")
    until(lambda: not any(each.get("active") for each in counts(world, "j").values()), "nothing is active")
    same(world.job("j")["status"]["startTime"], first, "startTime stays")
    time.sleep(1.1)  # times have whole seconds
    world.patch_job("j", {"spec": {"runPolicy": {"suspend": False}}})
    wait_shown(world, "j", "Created=True Suspended=False Running=True")
    same(world.condition("j", "Suspended")["reason"], "TFJobResumed")
    check(world.job("j")["status"]["startTime"] != first, "startTime is another")


@case("S11 S38: managed by somebody else, nothing is touched")
def managed_by(world):
    world.submit(tfjob("j", {"Chief": role()}, {"suspend": True, "managedBy": "kueue.x-k8s.io/multikueue"}))
    world.submit(tfjob("own", {"Chief": role()}, {"managedBy": "kubeflow.org/training-operator"}))
    world.wait_true("own", "Running")
    world.patch_job("j", {"spec": {"runPolicy": {"suspend": False}}})
    world.still(lambda: "status" not in world.job("j") and not world.pods("j"), "not ours to touch")


@case("S12: a decoy with the job's labels is not the job's")
def decoy(world):
    labels = {PREFIX + "operator-name": "tfjob-controller", PREFIX + "job-name": "j", PREFIX + "replica-type": "worker", PREFIX + "replica-index": "0"}
    stray = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stray", "labels": labels}, **{"spec": template()["spec"]}}
    world.api.create("pod", world.ns, stray)
    world.submit(tfjob("j", {"Worker": role(plan="0")}, {"cleanPodPolicy": "All"}))
    world.wait_true("j", "Succeeded")
    world.wait_pods("stray")


@case("S13: labels and annotations of the template are the pod's")
def template_metadata(world):
    job = tfjob("j", {"Worker": role(plan="pending")})
    job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["metadata"]["labels"] = {"team": "blue"}
    world.submit(job)
    world.wait_pods("j-worker-0")
    same(world.pods()["j-worker-0"]["metadata"]["labels"]["team"], "blue")
    same(world.pods()["j-worker-0"]["metadata"]["annotations"]["test/plan"], "pending")


@case("S14 S34: cleanPodPolicy All, Running, None and the default")
def clean_up(world):
    rows = [
        ("all", "All", []),
        ("running", "Running", ["running-worker-0"]),
        ("none", "None", ["none-ps-0", "none-worker-0", "none-worker-1"]),
        ("default", None, ["default-worker-0"]),
    ]
    for name, policy, _ in rows:
        run = {"cleanPodPolicy": policy} if policy else {}
        world.submit(tfjob(name, {"Worker": role(2), "PS": role(1)}, run))
    for name, _, left in rows:
        world.finish(f"{name}-worker-0")
        world.wait_true(name, "Succeeded")
        until(lambda: sorted(world.pods(name)) == left, lambda: f"{name}: {left}, there are {sorted(world.pods(name))}")
    kept = sorted(each for each in world.services() if not each.startswith("none"))
    until(lambda: not [each for each in world.services() if not each.startswith("none")], f"services {kept}")
    check(len([each for each in world.services() if each.startswith("none")]) == 3, "services of None stay")


@case("S15 S37: activeDeadlineSeconds ends a job on time, with nobody touching it")
def deadline(world):
    world.submit(tfjob("j", {"Worker": role(2)}, {"activeDeadlineSeconds": 3, "cleanPodPolicy": "All"}))
    world.submit(tfjob("free", {"Worker": role()}))
    failed = world.wait_true("j", "Failed")
    same(failed["message"], "Job j has failed because it was active longer than specified deadline")
    until(lambda: not world.pods("j"), "pods go")
    check(world.is_true("free", "Running"), "the other one runs")


@case("S16 S36: backoffLimit counts restarts in place")
def backoff_in_place(world):
    world.submit(tfjob("j", {"Worker": role(2, policy="OnFailure"), "PS": role()}, {"backoffLimit": 3, "cleanPodPolicy": "All"}))
    world.wait_true("j", "Running")
    world.finish("j-worker-0", 1)
    world.finish("j-worker-1", 1)
    check(not world.is_true("j", "Failed"), "two restarts of three")
    world.finish("j-worker-1", 1)
    failed = world.wait_true("j", "Failed")
    same(failed["message"], "Job j has failed because it has reached the specified backoff limit")
    until(lambda: not world.pods() and not world.services(), "pods and services go")


@case("S35: with Failed by backoffLimit, None keeps the pods")
def backoff_none(world):
    world.submit(tfjob("j", {"Worker": role(1, policy="OnFailure")}, {"backoffLimit": 1, "cleanPodPolicy": "None"}))
    world.finish("j-worker-0", 1)
    world.wait_true("j", "Failed")
    world.still(lambda: "j-worker-0" in world.pods(), "the pod stays")


@case("S17 S18 S45: ttlSecondsAfterFinished deletes the job, and its pods go with it")
def time_to_live(world):
    world.submit(tfjob("good", {"Worker": role(plan="0")}, {"ttlSecondsAfterFinished": 3}))
    world.submit(tfjob("bad", {"Worker": role(plan="1")}, {"ttlSecondsAfterFinished": 0}))
    world.submit(tfjob("held", {"Worker": role()}, {"ttlSecondsAfterFinished": 0, "suspend": True}))
    until(lambda: not world.api.find("tfjob", world.ns, "bad"), "it is gone at once")
    until(lambda: not world.api.find("tfjob", world.ns, "good"), "it is gone after its time")
    until(lambda: not world.pods(), "pods are collected")
    check(world.job("held"), "a suspended job stays")


@case("S19: the service of a replica")
def service_shape(world):
    world.submit(tfjob("j", {"Worker": role(plan="pending")}))
    service = until(lambda: world.services().get("j-worker-0"), "the service")
    four = {PREFIX + "job-name": "j", PREFIX + "operator-name": "tfjob-controller", PREFIX + "replica-index": "0", PREFIX + "replica-type": "worker"}
    same(service["metadata"]["labels"], four)
    same(service["spec"]["selector"], four)
    same(service["spec"]["clusterIP"], "None")
    same(service["spec"]["ports"], [{"name": "tfjob-port", "port": 2222, "targetPort": 2222, "protocol": "TCP"}])


@case("S20 S21 S30: TF_CONFIG: none alone, the cluster together, sparse when workers are dynamic")
def tf_config(world):
    world.submit(tfjob("one", {"Worker": role(plan="pending")}))
    world.submit(tfjob("two", {"Worker": role(plan="pending"), "PS": role(plan="pending"), "Evaluator": role(plan="pending")}))
    world.submit(tfjob("dyn", {"Worker": role(2, "pending"), "PS": role(2, "pending")}, enableDynamicWorker=True))
    pod = lambda name: until(lambda: world.pods().get(name), name)
    same(env_of(pod("one-worker-0"), "TF_CONFIG"), "")
    ns = world.ns
    same(
        env_of(pod("two-worker-0"), "TF_CONFIG"),
        f'{{"cluster":{{"ps":["two-ps-0.{ns}.svc:2222"],"worker":["two-worker-0.{ns}.svc:2222"]}},"task":{{"type":"worker","index":0}},"environment":"cloud"}}',
    )
    same(
        env_of(pod("dyn-worker-1"), "TF_CONFIG"),
        f'{{"cluster":{{"worker":{{"1":"dyn-worker-1.{ns}.svc:2222"}},"ps":["dyn-ps-0.{ns}.svc:2222","dyn-ps-1.{ns}.svc:2222"]}},"task":{{"type":"worker","index":1}}}}',
    )


@case("S22: restart policies of pods")
def pod_policies(world):
    for policy, of_pod in (("ExitCode", "Never"), ("Never", "Never"), ("OnFailure", "OnFailure"), ("Always", "Always")):
        name = policy.lower()
        world.submit(tfjob(name, {"Worker": role(plan="pending", policy=policy)}))
        pod = until(lambda: world.pods(name).get(f"{name}-worker-0"), name)
        same(pod["spec"]["restartPolicy"], of_pod, policy)


@case("S23 S43: a retryable exit code starts the pod again; the job says Restarting, then Running")
def retryable(world):
    world.submit(tfjob("j", {"Worker": role(2, "run", "ExitCode")}))
    world.wait_true("j", "Running")
    before = world.pods()["j-worker-1"]["metadata"]["uid"]
    world.finish("j-worker-1", 130)
    until(lambda: world.pods().get("j-worker-1", {}).get("metadata", {}).get("uid", before) != before, "a new pod")
    wait_shown(world, "j", "Created=True Running=True")
    until(lambda: "TFJobRestarting" in world.reasons("j"), "the event")
    told = [each["message"] for each in world.events("j") if each["reason"] == "TFJobRestarting"]
    same(told[0], "job j is restarting because Worker replica(s) failed.")


@case("S24: a permanent exit code fails the job")
def permanent(world):
    world.submit(tfjob("test-noretry-exit-code", {"Worker": role(2, "run", "ExitCode")}))
    world.finish("test-noretry-exit-code-worker-1", 1)
    failed = world.wait_true("test-noretry-exit-code", "Failed")
    same(failed["reason"], "TFJobFailed")
    same(failed["message"], 'job "test-noretry-exit-code" is failing because "Worker" replica(s) failed.')


@case("S25 S26 S40: dynamic workers are scaled down and up")
def scale_workers(world):
    world.submit(tfjob("j", {"Worker": role(3)}, enableDynamicWorker=True))
    world.wait_true("j", "Running")
    world.cluster.kubectl("scale", "tfjob/j", "--replicas=2", "-n", world.ns)
    world.wait_pods("j-worker-0", "j-worker-1")
    until(lambda: sorted(world.services()) == ["j-worker-0", "j-worker-1"], "services")
    check(not world.is_true("j", "Failed"), "it did not fail")
    world.cluster.kubectl("scale", "tfjob/j", "--replicas=4", "-n", world.ns)
    world.wait_pods(*[f"j-worker-{i}" for i in range(4)])
    world.wait_true("j", "Running")


STATUS = [
    ("chief succeeds", {"Chief": 1, "Worker": 2}, {}, {"chief-0": 0}, "Succeeded"),
    ("chief fails", {"Chief": 1, "Worker": 2}, {}, {"chief-0": 1}, "Failed"),
    ("master succeeds", {"Master": 1}, {}, {"master-0": 0}, "Succeeded"),
    ("worker 0 succeeds", {"Worker": 3, "PS": 1}, {}, {"worker-0": 0}, "Succeeded"),
    ("another worker succeeds", {"Worker": 3, "PS": 1}, {}, {"worker-2": 0}, "Running"),
    ("a worker fails", {"Worker": 3, "PS": 1}, {}, {"worker-2": 1}, "Failed"),
    ("a server fails beside the chief", {"Chief": 1, "PS": 1}, {}, {"ps-0": 1}, "Failed"),
    ("workers succeed beside the chief", {"Chief": 1, "Worker": 2}, {}, {"worker-0": 0, "worker-1": 0}, "Running"),
    ("workers fail beside the chief", {"Chief": 1, "Worker": 2}, {}, {"worker-0": 1}, "Failed"),
    ("all workers: one is not all", {"Worker": 2}, {"successPolicy": "AllWorkers"}, {"worker-0": 0}, "Running"),
    ("all workers: all are", {"Worker": 2}, {"successPolicy": "AllWorkers"}, {"worker-0": 0, "worker-1": 0}, "Succeeded"),
    ("all workers: one fails", {"Worker": 2}, {"successPolicy": "AllWorkers"}, {"worker-0": 0, "worker-1": 1}, "Failed"),
]


@case("S27 S28 S44: what replicas do and what the job says")
def status_table(world):
    for index, (_, roles, spec, _, _) in enumerate(STATUS):
        world.submit(tfjob(f"t{index}", {name: role(count) for name, count in roles.items()}, **spec))
    for index in range(len(STATUS)):
        world.wait_true(f"t{index}", "Running")
    for index, (_, _, _, ends, _) in enumerate(STATUS):
        for pod, code in ends.items():
            world.finish(f"t{index}-{pod}", code)
    for index, (what, _, _, ends, wanted) in enumerate(STATUS):
        name = f"t{index}"
        if wanted == "Running":
            done = sum(1 for code in ends.values() if code == 0)
            until(lambda: sum(each.get("succeeded", 0) for each in counts(world, name).values()) == done, f"{what}: {done} succeeded")
            same(shown(world, name), "Created=True Running=True", what)
        else:
            world.wait_true(name, wanted)
            same(shown(world, name), f"Created=True Running=False {wanted}=True", what)


@case("S29: one failed worker: condition, count, event")
def one_failed(world):
    world.submit(tfjob("j", {"Worker": role(3)}))
    world.wait_true("j", "Running")
    world.finish("j-worker-2", 1)
    failed = world.wait_true("j", "Failed")
    same(failed["message"], f"TFJob {world.ns}/j has failed because 1 Worker replica(s) failed.")
    same(counts(world, "j")["Worker"].get("failed"), 1)
    check(world.job("j")["status"].get("completionTime"), "completionTime")
    until(lambda: "TFJobFailed" in world.reasons("j"), "the event")


@case("S39: a pod that somebody deletes while it runs is made again, and does not fail the job")
def deleted_pod(world):
    world.submit(tfjob("j", {"Worker": role(2, policy="OnFailure")}))
    world.wait_true("j", "Running")
    before = world.pods()["j-worker-1"]["metadata"]["uid"]
    world.api.delete("pod", world.ns, "j-worker-1")
    until(lambda: world.pods().get("j-worker-1", {}).get("metadata", {}).get("uid", before) != before, "a new pod")
    world.wait_true("j", "Running")
    check(not world.is_true("j", "Failed"), "it did not fail")


@case("S42: conditions keep their order and replace one another")
def condition_order(world):
    world.submit(tfjob("j", {"Worker": role(1, "137 143 0", "ExitCode")}))
    world.wait_true("j", "Succeeded")
    types = [each["type"] for each in world.conditions("j")]
    same(types[0], "Created")
    same(types[-1], "Succeeded")
    check(len(types) == len(set(types)), f"each once: {types}")
    check(not any(world.is_true("j", each) for each in ("Running", "Restarting", "Failed")), f"{types}")


@case("S49 S41: only what the job owns is touched; a service of somebody else's name is left alone")
def not_ours(world):
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "j-worker-0"}, "spec": {"ports": [{"port": 1}]}}
    made = world.api.create("service", world.ns, body)
    world.submit(tfjob("j", {"Worker": role()}))
    until(lambda: any(each["type"] == "Warning" for each in world.events("j")), "a warning")
    same(world.services()["j-worker-0"]["metadata"]["uid"], made["metadata"]["uid"], "it is still theirs")
    world.api.delete("tfjob", world.ns, "j")
    world.still(lambda: "j-worker-0" in world.services(), "it stays")


@case("E: the same name again at once after deletion (their users waited five minutes)")
def same_name_again(world):
    for _ in range(3):
        world.submit(tfjob("j", {"Worker": role(2)}))
        world.wait_true("j", "Running")
        world.api.delete("tfjob", world.ns, "j")
        until(lambda: not world.api.find("tfjob", world.ns, "j"), "gone")
    until(lambda: not world.pods() and not world.services(), "everything is collected")


@case("E: a job whose pods cannot be made says so and runs when they can")
def quota(world):
    limit = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    world.api.create("quota", world.ns, limit)
    until(lambda: world.api.get("quota", world.ns, "few").get("status", {}).get("hard"), "the quota is counted")
    world.submit(tfjob("j", {"Worker": role(3)}))
    until(lambda: "FailedCreatePod" in world.reasons("j"), lambda: f"the event; there are {world.reasons('j')}")
    told = [each["message"] for each in world.events("j") if each["reason"] == "FailedCreatePod"]
    check("exceeded quota" in told[0], told[0])
    check(world.conditions("j"), "the job has a status all the same")
    world.api.patch("quota", world.ns, "few", {"spec": {"hard": {"pods": "10"}}})
    world.wait_true("j", "Running")


@case("T9k: a job's life: phases, tasks, aggregate")
def t9k_life(world):
    world.submit(t9k("j", [t9k_role("chief"), t9k_role("worker", 2), t9k_role("ps")], runPolicy={"cleanUpPolicy": "All"}), "t9k")
    status = world.wait_phase("j", "Running")
    same({task["type"] for task in status["tasks"]}, {"chief", "worker", "ps"})
    chief = next(name for name in world.pods() if "-chief-0" in name)
    same(world.pods()[chief]["metadata"]["labels"]["tensorstack.dev/owner-name"], "j")
    world.finish(chief)
    status = world.wait_phase("j", "Succeeded")
    until(lambda: not world.pods(), "pods go")
    completed = {each["type"]: each["status"] for each in status["conditions"]}
    same((completed["Completed"], completed["Failed"], completed["Running"]), ("True", "False", "False"))


@case("T9k: restarts are counted and bounded")
def t9k_restarts(world):
    world.submit(t9k("j", [t9k_role("worker", 1, "1 1 1", "OnFailure")], runPolicy={"backoffLimit": 2}), "t9k")
    status = world.wait_phase("j", "Failed")
    same(status["backoffCount"], 2)


@case("T9k: pause and resume")
def t9k_pause(world):
    resume = {"enabled": True, "resumeSpecs": [{"type": "worker", "command": ["resumed"]}]}
    world.submit(t9k("j", [t9k_role("worker", 2)], runMode={"pause": resume}), "t9k")
    world.wait_phase("j", "Paused")
    same(world.pods(), {})
    world.patch_job("j", {"spec": {"runMode": {"pause": {"enabled": False}}}}, "t9k")
    world.wait_phase("j", "Running")
    world.patch_job("j", {"spec": {"runMode": {"pause": {"enabled": True}}}}, "t9k")
    world.wait_phase("j", "Paused")
    until(lambda: not world.pods(), "pods go")
    world.patch_job("j", {"spec": {"runMode": {"pause": {"enabled": False}}}}, "t9k")
    world.wait_phase("j", "Running")
    commands = {tuple(pod["spec"]["containers"][0]["command"]) for pod in world.pods().values()}
    same(commands, {("resumed",)})


@case("T9k: a job for the T9k scheduler gets a PodGroup")
def t9k_gang(world):
    world.submit(t9k("j", [t9k_role("worker", 2)], scheduler={"t9kScheduler": {"queue": "default", "priority": 50}}), "t9k")
    group = until(lambda: world.api.list("t9k-podgroup", world.ns), "the group")[0]
    same((group["spec"]["minMember"], group["spec"]["queue"], group["spec"]["priority"]), (2, "default", 50))
    pod = until(lambda: world.pods(), "pods")
    same({each["spec"]["schedulerName"] for each in pod.values()}, {"t9k-scheduler"})


@case("T9k: a TensorBoard is made for the job and told of in its status")
def t9k_tensorboard(world):
    spec = {"image": "tensorflow/tensorflow:2.11.0", "trainingLogFilesets": ["t9k://pvc/tensorflow-tensorboard-pvc/log"]}
    world.submit(t9k("j", [t9k_role("worker")], tensorboardSpec=spec), "t9k")
    board = until(lambda: world.api.list("tensorboard", world.ns), "the TensorBoard")[0]
    same(board["spec"]["trainingLogFilesets"], spec["trainingLogFilesets"])
    until(lambda: world.job("j", "t9k").get("status", {}).get("tensorboard"), "status.tensorboard")
    label = "trainyard.dev/tensorboard"

    def of_board(objects):
        return [each for each in objects.values() if label in each["metadata"].get("labels", {})]

    pod = until(lambda: of_board(world.pods()), "the TensorBoard's pod")[0]
    claims = {each["name"]: each["persistentVolumeClaim"]["claimName"] for each in pod["spec"]["volumes"]
              if "persistentVolumeClaim" in each}
    same(list(claims.values()), ["tensorflow-tensorboard-pvc"])
    main = pod["spec"]["containers"][0]
    where = {claims.get(each["name"]): each["mountPath"] for each in main["volumeMounts"]}["tensorflow-tensorboard-pvc"]
    check(f"--logdir={where}/log" in main["args"], f"it reads /log of the claim: {main['args']}")
    check(not any(world.is_true("j", word, "t9k") for word in ("Completed", "Failed")), "while the job goes on")
    same(pod["metadata"]["ownerReferences"][0]["uid"], board["metadata"]["uid"])
    until(lambda: of_board(world.services()), "the TensorBoard's service")


@case("TensorBoard: one that somebody makes gets a pod, a service, a URL and a status; suspended it loses the pod")
def own_tensorboard(world):
    spec = {"image": "tensorflow/tensorflow:2.11.0", "trainingLogFilesets": ["t9k://pvc/data/run/logs"]}
    body = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "metadata": {"name": "tb"}, "spec": spec}
    world.api.create("tensorboard", world.ns, body)

    def status():
        return world.api.get("tensorboard", world.ns, "tb").get("status", {})

    service = until(lambda: world.services().get("tb-tensorboard"), "the service")
    pod = until(lambda: world.pods().get("tb-tensorboard"), "the pod")
    check(service["spec"]["selector"].items() <= pod["metadata"]["labels"].items(), f"{service['spec']['selector']} finds the pod")
    mount = next(each for each in pod["spec"]["containers"][0]["volumeMounts"] if each["name"] == pod["spec"]["volumes"][0]["name"])
    same((mount["mountPath"], mount["readOnly"]), ("/logs/data", True))
    # First it is being made; then the scheduler says what it waits for.
    until(lambda: status().get("phase") == "Initializing" and "data" in json.dumps(status()["conditions"]),
          lambda: f"it waits for its claim, and says so: {status()}")
    # The claim is not there, so no scheduler places the pod; what its node would tell is told here.
    ready = [{"type": "Ready", "status": "True"}]
    world.api.patch("pod", world.ns, "tb-tensorboard", {"status": {"phase": "Running", "conditions": ready}}, "status")
    until(lambda: status().get("phase") == "Running", lambda: f"it runs: {status()}")
    same(status()["url"], f"http://tb-tensorboard.{world.ns}.svc:6006/")
    world.patch_job("tb", {"spec": {"suspend": True}}, "tensorboard")
    until(lambda: status().get("phase") == "Paused" and not world.pods(), lambda: f"it rests: {status()}")
    check("tb-tensorboard" in world.services(), "its service stays")
    world.patch_job("tb", {"spec": {"suspend": False}}, "tensorboard")
    until(lambda: "tb-tensorboard" in world.pods(), "a pod again")
    world.api.delete("tensorboard", world.ns, "tb")
    until(lambda: not world.pods() and not world.services(), "both go with it")
