"""The fourth document: TFJob v1, its restart rules, what one sees of it, and what to do when it fails."""

import os
import pathlib

from world import Case, claim, forever, keeps, on_clusters, once, pod_spec, rows, tfjob

TASK = """            command:
              - python
              - -m
              - trainer.task
              - --batch_size=32
              - --training_steps=1000
"""
ROLE = """    {role}:
      replicas: {replicas}
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: gcr.io/your-project/your-image
""" + TASK
SECRET = """            env:
            - name: GOOGLE_APPLICATION_CREDENTIALS
              value: "/etc/secrets/user-gcp-sa.json"
            volumeMounts:
            - name: sa
              mountPath: "/etc/secrets"
              readOnly: true
          volumes:
          - name: sa
            secret:
              secretName: user-gcp-sa
"""
HEAD = """
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  generateName: tfjob
  namespace: kubeflow
spec:
  tfReplicaSpecs:
"""
PLAIN = HEAD + ROLE.format(role="PS", replicas=1) + ROLE.format(role="Worker", replicas=3)
WITH_SECRET = HEAD + ROLE.format(role="PS", replicas=1) + SECRET + ROLE.format(role="Worker", replicas=1) + SECRET
SMOKE_ROLE = """    {role}:
      replicas: 1
      template:
        metadata:
          creationTimestamp: null
        spec:
          containers:
          - args:
            - python
            - tf_cnn_benchmarks.py
            - --batch_size=32
            - --model=resnet50
            - --variable_update=parameter_server
            - --flush_stdout=true
            - --num_gpus=1
            - --local_parameter_device=cpu
            - --device={device}
            - --data_format=NHWC
            image: gcr.io/kubeflow/tf-benchmarks-{device}:v20171202-bdab599-dirty-284af3
            name: tensorflow
            ports:
            - containerPort: 2222
              name: tfjob-port
            resources:
              limits:
                {limit}
            workingDir: /opt/tf-benchmarks/scripts/tf_cnn_benchmarks
          restartPolicy: OnFailure
"""
SMOKE = """
apiVersion: "kubeflow.org/v1"
kind: "TFJob"
metadata:
  name: "tf-smoke-gpu"
spec:
  tfReplicaSpecs:
""" + SMOKE_ROLE.format(role="PS", device="cpu", limit="cpu: '1'") + SMOKE_ROLE.format(
    role="Worker", device="gpu", limit="nvidia.com/gpu: 1")
MNIST = """
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: mnist
  namespace: kubeflow
spec:
  cleanPodPolicy: None
  tfReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - command:
            - python
            - /var/tf_mnist/mnist_with_summaries.py
            - --log_dir=/train
            - --learning_rate=0.01
            - --batch_size=150
            image: gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0
            name: tensorflow
            volumeMounts:
            - mountPath: /train
              name: training
          volumes:
          - name: training
            persistentVolumeClaim:
              claimName: tfevent-volume
"""
FOREVER = "exec sleep 300"


