"""Asks both servers and compares. See run."""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "cluster"))

from cluster import Cluster, free_ports  # noqa: E402
from session import session_of  # noqa: E402
from stories import STORIES, WIDGET_CRD  # noqa: E402

TABLE = HERE / "DIFFERENCES.md"
ROW = re.compile(r"^\| ([^|]+) \| (.+?) \| (.+?) \| (.+?) \|$")


class Plane:
    """Our own server, with nothing to run pods."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_ports(1)[0]
        self.child = None

    def start(self):
        self.child = subprocess.Popen(
            [os.environ["TRAINYARD"], "up", "--data-dir", str(self.folder), "--port", str(self.port), "--runtime", "process"],
            stdout=open(self.folder.parent / "plane.log", "wb"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )
        end = time.monotonic() + 30
        while not (self.folder / "kubeconfig").exists():
            if self.child.poll() is not None or time.monotonic() > end:
                raise RuntimeError("trainyard up: " + (self.folder.parent / "plane.log").read_text())
            time.sleep(0.1)

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


def prepare(kubeconfig, ns):
    session = session_of(kubeconfig, ns)
    end = time.monotonic() + 30
    while True:
        try:
            status, _ = session.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}}, keep=False)
            if status in (201, 409):
                break
        except OSError:
            pass
        if time.monotonic() > end:
            raise RuntimeError(f"{kubeconfig}: no namespace can be made")
        time.sleep(0.2)
    session.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGET_CRD, keep=False)
    while session.ask("GET", f"/apis/conformance.example.org/v1/namespaces/{ns}/widgets", keep=False)[0] != 200:
        if time.monotonic() > end:
            raise RuntimeError("the custom resource is not served")
        time.sleep(0.2)
    # Whatever every namespace has from the start is there before the stories begin.
    while session.ask("GET", f"/api/v1/namespaces/{ns}/serviceaccounts/default", keep=False)[0] != 200 and time.monotonic() < end:
        time.sleep(0.1)
    return session


def asked(story, kubeconfig, ns):
    session = prepare(kubeconfig, ns)
    story(session)
    return session


def compare(story, ours, theirs):
    for index in range(max(len(ours.steps), len(theirs.steps))):
        mine = ours.steps[index] if index < len(ours.steps) else ("-", "-")
        other = theirs.steps[index] if index < len(theirs.steps) else ("-", "-")
        if mine[1] != other[1]:
            yield f"{index + 1} {mine[0]}", mine[1], other[1]


def short(text, other):
    """The part of a text that is not in the other one, short enough for a table."""
    if text == other:
        return "the same"
    words = []
    matcher = difflib.SequenceMatcher(None, other.split(" "), text.split(" "), autojunk=False)
    for kind, _, _, begin, end in matcher.get_opcodes():
        if kind != "equal":
            words.append(" ".join(text.split(" ")[begin:end]))
    found = " ... ".join(each for each in words if each) or "(less)"
    found = found.replace("\n", " / ").replace("|", "\\|")
    return found if len(found) <= 300 else found[:297] + "..."


def read_table():
    rows = {}
    if TABLE.exists():
        for line in TABLE.read_text().splitlines():
            match = ROW.match(line)
            if match and match.group(1) not in ("story", "---"):
                story, step, answers, why = match.groups()
                rows[(story, step)] = (answers, why)
    return rows


def write_table(rows):
    head = TABLE.read_text().split("| story |")[0] if TABLE.exists() else "# Differences\n\n"
    lines = [head + "| story | step | ours; theirs | why |", "|---|---|---|---|"]
    for (story, step), (answers, why) in rows.items():
        lines.append(f"| {story} | {step} | {answers} | {why} |")
    TABLE.write_text("\n".join(lines) + "\n")


TABLE_IS_OF = "v1.33"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    of_table = os.environ.get("K8S", TABLE_IS_OF).startswith(TABLE_IS_OF)
    if options.rewrite and not of_table:
        parser.error(f"the table is of {TABLE_IS_OF}: it is not rewritten from {os.environ['K8S']}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-conformance-"))
    cluster, plane = Cluster(folder / "real"), Plane(folder / "ours")
    known, found, steps, failed = read_table(), {}, 0, 0
    pool = ThreadPoolExecutor(2)  # both are asked at the same time: a story waits more than it asks
    try:
        print("starting kube-apiserver and trainyard up", flush=True)
        cluster.start()
        plane.start()
        for index, story in enumerate(STORIES):
            if not re.search(options.only, story.__name__):
                continue
            ns = f"story-{index}"
            ours, theirs = pool.map(lambda kubeconfig: asked(story, kubeconfig, ns), (plane.folder / "kubeconfig", cluster.kubeconfig))
            steps += len(ours.steps)
            new = 0
            for step, mine, other in compare(story, ours, theirs):
                key = (story.__name__, step.replace("|", "\\|"))
                answers = f"{short(mine, other)}; {short(other, mine)}"
                found[key] = (answers, known.get(key, ("", "?"))[1])
                if known.get(key, ("",))[0] != answers:
                    new += 1
                    if options.show or not options.rewrite:
                        print(f"--- {story.__name__} {step}\n  ours:   {mine}\n  theirs: {other}", flush=True)
            failed += new
            print(f"{'ok  ' if not new else 'FAIL' if of_table else 'new '} {story.__name__}: {len(ours.steps)} steps, {new} new differences", flush=True)
    finally:
        plane.stop()
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
    stale = [key for key in known if key not in found] if not options.only else []
    for key in stale:
        print(f"no longer different, remove from DIFFERENCES.md: {key[0]} {key[1]}")
    if options.rewrite:
        kept = {key: value for key, value in known.items() if options.only and not re.search(options.only, key[0])}
        write_table({**kept, **found})
    if not of_table:
        print(f"{steps} steps, {len(found)} differences; the table is of {TABLE_IS_OF}: {failed} that are new with "
              f"{os.environ['K8S']} and {len(stale)} that are gone are shown above, not judged")
        return 0
    print(f"{steps} steps, {len(found)} differences, {failed} of them new, {len(stale)} rows stale")
    print(f"{steps - failed} passed, {failed + len(stale)} failed")
    return 1 if (failed or stale) and not options.rewrite else 0


if __name__ == "__main__":
    sys.exit(main())
