"""What the cases are written with: jobs, waiting, the operator as a process."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

from api import ApiError
from cluster import ROOT, Cluster, Process, free_ports

TRAINYARD = os.environ.get("TRAINYARD", str(ROOT / "build/release/trainyard"))
NAMESPACE = "trainyard-system"
PATIENCE = 120  # seconds that something may take before it is a failure


class Failed(Exception):
    pass


def check(condition, words):
    if not condition:
        raise Failed(words)


def same(found, wanted, what=""):
    if found != wanted:
        raise Failed(f"{what}: found {found!r}, wanted {wanted!r}")


def until(question, what, seconds=PATIENCE, pause=0.1):
    """Asks until the answer is true, and gives it; `what` is told when it never is."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = question()
            if last:
                return last
        except (ApiError, OSError, http.client.HTTPException) as error:
            last = error
        time.sleep(pause)
    raise Failed(f"not within {seconds} s: {what() if callable(what) else what} (last: {str(last)[:300]})")


CASES = []


def case(name, alone=False, apart=False, early=False):
    """A case gets a World with a namespace of its own. Those that are alone disturb the others. Those that are apart have
    operators of their own, for their namespace only: they run beside one another, while that of the others rests. Early:
    it waits for long, so it begins before others of its company."""

    def add(function):
        CASES.insert(0 if early else len(CASES), (name, function, "alone" if alone else "apart" if apart else "among others"))
        return function

    return add


def template(plan="run", image="tensorflow/tensorflow:2.11.0", **spec):
    container = {"name": "tensorflow", "image": image, "command": ["python", "train.py"]}
    return {"metadata": {"annotations": {"test/plan": plan}}, "spec": {"containers": [container], **spec}}


def role(replicas=1, plan="run", policy=None, **more):
    one = {"replicas": replicas, "template": template(plan), **more}
    if policy:
        one["restartPolicy"] = policy
    return one


def tfjob(name, roles, run=None, **spec):
    body = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {"tfReplicaSpecs": roles, **spec},
    }
    if run is not None:
        body["spec"]["runPolicy"] = run
    return body


def t9k(name, replicas, **spec):
    return {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "TensorFlowTrainingJob",
        "metadata": {"name": name},
        "spec": {"replicaSpecs": replicas, **spec},
    }


def t9k_role(type_, replicas=1, plan="run", policy=None):
    one = {"type": type_, "replicas": replicas, "template": template(plan)}
    if policy:
        one["restartPolicy"] = policy
    return one


