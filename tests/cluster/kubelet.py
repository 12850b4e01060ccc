"""Simulated nodes: pods that are bound to them run, and end as their annotation says.

The annotation `test/plan` is a list of words, one for each time that the pod of this name starts:

  run        runs until somebody deletes it (also what happens after the last word)
  pending    is never started
  N          runs and ends with exit code N at once

Restart policies of the pod itself are kept as a kubelet keeps them: under OnFailure and Always a
container is restarted in place, and its restart counted. `finish` ends a pod from outside.
"""

import datetime
import http.client
import http.server
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from api import ApiError, path_of


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class LogServer:
    """Where the API server asks for logs: `told` is given namespace, pod and container, and answers with bytes or None."""

    def __init__(self, keys, told):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                _, what, *names = self.path.split("?")[0].split("/")  # /containerLogs/NAMESPACE/POD/CONTAINER
                body = told(*names) if what == "containerLogs" and len(names) == 3 else None
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "server.crt", keys / "server.key")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Kubelet:
    def __init__(self, api, nodes, heartbeat=1.0, keys=None):
        """With `keys`, a folder with server.crt and server.key, logs of containers are served as well."""
        self.api = api
        self.logs = LogServer(keys, self.log_text) if keys else None
        self.nodes = list(nodes)
        self.silent = set()  # nodes that are lost: no heartbeat, no pod of theirs changes
        self.heartbeat = heartbeat
        self.starts = {}  # (namespace, name) -> how many pods of this name were started
        self.restarts = {}  # uid -> restarts in place
        self.seen = {}  # uid -> pod that runs
        self.orders = {}  # uid -> exit code that a test asked for
        self.lock = threading.Lock()
        self.pool = ThreadPoolExecutor(8)
        self.stopping = threading.Event()
        self.threads = []

    def start(self):
        for node in self.nodes:
            self.register(node)
        for target in (self.follow, self.beat):
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            self.threads.append(thread)

    def stop(self):
        self.stopping.set()
        if self.logs:
            self.logs.close()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def log_text(self, _namespace, pod, container):
        """Every container has said its name."""
        return f"{container} of {pod} was here\n".encode()

    def register(self, node):
        self.api.create(
            "node",
            None,
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node, "labels": {"kubernetes.io/hostname": node}},
                "status": self.node_status(),
            },
        )

    def node_status(self):
        amounts = {"cpu": "64", "memory": "256Gi", "pods": "500", "nvidia.com/gpu": "8"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now()}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready], "phase": "Running"}
        if self.logs:
            status["addresses"] = [{"type": "InternalIP", "address": "127.0.0.1"}]
            status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": self.logs.port}}
        return status

    def beat(self):
        """Renews the lease of every node and now and then its status, as a kubelet does."""
        turn = 0
        while not self.stopping.wait(self.heartbeat):
            turn += 1
            for node in self.nodes:
                if node in self.silent:
                    continue
                if turn % 5 == 0:
                    self.submit(self.revive, node)
                spec = {"holderIdentity": node, "leaseDurationSeconds": 4, "renewTime": micro_now()}
                lease = {
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "metadata": {"name": node},
                    "spec": spec,
                }
                try:
                    try:
                        self.api.patch("lease", "kube-node-lease", node, {"spec": spec})
                    except ApiError as error:
                        if error.code != 404:
                            raise
                        self.api.create("lease", "kube-node-lease", lease)
                except (ApiError, OSError, http.client.HTTPException):
                    continue  # the API server is down for a moment

    def come_back(self, node):
        self.silent.discard(node)
        self.revive(node)

    def revive(self, node):
        self.api.patch("node", None, node, {"status": self.node_status()}, "status")

    def follow(self):
        version = ""
        while not self.stopping.is_set():
            try:
                if not version:
                    answer = self.api.request("GET", path_of("pod"))
                    version = answer["metadata"]["resourceVersion"]
                    for pod in answer["items"]:
                        self.look_at(pod)
                for kind, pod in self.api.watch(path_of("pod"), version, timeout=60):
                    if kind == "ERROR":
                        version = ""
                        break
                    version = pod["metadata"]["resourceVersion"]
                    if kind == "DELETED":
                        self.seen.pop(pod["metadata"]["uid"], None)
                    elif kind != "BOOKMARK":
                        self.look_at(pod)
                    if self.stopping.is_set():
                        return
            except (ApiError, OSError, ValueError, http.client.HTTPException):
                version = ""
                time.sleep(0.2)

    def look_at(self, pod):
        if not pod["spec"].get("nodeName") or pod["spec"]["nodeName"] in self.silent:
            return
        uid = pod["metadata"]["uid"]
        phase = pod.get("status", {}).get("phase", "Pending")
        if pod["metadata"].get("deletionTimestamp"):
            self.submit(self.remove, pod)
        elif phase == "Pending" and uid not in self.seen:
            self.seen[uid] = pod
            self.submit(self.begin, pod)

    def submit(self, function, *arguments):
        if not self.stopping.is_set():
            self.pool.submit(self.safely, function, *arguments)

    def safely(self, function, *arguments):
        for _ in range(50):
            try:
                function(*arguments)
                return
            except ApiError as error:
                if error.code in (404, 409):
                    return
            except (OSError, http.client.HTTPException):
                pass
            if self.stopping.wait(0.2):
                return

    def begin(self, pod):
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        with self.lock:
            turn = self.starts.get(key, 0)
            self.starts[key] = turn + 1
        words = pod["metadata"].get("annotations", {}).get("test/plan", "run").split()
        word = words[turn] if turn < len(words) else "run"
        if word == "pending":
            return
        self.write(pod, "Running")
        if word == "run":
            return
        self.end(pod, int(word))

    def end(self, pod, code):
        """The main container exits; what the pod's own restart policy makes of it."""
        policy = pod["spec"].get("restartPolicy", "Always")
        uid = pod["metadata"]["uid"]
        if policy == "Always" or (policy == "OnFailure" and code != 0):
            self.restarts[uid] = self.restarts.get(uid, 0) + 1
            self.write(pod, "Running", last=code)
        else:
            self.write(pod, "Succeeded" if code == 0 else "Failed", code)

    def write(self, pod, phase, code=None, last=None):
        statuses = []
        for index, container in enumerate(pod["spec"]["containers"]):
            state = {"running": {"startedAt": now()}}
            if code is not None:
                reason = "Completed" if code == 0 else "Error"
                state = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": now()}}
            one = {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": phase == "Running",
                "restartCount": self.restarts.get(pod["metadata"]["uid"], 0) if index == 0 else 0,
                "state": state,
            }
            if last is not None and index == 0:
                one["lastState"] = {"terminated": {"exitCode": last, "reason": "Error", "finishedAt": now()}}
            statuses.append(one)
        status = {"phase": phase, "startTime": now(), "podIP": "10.0.0.1", "containerStatuses": statuses}
        meta = pod["metadata"]
        body = {"metadata": {"uid": meta["uid"]}, "status": status}
        self.api.patch("pod", meta["namespace"], meta["name"], body, "status")

    def remove(self, pod):
        meta = pod["metadata"]
        self.api.delete(
            "pod", meta["namespace"], meta["name"], {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
        )

    def finish(self, ns, name, code):
        """Ends a running pod with this exit code."""
        self.end(self.api.get("pod", ns, name), code)
