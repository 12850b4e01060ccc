"""The fifth document: gang scheduling with kube-batch and volcano, and a Job of Volcano's own."""

from world import Case, on_clusters, pod_spec, rows, tfjob

ROLE = """    {role}:
      replicas: {replicas}
      restartPolicy: Never
      template:
{annotations}        spec:
{scheduler}          containers:
            - name: tensorflow
              image: ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0
"""
TFJOB = """
apiVersion: "kubeflow.org/v1"
kind: "TFJob"
metadata:
  name: "dist-mnist-for-e2e-test"
spec:
  tfReplicaSpecs:
"""
GROUP_NAME = """        metadata:
          annotations:
            scheduling.k8s.io/group-name: tfjob-group
"""
BY_KUBE_BATCH = {"annotations": GROUP_NAME, "scheduler": "          schedulerName: kube-batch\n"}
KUBE_BATCH = """
apiVersion: scheduling.incubator.k8s.io/v1alpha1
kind: PodGroup
metadata:
  name: tfjob-group
spec:
  minMember: 6

---
""" + TFJOB + ROLE.format(role="PS", replicas=2, **BY_KUBE_BATCH) + ROLE.format(role="Worker", replicas=4, **BY_KUBE_BATCH)
PLAIN = {"annotations": "", "scheduler": ""}
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: dist-mnist-for-e2e-test
spec:
  minMember: 6