class InKubeflow(Case):
    """Manifests that name their namespace: kubeflow."""

    def setUp(self):
        super().setUp()
        self.namespace = "kubeflow"

    def created(self):
        """The name that a job with generateName was given."""
        return self.sh("kubectl create -f job.yaml").split("/")[1].split()[0]

    @rows("S4-06", "S4-08", "S4-09", "S4-15", "S4-43")
    @on_clusters
    def test_a_job_with_a_generated_name(self):
        self.write("job.yaml", PLAIN)
        name = self.created()
        self.assertRegex(name, "^tfjob[a-z0-9]{5}$")
        mine = lambda: {n: p for n, p in self.pods().items() if n.startswith(name)}
        wanted = {f"{name}-{tail}" for tail in ("ps-0", "worker-0", "worker-1", "worker-2")}
        self.until("four pods", lambda: set(mine()) == wanted)
        self.becomes("tfjob", name, "Succeeded")
        self.logs(f"{name}-worker-0", "accuracy")
        self.sh(f"kubectl -n kubeflow delete tfjob {name}")

    @rows("S4-07")
    @on_clusters
    def test_a_job_with_credentials(self):
        self.sh("kubectl -n kubeflow create secret generic user-gcp-sa --from-literal=user-gcp-sa.json={}")
        self.write("job.yaml", WITH_SECRET)
        name = self.created()
        self.becomes("tfjob", name, "Succeeded")
        pod = self.get("pod", f"{name}-worker-0")["spec"]
        main = pod["containers"][0]
        self.assertIn({"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": "/etc/secrets/user-gcp-sa.json"}, main["env"])
        self.assertIn({"name": "sa", "mountPath": "/etc/secrets", "readOnly": True}, main["volumeMounts"])
        self.assertEqual({one["name"]: one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one},
                         {"sa": "user-gcp-sa"})
        self.sh(f"kubectl -n kubeflow delete tfjob {name}")
        reads = pod_spec("cat $GOOGLE_APPLICATION_CREDENTIALS", {"env": main["env"][:1], "volumeMounts": [
            {"name": "sa", "mountPath": "/etc/secrets", "readOnly": True}]},
            volumes=[{"name": "sa", "secret": {"secretName": "user-gcp-sa"}}])
        self.create(tfjob("reads", [("Worker", 1, "OnFailure", reads)]))
        self.becomes("tfjob", "reads", "Succeeded")
        self.logs("reads-worker-0", "^{}$")
        self.sh("kubectl -n kubeflow delete tfjob reads")

    @rows("S4-04", "S4-29", "S4-30", "S4-31", "S4-34", "S4-35", "S4-36", "S4-37", "S4-51", "S4-52", "S4-54", "S4-55", "S4-60")
    @on_clusters
    def test_the_mnist_example(self):
        self.write("tfevent-volume/claim.yaml", [claim("tfevent-volume")])
        self.write("tf_job_mnist.yaml", MNIST)
        self.sh("kubectl -n kubeflow apply -f tfevent-volume")
        if not self.world.own_plane:
            self.bind(claim("tfevent-volume"))
        versions = self.follow("tfjob")
        self.sh("kubectl apply -f tf_job_mnist.yaml")
        self.becomes("tfjob", "mnist", "Succeeded")
        told = self.sh("kubectl -n kubeflow get tfjob mnist -o yaml")
        for part in (
            "kubectl.kubernetes.io/last-applied-configuration: |",
            "  generation: 1\n",
            "message: TFJob mnist is created.\n    reason: TFJobCreated\n    status: \"True\"\n    type: Created",
            "message: TFJob kubeflow/mnist is running.\n    reason: TFJobRunning\n",
            "  replicaStatuses:\n    Worker:\n",
            "  startTime: ",
            "  completionTime: ",
            "claimName: tfevent-volume",
        ):
            self.assertIn(part, told)
        for condition in self.status("tfjob", "mnist")["conditions"]:
            self.assertEqual(set(condition), {
                "type", "status", "reason", "message", "lastUpdateTime", "lastTransitionTime"})
        self.assertEqual(self.status("tfjob", "mnist")["replicaStatuses"]["Worker"]["succeeded"], 1)
        stood = [[one["type"] for one in job.get("status", {}).get("conditions", []) if one["status"] == "True"]
                 for job in versions("mnist")]
        self.assertEqual([one for i, one in enumerate(stood) if one and one not in stood[:i]],
                         [["Created"], ["Created", "Running"], ["Created", "Succeeded"]])
        for what in ("Pod", "Service"):
            self.is_told("mnist", f"SuccessfulCreate{what}", "mnist-worker-0")
        self.described(self.sh("JOB=mnist; kubectl -n kubeflow describe tfjobs ${JOB}"))
        self.logs("mnist-worker-0", "accuracy")
        self.sh("kubectl -n kubeflow delete tfjob mnist")
        self.until("all of it is gone", lambda: "mnist-worker-0" not in self.pods())
        self.assertIn("tfevent-volume", self.sh("kubectl -n kubeflow get pvc"), "what it wrote stays")

    def described(self, told):
        for part in (
            "Name:         mnist\nNamespace:    kubeflow\n",
            "API Version:  kubeflow.org/v1\nKind:         TFJob\nMetadata:\n  Creation Timestamp:  ",
            "Spec:\n  Clean Pod Policy:  None\n  Tf Replica Specs:\n    Worker:\n      Replicas:        1\n"
            "      Restart Policy:  Never\n",
            "            Volume Mounts:\n              Mount Path:  /train\n              Name:        training\n",
            "            Persistent Volume Claim:\n              Claim Name:  tfevent-volume\n",
            "    Message:               TFJob mnist is created.\n    Reason:                TFJobCreated\n"
            "    Status:                True\n    Type:                  Created\n",
            "    Message:               TFJob kubeflow/mnist is running.\n    Reason:                TFJobRunning\n",
            "  Replica Statuses:\n    Worker:\n",
        ):
            self.assertIn(part, told)
        events = told[told.index("Events:"):]
        self.assertRegex(events, r"Type +Reason +Age +From +Message\n")
        self.assertRegex(events, r"Normal +SuccessfulCreatePod +\S+ +\S+ +Created pod: mnist-worker-0\n")
        self.assertRegex(events, r"Normal +SuccessfulCreateService +\S+ +\S+ +Created service: mnist-worker-0\n")