class World:
    """One namespace and what happens in it."""

    def __init__(self, cluster, kubelet, operator, ns):
        self.cluster, self.api, self.kubelet, self.operator, self.ns = cluster, cluster.api, kubelet, operator, ns

    def make_namespace(self):
        self.api.create("namespace", None, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.ns}})

    def submit(self, job, kind="tfjob"):
        return self.api.create(kind, self.ns, job)

    def job(self, name, kind="tfjob"):
        return self.api.get(kind, self.ns, name)

    def refused(self, job, words, kind="tfjob"):
        try:
            self.submit(job, kind)
        except ApiError as error:
            check(error.code == 422, f"refused with {error.code}, not 422: {error.message}")
            check(words in error.message, f"'{words}' is not in '{error.message}'")
            return
        raise Failed(f"the API server takes it; it should say '{words}'")

    def conditions(self, name, kind="tfjob"):
        return self.job(name, kind).get("status", {}).get("conditions") or []

    def condition(self, name, type_, kind="tfjob"):
        for each in self.conditions(name, kind):
            if each["type"] == type_:
                return each
        return None

    def is_true(self, name, type_, kind="tfjob"):
        found = self.condition(name, type_, kind)
        return found is not None and found["status"] == "True"

    def wait_true(self, name, type_, kind="tfjob"):
        def story():
            return f"{kind} {name} {type_}: {json.dumps(self.job(name, kind).get('status'))[:1500]}"

        until(lambda: self.is_true(name, type_, kind), story)
        return self.condition(name, type_, kind)

    def wait_phase(self, name, phase, seconds=PATIENCE):
        until(
            lambda: self.job(name, "t9k").get("status", {}).get("phase") == phase,
            lambda: f"{name} {phase}: {json.dumps(self.job(name, 't9k').get('status'))[:1500]}",
            seconds,
        )
        return self.job(name, "t9k")["status"]

    def pods(self, job=None):
        selector = f"training.kubeflow.org/job-name={job}" if job else ""
        return {pod["metadata"]["name"]: pod for pod in self.api.list("pod", self.ns, selector)}

    def services(self):
        return {each["metadata"]["name"]: each for each in self.api.list("service", self.ns)}

    def wait_pods(self, *names):
        until(
            lambda: sorted(self.pods()) == sorted(names), lambda: f"pods {sorted(names)}, there are {sorted(self.pods())}"
        )

    def wait_pod_phase(self, name, phase):
        until(
            lambda: (self.api.find("pod", self.ns, name) or {}).get("status", {}).get("phase") == phase,
            f"pod {name} {phase}",
        )

    def finish(self, pod, code=0):
        self.wait_pod_phase(pod, "Running")
        self.kubelet.finish(self.ns, pod, code)

    def events(self, name):
        return [each for each in self.api.list("event", self.ns) if each["involvedObject"]["name"] == name]

    def reasons(self, name):
        return {each["reason"] for each in self.events(name)}

    def patch_job(self, name, body, kind="tfjob"):
        return self.api.patch(kind, self.ns, name, body)

    def close(self):
        """What a case leaves behind stays in its namespace."""

    def story(self):
        """What a person wants to read beside a failure."""
        return ""

    def still(self, question, what, seconds=2):
        """What must not happen does not, for a while: the weakest of checks, used where nothing tells."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            check(question(), what)
            time.sleep(0.2)


class ServiceProcess:
    """`trainyard operator` or `scheduler`, with the rights that the token gives."""

    def __init__(self, cluster, folder, verb, name, token, flags=(), port=None):
        self.cluster, self.name = cluster, name
        config = cluster.write_kubeconfig(name, token, port)
        self.metrics_port, self.health_port = free_ports(2)
        arguments = [TRAINYARD, verb, "--kubeconfig", config, "--leader-election-namespace", NAMESPACE]
        arguments += ["--metrics-addr", f"127.0.0.1:{self.metrics_port}", "--health-addr", f"127.0.0.1:{self.health_port}"]
        env = {**os.environ, "HOME": str(folder)}
        env.pop("KUBECONFIG", None)
        self.process = Process(arguments + list(flags), pathlib.Path(folder) / f"{verb}-{name}.log", env)

    def start(self, wait=True):
        self.process.start()
        if wait:
            self.wait_ready()
        return self

    def fetch(self, port, path):
        return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).read().decode()

    def ready(self):
        try:
            return bool(self.fetch(self.health_port, "/readyz"))
        except OSError:
            return False

    def wait_ready(self, seconds=90):
        def question():
            check(self.process.running(), f"{self.name} ended: {self.process.log()[-1500:]}")
            return self.ready()

        until(question, lambda: f"{self.name} is ready: {self.why_not_ready()} {self.process.log()[-1500:]}", seconds)

    def why_not_ready(self):
        try:
            return self.fetch(self.health_port, "/readyz")
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError as error:
            return str(error)

    def metrics(self):
        return self.fetch(self.metrics_port, "/metrics")

    def kill(self):
        self.process.stop(signal.SIGKILL)

    def stop(self):
        self.process.stop(signal.SIGTERM)

    @property
    def pid(self):
        return self.process.child.pid


def token_of(cluster, account):
    """Of a service account that is installed, as its pods would have it."""
    return cluster.api.request(
        "POST",
        f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
    )["status"]["token"]


class OperatorProcess(ServiceProcess):
    """`trainyard operator` with the service account's token that it would have in the cluster."""

    def __init__(self, cluster, folder, name, flags=(), port=None, account="trainyard-operator"):
        super().__init__(cluster, folder, "operator", name, token_of(cluster, account), flags, port)


