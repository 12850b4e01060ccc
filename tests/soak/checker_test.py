"""The soak's checker must find what is wrong, and nothing where nothing is."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

import check
from ledger import GONE, Ledger
from leftovers import Traces
from load import is_of_stream

HERE = pathlib.Path(__file__).resolve().parent


class Checks(unittest.TestCase):
    """A small true story; each test spoils one thing in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ledger = Ledger(pathlib.Path(folder.name) / "ledger")
        self.addCleanup(self.ledger.file.close)
        self.ledger.stream_begins("configmaps", 10)
        for thing, value, version in (("a", "1", 11), ("b", "1", 12), ("a", "2", 13), ("b", GONE, 14)):
            self.write(f"configmaps/ns/{thing}", value, version)
        self.rows = {
            11: ("configmaps/ns/a", 0, {"data": {"value": "1"}}),
            12: ("configmaps/ns/b", 0, {"data": {"value": "1"}}),
            13: ("configmaps/ns/a", 1, {"data": {"value": "2"}}),
            14: ("configmaps/ns/b", 2, {"data": {"value": "1"}}),
        }

    def write(self, thing, value, version):
        began = self.ledger.intends(thing, value)
        self.ledger.acknowledged(began, thing, value, version, f"digest{version}")
        kind = "DELETED" if value is GONE else "MODIFIED"
        self.ledger.event("configmaps", version, kind, thing, f"digest{version}")

    def state(self):
        return check.state_of(self.rows, lambda body: body["data"]["value"])

    def complaints(self):
        return (check.check_state(self.ledger, self.state(), "here") + check.check_versions(self.ledger)
                + check.check_watches(self.ledger, is_of_stream)
                + check.check_watches_with_rows(self.ledger, self.rows, 10, is_of_stream))

    def found(self, words):
        complaints = self.complaints()
        self.assertTrue(any(words in text for text in complaints), complaints)

    def test_the_true_story_passes(self):
        self.assertEqual(self.complaints(), [])

    def test_a_write_without_an_answer_may_be_there_or_not(self):
        self.ledger.intends("configmaps/ns/a", "3")
        self.assertEqual(check.check_state(self.ledger, self.state(), "here"), [])
        state = {**self.state(), "configmaps/ns/a": "3"}
        self.assertEqual(check.check_state(self.ledger, state, "here"), [])
        state["configmaps/ns/a"] = "1"
        self.assertTrue(check.check_state(self.ledger, state, "here"))

    def test_a_lost_write(self):
        del self.rows[13]
        self.found("configmaps/ns/a is '1', acknowledged was '2'")

    def test_a_delete_that_is_undone(self):
        del self.rows[14]
        self.found("configmaps/ns/b is '1', acknowledged was None")

    def test_a_value_that_goes_back(self):
        self.ledger.read("configmaps/ns/a", "1", 11, "digest11")
        self.assertEqual([kind for kind, _ in self.ledger.wrong], ["writes"])

    def test_a_version_given_twice(self):
        began = self.ledger.intends("configmaps/ns/c", "1")
        self.ledger.acknowledged(began, "configmaps/ns/c", "1", 13, "other")
        self.found("resourceVersion 13")

    def test_a_version_that_shows_two_contents(self):
        self.ledger.read("configmaps/ns/a", "2", 13, "another digest")
        self.found("resourceVersion 13 is of")

    def test_versions_that_go_back(self):
        self.ledger.writes.append((20, 21, 5, "configmaps/ns/a", "x"))
        self.found("got resourceVersion 5 after 14")

    def test_a_gap_in_a_watch(self):
        del self.ledger.events["configmaps"][1]
        self.found("never told configmaps/ns/b = '1' of 12")

    def test_an_event_told_twice(self):
        self.ledger.events["configmaps"].append(self.ledger.events["configmaps"][0])
        self.found("of 11 came after 14")

    def test_an_event_of_nothing(self):
        self.rows[15] = ("configmaps/ns/z", 0, {"data": {"value": "1"}})
        self.ledger.event("configmaps", 16, "ADDED", "configmaps/ns/y", "d")
        self.found("never told configmaps/ns/z of 15, which is on disk")
        self.found("of 16, which is not on disk")

    def test_lost_additions(self):
        self.ledger.counts = [(20, 1), (21, 2), (23, 3)]
        self.assertEqual(check.check_counter(self.ledger, 3), [])
        self.assertTrue(check.check_counter(self.ledger, 2))
        self.ledger.counts = [(20, 1), (21, 2), (23, 2)]
        self.assertTrue(check.check_counter(self.ledger, 3))

    def test_replicas(self):
        good = "start r u1\nend r u1 137\nstart r u2\nend r u2 0\n"
        for text, words in ((good, None), (good + "start r u3\n", "again"),
                            (good + "start s u1\n", "started twice"), (good + "end r u2 0\n", "ended twice"),
                            ("start r u1\n", "never did"), ("star", "no replica")):
            complaints = check.check_runs(check.parse_runs(text), {"r"})
            if words:
                self.assertTrue(any(words in one for one in complaints), (text, complaints))
            else:
                self.assertEqual(complaints, [])


