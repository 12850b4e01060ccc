"""Starts a real control plane with our operator and nodes of processes, and runs the rows on it. See `cluster`."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]

from cluster import Cluster  # noqa: E402
from script_kubelet import ScriptKubelet  # noqa: E402
from yard import OperatorProcess, trainyard  # noqa: E402


def main():
    # Told to stop, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-seeds-cluster-"))
    cluster = kubelet = operator = None
    status = 1
    try:
        cluster = Cluster(folder / "plane")
        # A busy machine is no lost node.
        grace = cluster.manager.arguments.index("--node-monitor-grace-period") + 1
        cluster.manager.arguments[grace] = "600s"
        cluster.etcd.start()
        cluster.apiserver.start()
        cluster.wait_ready(300)
        cluster.manager.start()
        cluster.scheduler.start()
        cluster.kubectl("apply", "-f", "-", stdin=trainyard("install"))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        kubelet = ScriptKubelet(cluster, ["node-0", "node-1"], folder / "nodes")
        kubelet.start()
        operator = OperatorProcess(cluster, cluster.folder, "main").start(wait=False)
        operator.wait_ready(300)
        # Nothing runs in containers here: the operator's log, which a user reads with kubectl, is a file.
        env = dict(os.environ, OPERATOR_LOG=str(operator.process.log_path))
        done = subprocess.run([HERE / "run", "--kubeconfig", cluster.kubeconfig, *sys.argv[1:]], env=env)
        status = done.returncode
    finally:
        for part in (operator, kubelet, cluster):
            if part:
                part.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