APART_AT_ONCE = 4  # each has one or two operators, most of them behind a proxy


class Runner:
    """Carries out the cases: the sociable ones several at a time, then those that are apart, the others one by one. `make_world` gives each a
    world for its number; a world is closed when its case is over."""

    def __init__(self, make_world, only=""):
        self.make_world = make_world
        self.cases = [each for each in CASES if re.search(only, each[0])]
        self.results = []
        self.lock = threading.Lock()
        self.started = time.monotonic()

    def run_one(self, number, name, function):
        world = self.make_world(number)
        began = time.monotonic()
        problem = words = None
        try:
            world.make_namespace()
            words = function(world)
        except Failed as failure:
            problem = str(failure) + world.story()
        except Exception:
            problem = traceback.format_exc(limit=6) + world.story()
        took = time.monotonic() - began
        try:
            world.close()
        except Exception:
            problem = problem or "closing: " + traceback.format_exc(limit=6)
        with self.lock:
            self.results.append((name, problem))
            mark = "ok  " if problem is None else "FAIL"
            done = f"{len(self.results)}/{len(self.cases)}"
            print(f"{mark} {done:>7} {took:5.1f} s  {name}{': ' + words if words else ''}", flush=True)
            if problem:
                print("     " + problem.replace("\n", "\n     "), flush=True)

    def run_several(self, chosen, together):
        def work():
            while True:
                with self.lock:
                    if not chosen:
                        return
                    one = chosen.pop(0)
                self.run_one(*one)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(together)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    def run(self, at_once=6, before_alone=None):
        numbered = [(number, *each) for number, each in enumerate(self.cases)]
        for company, together in (("among others", at_once), ("apart", APART_AT_ONCE), ("alone", 1)):
            chosen = [each[:3] for each in numbered if each[3] == company]
            if chosen and company != "among others" and before_alone:
                before_alone()
            self.run_several(chosen, together)
        failed = [name for name, problem in self.results if problem]
        print(f"{len(self.results) - len(failed)} passed, {len(failed)} failed in {time.monotonic() - self.started:.0f} s")
        for name in failed:
            print(f"  failed: {name}")
        return not failed and bool(self.results)


def trainyard(*arguments):
    done = subprocess.run([TRAINYARD, *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"trainyard {' '.join(arguments)}: {done.stderr}")
    return done.stdout


class Session:
    """One run of a suite: its options, a folder for its logs that stays when something failed, and a control plane."""

    def __init__(self, description, prefix):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--only", default="", help="a regular expression of the cases' names")
        parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
        parser.add_argument("--list", action="store_true", help="list the cases and end")
        self.options = parser.parse_args()
        self.prefix = prefix
        self.began = time.monotonic()

    def say(self, words):
        print(f"[{time.monotonic() - self.began:5.1f} s] {words}", flush=True)

    def run(self, body):
        """`body(cluster, stops)` starts what it needs, adds to `stops` what is to be stopped, last first, and says
        whether all is well. The exit status of the suite."""
        if self.options.list:
            for name, _, company in CASES:
                print(f"{'' if company == 'among others' else company:7}{name}")
            return 0
        folder = pathlib.Path(tempfile.mkdtemp(prefix=self.prefix))
        stops = []
        good = False
        try:
            cluster = Cluster(folder / "plane")
            stops.append(cluster)
            good = body(cluster, stops)
        finally:
            for each in reversed(stops):
                each.stop()
            if self.options.keep or not good:
                print(f"logs: {folder}", flush=True)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return 0 if good else 1
