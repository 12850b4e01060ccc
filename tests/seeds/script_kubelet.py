"""Nodes for a real cluster without containers: the shell line of a pod's main container runs as a
process of this machine, with the variables of the container (values and keys of Secrets; it is not started
before those are there), the pod's status tells what became of it, and its log what it printed. Nothing else
of the pod is made: no image, no volumes but folders for claims and emptyDirs.
"""

import base64
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from kubelet import Kubelet  # noqa: E402


def main_container(pod):
    return next((one for one in pod["spec"]["containers"] if one["name"] == "tensorflow"), pod["spec"]["containers"][0])


def shell_line(pod):
    """What the main container runs; programs that are in images only are stood in for."""
    main = main_container(pod)
    command = main.get("command", []) + main.get("args", [])
    if command[:2] == ["sh", "-c"]:
        script = command[2]
        if "dist_mnist.py" not in script:
            return script
    if command and command[0] in ("sleep", "/usr/bin/sshd"):
        return "exec sleep 300"
    # A training: parameter servers never end, all others do.
    return "exec sleep 300" if "-ps-" in pod["metadata"]["name"] else "exec sleep 1"


class ScriptKubelet(Kubelet):
    """`cluster`: whose nodes these are."""

    def __init__(self, cluster, nodes, folder):
        super().__init__(cluster.api, nodes, keys=cluster.folder)
        self.folder = pathlib.Path(folder)
        self.processes = {}  # uid -> the process that stands for the pod

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
        self.run(pod, env)

    def environment(self, pod):
        """The variables of the main container; None while a Secret that it needs is not there."""
        env = {"PATH": os.environ["PATH"], "HOSTNAME": pod["metadata"]["name"]}
        for one in main_container(pod).get("env", []):
            wanted = one.get("valueFrom", {}).get("secretKeyRef")
            if wanted:
                secret = self.api.find("secret", pod["metadata"]["namespace"], wanted["name"])
                if secret is None:
                    return None
                env[one["name"]] = base64.b64decode(secret["data"][wanted["key"]]).decode()
            elif "value" in one:
                env[one["name"]] = one["value"]
        return env

    def place_of(self, pod, volume):
        """The folder that stands for a volume; None for those that have none."""
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim:
            return self.folder / "claims" / pod["metadata"]["namespace"] / claim
        return self.folder / "empty" / pod["metadata"]["uid"] / volume["name"] if "emptyDir" in volume else None

    def log_of(self, pod):
        file = self.folder / "logs" / pod["metadata"]["namespace"] / pod["metadata"]["name"]
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def run(self, pod, env):
        meta = pod["metadata"]
        line = shell_line(pod)
        places = {volume["name"]: self.place_of(pod, volume) for volume in pod["spec"].get("volumes", [])}
        for mount in main_container(pod).get("volumeMounts", []):
            place = places[mount["name"]]
            if place:
                place.mkdir(parents=True, exist_ok=True)
                line = line.replace(mount["mountPath"], str(place))
        with self.log_of(pod).open("wb") as out:
            process = subprocess.Popen(["sh", "-c", line], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.processes[meta["uid"]] = process
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
