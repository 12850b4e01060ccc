"""Nodes for a real cluster without containers: what a pod's main container runs is a process of this
machine, with the variables of the container (values and keys of Secrets; it is not started before those are
there), the pod's status tells what became of it, and its log what it printed. Programs of images are the
stand-ins of images.py. Volumes are folders, of claims, emptyDirs and Secrets; words that name where one is mounted name the
folder instead. The network of a cluster is stood in for by ports of this machine: an address in TF_CONFIG is one of them.
Nothing else of the pod is made: no image, no init containers, no limits.
"""

import base64
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

import images  # noqa: E402
from kubelet import Kubelet  # noqa: E402

PROGRAM = images.PROGRAM.replace("/opt/example", str(images.ROOT / "examples/trainer")).replace("example_trainer", "trainer")
FIRST_PORT = 20000


def main_container(pod):
    return next((one for one in pod["spec"]["containers"] if one["name"] == "tensorflow"), pod["spec"]["containers"][0])


def words_of(pod, inside, here):
    """What the main container runs; `inside` says where a path of the container is on this machine, `here` which of
    its addresses stands for one of the cluster."""
    main = main_container(pod)
    entrypoint, _ = images.IMAGES.get(main.get("image", ""), ([], "/"))
    program, *words = main.get("command", entrypoint) + main.get("args", [])
    words = [inside(word) for word in words]
    if program == "python":
        words = words[2:] if words[0] == "-m" else words[1:]
        return [sys.executable, "-c", PROGRAM, *words]
    if program == "tensorboard":
        port = here(pod["metadata"]["name"]).split(":")[1]
        words = [f"--port={port}" if word.startswith("--port=") else word for word in words]
        return [sys.executable, str(images.ROOT / "tests/e2e/stand_in_tensorboard.py"), *words]
    if program == "/usr/bin/sshd":
        return ["sh", "-c", images.SSHD]
    return [program, *words]


class ScriptKubelet(Kubelet):
    """`cluster`: whose nodes these are."""

    def __init__(self, cluster, nodes, folder):
        super().__init__(cluster.api, nodes, keys=cluster.folder)
        self.folder = pathlib.Path(folder)
        self.processes = {}  # uid -> the process that stands for the pod
        self.ports = {}  # address in the cluster -> port of this machine

    def log_text(self, namespace, pod, _container):
        """What the process printed."""
        file = self.folder / "logs" / namespace / pod
        return file.read_bytes() if file.is_file() else None

    def begin(self, pod):
        env = self.environment(pod)
        if env is None:
            if pod["metadata"]["uid"] in self.seen and not self.stopping.wait(0.2):
                self.submit(self.begin, pod)
            return
        self.log_of(pod).touch()
        self.write(pod, "Running")
        if "trainyard.dev/tensorboard" in pod["metadata"].get("labels", {}):
            self.tell_ready(pod["metadata"])
        self.run(pod, env)

    def tell_ready(self, meta):
        conditions = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready")]
        body = {"metadata": {"uid": meta["uid"]}, "status": {"conditions": conditions}}
        self.api.patch("pod", meta["namespace"], meta["name"], body, "status")

    def here(self, address):
        """The address of this machine that stands for one of the cluster."""
        with self.lock:
            return f"127.0.0.1:{self.ports.setdefault(address, FIRST_PORT + len(self.ports))}"

    def environment(self, pod):
        """The variables of the main container; None while a Secret that it needs is not there."""
        env = {"PATH": os.environ["PATH"], "HOSTNAME": pod["metadata"]["name"], "PYTHONDONTWRITEBYTECODE": "1"}
        for one in main_container(pod).get("env", []):
            wanted = one.get("valueFrom", {}).get("secretKeyRef")
            if wanted:
                secret = self.api.find("secret", pod["metadata"]["namespace"], wanted["name"])
                if secret is None:
                    return None
                env[one["name"]] = base64.b64decode(secret["data"][wanted["key"]]).decode()
            elif "value" in one:
                env[one["name"]] = one["value"]
        if "TF_CONFIG" in env:
            env["TF_CONFIG"] = re.sub(r"[a-z0-9.-]+\.svc:\d+", lambda found: self.here(found.group()), env["TF_CONFIG"])
        return env

    def place_of(self, pod, volume):
        """The folder that stands for a volume; None for those that have none."""
        ns, own = pod["metadata"]["namespace"], self.folder / "own" / pod["metadata"]["uid"] / volume["name"]
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim:
            return self.folder / "claims" / ns / claim
        if "secret" in volume:
            own.mkdir(parents=True, exist_ok=True)
            for key, value in self.api.get("secret", ns, volume["secret"]["secretName"])["data"].items():
                (own / key).write_bytes(base64.b64decode(value))
        return own if "secret" in volume or "emptyDir" in volume else None

    def mounts_of(self, pod):
        """{path in the container: folder here}"""
        places = {volume["name"]: self.place_of(pod, volume) for volume in pod["spec"].get("volumes", [])}
        found = {}
        for mount in main_container(pod).get("volumeMounts", []):
            place = places[mount["name"]]
            if place:
                found[mount["mountPath"]] = place / mount.get("subPath", "")
                found[mount["mountPath"]].mkdir(parents=True, exist_ok=True)
        return found

    def log_of(self, pod):
        file = self.folder / "logs" / pod["metadata"]["namespace"] / pod["metadata"]["name"]
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def run(self, pod, env):
        mounts = self.mounts_of(pod)
        own = self.folder / "own" / pod["metadata"]["uid"] / "root"

        def inside(text):
            for path, place in mounts.items():
                if path in text:
                    return text.replace(path, str(place))
            # What is written where nothing is mounted is the container's own.
            return text.replace("--log_dir=/", f"--log_dir={own}/")

        env_here = {name: inside(value) if name not in ("PATH", "TF_CONFIG") else value for name, value in env.items()}
        with self.log_of(pod).open("wb") as out:
            process = subprocess.Popen(
                words_of(pod, inside, self.here), env=env_here, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.processes[pod["metadata"]["uid"]] = process
        self.waiting(pod, process, env)

    def waiting(self, pod, process, env):
        """Looks again until it has ended, without holding a thread meanwhile."""
        code = process.poll()
        if code is None:
            if not self.stopping.wait(0.05):
                self.submit(self.waiting, pod, process, env)
            return
        if self.processes.get(pod["metadata"]["uid"]) is not process:
            return  # it was ended because the pod goes
        self.end(pod, code)
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Always" or (policy == "OnFailure" and code != 0):
            self.run(pod, env)

    def remove(self, pod):
        process = self.processes.pop(pod["metadata"]["uid"], None)
        if process and process.poll() is None:
            process.kill()
            process.wait()
        super().remove(pod)

    def stop(self):
        super().stop()
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