class Restarts(Case):
    @rows("S4-10")
    @on_clusters
    def test_the_main_container_has_a_name(self):
        pod = pod_spec("exit 0")
        pod["containers"][0]["name"] = "main"
        self.write("job.yaml", [tfjob("nameless", [("Worker", 1, "Never", pod)])])
        said = self.sh("kubectl create -f job.yaml", fails=True)
        self.assertRegex(said, "spec.tfReplicaSpecs.*tensorflow")

    @rows("S4-11", "S4-12")
    @on_clusters
    def test_always(self):
        self.create(tfjob("always", [("Chief", 1, "Never", FOREVER), ("PS", 1, "Always", "exit 0")]))
        restarted = lambda: any(
            one.get("restartCount", 0) >= 1
            for pod in self.all("pod") if pod["metadata"]["name"] == "always-ps-0"
            for one in pod["status"].get("containerStatuses", []))
        self.until("a ps that ended well starts again", restarted)

    @rows("S4-13", "S4-14", "S4-15", "S4-44", "S4-45")
    @on_clusters
    def test_on_failure(self):
        self.create(claim("state"))
        self.create(tfjob("again", [("Worker", 1, "OnFailure", once(1))]))
        self.becomes("tfjob", "again", "Succeeded")
        pod = self.get("pod", "again-worker-0")
        self.assertEqual(pod["status"]["containerStatuses"][0]["restartCount"], 1)
        self.assertRegex(self.sh("kubectl get pods"), r"again-worker-0 +0/1 +Completed +1 ")
        self.create(tfjob("once", [("Worker", 1, "OnFailure", "exit 0")]))
        self.becomes("tfjob", "once", "Succeeded")
        self.assertEqual(self.get("pod", "once-worker-0")["status"]["containerStatuses"][0]["restartCount"], 0)

    @rows("S4-16", "S4-17", "S4-18", "S4-19", "S4-20", "S4-21", "S4-22", "S4-27", "S4-40", "S4-46", "S4-47")
    @on_clusters
    def test_exit_codes_that_are_final(self):
        self.create(claim("state"))
        codes = (0, 1, 2, 126, 127, 128, 139, 3, 100)
        for code in codes:
            self.create(tfjob(f"code-{code}", [("Worker", 1, "ExitCode", once(code))]))
        for code in codes:
            self.becomes("tfjob", f"code-{code}", "Failed" if code else "Succeeded")
            pod = self.get("pod", f"code-{code}-worker-0")
            self.assertEqual(
                pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], code, "the first attempt")
            if code:
                self.is_told(f"code-{code}", "ExitedWithCode", f"exited with code {code}")

    @rows("S4-23", "S4-24", "S4-25", "S4-26", "S4-27", "S4-38", "S4-46")
    @on_clusters
    def test_exit_codes_that_are_worth_another_try(self):
        self.create(claim("state"))
        codes = (130, 137, 143, 138, 42, 255)
        versions = self.follow("tfjob")
        for code in codes:
            self.create(tfjob(f"code-{code}", [("Worker", 1, "ExitCode", once(code))]))
        for code in codes:
            self.becomes("tfjob", f"code-{code}", "Succeeded")
            self.is_told(f"code-{code}", "TFJobRestarting")
            restarting = [one for job in versions(f"code-{code}") for one in job.get("status", {}).get("conditions", [])
                          if one["type"] == "Restarting" and one["status"] == "True"]
            self.assertEqual(restarting[0]["reason"], "TFJobRestarting")

    @rows("S4-28", "S4-40", "S4-47")
    @on_clusters
    def test_never(self):
        self.create(tfjob("never", [("Worker", 1, "Never", "exit 137")]))
        self.becomes("tfjob", "never", "Failed")
        self.assertEqual(self.get("pod", "never-worker-0")["status"]["containerStatuses"][0]["restartCount"], 0)
        self.is_told("never", "TFJobFailed")
        self.assertEqual(self.reasons("never").count("SuccessfulCreatePod"), 1)


