"""Starts a real control plane, installs Trainyard's kinds in it, and runs the cases. See run."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from yard import CASES, FOREIGN_CRDS, TRAINYARD, run_cases  # noqa: E402  (finds tests/cluster first)

import cases  # noqa: E402, F401
from cluster import Cluster  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression of the cases' names")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    parser.add_argument("--list", action="store_true", help="list the cases and end")
    options = parser.parse_args()
    if options.list:
        for name, _ in CASES:
            print(name)
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-gangs-"))
    cluster = None
    good = False
    try:
        cluster = Cluster(folder / "plane")
        # Nobody is a kubelet here: nodes are what their objects say.
        cluster.manager.arguments = [
            ",".join(one for one in each.split(",") if one not in ("node-lifecycle-controller", "taint-eviction-controller"))
            if "garbage-collector" in each else each for each in cluster.manager.arguments]
        cluster.start()
        installed = subprocess.run([TRAINYARD, "install"], capture_output=True, text=True, check=True).stdout
        cluster.kubectl("apply", "-f", "-", stdin=installed)
        cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(one) for one in FOREIGN_CRDS))
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        good = run_cases(cluster, options.only)
    finally:
        if cluster:
            cluster.stop()
        if options.keep or not good:
            print(f"logs: {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
