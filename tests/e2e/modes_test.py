"""What jobs can be told while they run and when they end: debug, pause and resume, suspend, abort,
time to live, deadlines, clean-up. One test per feature of the three dialects."""

import unittest

from plane import PlaneCase, Refused, t9k_job, volcano_job
from yard import shell_role, tfjob

STAYS = "echo started; exec sleep 300"
INIT = {"initContainers": [{"name": "init", "image": "example/none:1", "command": ["/bin/sh", "-c", "echo init"]}]}


class Modes(PlaneCase):
    def running(self, job, count):
        self.wait_until(f"{count} pods of {job} to run",
                        lambda: list(self.pods_of(job).values()).count("Running") == count)
        return self.pods_of(job)

    def log_says(self, pod, text):
        self.wait_until(f"{pod} to say {text}", lambda: text in self.api.log(pod))

    # --- debug mode of TensorFlowTrainingJobs ---

    def test_debug_example_one_another_command_and_no_init_container(self):
        self.api.create(t9k_job("debug-one", {"worker": shell_role(2, "echo training", pod=INIT)}, runMode={
            "debug": {"enabled": True, "replicaSpecs": [
                {"type": "worker", "skipInitContainer": True,
                 "command": ["/bin/sh", "-c", "echo stand-in for sshd; exec sleep 300"]}]}}))
        for name in self.running("debug-one", 2):
            self.log_says(name, "stand-in for sshd")
            pod = self.api.get("Pod", name)
            self.assertFalse(pod["spec"].get("initContainers"))
        self.assertEqual(self.phase_of("TensorFlowTrainingJob", "debug-one"), "Running")
        self.api.delete("TensorFlowTrainingJob", "debug-one")

    def test_debug_example_two_everything_sleeps(self):
        self.api.create(t9k_job("debug-two", {"chief": shell_role(1, "exit 1", pod=INIT),
                                              "worker": shell_role(1, "exit 1", pod=INIT)},
                                runMode={"debug": {"enabled": True}}))
        for name in self.running("debug-two", 2):
            pod = self.api.get("Pod", name)
            self.assertEqual(pod["spec"]["containers"][0]["command"], ["sleep", "inf"])
            self.assertEqual([c["name"] for c in pod["spec"]["initContainers"]], ["init"])
            out = self.verb("exec", f"pod/{name}", "--", "echo", "looked around")
            self.assertIn("looked around", out)
        self.api.delete("TensorFlowTrainingJob", "debug-two")

    # --- pause and resume ---

    def test_a_paused_job_has_no_pods_and_resumes_as_its_resume_specs_say(self):
        self.api.create(t9k_job("pause-one", {"worker": shell_role(2, STAYS, pod=INIT)}, runMode={
            "pause": {"enabled": True, "resumeSpecs": [
                {"type": "worker", "skipInitContainer": True, "command": ["/bin/sh", "-c", "echo resumed"]}]}}))
        self.wait_for_phase("TensorFlowTrainingJob", "pause-one", "Paused")
        self.assertEqual(self.pods_of("pause-one"), {})
        with self.assertRaises(Refused) as refused:
            self.api.patch("TensorFlowTrainingJob", "pause-one", {"spec": {"runMode": {"pause": {"resumeSpecs": []}}}})
        self.assertIn("resumeSpecs", refused.exception.body)
        self.api.patch("TensorFlowTrainingJob", "pause-one", {"spec": {"runMode": {"pause": {"enabled": False}}}})
        self.wait_for_phase("TensorFlowTrainingJob", "pause-one", "Succeeded")
        out = self.verb("logs", "pause-one")
        self.assertEqual(out, "resumed\n")

    def test_a_running_job_is_paused_and_goes_on_with_its_own_command(self):
        self.api.create(t9k_job("pause-two", {"worker": shell_role(1, STAYS)}, runMode={"pause": {"enabled": False}}))
        (first,) = self.running("pause-two", 1)
        uid = self.api.get("Pod", first)["metadata"]["uid"]
        self.verb("pause", "pause-two")
        self.wait_for_phase("TensorFlowTrainingJob", "pause-two", "Paused")
        self.wait_until("its pod to be gone", lambda: self.pods_of("pause-two") == {})
        self.verb("resume", "pause-two")
        (second,) = self.running("pause-two", 1)
        self.assertNotEqual(self.api.get("Pod", second)["metadata"]["uid"], uid)
        self.wait_for_phase("TensorFlowTrainingJob", "pause-two", "Running")
        self.log_says(second, "started")
        self.api.delete("TensorFlowTrainingJob", "pause-two")

    def test_a_tfjob_is_suspended_and_resumed(self):
        self.api.create(tfjob("suspend", {"Worker": shell_role(2, STAYS)}, suspend=True))
        self.wait_for_condition("suspend", "Suspended")
        self.assertEqual(self.pods_of("suspend"), {})
        self.api.patch("TFJob", "suspend", {"spec": {"runPolicy": {"suspend": False}}})
        self.running("suspend", 2)
        self.wait_for_condition("suspend", "Suspended", "False")
        self.api.patch("TFJob", "suspend", {"spec": {"runPolicy": {"suspend": True}}})
        self.wait_until("its pods to go", lambda: self.pods_of("suspend") == {})
        self.wait_for_condition("suspend", "Suspended")
        self.api.delete("TFJob", "suspend")

    def test_a_volcano_job_is_aborted_and_resumed_by_commands(self):
        job = self.api.create(volcano_job("abort", {"worker": shell_role(2, STAYS)}))
        self.running("abort", 2)

        def command(action):
            self.api.create({"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command",
                             "metadata": {"generateName": "abort-"}, "action": action,
                             "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "abort",
                                        "uid": job["metadata"]["uid"], "controller": True}})
        command("AbortJob")
        self.wait_for_phase("Job", "abort", "Aborted")
        self.wait_until("its pods to go", lambda: self.pods_of("abort") == {})
        command("ResumeJob")
        self.running("abort", 2)
        self.wait_for_phase("Job", "abort", "Running")
        self.assertEqual(self.api.list("Command"), [])
        self.api.delete("Job", "abort")

    # --- the end ---

    def test_a_finished_job_lives_its_time_and_goes(self):
        for document in (tfjob("ttl-tf", {"Worker": shell_role(1, "true")}, ttlSecondsAfterFinished=1),
                         volcano_job("ttl-vc", {"worker": shell_role(1, "true")}, ttlSecondsAfterFinished=1)):
            name = document["metadata"]["name"]
            self.api.create(document)
            self.wait_until(f"{name} to be gone", lambda: self.api.get(document["kind"], name) is None)
            self.wait_until(f"pods of {name} to be gone", lambda: self.pods_of(name) == {})

    def test_a_job_that_takes_too_long_fails(self):
        self.api.create(tfjob("late-tf", {"Worker": shell_role(1, STAYS)}, activeDeadlineSeconds=1))
        self.api.create(t9k_job("late-t9k", {"worker": shell_role(1, STAYS)}, runPolicy={"activeDeadlineSeconds": 1}))
        self.wait_for_condition("late-tf", "Failed")
        self.wait_for_phase("TensorFlowTrainingJob", "late-t9k", "Failed")
        self.wait_until("no pod of late-tf to run", lambda: "Running" not in self.pods_of("late-tf").values())
        told = str(self.api.get("TFJob", "late-tf")["status"]["conditions"])
        self.assertIn("deadline", told.lower())

    def ended(self, document, roles):
        """The pods that are left once the worker has ended and the parameter server has not."""
        name = document["metadata"]["name"]
        self.api.create(document)
        if document["kind"] == "TFJob":
            self.wait_for_condition(name, "Succeeded")
        else:
            self.wait_for_phase(document["kind"], name, "Succeeded")

        def settled():
            left = self.pods_of(name)
            return sorted(n.split("-")[-2] for n in left) == sorted(roles)
        self.wait_until(f"of {name} just {roles} to be left", settled)

    def test_each_clean_up_policy(self):
        def roles():
            return {"PS": shell_role(1, STAYS), "Worker": shell_role(1, "sleep 0.5")}
        for policy, left in (("All", []), ("Running", ["worker"]), ("None", ["ps", "worker"])):
            with self.subTest(f"TFJob {policy}"):
                self.ended(tfjob(f"clean-tf-{policy.lower()}", roles(), cleanPodPolicy=policy), left)
        for policy, left in (("All", []), ("Unfinished", ["worker"]), ("None", ["ps", "worker"])):
            with self.subTest(f"TensorFlowTrainingJob {policy}"):
                small = {kind.lower(): role for kind, role in roles().items()}
                self.ended(t9k_job(f"clean-t9k-{policy.lower()}", small, runPolicy={"cleanUpPolicy": policy}), left)


if __name__ == "__main__":
    unittest.main()
