"""Starts a real control plane, installs Trainyard in it, and runs the cases. See run."""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import crd_cases  # noqa: F401
import install_cases  # noqa: F401
import option_cases  # noqa: F401
import tfjob_cases  # noqa: F401
import trouble_cases  # noqa: F401
from cluster import Cluster
from kubelet import Kubelet
from yard import CASES, OperatorProcess, Runner, trainyard

NODES = [f"node-{i}" for i in range(4)]


def say(words, began=time.monotonic()):
    print(f"[{time.monotonic() - began:5.1f} s] {words}", flush=True)


class OthersRest:
    """The operator of all namespaces rests while a case that runs alone has operators of its own."""

    def __init__(self, operator):
        self.operator = operator
        self.rested = False

    def __call__(self):
        if not self.rested:
            self.operator.stop()
            self.rested = True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression of the cases' names")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    parser.add_argument("--list", action="store_true", help="list the cases and end")
    options = parser.parse_args()
    if options.list:
        for name, _, alone in CASES:
            print(("alone  " if alone else "       ") + name)
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-cluster-"))
    cluster = kubelet = operator = None
    good = False
    try:
        say("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler")
        cluster = Cluster(folder / "plane")
        cluster.start()
        say("installing: trainyard install | kubectl apply -f -")
        cluster.kubectl("apply", "-f", "-", stdin=trainyard("install"))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        kubelet = Kubelet(cluster.api, NODES)
        kubelet.start()
        say(f"{len(NODES)} simulated nodes; starting the operator")
        operator = OperatorProcess(cluster, cluster.folder, "main").start()
        say("ready")
        runner = Runner(cluster, kubelet, operator, options.only)
        good = runner.run(before_alone=OthersRest(operator))
    finally:
        if operator:
            operator.stop()
        if kubelet:
            kubelet.stop()
        if cluster:
            cluster.stop()
        if options.keep or not good:
            print(f"logs: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
