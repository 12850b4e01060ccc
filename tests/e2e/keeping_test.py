"""What the plane keeps and keeps up: logs of jobs that are gone, files of configMaps in running pods,
sizes of emptyDirs and of pods, groups of volumes, and what `status` says of it all."""

import json
import pathlib
import unittest

from plane import PlaneCase, plain_pod
from yard import shell_role, tfjob


class Keeping(PlaneCase):
    def test_logs_of_a_job_that_was_deleted(self):
        counting = ("n=$(cat /v/$HOSTNAME 2>/dev/null || echo 0); echo $((n+1)) > /v/$HOSTNAME; "
                    "echo $HOSTNAME run $n; test $n -gt 0 || exit 143")
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "counts"},
                         "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}})
        role = shell_role(2, counting, restartPolicy="ExitCode",
                          container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
                          pod={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "counts"}}]})
        self.api.create(tfjob("gone", {"Worker": role}, success="AllWorkers"))
        self.wait_for_condition("gone", "Succeeded")
        self.verb("delete", "gone", "--wait")
        self.assertIsNone(self.api.get("TFJob", "gone"))
        self.assertEqual(self.verb("logs", "gone"), "gone-worker-0 run 1\n")
        self.assertEqual(self.verb("logs", "tfjob/gone", "-r", "worker-1"), "gone-worker-1 run 1\n")
        self.assertEqual(self.verb("logs", "gone", "-r", "worker-1", "--previous"), "gone-worker-1 run 0\n")
        both = self.verb("logs", "gone", "--all")
        self.assertIn("worker-0 | gone-worker-0 run 1", both)
        self.assertIn("worker-1 | gone-worker-1 run 1", both)
        status, out, err = self.trainyard("logs", "--kubeconfig", self.data / "kubeconfig", "gone")
        self.assertEqual((status, out), (0, "gone-worker-0 run 1\n"), err)
        status, _, err = self.trainyard("logs", "--data-dir", self.data, "gone", "-r", "worker-7")
        self.assertEqual(status, 1)
        self.assertIn("of it are kept: worker-0, worker-1", err)
        status, _, err = self.trainyard("logs", "--data-dir", self.data, "tft/gone")
        self.assertEqual(status, 1)
        self.assertIn("there is no TensorFlowTrainingJob 'gone'", err)

    def test_files_of_a_config_map_follow_it_into_a_running_pod(self):
        self.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "moving"},
                         "data": {"a": "before", "old": "x"}})
        script = "cat /c/a; echo; until grep -q after /c/a; do sleep 0.1; done; ls /c; cat /c/a"
        self.api.create(plain_pod("follower", script, container={"volumeMounts": [{"name": "c", "mountPath": "/c"}]},
                                  pod={"volumes": [{"name": "c", "configMap": {"name": "moving"}}]}))
        self.wait_until("it to read", lambda: "before" in self.api.log("follower"))
        self.api.patch("ConfigMap", "moving", {"data": {"a": "after", "old": None, "new": "y"}})
        self.wait_for_phase("Pod", "follower", "Succeeded")
        self.assertEqual(self.api.log("follower"), "before\na\nnew\nafter")

    def test_an_empty_dir_that_grows_too_large_evicts_its_pod(self):
        self.api.create(plain_pod("big", "head -c 3000000 /dev/zero > /e/f; exec sleep 300",
                                  container={"volumeMounts": [{"name": "e", "mountPath": "/e"}]},
                                  pod={"volumes": [{"name": "e", "emptyDir": {"sizeLimit": "1Mi"}}]}))
        self.wait_for_phase("Pod", "big", "Failed")
        status = self.api.get("Pod", "big")["status"]
        self.assertEqual(status["reason"], "Evicted")
        self.assertIn('Usage of EmptyDir volume "e" exceeds the limit "1Mi"', status["message"])

    def test_volumes_belong_to_the_group_of_the_pod(self):
        self.api.create(plain_pod("grouped", "stat -c '%g %a' /e; id -G; echo x > /e/f && stat -c %g /e/f",
                                  container={"volumeMounts": [{"name": "e", "mountPath": "/e"}]},
                                  pod={"volumes": [{"name": "e", "emptyDir": {}}],
                                       "securityContext": {"fsGroup": 2345, "runAsUser": 1234, "runAsGroup": 1234}}))
        self.wait_for_phase("Pod", "grouped", "Succeeded")
        folder, groups, made = self.api.log("grouped").splitlines()
        self.assertEqual(folder.split()[0], "2345")
        self.assertIn("2345", groups.split())
        self.assertEqual(made, "2345")

    def test_status_says_what_one_wants_to_know(self):
        self.api.create(tfjob("counted", {"Worker": shell_role(1, "true")}))
        self.wait_for_condition("counted", "Succeeded")
        out = self.verb("status")
        for word in ("version", "process", "since", "kubeconfig", "runtime", "pods", "store", "logs"):
            self.assertRegex(out, rf"(?m)^  {word} +\S")
        self.assertRegex(out, rf"(?m)^  address +https://127.0.0.1:{self.api.port}$")
        self.assertRegex(out, r"(?m)^  jobs +.*\d+ succeeded")

    def test_a_pod_is_resized_while_it_runs(self):
        self.api.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "signs"},
                         "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}})
        # What it holds at the end would end it under the limit that it begins with.
        script = ("echo begun; until [ -e /s/go ]; do sleep 0.05; done; "
                  "head -c 80000000 /dev/zero | tail -c 80000000 | wc -c")
        small, large = {"cpu": "100m", "memory": "48Mi"}, {"cpu": "150m", "memory": "160Mi"}
        self.api.create(plain_pod("grown", script,
                                  container={"resources": {"limits": small}, "volumeMounts": [{"name": "s", "mountPath": "/s"}]},
                                  pod={"volumes": [{"name": "s", "persistentVolumeClaim": {"claimName": "signs"}}]}))
        self.wait_until("it to begin", lambda: "begun" in self.api.log("grown"))
        name = self.api.get("Pod", "grown")["spec"]["containers"][0]["name"]
        patch = {"spec": {"containers": [{"name": name, "resources": {"requests": large, "limits": large}}]}}
        status, body = self.api.raw("PATCH", self.api.path("Pod", "grown") + "/resize", json.dumps(patch),
                                    {"Content-Type": "application/strategic-merge-patch+json"})
        self.assertEqual(status, 200, body)

        def given():
            return self.api.get("Pod", "grown")["status"]["containerStatuses"][0]["resources"].get("requests")

        self.wait_until("it to be given more", lambda: given() == large)
        self.wait_until("that to be over", lambda: "PodResizeInProgress" not in
                        [each["type"] for each in self.api.get("Pod", "grown")["status"]["conditions"]])
        (pathlib.Path(self.data) / "volumes" / "default" / "signs" / "go").write_text("")
        self.wait_for_phase("Pod", "grown", "Succeeded")
        self.assertEqual(self.api.log("grown"), "begun\n80000000\n")


if __name__ == "__main__":
    unittest.main()