class Watching(Case):
    @rows("S4-33")
    @on_clusters
    def test_a_job_with_a_gpu(self):
        self.assertRegex(self.sh("kubectl describe nodes"), r"nvidia.com/gpu: +[1-9]\n")
        self.create(SMOKE)
        self.becomes("tfjob", "tf-smoke-gpu", "Succeeded")
        limits = self.get("pod", "tf-smoke-gpu-worker-0")["spec"]["containers"][0]["resources"]["limits"]
        self.assertEqual(str(limits["nvidia.com/gpu"]), "1")
        if self.world.own_plane:
            sees = pod_spec("echo sees GPU $CUDA_VISIBLE_DEVICES", {"resources": {"limits": {"nvidia.com/gpu": 1}}})
            self.create(tfjob("sees", [("Worker", 1, "Never", sees)]))
            self.becomes("tfjob", "sees", "Succeeded")
            self.logs("sees-worker-0", r"^sees GPU \d\n$")

    @rows("S4-08", "S4-32")
    @on_clusters
    def test_what_one_changes_in_a_job(self):
        pod = forever(container_extra={
            "image": "gcr.io/your-project/your-image",
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
            "env": [{"name": "S3_ENDPOINT", "value": "storage"}]})
        self.create(tfjob("mine", [("Chief", 1, "Never", pod), ("Worker", 3, "Never", pod), ("Evaluator", 1, "Never", pod)]))
        self.until("five pods", lambda: len(self.pods()) == 5)
        main = self.get("pod", "mine-evaluator-0")["spec"]["containers"][0]
        self.assertEqual(main["resources"]["limits"], {"memory": "64Mi"})
        self.assertIn({"name": "S3_ENDPOINT", "value": "storage"}, main["env"])
        self.becomes("tfjob", "mine", "Running")
        self.sh("kubectl delete tfjob mine")

    @rows("S4-37", "S4-48", "S4-49", "S4-50")
    @on_clusters
    def test_numbers_of_replicas(self):
        script = 'case $HOSTNAME in *-1) exit 3;; *-2) exit 0;; *) exec sleep 300;; esac'
        self.create(tfjob("counts", [("Chief", 1, "Never", FOREVER), ("Worker", 4, "Never", script)],
                          enableDynamicWorker=True))
        wanted = {"Chief": {"active": 1}, "Worker": {"active": 2, "succeeded": 1, "failed": 1}}

        def counted():
            told = self.status("tfjob", "counts").get("replicaStatuses", {})
            return {role: {key: n for key, n in counts.items() if n and key in ("active", "succeeded", "failed")}
                    for role, counts in told.items()} == wanted

        self.until("active, succeeded and failed", counted)

    @rows("S4-39", "S4-41", "S4-43")
    @on_clusters
    def test_the_chief_decides(self):
        self.create(tfjob("led", [("Chief", 1, "Never", "sleep 1"), ("Worker", 2, "Never", FOREVER)]))
        self.becomes("tfjob", "led", "Succeeded")
        self.create(tfjob("ledbad", [("Chief", 1, "Never", "exit 1"), ("Worker", 1, "Never", FOREVER)]))
        self.becomes("tfjob", "ledbad", "Failed")

    @rows("S4-39", "S4-42", "S4-43")
    @on_clusters
    def test_without_a_chief_the_workers_decide(self):
        self.create(tfjob("plain", [("PS", 1, "Never", FOREVER), ("Worker", 1, "Never", "sleep 1")]))
        self.becomes("tfjob", "plain", "Succeeded")
        done = self.conditions("tfjob", "plain")["Succeeded"]
        self.assertEqual(done["reason"], "TFJobSucceeded")

    @rows("S4-03", "S4-05")
    @on_clusters
    def test_the_kind_is_one_of_the_cluster_s(self):
        told = self.sh("kubectl get --raw /apis/kubeflow.org/v1")
        for part in ('"name":"tfjobs"', '"singularName":"tfjob"', '"namespaced":true', '"kind":"TFJob"'):
            self.assertIn(part, told.replace(": ", ":"))
        self.assertEqual(self.sh("kubectl auth can-i create tfjobs"), "yes\n")
        self.create(tfjob("here", [("Worker", 1, "Never", "exit 0")]))
        self.assertRegex(self.sh("kubectl get tfjobs"), r"\nhere ")
        self.assertNotIn("here", self.sh("kubectl -n default get tfjobs"))

    @rows("S4-01")
    @on_clusters
    def test_kinds_of_one_s_own(self):
        self.write("crd.yaml", """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: etcdclusters.seeds.example.com
spec:
  group: seeds.example.com
  scope: Namespaced
  names: {kind: EtcdCluster, singular: etcdcluster, plural: etcdclusters}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""")
        self.addCleanup(self.sh, "kubectl delete crd etcdclusters.seeds.example.com")
        self.sh("kubectl create -f crd.yaml")
        self.write("one.yaml", "apiVersion: seeds.example.com/v1\nkind: EtcdCluster\nmetadata: {name: one}\nspec: {size: 3}\n")
        self.until("the kind is served", lambda: "etcdclusters" in self.sh("kubectl api-resources"))
        self.sh("kubectl create -f one.yaml")
        self.assertRegex(self.sh("kubectl describe etcdcluster one"), "Size: +3")