---
""" + TFJOB + ROLE.format(role="PS", replicas=2, **PLAIN) + ROLE.format(role="Worker", replicas=4, **PLAIN)
TASK = r"""    - replicas: {replicas}
      name: {role}
{policies}      template:
        spec:
          containers:
            - command:
                - sh
                - -c
                - |
                  PS_HOST=`cat /etc/volcano/ps.host | sed 's/$/&:2222/g' | sed 's/^/"/;s/$/"/' | tr "\n" ","`;
                  WORKER_HOST=`cat /etc/volcano/worker.host | sed 's/$/&:2222/g' | sed 's/^/"/;s/$/"/' | tr "\n" ","`;
                  export TF_CONFIG={{\"cluster\":{{\"ps\":[${{PS_HOST}}],\"worker\":[${{WORKER_HOST}}]}},\"task\":{{\"type\":\"{role}\",\"index\":${{VK_TASK_INDEX}}}},\"environment\":\"cloud\"}};
                  python /var/tf_dist_mnist/dist_mnist.py
              image: volcanosh/dist-mnist-tf-example:0.0.1
              name: tensorflow
              ports:
                - containerPort: 2222
                  name: tfjob-port
              resources: {{}}
          restartPolicy: Never
"""
VOLCANO_JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: tensorflow-dist-mnist
spec:
  minAvailable: 3
  schedulerName: volcano
  plugins:
    env: []
    svc: []
  policies:
    - event: PodEvicted
      action: RestartJob
  tasks:
""" + TASK.format(role="ps", replicas=1, policies="") + TASK.format(role="worker", replicas=2, policies="""      policies:
        - event: TaskCompleted
          action: CompleteJob
""")


class Schedulers(Case):
    def trains(self):
        self.becomes("tfjob", "dist-mnist-for-e2e-test", "Succeeded")
        self.assertRegex(self.sh("kubectl logs dist-mnist-for-e2e-test-worker-0"), "accuracy")

    @rows("S5-01", "S5-04", "S5-09", "S5-11")
    def test_a_job_scheduled_by_kube_batch(self):
        out = self.create(KUBE_BATCH)
        self.assertEqual(out, "podgroup.scheduling.incubator.k8s.io/tfjob-group created\n"
                              "tfjob.kubeflow.org/dist-mnist-for-e2e-test created\n")
        self.until("six pods", lambda: len(self.pods()) == 6)
        pod = self.get("pod", "dist-mnist-for-e2e-test-ps-1")
        self.assertEqual(pod["spec"]["schedulerName"], "kube-batch")
        self.assertEqual(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"], "tfjob-group")
        self.trains()

    @rows("S5-14")
    def test_a_job_scheduled_by_volcano(self):
        out = self.create(VOLCANO)
        self.assertEqual(out, "podgroup.scheduling.volcano.sh/dist-mnist-for-e2e-test created\n"
                              "tfjob.kubeflow.org/dist-mnist-for-e2e-test created\n")
        self.trains()


    def cpu_of_the_node(self):
        return int(self.world.api.get("/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"])

    @rows("S5-05")
    def test_all_or_nothing(self):
        self.sh("echo 'apiVersion: scheduling.incubator.k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: tfjob-group}\n"
                "spec: {minMember: 6}' > group.yaml; kubectl create -f group.yaml")
        third = {"resources": {"requests": {"cpu": f"{self.cpu_of_the_node() * 1000 // 5}m"}}}
        job = tfjob("toolarge", [("PS", 2, "Never", pod_spec("exec sleep 300", third)),
                                 ("Worker", 4, "Never", pod_spec("exec sleep 300", third))])
        for role in job["spec"]["tfReplicaSpecs"].values():
            role["template"]["metadata"] = {"annotations": {"scheduling.k8s.io/group-name": "tfjob-group"}}
            role["template"]["spec"]["schedulerName"] = "kube-batch"
        self.create(job)
        self.until("six pods", lambda: len(self.pods()) == 6)
        self.until("told why", lambda: any("cpu" in message for pod in self.pods() for message in self.messages(pod)))
        for pod in self.all("pod"):
            self.assertNotIn("nodeName", pod["spec"], "six do not fit, so none is placed")

    @rows("S5-08", "S5-09", "S5-10", "S5-13")
    def test_the_operator_makes_the_group(self):
        for scheduler, kind in (("kube-batch", "kube-batch-group"), ("volcano", "volcano-group")):
            roles = [("PS", 2, "Never", "exec sleep 300"), ("Worker", 4, "Never", "exec sleep 300")]
            self.create(tfjob(scheduler, roles, annotations={"trainyard.dev/gang-scheduler": scheduler}))
            self.becomes("tfjob", scheduler, "Running")
            group, = self.all(kind)
            self.assertEqual(group["spec"]["minMember"], 6)
            mine = [pod for pod in self.all("pod") if pod["metadata"]["name"].startswith(scheduler)]
            self.assertEqual({pod["spec"]["schedulerName"] for pod in mine}, {scheduler})
        self.create(VOLCANO)
        told = self.sh("trainyard explain --gang-scheduler-name volcano job.yaml")
        self.assertIn("PodGroup dist-mnist-for-e2e-test of Volcano: 6 pods start together or not at all", told)


class VolcanoJob(Case):
    @rows("S5-15", "S5-16", "S5-18", "S5-19", "S5-20")
    def test_as_printed(self):
        self.assertEqual(self.create(VOLCANO_JOB), "job.batch.volcano.sh/tensorflow-dist-mnist created\n")
        names = [f"tensorflow-dist-mnist-{tail}" for tail in ("ps-0", "worker-0", "worker-1")]
        self.until("three pods", lambda: sorted(self.pods()) == names)
        self.assertEqual(self.get("pod", names[0])["spec"]["schedulerName"], "volcano")
        self.becomes("vcjob", "tensorflow-dist-mnist", "Completed")
        self.until("the ps is stopped", lambda: self.pods().get(names[0]) != "Running")
        self.assertRegex(self.sh(f"kubectl logs {names[1]}"), "accuracy")

    @rows("S5-17")
    def test_an_evicted_pod_restarts_the_job(self):
        script = "exec sleep 300"
        task = lambda name, replicas: {"name": name, "replicas": replicas, "template": {
            "spec": {**pod_spec(script), "restartPolicy": "Never"}}}
        self.create({
            "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "evicted"},
            "spec": {"minAvailable": 3, "schedulerName": "volcano",
                     "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
                     "tasks": [task("ps", 1), task("worker", 2)]}})
        self.becomes("vcjob", "evicted", "Running")
        before = {pod["metadata"]["uid"] for pod in self.all("pod")}
        self.sh("kubectl delete pod evicted-worker-0 --grace-period=1")

        def all_new():
            now = {pod["metadata"]["uid"]: pod["status"].get("phase") for pod in self.all("pod")}
            return len(now) == 3 and not set(now) & before and set(now.values()) == {"Running"}

        self.until("all three are new", all_new)
