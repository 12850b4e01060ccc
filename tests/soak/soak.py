#!/usr/bin/env python3
"""Kills the plane at random moments while clients write and jobs run, and finds out from outside
whether anything that anybody was told is lost, run twice or left behind.

    tests/soak/soak.py [--minutes N] [--seed N] [--runtime process,sandbox] TRAINYARD

It shares no code with what it checks. Exit status: 0 all passed, 1 not."""

import argparse
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import check
from api import Broken, Client, Door, Refused
from jobs import CLAIM, Foreman
from ledger import GONE, Ledger
from leftovers import Traces
from load import STREAMS, Counter, Watch, Writer, count_of, is_of_stream, value_of, wait_for_streams

WRITERS = 3
COUNTERS = 2
UP_PATIENCE = 60
JOB_PATIENCE = 180
DOWN_PATIENCE = 120
LEFT_PATIENCE = 10
SAY_EVERY = 5
COMPLAINTS_SHOWN = 10
LIVES_MIN = 3


class Life:
    """A plane that runs; `kill` ends it as a power cut would."""

    def __init__(self, soak):
        self.soak = soak
        with open(soak.folder / "plane.log", "a") as log:
            self.process = subprocess.Popen(
                [soak.trainyard, "up", "--data-dir", str(soak.data), "--runtime", soak.runtime],
                env=soak.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def wait_until_up(self):
        deadline = time.monotonic() + UP_PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return f"the plane ended by itself with {self.process.returncode}"
            client = Client(self.soak.door)
            try:
                self.soak.door.open()
                client.ask("GET", "/version")
                return None
            except (Broken, Refused, OSError, ValueError):
                time.sleep(0.02)
            finally:
                client.close()
        return f"the plane did not answer within {UP_PATIENCE} s"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Soak:
    """One runtime, killed for some time and then brought to rest."""

    def __init__(self, trainyard, runtime, seed, sabotage):
        self.trainyard = trainyard
        self.runtime = runtime
        self.seed = seed
        self.sabotage = sabotage
        self.rng = random.Random(f"{seed} {runtime}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"trainyard-soak-{runtime}-"))
        self.data = self.folder / "plane"
        mark = f"TRAINYARD_SOAK_MARK={self.folder.name}"
        self.env = dict(os.environ, HOME=str(self.folder), XDG_STATE_HOME=str(self.folder / "state"))
        self.env.pop("KUBECONFIG", None)
        self.env.update([mark.split("=")])
        self.ledger = Ledger(self.folder / "ledger.jsonl")
        self.door = Door(self.data)
        self.traces = Traces(mark, self.data)
        self.foreman = Foreman("foreman", self.door, self.ledger, seed, mark)
        self.watches = [Watch(stream, self.door, self.ledger, seed) for stream in STREAMS]
        self.writers = [Writer(f"w{n}", self.door, self.ledger, seed) for n in range(WRITERS)]
        self.writers += [Counter(f"c{n}", self.door, self.ledger, seed) for n in range(COUNTERS)]
        self.lives = 0
        self.complaints = {}
        self.began = time.monotonic()
        self.said = 0

    # --- reporting

    def complain(self, name, complaints):
        self.complaints.setdefault(name, []).extend(complaints)

    def say(self, text, now=False):
        if not now and time.monotonic() - self.said < SAY_EVERY:
            return
        self.said = time.monotonic()
        print(f"soak {self.runtime} {time.monotonic() - self.began:4.0f} s: {text}", flush=True)

    def report(self):
        """Prints every check; how many passed and how many did not."""
        self.say(f"{self.lives} lives, {self.ledger.acked} writes acknowledged, jobs {dict(self.foreman.tally)}", True)
        for name, complaints in self.complaints.items():
            print(f"  {'FAILED' if complaints else 'passed'}: {name}")
            for text in complaints[:COMPLAINTS_SHOWN]:
                print(f"    {text}")
            if len(complaints) > COMPLAINTS_SHOWN:
                print(f"    and {len(complaints) - COMPLAINTS_SHOWN} more")
        bad = sum(map(bool, self.complaints.values()))
        return len(self.complaints) - bad, bad

    def progress(self):
        wrong = sum(map(len, self.complaints.values())) + len(self.ledger.wrong)
        tally = self.foreman.tally
        self.say(f"life {self.lives}, {self.ledger.acked} writes acknowledged, {tally['made']} jobs made, "
                 f"{tally['succeeded']} succeeded, {wrong} complaints")

    # --- the run

    def rest(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.progress()
            self.traces.look()
            time.sleep(min(left, 0.25))

    def live(self):
        """One life up to its sudden end; what is on disk then."""
        self.lives += 1
        life = Life(self)
        if self.lives > 1 and self.rng.random() < 0.3:
            self.rest(self.rng.random() * 0.8)
        else:
            trouble = life.wait_until_up()
            if trouble:
                self.complain("the plane comes back", [f"life {self.lives}: {trouble}"])
            if self.lives == 1:
                self.begin_load()
            self.rest(min(self.rng.expovariate(1 / 2) + 0.05, 10))
        life.kill()
        self.look_at_disk(f"after kill {self.lives}")

    def begin_load(self):
        self.foreman.equip()
        for thread in [*self.watches, self.foreman]:
            thread.start()
        while any(watch.version is None and watch.is_alive() for watch in self.watches):
            time.sleep(0.01)
        for thread in self.writers:
            thread.start()

    def look_at_disk(self, when):
        rows, compacted = check.read_store(self.data, self.folder / "copy")
        state = check.state_of(rows, value_of)
        self.complain("acknowledged writes are on disk after each kill", check.check_state(self.ledger, state, when))
        return rows, compacted, state

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.lives < LIVES_MIN:
            self.live()
        self.stop(self.writers)
        self.sabotage_rows()
        self.come_to_rest()

    def come_to_rest(self):
        """A last life that nobody kills: all is read back, jobs end, watches catch up."""
        self.lives += 1
        life = Life(self)
        trouble = life.wait_until_up()
        self.complain("the plane comes back", [f"the last life: {trouble}"] if trouble else [])
        self.read_back()
        self.foreman.has_room = False
        deadline = time.monotonic() + JOB_PATIENCE
        while not self.foreman.is_done() and self.foreman.is_alive() and time.monotonic() < deadline:
            self.rest(0.2)
        self.stop([self.foreman])
        self.complain("watches tell everything once and in order",
                      wait_for_streams(self.watches, self.ledger, JOB_PATIENCE))
        self.sabotage_machine()
        port = self.door.port
        down = subprocess.run([self.trainyard, "down", "--data-dir", str(self.data)], env=self.env,
                              capture_output=True, text=True, timeout=DOWN_PATIENCE)
        self.complain("the plane goes down", [] if down.returncode == 0 else [down.stderr])
        life.process.wait(timeout=10)
        self.stop(self.watches)
        self.look_for_leftovers(port)
        self.judge()

    def stop(self, threads):
        for thread in threads:
            thread.stopping.set()
        for thread in threads:
            thread.join(timeout=150)
            if thread.is_alive():
                self.complain("the checker itself works", [f"{thread.name} does not stop"])
            if thread.failed:
                self.complain("requests are answered as they should be", [thread.failed])

    # --- the verdicts

    def read_back(self):
        client = Client(self.door)
        page = client.ask("GET", "/api/v1/configmaps")
        state = {f"configmaps/{item['metadata']['namespace']}/{item['metadata']['name']}": value_of(item)
                 for item in page["items"]}
        self.complain("acknowledged writes are read back through the API",
                      check.check_state(self.ledger, state, "the API"))
        counter = count_of(client.ask("GET", "/api/v1/namespaces/default/secrets/counter"))
        self.complain("no addition of competing writers is lost", check.check_counter(self.ledger, counter))
        client.close()

    def look_for_leftovers(self, port):
        deadline = time.monotonic() + (1 if self.sabotage else LEFT_PATIENCE)
        while any((left := self.traces.left(port)).values()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for kind, things in left.items():
            self.complain(f"no {kind} is left behind", things)

    def judge(self):
        rows, compacted, _ = self.look_at_disk("after the end")
        ledger = self.ledger
        self.complain("no acknowledged value goes back", [text for kind, text in ledger.wrong if kind == "writes"])
        self.complain("no resourceVersion is given twice", check.check_versions(ledger))
        self.complain("watches tell everything once and in order", check.check_watches(ledger, is_of_stream))
        self.complain("watches tell what is on disk",
                      check.check_watches_with_rows(ledger, rows, compacted, is_of_stream))
        lines = check.parse_runs((self.data / "volumes/default" / CLAIM / "lines").read_text())
        self.complain("no replica runs twice", check.check_runs(lines, self.foreman.must_have_succeeded()))
        unfinished = [f"{job.name} is still {job.state}" for job in self.foreman.jobs.values()
                      if job.state in ("wanted", "made")]
        self.complain("every job comes to its end",
                      unfinished + [text for kind, text in ledger.wrong if kind == "jobs"])

        self.complain("the checker itself works", self.idle_parts())

    def idle_parts(self):
        """A checker that saw nothing has checked nothing."""
        seen = {
            "an acknowledged write": self.ledger.acked,
            "a job that succeeded": self.foreman.tally["succeeded"],
            "an event of each watch": len(self.ledger.events) == len(STREAMS),
            "a process of the plane": self.traces.processes_seen,
            "a sandbox's control group": self.runtime != "sandbox" or self.traces.names,
            "a sandbox's network": self.runtime != "sandbox" or self.traces.networks,
        }
        return [f"it never saw {what}" for what, was_seen in seen.items() if not was_seen]

    # --- damage done on purpose, to see that it is found

    def sabotage_rows(self):
        if "drop-row" not in self.sabotage:
            return
        last = max(version for _, _, version, thing, value in self.ledger.writes
                   if value is not GONE and self.ledger.values.get(thing) == value and not self.ledger.possible[thing])
        database = sqlite3.connect(self.data / "store.db")
        with database:
            database.execute("DELETE FROM changes WHERE revision = ?", (last,))
        database.close()

    def sabotage_machine(self):
        lines = self.data / "volumes/default" / CLAIM / "lines"
        if "stray-process" in self.sabotage:
            self.stray = subprocess.Popen(["sleep", "60"], env=self.env)
        if "run-again" in self.sabotage:
            done = [words[1] for words in check.parse_runs(lines.read_text()) if words[0] == "end" and words[3] == "0"]
            lines.write_text(lines.read_text() + f"start {done[0]} another-uid\n")
        if "lost-event" in self.sabotage:
            events = self.ledger.events["configmaps"]
            del events[len(events) // 2]

    def clean_up(self):
        if hasattr(self, "stray"):
            self.stray.kill()
            self.stray.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def runtimes_here(wanted):
    if "sandbox" in wanted and os.geteuid() != 0:
        print("soak: sandboxes are left out: they are looked at as root only", flush=True)
        return [runtime for runtime in wanted if runtime != "sandbox"]
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trainyard")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--runtime", default="process,sandbox")
    parser.add_argument("--sabotage", nargs="*", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args()
    runtimes = runtimes_here(options.runtime.split(","))
    print(f"soak: seed {options.seed}, {options.minutes:g} minutes of kills ({', '.join(runtimes)})", flush=True)
    passed = failed = 0
    for runtime in runtimes:
        soak = Soak(os.path.abspath(options.trainyard), runtime, options.seed, options.sabotage)
        try:
            soak.run(options.minutes * 60 / len(runtimes))
        except Exception as error:  # noqa: a checker that breaks has not passed
            soak.complain("the checker itself works", [repr(error)])
            if not options.sabotage:
                sys.excepthook(*sys.exc_info())
        good, bad = soak.report()
        passed += good
        failed += bad
        if not bad or options.sabotage:
            soak.clean_up()
        else:
            print(f"  everything of this run is in {soak.folder}; --seed {options.seed} repeats its choices")
    print(f"soak: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
