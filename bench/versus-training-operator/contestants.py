"""The operators that are compared: how each is installed, started and looked at."""

import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("ours", "best", "default")
BEST_FLAGS = ["--controller-threads=16", "--kube-api-qps=2000", "--kube-api-burst=2000"]
# Their programs read the certificate of their webhook here, wherever they run.
CERTIFICATES = pathlib.Path("/tmp/k8s-webhook-server/serving-certs")
# Enough for their rotator of certificates. No rule: the webhook is not called, which spares them its cost.
THEIR_OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "training-operator-webhook-cert", "namespace": "kubeflow"}},
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
     "metadata": {"name": "validator.training-operator.kubeflow.org"},
     "webhooks": [{"name": "validator.tfjob.training-operator.kubeflow.org", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                   "clientConfig": {"service": {"name": "training-operator", "namespace": "kubeflow"}}}]},
]


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def component(*words):
    return subprocess.run([ROOT / "tools/real-components", *words], capture_output=True, text=True, check=True).stdout.strip()


class Contestant:
    def __init__(self, kind, real, folder, trainyard):
        self.kind, self.real, self.folder, self.trainyard = kind, real, folder, trainyard
        self.process = None
        self.environment = {**os.environ, "KUBECONFIG": str(real / "kubeconfig")}

    def kubectl(self, *words, given=None):
        return subprocess.run([component("--path", "kubectl"), *words], env=self.environment, input=given,
                              capture_output=True, text=True, check=True).stdout

    def install(self):
        if self.kind == "ours":
            crds = sorted((ROOT / "deploy/crds").glob("*_*.yaml"))
        else:
            crds = [pathlib.Path(component("--crds", "training-operator")) / "kubeflow.org_tfjobs.yaml"]
            self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": THEIR_OBJECTS}))
        for crd in crds:
            self.kubectl("apply", "--server-side", "-f", crd)
        # Fails at once while the CRD has no conditions yet.
        for _ in range(120):
            if "tfjobs" in self.kubectl("api-resources", "--api-group=kubeflow.org", "--cached=false", "-o", "name"):
                return
            time.sleep(0.5)
        raise SystemExit("the API server does not serve TFJobs")

    def start(self):
        """Returns once it is ready."""
        self.metrics, health = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        if self.kind == "ours":
            command = [self.trainyard, "operator", "--metrics-addr", self.metrics, "--health-addr", health,
                       "--no-leader-elect", "--log-level", "warn"]
        else:
            command = [component("--path", "training-operator"), "--enable-scheme=tfjob", f"--metrics-bind-address={self.metrics}",
                       f"--health-probe-bind-address={health}", f"--webhook-server-port={free_port()}", "--zap-log-level=error"]
            command += BEST_FLAGS if self.kind == "best" else []
        with open(self.folder / "operator.log", "a") as log:
            self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        # Without its certificates theirs is not ready, or says that it is and does nothing.
        while not (self.kind == "ours" or self.hand_certificates_over()) or not self.answers(f"http://{health}/readyz"):
            if self.process.poll() is not None:
                raise SystemExit((self.folder / "operator.log").read_text())
            time.sleep(0.02)

    def hand_certificates_over(self):
        """What the kubelet does with a Secret that a pod mounts. True: it has been filled.

        Their program dies when it reads a file that is half written, and it reads whenever one is written."""
        secret = self.kubectl("get", "secret", "-n", "kubeflow", "training-operator-webhook-cert", "-o", "json")
        data = json.loads(secret).get("data", {})
        CERTIFICATES.mkdir(parents=True, exist_ok=True)
        for name, text in data.items():
            file, content = CERTIFICATES / name, base64.b64decode(text)
            if file.exists() and file.read_bytes() == content:
                continue
            written = file.with_suffix(".part")
            written.write_bytes(content)
            written.replace(file)
        return "tls.crt" in data

    @staticmethod
    def answers(address):
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.kind != "ours":
            shutil.rmtree(CERTIFICATES.parent, ignore_errors=True)

    def proc(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}")

    def cpu(self):
        fields = self.proc("stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def forget_peak(self):
        self.proc("clear_refs").write_text("5")

    def peak_mb(self):
        line = next(each for each in self.proc("status").read_text().splitlines() if each.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def events_lost(self, step, objects):
        """Ours counts them. Theirs has one Event for each pod and service that it makes."""
        if self.kind != "ours":
            return max(0, objects - step["events"])
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return int(float(next(each for each in lines if each.startswith("trainyard_events_lost_total")).split()[-1]))
