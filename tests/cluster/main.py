"""Starts a real control plane, installs Trainyard in it, and runs the cases. See run."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bad_cases  # noqa: F401
import crd_cases  # noqa: F401
import house_cases  # noqa: F401
import install_cases  # noqa: F401
import option_cases  # noqa: F401
import tfjob_cases  # noqa: F401
import trouble_cases  # noqa: F401
from kubelet import Kubelet
from yard import OperatorProcess, Runner, Session, World, trainyard

NODES = [f"node-{i}" for i in range(4)]


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
    session = Session(__doc__, "trainyard-cluster-")

    def body(cluster, stops):
        session.say("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler")
        cluster.start()
        session.say("installing: trainyard install | kubectl apply -f -")
        cluster.kubectl("apply", "-f", "-", stdin=trainyard("install"))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        kubelet = Kubelet(cluster.api, NODES, keys=cluster.folder)
        stops.append(kubelet)
        kubelet.start()
        session.say(f"{len(NODES)} simulated nodes; starting the operator")
        operator = OperatorProcess(cluster, cluster.folder, "main")
        stops.append(operator)
        operator.start()
        session.say("ready")
        runner = Runner(lambda number: World(cluster, kubelet, operator, f"case-{number}"), session.options.only)
        return runner.run(before_alone=OthersRest(operator))

    return session.run(body)


if __name__ == "__main__":
    sys.exit(main())