class Leftovers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-soak-test-"))
        self.addCleanup(os.rmdir, self.folder)
        self.mark = f"TRAINYARD_SOAK_MARK={self.folder.name}"
        self.traces = Traces(self.mark, self.folder)

    def test_nothing(self):
        self.assertFalse(any(self.traces.left(1).values()), self.traces.left(1))

    def test_a_process(self):
        name, value = self.mark.split("=")
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={**os.environ, name: value}) as stray:
            self.assertIn(stray.pid, self.traces.processes())
            stray.stdin.close()

    def test_a_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertTrue(self.traces.left(server.getsockname()[1])["port"])

    @unittest.skipUnless(os.geteuid() == 0, "networks are made by root")
    def test_a_network(self):
        script = "ip link add eth0 type bridge && ip addr add 10.9.8.7/24 dev eth0 && ip link set eth0 up && echo && cat"
        with subprocess.Popen(["unshare", "-n", "sh", "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            network = os.readlink(f"/proc/{other.pid}/ns/net")
            # It is a pod's of ours; then the kernel gave the number again, to somebody else.
            for seen, is_left in ({"10.9.8.7"}, True), ({"10.1.1.1"}, False), (set(), False):
                self.traces.networks = {network: seen}
                self.assertEqual(bool(self.traces.left_networks()), is_left, seen)
            other.stdin.close()

    @unittest.skipUnless(os.geteuid() == 0, "mounts and devices are made by root")
    def test_mounts_and_devices(self):
        script = (f"mount -t tmpfs soak {self.folder} && ip link add tysoaktest type bridge && "
                  f"exec {sys.executable} {__file__} look {self.mark}")
        out = subprocess.run(["unshare", "-m", "-n", "sh", "-c", script], capture_output=True, text=True, timeout=30)
        self.assertEqual(out.stdout.split(), ["mount", "device"], out.stderr)


def look(mark):
    """In a mount and network namespace with leftovers: says which are found."""
    traces = Traces(mark, pathlib.Path(tempfile.gettempdir()) / mark.split("=")[1])
    traces.names = {"soaktest"}
    left = traces.left(1)
    print(*[word for word, kind in (("mount", "mount"), ("device", "network device")) if left[kind]])


class Sabotage(unittest.TestCase):
    """The whole soak on a plane whose file, machine and replicas are tampered with."""

    def test_it_is_found(self):
        soak = subprocess.run(
            [sys.executable, HERE / "soak.py", "--minutes", "0.1", "--runtime", "process", "--seed", "1",
             os.environ["TRAINYARD"], "--sabotage", "drop-row", "stray-process", "run-again", "lost-event"],
            capture_output=True, text=True, timeout=400)
        self.assertEqual(soak.returncode, 1, soak.stdout + soak.stderr)
        for name in ("acknowledged writes are read back through the API", "no process is left behind",
                     "no replica runs twice", "watches tell what is on disk"):
            self.assertIn(f"FAILED: {name}", soak.stdout)
        self.assertIn("passed: no port is left behind", soak.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["look"]:
        look(sys.argv[2])
    else:
        unittest.main()
