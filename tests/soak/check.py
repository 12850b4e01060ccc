"""The checks: pure functions from what was told (the ledger), what is on disk and what replicas
wrote down, to a list of complaints. An empty list is a pass."""

import json
import pathlib
import shutil
import sqlite3

from ledger import GONE

DELETED = 2  # of the column changes.kind: 0 added, 1 modified, 2 deleted


def row_key(api_group, plural, body):
    meta = body["metadata"]
    return f"{plural}.{api_group}/{meta.get('namespace', '')}/{meta['name']}".replace("./", "/")


def read_store(folder, copy_to):
    """What the SQLite file of a plane that is not running says: its rows (version -> (object, kind,
    body)) and the version up to which it is compacted. Reads a copy: reading changes the file."""
    copy_to = pathlib.Path(copy_to)
    shutil.rmtree(copy_to, ignore_errors=True)
    copy_to.mkdir()
    for name in ("store.db", "store.db-wal"):
        if (pathlib.Path(folder) / name).exists():
            shutil.copy(pathlib.Path(folder) / name, copy_to / name)
    database = sqlite3.connect(copy_to / "store.db")
    try:
        (state,) = database.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        (compacted,) = database.execute("SELECT value FROM meta WHERE name='compacted'").fetchone()
        rows = {}
        for version, group, plural, kind, text in database.execute(
                "SELECT revision, api_group, plural, changes.kind, json FROM changes "
                "JOIN resources ON resources.id = changes.resource ORDER BY revision"):
            body = json.loads(text)
            rows[version] = (row_key(group, plural, body), kind, body)
        return rows, compacted
    finally:
        database.close()
        shutil.rmtree(copy_to, ignore_errors=True)


def state_of(rows, value_of):
    """Object -> value, as the rows leave it."""
    state = {}
    for version in sorted(rows):
        thing, kind, body = rows[version]
        state[thing] = GONE if kind == DELETED else value_of(body)
    return state


def check_state(ledger, state, where):
    """Every acknowledged write is there, or a later one of the same object."""
    wrong = []
    for thing, value in sorted(ledger.values.items()):
        allowed = [value, *ledger.possible.get(thing, [])]
        if state.get(thing, GONE) not in allowed:
            wrong.append(f"{where}: {thing} is {state.get(thing, GONE)!r}, acknowledged was {value!r}"
                         + (f", possible {allowed[1:]}" if allowed[1:] else ""))
    return wrong


def check_versions(ledger):
    """Versions are never given twice, and grow in the order in which writes were answered."""
    wrong = [text for kind, text in ledger.wrong if kind == "versions"]
    seen = {}
    for _, _, version, thing, what in ledger.writes:
        if version in seen:
            wrong.append(f"resourceVersion {version} was given to {seen[version]} and to {thing} = {what!r}")
        seen[version] = f"{thing} = {what!r}"
    # A write that began after another was answered has the greater version.
    answered = sorted((ended, version) for _, ended, version, _, _ in ledger.writes)
    highest, at = 0, 0
    for began, _, version, thing, _ in sorted(ledger.writes):
        while at < len(answered) and answered[at][0] < began:
            highest = max(highest, answered[at][1])
            at += 1
        if version <= highest:
            wrong.append(f"{thing} got resourceVersion {version} after {highest} had been answered")
    return wrong


def check_counter(ledger, last):
    """No addition was lost: counts grow with versions, and the last one is not behind."""
    wrong = []
    before = (0, 0)
    for version, count in sorted(ledger.counts):
        if count <= before[1]:
            wrong.append(f"the counter was {before[1]} in version {before[0]} and {count} in {version}")
        before = (version, count)
    if last < before[1]:
        wrong.append(f"the counter is {last}, and {before[1]} was acknowledged")
    return wrong


def check_watches(ledger, is_of_stream):
    """Each stream told every acknowledged write after its beginning once, in order."""
    wrong = []
    for stream, begins in sorted(ledger.starts.items()):
        events = ledger.events.get(stream, [])
        told = set()
        last = 0
        for version, what, thing, _ in events:
            if version <= last:
                wrong.append(f"watch {stream}: {what} {thing} of {version} came after {last}")
            last = max(last, version)
            told.add(version)
        if len(begins) > 1:
            continue  # it was told that it had missed something; the store's rows tell the rest
        for _, _, version, thing, value in ledger.writes:
            if is_of_stream(stream, thing) and version > begins[0] and version not in told:
                wrong.append(f"watch {stream}: never told {thing} = {value!r} of {version}")
    return wrong


def check_watches_with_rows(ledger, rows, compacted, is_of_stream):
    """What watches were told and what the file holds is the same, where both go."""
    wrong = []
    for stream, begins in sorted(ledger.starts.items()):
        told = {version: (thing, what) for version, what, thing, _ in ledger.events.get(stream, [])}
        first = max(begins[-1], compacted)
        last = max(told, default=0)
        kept = {version: rows[version][0] for version in rows
                if is_of_stream(stream, rows[version][0]) and first < version <= last}
        for version in sorted(kept.keys() - told.keys()):
            wrong.append(f"watch {stream}: never told {kept[version]} of {version}, which is on disk")
        for version in sorted(v for v in told.keys() - kept.keys() if v > first):
            wrong.append(f"watch {stream}: told {told[version]} of {version}, which is not on disk")
        for version in sorted(told.keys() & kept.keys()):
            is_gone = rows[version][1] == DELETED
            if told[version][0] != kept[version] or (told[version][1] == "DELETED") != is_gone:
                wrong.append(f"watch {stream}: told {told[version]} of {version}, on disk is {rows[version][:2]}")
    return wrong


def parse_runs(text):
    """Lines 'start REPLICA UID' and 'end REPLICA UID CODE' as replicas wrote them."""
    return [tuple(line.split()) for line in text.splitlines() if line.strip()]


def check_runs(lines, finished):
    """No replica starts again after it succeeded, no pod starts twice; each replica of a job that
    succeeded (`finished`: names) has succeeded once."""
    wrong = []
    succeeded, started, ends = set(), set(), {}
    for words in lines:
        if words[0] == "start" and len(words) == 3:
            if words[1] in succeeded:
                wrong.append(f"{words[1]} ran again after it had succeeded")
            if words[2] in started:
                wrong.append(f"{words[1]}: its pod {words[2]} was started twice")
            started.add(words[2])
        elif words[0] == "end" and len(words) == 4:
            if words[2] in ends:
                wrong.append(f"{words[1]}: its pod {words[2]} ended twice")
            ends[words[2]] = words[3]
            if words[3] == "0":
                succeeded.add(words[1])
        else:
            wrong.append(f"a line that no replica writes: {words}")
    wrong += [f"{replica} of a job that succeeded never did" for replica in sorted(finished - succeeded)]
    return wrong
