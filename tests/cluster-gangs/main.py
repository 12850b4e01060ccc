"""Starts a real control plane, installs Trainyard's and Volcano's kinds in it, and runs the cases. See run."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from gangs import KUBE_BATCH_CRD, World, volcano_crds  # noqa: E402  (finds tests/cluster first)

import cases  # noqa: E402, F401
import rights_cases  # noqa: E402, F401
import volcano_cases  # noqa: E402, F401
import volume_cases  # noqa: E402, F401
from yard import Runner, Session, trainyard  # noqa: E402


def main():
    session = Session(__doc__, "trainyard-gangs-")

    def body(cluster, _):
        # Nobody is a kubelet here: nodes are what their objects say. Claims are bound by the real controller.
        without, more = ("node-lifecycle-controller", "taint-eviction-controller"), ["persistentvolume-binder-controller"]
        cluster.manager.arguments = [
            ",".join([one for one in each.split(",") if one not in without] + more)
            if "garbage-collector" in each else each for each in cluster.manager.arguments]
        cluster.start()
        cluster.kubectl("apply", "-f", "-", stdin=trainyard("install", "--scheduler"))
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(KUBE_BATCH_CRD))
        for file in volcano_crds():
            cluster.kubectl("apply", "--server-side", "-f", str(file))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        return Runner(lambda number: World(cluster, number), session.options.only).run(at_once=1)

    return session.run(body)


if __name__ == "__main__":
    sys.exit(main())