class CleanUp(Case):
    def ended(self, name, policy):
        roles = [("Chief", 1, "Never", "sleep 10"), ("PS", 1, "Never", forever("echo up")),
                 ("Worker", 1, "Never", "echo done")]
        self.create(tfjob(name, roles, **({"cleanPodPolicy": policy} if policy else {})))
        self.becomes("tfjob", name, "Succeeded")

    @rows("S4-56")
    @on_clusters
    def test_running_is_the_default(self):
        left = {"chief-0": "Succeeded", "worker-0": "Succeeded"}
        for name, policy in (("default", None), ("running", "Running")):
            self.ended(name, policy)
            self.until("the ps is gone", lambda: self.left(name) == left)

    @rows("S4-57")
    @on_clusters
    def test_all(self):
        self.ended("all", "All")
        self.until("no pod is left", lambda: not self.pods())

    @rows("S4-55", "S4-58")
    @on_clusters
    def test_none(self):
        self.ended("none", "None")
        self.logs("none-ps-0", "^up\n$")
        self.logs("none-worker-0", "^done\n$")
        self.assertEqual(self.left("none"), {"chief-0": "Succeeded", "ps-0": "Running", "worker-0": "Succeeded"})

    def left(self, job):
        return {name[len(job) + 1:]: phase for name, phase in self.pods().items() if name.startswith(job)}


