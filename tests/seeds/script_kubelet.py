"""Nodes for a real cluster without containers: the shell line of a pod's main container runs as a
process of this machine, and the pod's status tells what became of it. Nothing else of the pod is made:
no image, no volumes but one folder per claim, no logs for kubectl.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from kubelet import Kubelet  # noqa: E402


def shell_line(pod):
    """What the main container runs; programs that are in images only are stood in for."""
    main = next((one for one in pod["spec"]["containers"] if one["name"] == "tensorflow"), pod["spec"]["containers"][0])
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
    def __init__(self, api, nodes, folder):
        super().__init__(api, nodes)
        self.folder = pathlib.Path(folder)
        self.processes = {}  # uid -> the process that stands for the pod

    def begin(self, pod):
        self.write(pod, "Running")
        self.run(pod)

    def run(self, pod):
        meta = pod["metadata"]
        line = shell_line(pod)
        for volume in pod["spec"].get("volumes", []):
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if claim:
                place = self.folder / meta["namespace"] / claim
                place.mkdir(parents=True, exist_ok=True)
                line = line.replace("/state", str(place))
        env = {"PATH": os.environ["PATH"], "HOSTNAME": meta["name"]}
        process = subprocess.Popen(["sh", "-c", line], env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes[meta["uid"]] = process
        self.waiting(pod, process)

    def waiting(self, pod, process):
        """Looks again until it has ended, without holding a thread meanwhile."""
        code = process.poll()
        if code is None:
            if not self.stopping.wait(0.05):
                self.submit(self.waiting, pod, process)
            return
        if self.processes.get(pod["metadata"]["uid"]) is not process:
            return  # it was ended because the pod goes
        self.end(pod, code)
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Always" or (policy == "OnFailure" and code != 0):
            self.run(pod)

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
