"""`trainyard run`: jobs to their end on this machine, in both runtimes."""

import os
import signal
import subprocess
import time
import unittest

from yard import ROOT, Yard, processes_with, shell_role, tfjob


class RunCases:
    """Cases that hold in every runtime."""

    def test_a_job_that_succeeds(self):
        status, out, err = self.run_job(tfjob("fine", {"Worker": shell_role(2, "echo hello from $HOSTNAME")}, success="AllWorkers"))
        self.assertEqual(status, 0, out + err)
        self.assertIn("worker-0 | hello from fine-worker-0", out)
        self.assertIn("worker-1 | hello from fine-worker-1", out)
        self.assertIn("TFJob fine succeeded", out)

    def test_the_exit_status_is_that_of_the_replica_that_failed(self):
        status, out, err = self.run_job(
            tfjob("bad", {"Worker": shell_role(1, "echo broken >&2; exit 3", restartPolicy="ExitCode")}))
        self.assertEqual(status, 3, out + err)
        self.assertIn("worker-0 | broken", out)
        self.assertIn("TFJob bad failed", out)
        self.assertIn("worker-0 failed with exit code 3, which is not retried", out)

    def test_the_last_words_are_those_of_the_replica_that_failed(self):
        script = "case $HOSTNAME in *-1) echo wrong shapes >&2; exit 3;; esac; sleep 60"
        job = tfjob("loud", {"Worker": shell_role(2, script, restartPolicy="Never")})
        for options in ([], ["--quiet"]):
            status, out, err = self.run_job(job, options=options)
            self.assertEqual(status, 3, out + err)
            self.assertIn("worker-1 failed with exit code 3.\nworker-1 printed last:\n  wrong shapes\n", out)

    def test_a_retryable_failure_is_retried(self):
        script = "test -e $DIR/once && exit 0; touch $DIR/once; exit 143"
        role = shell_role(1, script, restartPolicy="ExitCode", container={
            "env": [{"name": "DIR", "value": str(self.home)}]},)
        if self.runtime == "sandbox":
            role["template"]["spec"]["containers"][0]["volumeMounts"] = [
                {"name": "home", "mountPath": str(self.home)}]
            role["template"]["spec"]["volumes"] = [
                {"name": "home", "hostPath": {"path": str(self.home)}}]
        status, out, err = self.run_job(tfjob("again", {"Worker": role}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("with 1 restart", out)

    def test_what_ends_at_once_is_heard(self):
        role = shell_role(1, "echo no such data >&2; exit 1", restartPolicy="OnFailure")
        status, out, err = self.run_job(tfjob("brief", {"Worker": role}, backoffLimit=1))
        self.assertNotEqual(status, 0, out + err)
        self.assertIn("worker-0 | no such data", out)
        self.assertIn("worker-0 failed again and no restart is left", out)

    def test_secrets_and_configmaps_become_environment(self):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "hidden"}}
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"COLOR": "green"}}
        role = shell_role(1, "echo $COLOR $SECRET $(POD)", container={
            "command": ["/bin/sh", "-c", "echo $COLOR $SECRET $(POD)"],
            "envFrom": [{"configMapRef": {"name": "c"}}],
            "env": [
                {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}},
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]})
        status, out, err = self.run_job(secret, config, tfjob("env", {"Worker": role}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("worker-0 | green hidden env-worker-0", out)
        self.assertNotIn("hidden", err)

    def test_a_manifest_that_is_wrong_is_refused_with_its_line(self):
        status, out, err = self.run_job(tfjob("wrong", {"Worker": {"replicas": -1, "template": {"spec": {}}}}))
        self.assertEqual(status, 1)
        self.assertIn("manifest.yaml:1: spec.tfReplicaSpecs[Worker].replicas", err)

    def test_what_can_never_come_is_told_before_anything_starts(self):
        role = shell_role(1, "echo begun", container={
            "envFrom": [{"secretRef": {"name": "absent"}}], "resources": {"limits": {"nvidia.com/gpu": 4}}})
        status, out, err = self.run_job(tfjob("needy", {"Worker": role}, suspend=True))
        self.assertEqual(status, 1, out + err)
        self.assertNotIn("begun", out)
        self.assertIn("TFJob needy: needs Secret absent, which is in none of the documents", err)
        self.assertIn("TFJob needy: a pod needs 4 x nvidia.com/gpu; this machine has 0; --gpus declares them", err)
        self.assertIn("TFJob needy: it is suspended from the start", err)

    def test_a_key_or_a_volume_that_can_never_come_is_told_before_anything_starts(self):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"COLOR": "green"}}
        role = shell_role(1, "echo begun", container={
            "env": [{"name": "C", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "COLOUR"}}}]})
        role["template"]["spec"]["volumes"] = [
            {"name": "data", "nfs": {"server": "s", "path": "/"}},
            {"name": "host", "hostPath": {"path": "/no/such/folder", "type": "Directory"}}]
        status, out, err = self.run_job(config, tfjob("needy", {"Worker": role}))
        self.assertEqual(status, 1, out + err)
        self.assertNotIn("begun", out)
        self.assertIn("TFJob needy: needs key COLOUR of ConfigMap c, which has COLOR", err)
        self.assertIn("TFJob needy: volume data is of kind nfs, which is not to be had here", err)
        self.assertIn("TFJob needy: volume host: hostPath type check failed: /no/such/folder is not a directory", err)

    def test_what_is_not_given_is_told_before_anything_starts(self):
        role = shell_role(1, "echo begun")
        role["template"]["spec"]["securityContext"] = {"seccompProfile": {"type": "RuntimeDefault"}}
        role["template"]["spec"]["dnsPolicy"] = "None"
        role["template"]["spec"]["dnsConfig"] = {"nameservers": ["192.0.2.53"]}
        status, out, err = self.run_job(tfjob("strict", {"Worker": role}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("note: the seccomp profile RuntimeDefault is not applied\n", err)
        self.assertIn("note: dnsPolicy and dnsConfig are not applied", err)

    def test_a_command_that_is_not_there_is_named_at_the_end(self):
        for program in ("no-such-program", "a" + 90 * "\u8bad"):  # the second is told in part, and no byte of it is half
            role = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [
                {"name": "tensorflow", "image": "i", "command": [program]}]}}}
            status, out, err = self.run_job(tfjob("typo", {"Worker": role}))
            self.assertEqual(status, 127, out + err)
            self.assertRegex(out, rf"TFJob typo failed .*worker-0 failed with exit code 127 .*{program[:30]}.*\.\n")

    def test_a_node_that_this_machine_is_not_is_told_before_it_waits_for_ever(self):
        role = shell_role(1, "echo begun")
        role["template"]["spec"]["nodeSelector"] = {"gpu": "a100"}
        status, out, err = self.run_job(tfjob("choosy", {"Worker": role}))
        self.assertEqual(status, 1, out + err)
        self.assertIn("TFJob choosy: a pod wants a node gpu=a100, and this machine is none", err)

    def test_the_same_again_says_where_it_is(self):
        job = tfjob("twice", {"Worker": shell_role(1, "echo begun")})
        status, out, err = self.run_job(job, job)
        self.assertEqual(status, 1, out + err)
        self.assertIn('TFJob twice: tfjobs.kubeflow.org "twice" already exists; it is in the input twice', err)
        here = ["--data-dir", str(self.home / "here")]
        self.assertEqual(self.run_job(job, options=here)[0], 0)
        status, out, err = self.run_job(job, options=here)
        self.assertEqual(status, 1, out + err)
        self.assertIn("an earlier run with this --data-dir left it", err)

    def test_a_folder_that_a_run_has_is_no_plane(self):
        data = str(self.home / "here")
        process = self.start("run", "--data-dir", data, "--runtime", self.runtime,
                             self.manifest(tfjob("long", {"Worker": shell_role(1, "exec sleep 300")})))
        self.wait_until("the folder", lambda: "process" in self.trainyard("status", "--data-dir", data)[1])
        status, out, err = self.trainyard("status", "--data-dir", data)
        self.assertEqual(status, 1, out + err)
        self.assertIn(f"no plane answers in {data}; process {process.pid} has it: a 'trainyard run'", out)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 130)

    def test_a_container_with_nothing_to_run_is_told_before_it_waits_for_ever(self):
        role = {"replicas": 1, "template": {"spec": {"containers": [{"name": "tensorflow", "image": "not.here/x:1"}]}}}
        status, out, err = self.run_job(tfjob("mute", {"Worker": role}))
        self.assertEqual(status, 1, out + err)
        self.assertRegex(err, "TFJob mute: container tensorflow has no command, and .*image.*not.here/x:1")

    def test_a_job_without_replicas_is_told_before_it_waits_for_ever(self):
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "command": ["true"]}]}}
        status, out, err = self.run_job({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "none"},
                                         "spec": {"tasks": [{"name": "w", "replicas": 0, "template": template}]}})
        self.assertEqual(status, 1, out + err)
        self.assertIn("Job none: it has no replicas", err)

    def test_room_on_the_disk_may_be_asked_for(self):
        role = shell_role(1, "echo hello", container={"resources": {"limits": {"ephemeral-storage": "1Mi"}}})
        status, out, err = self.run_job(tfjob("disk", {"Worker": role}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("container tensorflow: the limit of ephemeral-storage is not enforced", err)

    def test_replicas_of_several_jobs_are_told_apart(self):
        jobs = [tfjob(name, {"Worker": shell_role(1, f"echo hello {name}")}) for name in ("one", "two")]
        status, out, err = self.run_job(*jobs)
        self.assertEqual(status, 0, out + err)
        for name in ("one", "two"):
            self.assertIn(f"{name}/worker-0 | hello {name}", out)
            self.assertIn(f"{name}/worker-0: succeeded", out)

    def test_interrupted_it_stops_its_replicas(self):
        marker = f"TRAINYARD_E2E_MARK={self.id()}-{os.getpid()}"
        name, value = marker.split("=")
        job = tfjob("long", {"Worker": shell_role(2, "echo begun; exec sleep 300", container={
            "env": [{"name": name, "value": value}]})})
        process = self.start("run", "--runtime", self.runtime, self.manifest(job))
        self.wait_until("two replicas", lambda: len(processes_with(marker)) >= 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("TFJob long was stopped by you after", out)
        self.wait_until("no replica left", lambda: not processes_with(marker), 20)

    def test_when_nobody_reads_any_more_it_stops_its_replicas(self):
        marker = f"TRAINYARD_E2E_MARK={self.id()}-{os.getpid()}"
        name, value = marker.split("=")
        job = tfjob("unread", {"Worker": shell_role(1, "while :; do echo more; sleep 0.1; done", container={
            "env": [{"name": name, "value": value}]})})
        process = self.start("run", "--runtime", self.runtime, self.manifest(job))
        self.wait_until("a replica", lambda: processes_with(marker))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertIn("nobody reads what is printed here any more", process.stderr.read())
        self.wait_until("no replica left", lambda: not processes_with(marker), 20)

    def test_a_parameter_server_is_stopped_when_the_job_is_decided(self):
        status, out, err = self.run_job(tfjob("ps", {
            "PS": shell_role(1, "trap 'exit 0' TERM; while :; do sleep 0.1; done"),
            "Worker": shell_role(1, "sleep 0.5; echo done")}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("TFJob ps succeeded", out)

    def run_example(self, name):
        status, out, err = self.trainyard("run", "--runtime", self.runtime, ROOT / "examples" / name, timeout=180)
        self.assertEqual(status, 0, out + err)
        self.assertIn("accuracy", out)
        return out

    def test_examples_of_every_dialect_train(self):
        for name in ("tfjob-allreduce.yaml", "t9k-ps.yaml", "volcano-allreduce.yaml"):
            with self.subTest(name):
                self.env["XDG_STATE_HOME"] = str(self.home / name)  # no checkpoint of another example
                self.run_example(name)


class ProcessRun(RunCases, Yard):
    runtime = "process"

    def test_replicas_of_a_run_that_was_killed_are_spoken_of(self):
        killed = self.start("run", "--runtime", self.runtime,
                            self.manifest(tfjob("left", {"Worker": shell_role(1, "echo up; exec sleep 600")})))
        while "| up" not in killed.stdout.readline():
            self.assertIsNone(killed.poll())
        killed.kill()
        killed.wait()
        words = "1 replica of a run that was killed still runs: 'trainyard up --data-dir "
        status, out, _ = self.trainyard("status")
        self.assertEqual(status, 1)
        self.assertIn(words, out)
        folder = out.split(words)[1].split("'")[0]
        status, _, err = self.run_job(tfjob("next", {"Worker": shell_role(1, "true")}))
        self.assertEqual(status, 0, err)
        self.assertIn("note: " + words + folder, err)
        status, out, err = self.trainyard("up", "--detach", "--data-dir", folder)
        self.assertEqual(status, 0, err)
        status, out, err = self.trainyard("down", "--data-dir", folder)
        self.assertEqual(status, 0, err)
        self.assertNotIn("was killed", self.trainyard("status")[1])


class SandboxRun(RunCases, Yard):
    runtime = "sandbox"

    def test_replicas_have_addresses_of_their_own(self):
        listen = "python3 -c 'import socket; s=socket.create_server((\"0.0.0.0\", 2222)); c,_=s.accept(); c.sendall(b\"met\")'"
        meet = ("for i in $(seq 100); do python3 -c 'import socket; "
                "print(socket.create_connection((\"net-ps-0.default.svc\", 2222)).recv(9).decode())' "
                "2>/dev/null && exit 0; sleep 0.1; done; exit 9")
        status, out, err = self.run_job(tfjob("net", {"PS": shell_role(1, listen), "Worker": shell_role(1, meet)}))
        self.assertEqual(status, 0, out + err)
        self.assertIn("worker-0 | met", out)

    def test_names_in_tf_config_lead_to_replicas_in_any_cluster_domain(self):
        script = ("python3 -c 'import json, os, socket; hosts = json.loads(os.environ[\"TF_CONFIG\"])[\"cluster\"][\"worker\"]; "
                  "print(\"reached\", hosts[0], socket.gethostbyname(hosts[0].split(\":\")[0]) == os.environ[\"IP\"])'")
        role = shell_role(1, script, container={
            "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]})
        # A second worker, so that there is a TF_CONFIG; it looks for the first as well, and cannot be it.
        role["replicas"] = 2
        status, out, err = self.run_job(tfjob("far", {"Worker": role}, success="AllWorkers"),
                                        options=["--cluster-domain", "example.org"])
        self.assertEqual(status, 0, out + err)
        self.assertIn("worker-0 | reached far-worker-0.default.svc.example.org:2222 True", out)

    def test_the_program_that_makes_sandboxes_can_be_chosen(self):
        """Where it does not work here, that is said and nothing starts."""
        job = tfjob("chosen", {"Worker": shell_role(1, "echo begun")})
        for program in ("runc", "crun"):
            status, out, err = self.trainyard("run", "--runtime", program, self.manifest(job))
            self.assertEqual("worker-0 | begun" in out, status == 0, out + err)
            if status != 0:
                self.assertRegex(err, f"sandboxes do not work here: {program} (is not installed|does not work|needs)")

    def test_a_replica_that_takes_too_much_memory_is_told_apart(self):
        role = shell_role(1, "python3 -c 'x = bytearray(300 << 20)'", container={
            "resources": {"limits": {"memory": "50Mi"}}})
        role["restartPolicy"] = "Never"
        status, out, err = self.run_job(tfjob("oom", {"Worker": role}))
        self.assertEqual(status, 137, out + err)
        self.assertIn("OOMKilled", out)

    def test_the_host_is_not_written_to(self):
        status, out, err = self.run_job(tfjob("clean", {
            "Worker": shell_role(1, "echo x > /usr/trainyard-e2e && cat /usr/trainyard-e2e")}))
        self.assertEqual(status, 0, out + err)
        self.assertFalse(os.path.exists("/usr/trainyard-e2e"))


if __name__ == "__main__":
    unittest.main()
