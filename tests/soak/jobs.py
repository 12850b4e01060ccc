"""The jobs of the soak: they start, end, are tried again and are deleted, and each replica writes down
when it began and how it ended, in a file of a claim that outlives everything."""

import collections
import pathlib

from api import Broken, Refused
from load import CORE, JOBS, Worker

TRAINER = pathlib.Path(__file__).resolve().parents[2] / "examples/trainer/trainer.py"
CLAIM = "soak-runs"
AT_ONCE = 3
# One line per event, appended in one write. $WORK is what the replica does.
SCRIPT = """echo "start $POD $POD_UID" >> /runs/lines
%s
code=$?
echo "end $POD $POD_UID $code" >> /runs/lines
exit $code"""
FAIL_ONCE = "[ -e /runs/$POD.tried ] || { touch /runs/$POD.tried; (exit 137); }"


class Job:
    def __init__(self, name, replicas, work, env):
        self.name = name
        self.replicas = replicas
        self.body = {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"successPolicy": "AllWorkers", "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 20},
                     "tfReplicaSpecs": {"Worker": {
                "replicas": replicas, "restartPolicy": "ExitCode",
                "template": {"spec": {
                    "terminationGracePeriodSeconds": 2,
                    "containers": [{
                        "name": "tensorflow", "image": "example/none:1",
                        "command": ["/bin/sh", "-c", SCRIPT % work],
                        "env": env + [
                            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                            {"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}],
                        "volumeMounts": [{"name": "runs", "mountPath": "/runs"},
                                         {"name": "script", "mountPath": "/script"}]}],
                    "volumes": [{"name": "runs", "persistentVolumeClaim": {"claimName": CLAIM}},
                                {"name": "script", "configMap": {"name": "soak-trainer"}}]}}}}}}
        self.state = "wanted"  # wanted, made, succeeded, failed, deleted

    def names(self):
        return {f"{self.name}-worker-{index}" for index in range(self.replicas)}


def ended(body):
    """'Succeeded', 'Failed' or None."""
    for condition in body.get("status", {}).get("conditions") or []:
        if condition["type"] in ("Succeeded", "Failed") and condition["status"] == "True":
            return condition["type"]
    return None


class Foreman(Worker):
    """Keeps some jobs under way, deletes a few on the way and most of those that ended."""

    def __init__(self, name, door, ledger, seed, mark):
        super().__init__(name, door, ledger, seed)
        self.env = [dict(zip(("name", "value"), mark.split("=")))]
        self.has_room = True  # False: no more new jobs
        self.count = 0
        self.jobs = {}
        self.equipped = False
        self.tally = collections.Counter()

    def create(self, path, body):
        try:
            self.client.ask("POST", path, body)
        except Refused as refusal:
            if refusal.status != 409:
                raise

    def equip(self):
        self.create("/api/v1/namespaces", {"metadata": {"name": "soak"}})
        self.create(f"{CORE}/default/persistentvolumeclaims", {
            "metadata": {"name": CLAIM},
            "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}})
        self.create(f"{CORE}/default/configmaps", {
            "metadata": {"name": "soak-trainer"}, "data": {"trainer.py": TRAINER.read_text()}})
        self.equipped = True

    def invent(self):
        self.count += 1
        what = self.rng.choice(("short", "short", "long", "retry", "train"))
        work = {
            "short": "sleep 0.%d" % self.rng.randrange(1, 9),
            "long": "sleep %d" % self.rng.randrange(2, 7),
            "retry": FAIL_ONCE,
            "train": "python3 /script/trainer.py --steps=%d --pause=0.01" % self.rng.randrange(5, 40),
        }[what]
        return Job(f"j{self.count}-{what}", self.rng.randrange(1, 4), work, self.env)

    def turn(self):
        if not self.equipped:
            self.equip()
        live = [job for job in self.jobs.values() if job.state in ("wanted", "made")]
        if len(live) < AT_ONCE and self.has_room:
            job = self.invent()
            self.jobs[job.name] = job
            live.append(job)
        for job in live:
            self.tend(job)
        self.stopping.wait(0.2)

    def tend(self, job):
        if job.state == "wanted":
            self.create(JOBS, job.body)
            job.state = "made"
            self.tally["made"] += 1
        elif self.rng.random() < 0.004:
            self.remove(job, "deleted")
        else:
            self.look(job)

    def look(self, job):
        try:
            end = ended(self.client.ask("GET", f"{JOBS}/{job.name}"))
        except Refused as refusal:
            if refusal.status != 404:
                raise
            self.ledger.wrong.append(("jobs", f"{job.name} was acknowledged and is not there"))
            job.state = "lost"
            return
        if end:
            job.state = end.lower()
            self.tally[job.state] += 1
            if end == "Failed":
                self.ledger.wrong.append(("jobs", f"{job.name} failed"))
            elif self.rng.random() < 0.8:
                self.remove(job, job.state)

    def remove(self, job, state):
        job.state = state
        for _ in range(200):
            try:
                self.client.ask("DELETE", f"{JOBS}/{job.name}")
            except Refused as refusal:
                if refusal.status != 404:
                    raise
            except Broken:
                self.stopping.wait(0.1)
                continue
            self.tally["removed"] += 1
            return

    def is_done(self):
        return not any(job.state in ("wanted", "made") for job in self.jobs.values())

    def must_have_succeeded(self):
        return set().union(*(job.names() for job in self.jobs.values() if job.state == "succeeded"))
