"""The first document: what a TensorFlowTrainingJob is, restarts, ends and leaves behind."""

import json

from world import Case, claim, forever, keeps, on_clusters, once, pod_spec, rows, tj

EXAMPLE = """
apiVersion: batch.tensorstack.dev/v1beta1
kind: TensorFlowTrainingJob
metadata:
  name: tensorflow-example
spec:
  replicaSpecs:
  - replicas: 4
    restartPolicy: OnFailure
    template:
      spec:
        containers:
        - command:
          - python
          - dist_mnist.py
          image: tensorflow/tensorflow:2.11.0
          name: tensorflow
          resources:
            limits:
              cpu: 1
              memory: 2Gi
            requests:
              cpu: 500m
              memory: 1Gi
    type: worker
"""


def suffix(job):
    """Five digits of the 64-bit FNV-1a of name and uid: what the names of a job's children carry."""
    value = 0xCBF29CE484222325
    for byte in (job["metadata"]["name"] + job["metadata"]["uid"]).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"[:5]


class T9kCase(Case):
    def pod_name(self, job, role, index):
        return f"{job}-{suffix(self.get('tj', job))}-{role}-{index}"

    def phases(self, job):
        """{"worker-0": phase} of the pods that are there."""
        start = f"{job}-{suffix(self.get('tj', job))}-"
        return {name[len(start):]: phase for name, phase in self.pods().items() if name.startswith(start)}

    def restarts(self, job):
        return self.status("tj", job).get("backoffCount")

    def told_phases(self, job):
        """{"worker-0": phase} as status.tasks tells them."""
        return {f"{task['type']}-{i}": one["phase"]
                for task in self.status("tj", job).get("tasks", []) for i, one in enumerate(task["replicas"])}


class FirstJob(T9kCase):
    @rows("S1-01", "S1-02", "S1-03", "S1-04", "S1-06", "S1-09", "S2-02", "S2-03", "S2-04", "S2-01")
    @on_clusters
    def test_the_example_trains_as_printed(self):
        out = self.create(EXAMPLE, "tensorflow-example.yaml")
        self.assertEqual(out, "tensorflowtrainingjob.batch.tensorstack.dev/tensorflow-example created\n")
        self.until("four pods", lambda: len(self.pods()) == 4)
        pod = self.get("pod", self.pod_name("tensorflow-example", "worker", 3))
        main = pod["spec"]["containers"][0]
        self.assertEqual(main["image"], "tensorflow/tensorflow:2.11.0")
        self.assertEqual(main["command"], ["python", "dist_mnist.py"])
        self.assertEqual(main["resources"]["limits"]["memory"], "2Gi")
        told = {one["name"]: one.get("value") for one in main["env"]}
        config = json.loads(told["TF_CONFIG"])
        self.assertEqual(len(config["cluster"]["worker"]), 4)
        self.assertEqual(config["task"], {"type": "worker", "index": 3})
        self.becomes("tj", "tensorflow-example", "Succeeded")
        self.logs(self.pod_name("tensorflow-example", "worker", 0), "accuracy (0.9|1.0)")
        self.assertRegex(self.sh("kubectl get tj"), r"NAME +PHASE +AGE\ntensorflow-example +Succeeded +")

    @rows("S1-07")
    @on_clusters
    def test_the_main_container_has_a_name(self):
        pod = pod_spec("exit 0")
        pod["containers"][0]["name"] = "main"
        self.write("job.yaml", [tj("nameless", [("worker", 1, "Never", pod)])])
        said = self.sh("kubectl create -f job.yaml", fails=True)
        # A CRD's rule can name the replica alone.
        where = "spec.replicaSpecs[0].template.spec.containers" if self.world.own_plane else "spec.replicaSpecs[0]: "
        self.assertIn(where, said)
        self.assertIn("tensorflow", said)

    @rows("S1-08", "S2-06")
    @on_clusters
    def test_four_types_of_replica(self):
        roles = ("chief", "worker", "ps", "evaluator")
        self.create(tj("four", [(role, 1, "Never", "exec sleep 300") for role in roles]))
        self.until("four pods", lambda: set(self.phases("four")) == {f"{role}-0" for role in roles})
        self.write("bad.yaml", [tj("bad", [("master", 1, "Never", "exit 0")])])
        said = self.sh("kubectl create -f bad.yaml", fails=True)
        self.assertIn('spec.replicaSpecs[0].type: Unsupported value: "master"', said)


