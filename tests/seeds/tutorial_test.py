"""The third document: a tutorial of TFJob v1beta1, from a first job to results that outlive it."""

from world import Case, claim, on_clusters, rows, tfjob

JOB = """
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata:
  name: {name}
spec:
  tfReplicaSpecs:
    MASTER:
      replicas: 1
      template:
        spec:
          containers:
            - image: someone/tf-mnist:gpu{comment}
              name: tensorflow
              resources:
                limits:
                  nvidia.com/gpu: 1
          restartPolicy: OnFailure
"""
WITH_SHARE = """
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata:
  name: module6-ex2-gpu
spec:
  tfReplicaSpecs:
    MASTER:
      replicas: 1
      template:
        spec:
          containers:
            - image: someone/tf-mnist:gpu
              name: tensorflow
              resources:
                limits:
                  nvidia.com/gpu: 1
              volumeMounts:
                - name: azurefile
                  subPath: module6-ex2-gpu
                  mountPath: /tmp/tensorflow
          volumes:
            - name: azurefile
              persistentVolumeClaim:
                claimName: azurefile
          restartPolicy: OnFailure
"""
LOOK = tfjob("look", [("Worker", 1, "Never", {
    "containers": [{
        "name": "tensorflow", "image": "tensorflow/tensorflow:2.11.0", "command": ["ls", "-R", "/share/module6-ex2-gpu"],
        "volumeMounts": [{"name": "share", "mountPath": "/share"}]}],
    "volumes": [{"name": "share", "persistentVolumeClaim": {"claimName": "azurefile"}}]})])


class Tutorial(Case):
    @rows("S3-01", "S3-02", "S3-04", "S3-06", "S3-07")
    @on_clusters
    def test_a_simple_training(self):
        self.assertRegex(self.sh("kubectl api-resources"), r"\ntfjobs +kubeflow.org/v1 +true +TFJob")
        self.assertEqual(self.create(JOB.format(name="example-tfjob", comment="")),
                         "tfjob.kubeflow.org/example-tfjob created\n")
        self.becomes("tfjob", "example-tfjob", "Succeeded")
        pod = self.get("pod", "example-tfjob-master-0")
        self.assertEqual(pod["spec"]["restartPolicy"], "OnFailure", "what the template says is what counts here")

    @rows("S3-03", "S3-08", "S3-09", "S3-10", "S3-11", "S3-13", "S3-14")
    @on_clusters
    def test_exercise_1(self):
        self.create(JOB.format(name="module6-ex1-gpu", comment=" # 从镜像中拉取"), "tfjod.yaml")
        self.assertRegex(self.sh("kubectl get tfjob"), r"^NAME +STATE +AGE\nmodule6-ex1-gpu +\w* +\d+s\n$")
        self.until("its pod", lambda: list(self.pods()) == ["module6-ex1-gpu-master-0"])
        told = self.sh("kubectl get pod")
        self.assertRegex(told, r"^NAME +READY +STATUS +RESTARTS +AGE\nmodule6-ex1-gpu-master-0 +[01]/1 +\w+ +0 +\d+s\n$")
        self.becomes("tfjob", "module6-ex1-gpu", "Succeeded")
        self.assertRegex(self.sh("kubectl get pod"), r"module6-ex1-gpu-master-0 +0/1 +Completed +0 ")
        self.logs("module6-ex1-gpu-master-0", "step 50/60 loss .* accuracy 0.9")
        limits = self.get("pod", "module6-ex1-gpu-master-0")["spec"]["containers"][0]["resources"]["limits"]
        self.assertEqual(str(limits["nvidia.com/gpu"]), "1")

    @rows("S3-03", "S3-05", "S3-11")
    @on_clusters
    def test_upper_case_types_and_one_replica_by_default(self):
        self.create("""
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata: {name: upper}
spec:
  tfReplicaSpecs:
    MASTER: {template: &t {spec: {containers: [{name: tensorflow, image: i, command: [sleep, "300"]}]}}}
    WORKER: {template: *t}
    PS: {template: *t}
""")
        self.until("one pod each", lambda: sorted(self.pods()) == ["upper-master-0", "upper-ps-0", "upper-worker-0"])
        self.becomes("tfjob", "upper", "Running")
        self.assertRegex(self.sh("kubectl get pod"), r"\nupper-master-0 +1/1 +Running +0 +\d+s\n")

    @rows("S3-15", "S3-16", "S3-17", "S3-18", "S3-19", "S3-20")
    @on_clusters(but=("S3-15", "S3-20"))
    def test_exercise_2(self):
        share = claim("azurefile", "5Gi")
        share["spec"]["storageClassName"] = "azurefile"
        self.create(share)
        self.create(WITH_SHARE)
        self.until("the claim is bound", lambda: self.get("PersistentVolumeClaim", "azurefile")["status"]["phase"] == "Bound")
        told = self.sh("kubectl get pvc")
        self.assertRegex(told, "NAME +STATUS +VOLUME +CAPACITY +ACCESS MODES +STORAGECLASS .*AGE\n")
        self.assertRegex(told, r"azurefile +Bound +\S+ +5Gi +RWO +azurefile .*\d+s\n")
        self.assertIn("not found", self.sh("kubectl -n default get pvc azurefile", fails=True))
        self.becomes("tfjob", "module6-ex2-gpu", "Succeeded")
        pod = self.get("pod", "module6-ex2-gpu-master-0")["spec"]
        self.assertIn({"name": "azurefile", "subPath": "module6-ex2-gpu", "mountPath": "/tmp/tensorflow"},
                      pod["containers"][0]["volumeMounts"])
        self.assertIn({"name": "azurefile", "persistentVolumeClaim": {"claimName": "azurefile"}}, pod["volumes"])
        self.sh("kubectl delete tfjob module6-ex2-gpu")
        self.until("its pods are gone", lambda: not self.pods())
        self.create(LOOK)
        self.becomes("tfjob", "look", "Succeeded")
        self.logs("look-worker-0", "checkpoint.json")
        self.logs("look-worker-0", r"events\.out\.tfevents\.")

    @rows("S3-14")
    @on_clusters
    def test_more_gpus_than_there_are(self):
        job = JOB.format(name="many", comment="").replace("gpu: 1", "gpu: 64")
        self.create(job)
        self.until("it says so", lambda: any("nvidia.com/gpu" in said for said in self.messages("many-master-0")))
        self.assertEqual(self.pods(), {"many-master-0": "Pending"})
