"""What Delta's sink notes of a query, among other writers' versions and in damaged ones."""

from __future__ import annotations

import json

from holdfast.diagnosis.inspection.sink.deltacommits import LOOKED_AT, newest_commit_of
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample

QUERY = sample("delta", "4.2.0").facts["query_id"]


def log() -> dict[str, bytes]:
    """Give the log of a real table."""
    files = sample("delta", "4.2.0").output_files()
    return {path.removeprefix("_delta_log/"): data for path, data in files.items()}


def name(version: int) -> str:
    """Name the file of a version."""
    return f"{version:020}.json"


def test_the_newest_version_of_the_query_is_found_behind_other_writers() -> None:
    """An OPTIMIZE or another query may have come after it."""
    files = log()
    newest = max(int(path[:20]) for path in files if path.endswith(".json"))
    other = {"operation": "WRITE", "engineInfo": "Apache-Spark/9.9.9", "operationParameters": {}}
    files[name(newest + 1)] = json.dumps({"commitInfo": other}).replace(": ", ":").encode()
    found = newest_commit_of(MemoryReader(files), QUERY)
    assert found is not None
    assert (found.version, found.output_mode, found.spark) == (name(newest), "append", "4.2.0")


def test_another_query_is_not_taken_for_it() -> None:
    """Nor is a table without a log."""
    assert newest_commit_of(MemoryReader(log()), "another") is None
    assert newest_commit_of(MemoryReader({}), QUERY) is None


def test_damaged_and_odd_versions_are_passed_over() -> None:
    """Nothing is raised, and an engine that is no Spark gives no version."""
    files = log()
    newest = max(int(path[:20]) for path in files if path.endswith(".json"))
    files[name(newest + 1)] = b'{"commitInfo":{"operationPar'
    files[name(newest + 2)] = b'{"commitInfo":[1]}'
    files[name(newest + 3)] = b"\xff\xfe"
    found = newest_commit_of(MemoryReader(files), QUERY)
    assert found is not None
    assert found.version == name(newest)
    info = {"operationParameters": {"queryId": "q", "outputMode": 7}, "engineInfo": "delta-rs"}
    odd = {name(0): json.dumps({"commitInfo": info}, separators=(",", ":")).encode()}
    commit = newest_commit_of(MemoryReader(odd), "q")
    assert commit is not None
    assert (commit.output_mode, commit.spark) == (None, None)


def test_only_the_newest_versions_are_looked_at() -> None:
    """A table of a million versions costs no more than a small one."""
    files = log()
    newest = max(int(path[:20]) for path in files if path.endswith(".json"))
    for number in range(LOOKED_AT):
        files[name(newest + 1 + number)] = b'{"commitInfo":{}}'
    assert newest_commit_of(MemoryReader(files), QUERY) is None