class SuccessAndFailure(T9kCase):
    @rows("S1-10", "S1-16", "S2-31", "S2-33", "S2-38")
    @on_clusters
    def test_the_chief_decides(self):
        self.create(tj("led", [("chief", 1, "Never", "sleep 1"), ("worker", 2, "Never", "exec sleep 300")]))
        self.becomes("tj", "led", "Succeeded")

    @rows("S1-11", "S2-32")
    @on_clusters
    def test_without_a_chief_worker_0_decides(self):
        script = 'case $HOSTNAME in *-0) sleep 1;; *) exec sleep 300;; esac'
        self.create(tj("alone", [("ps", 1, "Never", "exec sleep 300"), ("worker", 2, "Never", script)]))
        self.create(tj("other", [("worker", 2, "Never", "case $HOSTNAME in *-0) sleep 5;; *) exit 3;; esac")]))
        self.create(tj("first", [("worker", 2, "Never", "case $HOSTNAME in *-0) exit 3;; *) exec sleep 300;; esac")]))
        self.becomes("tj", "alone", "Succeeded")
        self.becomes("tj", "other", "Succeeded")
        self.becomes("tj", "first", "Failed")

    @rows("S1-12", "S2-34")
    @on_clusters
    def test_the_failure_of_the_main_replica_is_the_failure_of_the_job(self):
        self.create(tj("ledbad", [("chief", 1, "Never", "exit 3"), ("worker", 1, "Never", "exec sleep 300")]))
        self.becomes("tj", "ledbad", "Failed")
        self.create(tj("worker0", [("worker", 1, "Never", "exit 3")]))
        self.becomes("tj", "worker0", "Failed")

    @rows("S1-12", "S2-34", "S2-68")
    @on_clusters
    def test_a_lesser_replica_may_fail(self):
        self.create(tj("lesser", [("chief", 1, "Never", "sleep 10"), ("worker", 1, "Never", "exit 3")]))
        self.until("the failure is told", lambda: self.conditions("tj", "lesser").get(
            "ReplicaFailure", {}).get("status") == "True")
        self.becomes("tj", "lesser", "Succeeded")

    @rows("S1-13", "S2-35")
    @on_clusters
    def test_a_lost_replica_comes_back(self):
        self.create(tj("lost", [("worker", 1, "OnFailure", "exec sleep 300")], {"backoffLimit": 0}))
        self.becomes("tj", "lost", "Running")
        name = self.pod_name("lost", "worker", 0)
        uid = self.get("pod", name)["metadata"]["uid"]
        self.sh(f"kubectl delete pod {name} --grace-period=1")
        self.until("another pod of that name runs", lambda: (
            (pod := self.get("pod", name)) and pod["metadata"]["uid"] != uid and pod["status"]["phase"] == "Running"))
        self.assertEqual(self.restarts("lost"), 0, "what somebody else did is not charged")

    @rows("S1-14", "S2-36")
    @on_clusters
    def test_the_budget_is_spent_and_the_main_replica_fails_again(self):
        self.create(tj("spent", [("worker", 1, "OnFailure", "exit 3")], {"backoffLimit": 2}))
        self.becomes("tj", "spent", "Failed")
        self.assertEqual(self.restarts("spent"), 2)
        self.assertEqual(self.status("tj", "spent")["tasks"][0]["restartCount"], 2)

    @rows("S1-15", "S2-37")
    @on_clusters
    def test_the_deadline_fails_the_job(self):
        self.create(tj("late", [("worker", 1, "OnFailure", "exec sleep 300")], {"activeDeadlineSeconds": 2}))
        self.becomes("tj", "late", "Failed")
        self.assertIn("deadline", json.dumps(self.status("tj", "late")["conditions"]).lower())

    @rows("S1-16", "S2-38")
    @on_clusters
    def test_within_its_limits_it_succeeds(self):
        self.create(claim("state"))
        self.create(tj("within", [("worker", 1, "OnFailure", once(3))],
                       {"backoffLimit": 1, "activeDeadlineSeconds": 100}))
        self.becomes("tj", "within", "Succeeded")
        self.assertEqual(self.restarts("within"), 1)


