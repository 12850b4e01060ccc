"""The second document: the template of a replica, debug and pause modes, and the status."""

import json
import urllib.request

from t9k_job_test import T9kCase, suffix
from world import claim, container, forever, keeps, on_clusters, pod_spec, rows, tj

INIT = [{"name": "prepare", "image": "tensorflow/tensorflow:2.11.0", "command": ["echo", "prepared"]}]


class Template(T9kCase):
    @rows("S2-07", "S2-08", "S2-13")
    @on_clusters
    def test_resources_as_printed(self):
        resources = {"limits": {"cpu": "4", "memory": "4Gi"}, "requests": {"cpu": "2", "memory": "2Gi"}}
        pod = pod_spec("sleep 1", {"resources": resources})
        self.create(tj("tensorflow-example", [("worker", 4, "Never", pod)]))
        self.until("four pods", lambda: len(self.pods()) == 4)
        for pod in self.all("pod"):
            self.assertEqual(pod["spec"]["containers"][0]["resources"], resources)
        self.becomes("tj", "tensorflow-example", "Succeeded")

    @rows("S2-09")
    @on_clusters
    def test_a_request_that_no_node_meets_blocks_the_replica(self):
        pod = pod_spec("exit 0", {"resources": {"requests": {"cpu": "4096"}}})
        self.create(tj("huge", [("worker", 1, "Never", pod)]))
        name = self.until("its pod", lambda: list(self.pods()))[0]
        self.until("it says so", lambda: any("cpu" in said for said in self.messages(name)))
        self.assertIn("FailedScheduling", self.sh(f"kubectl describe pod {name}"))
        self.assertEqual(self.phase("tj", "huge"), "Pending")

    @rows("S2-11")
    def test_memory_beyond_the_limit_is_oomkilled(self):
        pod = pod_spec("exec python -c 'x = bytearray(200 << 20)'", {"resources": {"limits": {"memory": "40Mi"}}})
        self.create(tj("greedy", [("worker", 1, "Never", pod)]))
        self.becomes("tj", "greedy", "Failed")
        told = self.sh(f"kubectl describe pod {self.pod_name('greedy', 'worker', 0)}")
        self.assertRegex(told, r"Reason: +OOMKilled\n +Exit Code: +137")
        self.assertIn("OOMKilled", self.sh("kubectl get pods"))

    @rows("S2-12")
    @on_clusters
    def test_a_limit_below_its_request_is_refused(self):
        resources = {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": 2, "memory": "2Gi"}}
        bad = tj("bad", [("worker", 1, "Never", pod_spec("exit 0", {"resources": resources}))])
        if not self.world.own_plane:
            # A schema cannot compare quantities: the operator says it of the job that was taken.
            self.create(bad)
            self.until("it is told", lambda: any("resources.requests" in said for said in self.messages("bad")))
            self.assertEqual(self.pods(), {})
            return
        self.write("job.yaml", [bad])
        said = self.sh("kubectl create -f job.yaml", fails=True)
        self.assertIn("spec.replicaSpecs[0].template.spec.containers[0].resources.requests", said)

    @rows("S2-14", "S2-15")
    @on_clusters
    def test_shared_memory_has_the_size_that_is_asked_for(self):
        pod = pod_spec(
            "df -k /dev/shm; echo data > /dev/shm/x; cat /dev/shm/x",
            {"volumeMounts": [{"mountPath": "/dev/shm", "name": "dshm"}]},
            volumes=[{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}])
        self.create(tj("shm", [("worker", 1, "Never", pod)]))
        self.becomes("tj", "shm", "Succeeded")
        name = self.pod_name("shm", "worker", 0)
        made = self.get("pod", name)["spec"]
        self.assertIn({"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}, made["volumes"])
        self.assertIn({"mountPath": "/dev/shm", "name": "dshm"}, made["containers"][0]["volumeMounts"])
        self.logs(name, r"data\n$")
        if self.world.own_plane:
            self.logs(name, r"tmpfs +1048576 .*/dev/shm\ndata")

    @rows("S2-16", "S2-17", "S2-18")
    @on_clusters
    def test_environment_given_and_referenced(self):
        self.sh("kubectl create secret generic secret-name --from-literal=key-in-secret=hidden")
        env = [
            {"name": "ENV_DIRECT", "value": "env-value"},
            {"name": "ENV_REFERENCED", "valueFrom": {"secretKeyRef": {"name": "secret-name", "key": "key-in-secret"}}},
        ]
        script = 'echo $ENV_DIRECT $ENV_REFERENCED; test "$ENV_DIRECT $ENV_REFERENCED" = "env-value hidden"'
        self.create(tj("env", [("worker", 4, "Never", pod_spec(script, {"env": env}))]))
        self.becomes("tj", "env", "Succeeded")
        name = self.pod_name("env", "worker", 0)
        for one in env:
            self.assertIn(one, self.get("pod", name)["spec"]["containers"][0]["env"])
        self.logs(name, "^env-value hidden\n$")


class Scheduler(T9kCase):
    @rows("S1-36", "S2-44")
    @on_clusters
    def test_the_default_scheduler(self):
        self.create(tj("plain", [("worker", 1, "Never", "exec sleep 300")]))
        self.becomes("tj", "plain", "Running")
        self.assertEqual(self.all("pod")[0]["spec"].get("schedulerName", "default-scheduler"), "default-scheduler")
        self.assertEqual(self.all("t9k-group"), [])

    @rows("S1-37", "S2-45")
    def test_the_scheduler_of_t9k(self):
        place = {"t9kScheduler": {"queue": "default", "priority": 50}}
        self.create(tj("queued", [("worker", 4, "Never", "exec sleep 300")], scheduler=place))
        self.becomes("tj", "queued", "Running")
        self.assertEqual({pod["spec"]["schedulerName"] for pod in self.all("pod")}, {"t9k-scheduler"})
        group, = self.all("t9k-group")
        self.assertEqual({key: group["spec"].get(key) for key in ("minMember", "queue", "priority")},
                         {"minMember": 4, "queue": "default", "priority": 50})


class TensorBoard(T9kCase):
    @rows("S1-38", "S1-39", "S2-46", "S2-47", "S2-86")
    @on_clusters
    def test_a_board_shows_the_log_of_the_claim(self):
        self.create(claim("tensorflow-tensorboard-pvc"))
        for name, image in (("first", "t9kpublic/tensorboard:2.11.0"),
                            ("second", "t9kpublic/tensorflow-2.11.0:cpu-sdk-0.5.2")):
            script = f"mkdir -p /pvc/log; echo x > /pvc/log/events.out.tfevents.{name}; exec sleep 300"
            self.create(tj(name, [("worker", 1, "Never", keeps(script, "tensorflow-tensorboard-pvc", "/pvc"))], tensorboardSpec={
                "image": image, "trainingLogFilesets": ["t9k://pvc/tensorflow-tensorboard-pvc/log"]}))
            self.shown(name, image)

    def shown(self, job, image):
        status = self.until("a board that is ready", lambda: (
            told := self.status("tj", job).get("tensorboard", {})) and told.get("ready") and told)
        name = f"{job}-{suffix(self.get('tj', job))}"
        board = self.get("tensorboard", name)
        self.assertEqual(status, {
            "action": "NOP",
            "dependent": {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard", "name": name,
                          "namespace": self.namespace, "uid": board["metadata"]["uid"]},
            "note": f"TensorBoard [{name}] is ready",
            "ready": True,
            "reason": "DependentReady",
            "type": "Normal"})
        self.assertEqual(board["spec"]["image"], image)
        if not self.world.own_plane:
            # Its address is one of the cluster's network.
            serves = "/tensorflow-tensorboard-pvc/log'] at "
            self.until("it serves", lambda: serves in self.sh(f"kubectl logs {name}-tensorboard"))
            return
        url = self.until("an address", lambda: self.get("tensorboard", name)["status"].get("url"))
        with urllib.request.urlopen(url, timeout=60) as answer:
            self.assertIn(f"events.out.tfevents.{job}", answer.read().decode(), "while the job runs")


class Debug(T9kCase):
    def debugged(self, name, debug, policy="Never"):
        pod = pod_spec("echo training; exit 0", initContainers=INIT)
        roles = [("worker", 1, policy, pod), ("ps", 1, policy, pod)]
        self.create(tj(name, roles, runMode={"debug": debug}))
        self.becomes("tj", name, "Running")

    def containers(self, job, role):
        pod = self.get("pod", self.pod_name(job, role, 0))["spec"]
        return [one["name"] for one in pod.get("initContainers", [])], pod["containers"][0]["command"]

    @rows("S2-49", "S2-50", "S2-51", "S2-52", "S2-54")
    @on_clusters
    def test_example_1(self):
        self.debugged("one", {"enabled": True, "replicaSpecs": [
            {"type": "worker", "skipInitContainer": True, "command": ["/usr/bin/sshd"]}]})
        self.assertEqual(self.containers("one", "worker"), ([], ["/usr/bin/sshd"]))
        self.assertEqual(self.containers("one", "ps"), (["prepare"], ["sleep", "inf"]), "another type: the defaults")
        name = self.pod_name("one", "worker", 0)
        self.until("the command runs", lambda: "Server listening" in self.sh(f"kubectl logs {name}"))

    @rows("S2-48", "S2-49", "S2-51", "S2-52", "S2-53", "S2-55")
    @on_clusters(but=("S2-48",))
    def test_example_2(self):
        self.debugged("two", {"enabled": True})
        for role in ("worker", "ps"):
            self.assertEqual(self.containers("two", role), (["prepare"], ["sleep", "inf"]))
            main = self.get("pod", self.pod_name("two", role, 0))["spec"]["containers"][0]
            self.assertIn("TF_CONFIG", [one["name"] for one in main["env"]])
        name = self.pod_name("two", "worker", 0)
        self.assertEqual(self.sh(f"kubectl logs {name}"), "", "no training")
        if not self.world.own_plane:
            return
        self.assertEqual(self.sh(f"kubectl logs {name} -c prepare"), "prepared\n")
        data = f"--data-dir {self.world.home}/plane"
        told = self.sh(f"trainyard exec {data} -n {self.namespace} two --role worker -- sh -c 'echo $TF_CONFIG; ls /app'")
        self.assertIn('"type":"worker"', told, "a person inside finds the environment")
        self.assertIn("dist_mnist.py", told)


class Pause(T9kCase):
    def pause(self, name, paused):
        word = json.dumps({"spec": {"runMode": {"pause": {"enabled": paused}}}})
        self.sh(f"kubectl patch tj {name} --type merge -p '{word}'")

    def paused(self, name, pause):
        self.create(tj(name, [("worker", 2, "Never", forever("echo training", initContainers=INIT))], runMode={"pause": pause}))

    def spec(self, job):
        pod = self.get("pod", self.pod_name(job, "worker", 0))["spec"]
        return [one["name"] for one in pod.get("initContainers", [])], pod["containers"][0]

    @rows("S2-56", "S2-57", "S2-58", "S2-59", "S2-60", "S2-63", "S2-64", "S2-71", "S2-74", "S2-75")
    @on_clusters
    def test_example_1(self):
        self.paused("one", {"enabled": True, "resumeSpecs": [
            {"type": "worker", "skipInitContainer": True, "command": ["/usr/bin/sshd"]}]})
        self.becomes("tj", "one", "Paused")
        self.assertEqual(self.pods(), {}, "none was made")
        self.assertEqual(self.conditions("tj", "one")["Paused"]["status"], "True")
        change = json.dumps({"spec": {"runMode": {"pause": {"resumeSpecs": [{"type": "worker", "command": ["x"]}]}}}})
        said = self.sh(f"kubectl patch tj one --type merge -p '{change}'", fails=True)
        refused = "Forbidden" if self.world.own_plane else "Invalid value: .+"  # a CRD's rule has no other word
        self.assertRegex(said, rf"spec\.runMode\.pause\.resumeSpecs: {refused}: field is immutable")
        versions = self.follow("tj")
        self.pause("one", False)
        self.becomes("tj", "one", "Running")
        inits, main = self.spec("one")
        self.assertEqual((inits, main["command"]), ([], ["/usr/bin/sshd"]))
        phases = [job["status"]["phase"] for job in versions("one")]
        self.assertEqual(list(dict.fromkeys(phases)), ["Paused", "Resuming", "Running"])

    @rows("S2-56", "S2-57", "S2-61", "S2-62", "S2-65")
    @on_clusters
    def test_example_2(self):
        self.paused("two", {"enabled": False})
        self.becomes("tj", "two", "Running")
        first = {pod["metadata"]["uid"] for pod in self.all("pod")}
        self.pause("two", True)
        self.becomes("tj", "two", "Paused")
        self.until("its replicas are gone", lambda: not self.pods())
        self.until("both are told as deleted", lambda: self.status("tj", "two")["aggregate"]["deleted"] == 2)
        self.pause("two", False)
        self.becomes("tj", "two", "Running")
        inits, main = self.spec("two")
        self.assertEqual(inits, ["prepare"], "init containers are not skipped")
        self.assertEqual(main["command"], container("echo training; exec sleep 300")["command"])
        self.assertFalse(first & {pod["metadata"]["uid"] for pod in self.all("pod")})
        self.pause("two", True)
        self.becomes("tj", "two", "Paused")

    @rows("S2-60")
    @on_clusters
    def test_arguments_of_a_resumed_replica(self):
        self.paused("args", {"enabled": True, "resumeSpecs": [{"type": "worker", "args": ["-c", "echo resumed; exit 0"]}]})
        self.becomes("tj", "args", "Paused")
        self.pause("args", False)
        self.until("pods", lambda: len(self.pods()) == 2)
        _, main = self.spec("args")
        self.assertEqual(main["args"], ["-c", "echo resumed; exit 0"])


class Status(T9kCase):
    @rows("S2-66", "S2-69", "S2-72", "S2-73", "S2-76", "S2-79", "S2-82", "S2-83", "S2-84")
    @on_clusters
    def test_a_job_that_succeeded(self):
        versions = self.follow("tj")
        self.create(tj("mnist-trainingjob", [("worker", 1, "Never", "sleep 1")]))
        self.becomes("tj", "mnist-trainingjob", "Succeeded")
        status = self.status("tj", "mnist-trainingjob")
        found = [(one["type"], one["status"], one["reason"], one["message"]) for one in status["conditions"]]
        done = "The job has finished successfully."
        self.assertEqual(found, [
            ("Initialized", "True", "-", "The job has been initialized successfully."),
            ("Running", "False", "Succeeded", done),
            ("Failed", "False", "Succeeded", done),
            ("Completed", "True", "Succeeded", done),
            ("ReplicaFailure", "False", "-", "All pods are running normally."),
        ])
        for one in status["conditions"]:
            self.assertEqual(set(one), {"lastTransitionTime", "message", "reason", "status", "type"})
            self.assertRegex(one["lastTransitionTime"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        phases = [job.get("status", {}).get("phase") for job in versions("mnist-trainingjob")]
        self.assertEqual([one for one in dict.fromkeys(phases) if one], ["Pending", "Running", "Succeeded"])
        name = self.pod_name("mnist-trainingjob", "worker", 0)
        self.assertRegex(name, "^mnist-trainingjob-[0-9a-f]{5}-worker-0$")
        replica = {
            "containers": [{"exitCode": 0, "name": "tensorflow", "state": "Terminated"}],
            "name": name,
            "phase": "Succeeded",
            "uid": self.get("pod", name)["metadata"]["uid"],
        }
        self.assertEqual(status["tasks"], [{"replicas": [replica], "type": "worker"}])
        self.assertEqual(status["aggregate"], {
            "creating": 0, "deleted": 0, "failed": 0, "pending": 0, "running": 0, "succeeded": 1, "unknown": 0})

    @rows("S2-67", "S2-73", "S2-81", "S2-84", "S2-85")
    @on_clusters
    def test_one_waits_and_two_run(self):
        env = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "not-yet", "key": "k"}}}]
        roles = [("worker", 2, "Never", "exec sleep 300"), ("ps", 1, "Never", pod_spec("exec sleep 300", {"env": env}))]
        self.create(tj("part", roles))
        self.counts("part", pending=1, running=2)
        tasks = {task["type"]: task["replicas"][0]["phase"] for task in self.status("tj", "part")["tasks"]}
        self.assertEqual(tasks, {"worker": "Running", "ps": "Pending"})

    @rows("S2-72", "S2-81")
    @on_clusters
    def test_one_that_has_no_node_yet_is_creating(self):
        huge = pod_spec("exit 0", {"resources": {"requests": {"cpu": "4096"}}})
        self.create(tj("huge", [("worker", 1, "Never", huge)]))
        self.counts("huge", creating=1)
        self.assertEqual(self.status("tj", "huge")["tasks"][0]["replicas"][0]["phase"], "Creating")
        self.assertEqual(self.phase("tj", "huge"), "Pending")

    def counts(self, job, **wanted):
        keys = ("creating", "deleted", "failed", "pending", "running", "succeeded", "unknown")
        wanted = {key: wanted.get(key, 0) for key in keys}
        self.until(f"aggregate {wanted}", lambda: self.status("tj", job).get("aggregate") == wanted)

    @rows("S2-81", "S2-84")
    @on_clusters
    def test_replicas_that_have_ended(self):
        self.create(tj("ends", [("chief", 1, "Never", "exec sleep 300"), ("worker", 1, "Never", "exit 3"),
                                ("evaluator", 1, "Never", "exit 0")]))
        self.counts("ends", running=1, failed=1, succeeded=1)
        self.assertEqual(self.told_phases("ends"), {"chief-0": "Running", "worker-0": "Failed", "evaluator-0": "Succeeded"})
        told = {task["type"]: task["replicas"][0]["containers"] for task in self.status("tj", "ends")["tasks"]}
        self.assertEqual(told, {
            "chief": [{"name": "tensorflow", "state": "Running"}],
            "worker": [{"exitCode": 3, "name": "tensorflow", "state": "Terminated"}],
            "evaluator": [{"exitCode": 0, "name": "tensorflow", "state": "Terminated"}]})

    @rows("S2-70", "S2-77")
    @on_clusters
    def test_a_job_that_failed(self):
        self.create(tj("bad", [("worker", 1, "Never", "exit 7")]))
        self.becomes("tj", "bad", "Failed")
        failed = self.conditions("tj", "bad")["Failed"]
        self.assertEqual(failed["status"], "True")
        self.assertIn("7", failed["message"])
        self.assertEqual(self.status("tj", "bad")["tasks"][0]["replicas"][0]["containers"][0]["exitCode"], 7)

    @rows("S2-67", "S2-73")
    @on_clusters
    def test_a_job_that_runs(self):
        self.create(tj("runs", [("worker", 2, "Never", "exec sleep 300")]))
        self.becomes("tj", "runs", "Running")
        self.assertEqual(self.conditions("tj", "runs")["Running"]["status"], "True")
