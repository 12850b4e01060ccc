"""docs/SEEDS.md and the tests of this folder tell the same; the table is rewritten with TRAINYARD_REWRITE=1."""

import importlib
import os
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = ROOT / "docs/SEEDS.md"
ROW = re.compile(r"^\| (S\d-\d\d) \| (.+) \| (.+) \| (yes|no) \| (yes|no) \|$")


def tests_of_rows():
    """{row: [(test, whether it runs on one machine, whether it runs on clusters)]}"""
    found = {}
    for path in sorted(HERE.glob("*_test.py")):
        if path.stem == "rows_test":
            continue
        module = importlib.import_module(path.stem)
        for name, group in vars(module).items():
            if not isinstance(group, type) or group.__module__ != path.stem:
                continue
            for method, body in vars(group).items():
                for row in getattr(body, "rows", ()):
                    test = f"{path.stem[:-5]} {name} {method[5:]}".replace("_", " ")
                    there = getattr(body, "on_clusters", False) and row not in body.not_on_clusters
                    here = not getattr(body, "only_on_clusters", False)
                    found.setdefault(row, []).append((test, here, there))
    return found


def told(row, found, where, embedded, _):
    """The last three columns as they should be; tests that live elsewhere stay as written, by their paths."""
    if row not in found:
        return where, embedded, "yes" if "`tests/cluster" in where else "no"
    elsewhere = re.findall(r"`[^`]+`", where)
    tests = [test for test, _, _ in found[row]]
    on_one = "yes" if any(here for _, here, _ in found[row]) else "no"
    anywhere = "yes" if any(there for _, _, there in found[row]) or "`tests/cluster" in where else "no"
    return "; ".join(tests + elsewhere), on_one, anywhere


class Rows(unittest.TestCase):
    def test_the_table_tells_what_the_tests_show(self):
        found = tests_of_rows()
        lines = []
        rows = []
        for line in TABLE.read_text().splitlines():
            match = ROW.match(line)
            if match:
                row, says, *rest = match.groups()
                rows.append(row)
                line = f"| {row} | {says} | {' | '.join(told(row, found, *rest))} |"
            lines.append(line)
        wanted = "\n".join(lines) + "\n"
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(set(found) - set(rows), set(), "tests of rows that are not there")
        if os.environ.get("TRAINYARD_REWRITE"):
            TABLE.write_text(wanted)
        self.assertEqual(TABLE.read_text(), wanted, "TRAINYARD_REWRITE=1 tests/seeds/run -k rows")

    def test_what_is_not_shown_has_its_reason(self):
        text = TABLE.read_text()
        for line in text.splitlines():
            match = ROW.match(line)
            if not match:
                continue
            row, _, where, embedded, cluster = match.groups()
            if "no" in (embedded, cluster):
                self.assertRegex(text, rf"(?m)^- .*{row}\b.*: ", f"{row} has no reason")
            for path in re.findall(r"`((?:tests|src|deploy|docs)/[^` ]+)`", where):
                self.assertTrue((ROOT / path).exists(), path)

    def test_rows_are_numbered_without_gaps(self):
        numbers = {}
        for line in TABLE.read_text().splitlines():
            if match := ROW.match(line):
                document, number = match.group(1).split("-")
                numbers.setdefault(document, []).append(int(number))
        for document, found in numbers.items():
            self.assertEqual(found, list(range(1, len(found) + 1)), document)