class Restarts(T9kCase):
    @rows("S1-17", "S2-19")
    @on_clusters
    def test_the_policy_of_the_replica_overrides_that_of_the_template(self):
        self.create(tj("over", [("worker", 1, "Never", pod_spec("exit 3", restartPolicy="Always"))]))
        self.becomes("tj", "over", "Failed")
        self.assertEqual(self.get("pod", self.pod_name("over", "worker", 0))["spec"]["restartPolicy"], "Never")
        self.assertEqual(self.restarts("over"), 0)

    @rows("S1-18", "S2-20", "S2-24")
    @on_clusters
    def test_never(self):
        self.create(tj("never", [("worker", 1, "Never", "echo what went wrong; exit 137")]))
        self.becomes("tj", "never", "Failed")
        self.assertEqual(self.restarts("never"), 0)
        self.logs(self.pod_name("never", "worker", 0), "^what went wrong\n$")

    @rows("S1-05", "S1-19", "S2-05", "S2-21", "S2-80")
    @on_clusters
    def test_on_failure(self):
        self.create(claim("state"))
        # Worker 0 decides: in its second life it waits for that of the other.
        both = keeps("f=/state/$HOSTNAME; test -e $f || { touch $f; exit 1; }; touch $f.again; "
                     "until test $(ls /state | grep -c again) = 2; do sleep 0.1; done")
        self.create(tj("onfailure", [("worker", 2, "OnFailure", both)]))
        self.becomes("tj", "onfailure", "Succeeded")
        self.assertEqual(self.restarts("onfailure"), 2, "each was restarted once")
        self.assertEqual(self.status("tj", "onfailure")["tasks"][0]["restartCount"], 2, "of the type, together")

    @rows("S1-20", "S2-22")
    @on_clusters
    def test_always(self):
        roles = [("chief", 1, "Never", "exec sleep 300"), ("worker", 1, "Always", "sleep 0.3; exit 0")]
        self.create(tj("always", roles, {"backoffLimit": 2}))
        self.until("a replica that ended well starts again", lambda: (self.restarts("always") or 0) >= 1)

    def codes(self, name, codes, word, restarts):
        self.create(claim("state"))
        for code in codes:
            job = tj(f"{name}-{code}", [("worker", 1, "ExitCode", once(code))])
            self.create(job)
        for code in codes:
            self.becomes("tj", f"{name}-{code}", word)
            self.assertEqual(self.restarts(f"{name}-{code}"), restarts, code)

    @rows("S1-22", "S1-23", "S1-24", "S1-25", "S2-25", "S2-26", "S2-27", "S2-28")
    @on_clusters
    def test_exit_codes_that_are_worth_another_try(self):
        self.codes("again", (130, 137, 143, 138), "Succeeded", 1)

    @rows("S1-21", "S1-26", "S2-23", "S2-29")
    @on_clusters
    def test_exit_codes_that_are_not(self):
        self.codes("final", (1, 2, 42, 126, 127, 128, 139), "Failed", 0)

    @rows("S1-27", "S1-28", "S2-30", "S2-80")
    @on_clusters
    def test_all_replicas_share_one_budget(self):
        script = "sleep 0.2; exit 3"
        roles = [("chief", 1, "Never", "exec sleep 300"), ("worker", 3, "OnFailure", script)]
        self.create(tj("shared", roles, {"backoffLimit": 4}))
        spent = lambda: self.restarts("shared") == 4 and list(self.phases("shared").values()).count("Failed") == 3
        self.until("four restarts, and three workers that have failed for good", spent)
        self.assertEqual(self.phases("shared")["chief-0"], "Running", "the job itself goes on")
        counts = {task["type"]: task.get("restartCount", 0) for task in self.status("tj", "shared")["tasks"]}
        self.assertEqual(counts, {"chief": 0, "worker": 4})