class Trouble(Case):
    @rows("S4-11", "S4-61", "S4-65")
    @on_clusters
    def test_an_invalid_job_is_told_to_the_user(self):
        pod = pod_spec("exit 0")
        self.write("job.yaml", [tfjob("wrong", [("Worker", -1, "Sometimes", pod)])])
        said = self.sh("kubectl create -f job.yaml", fails=True)
        self.assertRegex(said, r"spec.tfReplicaSpecs[.[]Worker]?.replicas: Invalid value: -1")
        self.assertRegex(said, r'spec.tfReplicaSpecs[.[]Worker]?.restartPolicy: Unsupported value: "Sometimes": '
                               r'supported values: ("", )?"Always", "OnFailure", "Never", "ExitCode"')
        self.assertIsNone(self.get("tfjob", "wrong"))

    @rows("S4-62")
    @on_clusters(only=True)
    def test_the_operator_s_log_says_what_is_wrong(self):
        # A schema cannot compare quantities, so this one is taken.
        less = pod_spec("exit 0", {"resources": {"limits": {"cpu": 1}, "requests": {"cpu": 2}}})
        self.create(tfjob("less", [("Worker", 1, "Never", less)]))
        log = pathlib.Path(os.environ["OPERATOR_LOG"])
        wanted = f"job is not valid, so nothing is made for it kind=TFJob job={self.namespace}/less "
        line = self.until("the log says so", lambda: [one for one in log.read_text().splitlines() if wanted in one])[0]
        self.assertRegex(line, r"spec\.tfReplicaSpecs\S*Worker\S*resources\.requests")

    @rows("S4-52", "S4-63")
    @on_clusters
    def test_events_of_a_job(self):
        pod = pod_spec(FOREVER, restartPolicy="Always")
        self.create(tfjob("tfjob2", [("Worker", 1, "OnFailure", pod), ("PS", 1, "OnFailure", pod)]))
        self.becomes("tfjob", "tfjob2", "Running")
        for name in ("tfjob2-worker-0", "tfjob2-ps-0"):
            for what in ("Pod", "Service"):
                self.is_told("tfjob2", f"SuccessfulCreate{what}", name)
        self.is_told("tfjob2", "SettedPodTemplateRestartPolicy")
        events = self.sh("NAMESPACE=%s JOB_NAME=tfjob2; kubectl -n ${NAMESPACE} describe tfjobs ${JOB_NAME}" % self.namespace)
        events = events[events.index("Events:"):]
        self.assertRegex(events, r"Warning +SettedPodTemplateRestartPolicy +\S+.* +Restart policy in pod template will "
                                 r"be overwritten by restart policy in replica spec\n")
        for name in ("tfjob2-worker-0", "tfjob2-ps-0"):
            # An operator on a cluster may name several in one event.
            self.assertRegex(events, rf"Normal +SuccessfulCreatePod +\S+ +\S+ +Created pod: (\S+, )*{name}[,\n]")
            self.assertRegex(events, rf"Normal +SuccessfulCreateService +\S+ +\S+ +Created service: (\S+, )*{name}[,\n]")

    @rows("S4-66", "S4-70")
    @on_clusters(but=("S4-66",))
    def test_events_of_a_pod(self):
        self.create(tfjob("tfjob2", [("PS", 1, "OnFailure", "echo up; " + FOREVER), ("Worker", 1, "Never", FOREVER)]))
        self.becomes("tfjob", "tfjob2", "Running")
        self.is_told("tfjob2-ps-0", "Scheduled")
        told = self.sh("POD_NAME=tfjob2-ps-0; kubectl describe pods ${POD_NAME}")
        events = told[told.index("Events:"):]
        lines = [
            r"Normal +Scheduled +\S+ +\S+ +Successfully assigned \S*tfjob2-ps-0 to \S+\n",
            r'Normal +Pulled +\S+ +kubelet.* +Container image "\S+" ',
            r"Normal +Created +\S+ +kubelet.* +Created container",
            r"Normal +Started +\S+ +kubelet.* +Started container",
        ]
        # On simulated nodes nobody tells what a kubelet does.
        self.assertRegex(events, r"(.*\n)*.*".join(lines if self.world.own_plane else lines[:1]))
        self.until("its log tells", lambda: self.sh("kubectl logs tfjob2-ps-0") == "up\n")

    @rows("S4-67")
    @on_clusters
    def test_not_enough_resources(self):
        pod = pod_spec("exit 0", {"resources": {"requests": {"memory": "4096Ti"}}})
        self.create(tfjob("huge", [("Worker", 1, "Never", pod)]))
        self.until("it says so", lambda: any("memory" in said for said in self.messages("huge-worker-0")))

    @rows("S4-68")
    @on_clusters
    def test_a_volume_or_secret_that_is_not_there(self):
        self.create(tfjob("novolume", [("Worker", 1, "Never", keeps("exit 0", "absent"))]))
        self.until("it says so", lambda: any("absent" in said for said in self.messages("novolume-worker-0")))
        if not self.world.own_plane:
            return  # of a Secret it is the kubelet that tells
        secret = pod_spec("exit 0", {"env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k"}}}]})
        self.create(tfjob("nosecret", [("Worker", 1, "Never", secret)]))
        self.until("it says so", lambda: any("absent" in said for said in self.messages("nosecret-worker-0")))
        self.assertRegex(self.sh("kubectl get pods"), r"nosecret-worker-0 +0/1 +CreateContainerConfigError")

    @rows("S4-69")
    def test_an_image_that_is_not_there(self):
        pod = pod_spec("echo ran", {"image": "registry.invalid/none:1"})
        self.create(tfjob("noimage", [("Worker", 1, "Never", pod)]))
        self.until("it says so", lambda: any(
            "registry.invalid/none:1 is not on this machine" in said for said in self.messages("noimage-worker-0")))
