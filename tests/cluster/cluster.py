"""A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler."""

import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time

from api import Api, ApiError

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTROLLERS = (
    "namespace-controller,garbage-collector-controller,serviceaccount-controller,"
    "root-ca-certificate-publisher-controller,resourcequota-controller,node-lifecycle-controller,"
    "taint-eviction-controller,pod-garbage-collector-controller,disruption-controller"
)


def component(name):
    found = subprocess.run([ROOT / "tools/real-components", "--path", name], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Process:
    """A child whose output is in a file. Ended by its own id and nothing else."""

    def __init__(self, arguments, log, env=None):
        self.arguments, self.log_path, self.env = [str(each) for each in arguments], pathlib.Path(log), env
        self.child = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.child = subprocess.Popen(self.arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env)
        return self

    def running(self):
        return self.child is not None and self.child.poll() is None

    def stop(self, how=signal.SIGTERM, wait=15):
        if not self.running():
            return
        self.child.send_signal(how)
        try:
            self.child.wait(wait)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""


class Cluster:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        ports = free_ports(5)
        self.etcd_port, peer, self.port, manager_port, scheduler_port = ports
        self.token = secrets.token_hex(16)
        self.make_keys()
        self.api = Api("127.0.0.1", self.port, self.folder / "ca.crt", self.token)
        self.kubeconfig = self.write_kubeconfig("admin", self.token)
        etcd = f"http://127.0.0.1:{self.etcd_port}"
        self.etcd = Process(
            [component("etcd"), "--data-dir", self.folder / "etcd", "--listen-client-urls", etcd]
            + ["--advertise-client-urls", etcd, "--listen-peer-urls", f"http://127.0.0.1:{peer}"]
            + ["--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}"]
            + ["--initial-cluster", f"default=http://127.0.0.1:{peer}", "--log-level", "warn", "--unsafe-no-fsync"],
            self.folder / "etcd.log",
        )
        self.apiserver = Process(
            [component("kube-apiserver"), "--etcd-servers", etcd, "--bind-address", "127.0.0.1"]
            + ["--secure-port", self.port, "--advertise-address", "10.96.0.254", "--endpoint-reconciler-type", "none"]
            + ["--service-cluster-ip-range", "10.96.0.0/16", "--tls-cert-file", self.folder / "server.crt"]
            + ["--tls-private-key-file", self.folder / "server.key", "--token-auth-file", self.folder / "tokens.csv"]
            + ["--authorization-mode", "RBAC", "--service-account-issuer", "https://kubernetes.default.svc"]
            + ["--service-account-key-file", self.folder / "sa.key", "--disable-admission-plugins", "ServiceAccount"]
            + ["--service-account-signing-key-file", self.folder / "sa.key", "--etcd-compaction-interval", "0"]
            + ["--enable-admission-plugins", "OwnerReferencesPermissionEnforcement"]
            + ["--default-not-ready-toleration-seconds", "1", "--default-unreachable-toleration-seconds", "1"],
            self.folder / "apiserver.log",
        )
        self.manager = Process(
            [component("kube-controller-manager"), "--kubeconfig", self.kubeconfig, "--leader-elect=false"]
            + ["--bind-address", "127.0.0.1", "--secure-port", manager_port, "--controllers", CONTROLLERS]
            + ["--service-account-private-key-file", self.folder / "sa.key", "--root-ca-file", self.folder / "ca.crt"]
            + ["--node-monitor-period", "1s", "--node-monitor-grace-period", "8s", "--concurrent-gc-syncs", "10"],
            self.folder / "manager.log",
        )
        self.scheduler = Process(
            [component("kube-scheduler"), "--kubeconfig", self.kubeconfig, "--leader-elect=false"]
            + ["--bind-address", "127.0.0.1", "--secure-port", scheduler_port],
            self.folder / "scheduler.log",
        )

    def make_keys(self):
        def run(*arguments):
            subprocess.run(arguments, cwd=self.folder, check=True, capture_output=True)

        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=test-cluster")
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=kube-apiserver")
        (self.folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
        run("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.crt", "-days", "2", "-extfile", "server.ext")
        run("openssl", "genrsa", "-out", "sa.key", "2048")
        (self.folder / "tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n')

    def write_kubeconfig(self, name, token, port=None):
        path = self.folder / f"kubeconfig-{name}"
        path.write_text(
            f"""apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {{server: "https://127.0.0.1:{port or self.port}", certificate-authority: "{self.folder}/ca.crt"}}
users:
- name: {name}
  user: {{token: "{token}"}}
contexts:
- name: test
  context: {{cluster: test, user: {name}}}
"""
        )
        path.chmod(0o600)
        return path

    def wait_ready(self, seconds=90):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self.apiserver.running():
                raise RuntimeError("kube-apiserver ended: " + self.apiserver.log()[-2000:])
            try:
                if self.api.request("GET", "/readyz") == "ok":
                    return
            except (ApiError, OSError):
                pass
            time.sleep(0.2)
        raise RuntimeError("kube-apiserver is not ready: " + self.apiserver.log()[-2000:])

    def start(self):
        self.etcd.start()
        self.apiserver.start()
        self.wait_ready()
        self.manager.start()
        self.scheduler.start()

    def restart_apiserver(self):
        self.apiserver.stop(signal.SIGKILL)
        time.sleep(1)
        self.apiserver.start()
        self.wait_ready()

    def compact(self):
        """Throws away all old revisions of etcd: watches from before get 410."""
        import base64
        import json
        import urllib.request

        def post(path, body):
            request = urllib.request.Request(f"http://127.0.0.1:{self.etcd_port}{path}", json.dumps(body).encode())
            return json.load(urllib.request.urlopen(request, timeout=10))

        key = base64.b64encode(b"none").decode()
        revision = post("/v3/kv/range", {"key": key})["header"]["revision"]
        post("/v3/kv/compaction", {"revision": revision})

    def kubectl(self, *arguments, check=True, stdin=None):
        done = subprocess.run(
            [component("kubectl"), "--kubeconfig", self.kubeconfig, *arguments],
            capture_output=True, text=True, input=stdin, timeout=120, env={**os.environ, "HOME": str(self.folder)},
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def stop(self):
        """At once: nobody needs what is in it, and an API server that is asked to go takes ten seconds over it."""
        for each in (self.scheduler, self.manager, self.apiserver, self.etcd):
            each.stop(signal.SIGKILL)