class CleanUp(T9kCase):
    def ended(self, name, policy):
        """A job with a ps that still runs and a worker that has ended when its chief ends."""
        roles = [("chief", 1, "Never", "sleep 10"), ("ps", 1, "Never", forever()), ("worker", 1, "Never", "echo trained")]
        self.create(tj(name, roles, {"cleanUpPolicy": policy} if policy else None))
        self.becomes("tj", name, "Succeeded")

    @rows("S1-29", "S1-30", "S1-34", "S2-39", "S2-40", "S2-43")
    @on_clusters
    def test_none_keeps_all(self):
        self.ended("none", "None")
        kept = {"chief-0": "Succeeded", "ps-0": "Running", "worker-0": "Succeeded"}
        self.until("all as they were", lambda: self.phases("none") == kept)
        self.sh(f"kubectl delete pod {self.pod_name('none', 'ps', 0)}")
        del kept["ps-0"]
        self.until("what is deleted by hand is told", lambda: self.status("tj", "none")["aggregate"]["deleted"] == 1)
        self.assertEqual(self.phases("none"), kept, "and does not come back")
        self.assertEqual(self.phase("tj", "none"), "Succeeded")
        self.sh("kubectl delete tj none")
        self.until("deleted with the job", lambda: not self.pods())

    @rows("S1-31", "S2-41", "S2-81")
    @on_clusters
    def test_all_takes_all(self):
        self.ended("all", "All")
        self.until("no pod is left", lambda: not self.pods())
        self.until("all are told as deleted", lambda: self.status("tj", "all")["aggregate"]["deleted"] == 3)
        self.assertEqual(set(self.told_phases("all").values()), {"Deleted"})

    @rows("S1-32", "S1-33", "S2-42")
    @on_clusters
    def test_unfinished_takes_what_runs(self):
        self.ended("unfinished", "Unfinished")
        left = {"chief-0": "Succeeded", "worker-0": "Succeeded"}
        self.until("the ps is gone", lambda: self.phases("unfinished") == left)
        self.logs(self.pod_name("unfinished", "worker", 0), "^trained\n$")

    @rows("S1-35")
    @on_clusters(only=True)
    def test_where_a_quota_counts_pods_that_have_ended_all_makes_room(self):
        few = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"count/pods": "3"}}}
        status, answer = self.world.api.ask("POST", self.path("quota"), few)
        self.assertEqual(status, 201, answer)
        self.until("the quota counts", lambda: self.get("quota", "few").get("status", {}).get("hard"))
        self.ended("keeps", "Unfinished")
        self.until("the ps is gone", lambda: len(self.pods()) == 2)
        self.create(tj("next", [("worker", 2, "Never", "exec sleep 300")]))
        self.until("it says so", lambda: any("exceeded quota" in said for said in self.messages("next")))
        self.sh("kubectl delete tj keeps next")
        self.until("room", lambda: not self.pods())
        self.ended("takes", "All")
        self.until("no pod is left", lambda: not self.pods())
        self.create(tj("next", [("worker", 2, "Never", "exec sleep 300")]))
        self.becomes("tj", "next", "Running")
