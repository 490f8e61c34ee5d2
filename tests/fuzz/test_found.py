"""What the damaged checkpoints taught: each defect that they showed, kept as a test of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.findings import Severity
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample
from tests.fuzz.judging import look
from tests.fuzz.kinds import without_hadoop_sides

Files = dict[str, bytes]
Change = Callable[[Files], Files]
WARNING, ERROR, FATAL = Severity.WARNING, Severity.ERROR, Severity.FATAL


@dataclass(frozen=True)
class Case:
    """A damage without checksums, and what must be found."""

    code: str
    place: str
    severity: Severity
    sample: str
    change: Change
    spark: str = "4.3.0"


def edit(path: str, old: bytes, new: bytes) -> Change:
    """Replace bytes in a file."""

    def change(files: Files) -> Files:
        assert old in files[path]
        return {**files, path: files[path].replace(old, new, 1)}

    return change


def put(path: str, data: bytes) -> Change:
    """Write a file."""
    return lambda files: {**files, path: data}


def drop(path: str) -> Change:
    """Remove a file."""

    def change(files: Files) -> Files:
        assert path in files
        return {one: data for one, data in files.items() if one != path}

    return change


def drop_folder(prefix: str) -> Change:
    """Remove a folder."""
    return lambda files: {path: data for path, data in files.items() if not path.startswith(prefix)}


def rename(old: str, new: str) -> Change:
    """Give a file another name."""
    return lambda files: {**drop(old)(files), new: files[old]}


def without_line(path: str, number: int) -> Change:
    """Leave a line out, counted from 0."""

    def change(files: Files) -> Files:
        lines = files[path].split(b"\n")
        return {**files, path: b"\n".join([*lines[:number], *lines[number + 1 :]])}

    return change


def without_item(path: str, text: bytes) -> Change:
    """Leave the lines out that hold a text."""

    def change(files: Files) -> Files:
        lines = files[path].split(b"\n")
        return {**files, path: b"\n".join(line for line in lines if text not in line)}

    return change


def other_ids(path: str) -> Change:
    """Give the state ids of a commit other names."""

    def change(files: Files) -> Files:
        head, line = files[path].split(b"\n")
        entry = json.loads(line)
        entry["stateUniqueIds"]["0"][0] = ["00000000-0000-4000-8000-000000000000"]
        return {**files, path: head + b"\n" + json.dumps(entry).encode()}

    return change


OPERATOR, OPERATOR_2 = "state/0/_metadata/metadata", "state/0/_metadata/v2/0"
VERSION_1 = (
    b'v1\n{"operatorInfo":{"operatorId":0,"operatorName":"dedupe"},"stateStoreInfo":'
    b'[{"storeName":"default","numColsPrefixKey":0,"numPartitions":2}]}'
)
STATELESS, STATE, FORMAT_2 = "stateless", "aggregation-hdfs-lz4", "aggregation-rocksdb-format-2"
SCHEMA = "state/0/0/_metadata/schema"
CASES = (
    Case("HF2237", "offsets/3", FATAL, STATELESS, without_line("offsets/3", 2)),
    Case("HF2237", "offsets/1", WARNING, STATELESS, edit("offsets/1", b"batchTim", b"xbatchTim")),
    Case("HF2237", "commits/3", WARNING, STATELESS, put("commits/3", b"v1")),
    Case("HF2237", "commits/1", WARNING, STATELESS, edit("commits/1", b"v1", b"v2")),
    Case("HF2237", "sources/0/2", ERROR, STATELESS, put("sources/0/2", b"v1")),
    Case("HF2221", "state/0/1/2.delta", FATAL, STATE, drop("state/0/1/2.delta")),
    Case("HF2239", "state/0/0/1.delta", FATAL, STATE, put("state/0/0/1.delta", b"")),
    Case("HF2240", OPERATOR, WARNING, STATE, drop(OPERATOR)),
    Case("HF2240", SCHEMA, WARNING, STATE, drop(SCHEMA)),
    Case("HF2223", OPERATOR_2, FATAL, "transform-pandas", put(OPERATOR_2, VERSION_1)),
    Case("HF2223", OPERATOR, WARNING, STATE, edit(OPERATOR, b'"default"', b'"defau1t"')),
    Case("HF2241", "offsets/3", FATAL, STATELESS, edit("offsets/3", b"logOff", b"logoff")),
    Case("HF2241", "sources/0/0", FATAL, "rate", edit("sources/0/0", b"v1\n", b"v1\nx")),
    Case("HF2242", "offsets/3", FATAL, STATELESS, edit("offsets/3", b'ions":"2', b'ions":"z')),
    Case("HF2242", "offsets/3", ERROR, STATELESS, edit("offsets/3", b'"lz4"', b'"lz5"')),
    Case("HF2115", SCHEMA, WARNING, STATE, edit(SCHEMA, b'"long"', b'"lonh"')),
    Case("HF2213", "sources/0/02", FATAL, STATELESS, rename("sources/0/2", "sources/0/02")),
    Case("HF2244", "commits/3.bak", WARNING, STATELESS, rename("commits/3", "commits/3.bak")),
    Case("HF2244", "sources/0/3~", WARNING, STATELESS, rename("sources/0/3", "sources/0/3~")),
    Case("HF2244", "state/0/0/01.delta", WARNING, STATE, put("state/0/0/01.delta", b"x")),
    Case("HF2245", "commits/0", ERROR, "named-sinks", edit("commits/0", b':"bronze"', b':"bponz"')),
    Case("HF2216", "sources/0", FATAL, STATELESS, drop_folder("sources/")),
    Case("HF2218", "commits/1", ERROR, STATE, edit("commits/1", b'Ms":', b'Ms":-')),
    Case("HF2207", "commits/0", WARNING, STATELESS, drop("commits/0")),
    Case("HF2220", "offsets/1", WARNING, STATELESS, edit("offsets/0", b"multiple", b"xmultiple")),
    Case("HF2233", "commits/1", ERROR, FORMAT_2, other_ids("commits/1")),
    Case(
        "HF2221",
        "state/0/0/1.delta",
        FATAL,
        STATE,
        rename("state/0/0/1.delta", "state/0/0/01.delta"),
    ),
    Case(
        "HF2217",
        "sources/0/8.compact",
        FATAL,
        "stateless-compacted",
        without_item("sources/0/8.compact", b'"batchId":4}'),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.code}-{one.place}")
def test_damage_without_checksums_is_found_where_it_lies(case: Case) -> None:
    """Code, place and severity."""
    whole = without_hadoop_sides(sample(case.sample, case.spark).files())
    found = _found(case.change(whole))
    assert (case.code, case.place, case.severity) in found, found
    assert case.code not in {code for code, _, _ in _found(whole)}


def _found(files: Files) -> set[tuple[str, str, Severity]]:
    answer = inspect_checkpoint(MemoryReader(files), verified=True)
    return {(one.code, one.place.file, one.severity) for one in answer.findings}


FAR = str(2**62)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (STATE, f"offsets/{FAR}"),
        (STATE, f"commits/{FAR}"),
        (STATELESS, f"sources/0/{FAR}"),
        ("stateless-compacted", f"sources/0/{FAR}.compact"),
        (STATE, f"state/{FAR}/0/1.delta"),
        (STATE, f"state/0/{FAR}/1.delta"),
        (STATE, f"state/0/0/{FAR}.delta"),
        (FORMAT_2, f"state/0/0/{FAR}.zip"),
    ],
)
def test_a_number_beyond_all_counting_takes_no_time_and_no_memory(name: str, path: str) -> None:
    """Ranges that a name opens are asked, never walked through."""
    files = sample(name, "4.3.0").files()
    source = path.rpartition("/")[0]
    known = next((one for one in files if one.startswith(source) and "/." not in one), "metadata")
    assert look({**files, path: files[known]}, "memory").failure is None


def test_async_tracking_does_not_excuse_a_commit_inside_of_a_gap() -> None:
    """Both logs skip ids; an offsets entry that is lost leaves its commit behind."""
    files = without_hadoop_sides(sample("asynchronous", "4.3.0").files())
    ids = sorted(int(path[8:]) for path in files if path.startswith("offsets/"))
    lost = f"offsets/{ids[-2]}"
    assert f"commits/{ids[-2]}" in files
    files.pop(f"commits/{ids[-1]}", None)
    assert (FATAL, "HF2204") in {(one[2], one[0]) for one in _found(drop(lost)(files))}


@pytest.mark.parametrize("path", ["state/0/0/lost+found/", "state/0/1/.trash/x", "state/0/1/old/x"])
def test_a_foreign_folder_beside_state_is_no_store(path: str) -> None:
    """Nothing is missing from it; a file in it is told as one that is not Spark's."""
    told = _found({**sample(STATE, "4.3.0").files(), path: b""})
    assert told == (set() if path.endswith("/") else {("HF2229", path, Severity.INFO)})


def test_named_sources_in_a_log_of_version_1_are_no_finding() -> None:
    """Spark 4.2 writes no names there, but its folders bear them."""
    files = sample("named-sources", "4.2.1").files()
    assert files["offsets/0"].startswith(b"v1")
    location = "/tmp/holdfast-corpus/named-sources/checkpoint"
    assert look(files, location).places == frozenset()
