"""The doctor reads the state that the next start loads, up to a budget of bytes and of time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pytest

from holdfast.checkpoint.reading import read_picture
from holdfast.diagnosis.checks.state.rocksdb import tables_of
from holdfast.diagnosis.doctor.neededstate import read_needed_state
from holdfast.diagnosis.doctor.state import Budget
from holdfast.diagnosis.inspection.subject import StateSeen
from holdfast.errors import NotFoundError, StorageError
from holdfast.findings import Severity
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.diagnosis.doctor.examining import Files, examined, examinee, found, place_of
from tests.diagnosis.doctor.scenarios import STATE
from tests.diagnosis.doctor.statescenarios import changed, flipped, halved, newest, of_version

TOTALS = "aggregation-hdfs-snapshots"
STATEFUL = [one for one in corpus() if one.facts.get("state")]
FOREVER = 1e9


class Counting(MemoryReader):
    """Counts the bytes of state that are fetched, and refuses or loses files when told to."""

    def __init__(self, files: Files, lost: Mapping[str, StorageError] | None = None) -> None:
        super().__init__(files)
        self.fetched = 0
        self._lost = lost or {}

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read, count, or fail."""
        if path in self._lost:
            raise self._lost[path]
        data = super().read(path, start, length)
        if path.startswith("state/") and not path.endswith(".crc"):
            self.fetched += len(data)
        return data


def seen_of(reader: Counting, budget: Budget) -> StateSeen:
    """Read the needed state of files in memory."""
    picture = read_picture(reader)
    reader.fetched = 0
    return read_needed_state(reader, picture, frozenset(), budget)


@pytest.mark.parametrize(
    "name,suffix",
    [
        (STATE, ".delta"),
        ("aggregation-rocksdb-changelog", ".changelog"),
        ("aggregation-rocksdb-format-2-changelog", ".changelog"),
        ("join", ".delta"),
    ],
)
@pytest.mark.parametrize("change", [halved, flipped])
def test_damage_in_the_state_that_the_next_start_loads_is_fatal(
    name: str, suffix: str, change: object
) -> None:
    """Without being asked to verify anything, and without a checksum beside the file."""
    files = files_of(name)
    paths = [one for one in files if one.startswith("state/0/") and one.endswith(suffix)]
    assert callable(change)
    finding = found(examinee(changed(files, sorted(paths)[-1], change)))["HF2316"]
    assert finding.severity is Severity.FATAL


def test_a_state_file_that_differs_from_its_checksum_is_fatal() -> None:
    """Spark compares it when it loads the file, also where the rows can be decoded."""
    files = files_of(STATE)
    path = newest(files, ".delta")
    folder, _, name = path.rpartition("/")
    checksum = f"{folder}/.{name}.crc"
    files[checksum] = files[checksum][:-1] + bytes([files[checksum][-1] ^ 1])
    finding = found(examinee(files))["HF2111"]
    assert (finding.place.file, finding.severity) == (path, Severity.FATAL)
    assert "Spark fails when it loads this state" in finding.why


def test_files_that_the_next_start_does_not_load_are_left_to_verify() -> None:
    """What is older than the newest snapshot is not opened."""
    files = files_of(TOTALS)
    old = changed(files, of_version(files, 2), halved)
    assert "HF2316" not in found(examinee(old))
    assert found(examinee(old), verified=True)["HF2316"].severity is Severity.WARNING


@pytest.mark.parametrize(
    "name,path",
    [
        (TOTALS, "state/0/0/6.delta"),
        (TOTALS, "state/0/0/8.delta"),
        ("aggregation-rocksdb", "state/0/0/4.zip"),
    ],
)
def test_verify_warns_about_damage_in_files_that_a_newer_snapshot_replaced(
    name: str, path: str
) -> None:
    """No start loads them; who goes back to an older batch does."""
    files = files_of(name)
    finding = found(examinee(differing(files, path)), verified=True)["HF2111"]
    assert (finding.place.file, finding.severity) == (path, Severity.WARNING)
    assert "next start does not load it" in finding.why
    assert "`holdfast state` of that batch" in finding.why


@pytest.mark.parametrize("name,suffix", [(TOTALS, ".delta"), (STATE, ".delta")])
def test_verify_keeps_damage_in_files_that_the_next_start_loads_fatal(
    name: str, suffix: str
) -> None:
    """The newest changes come after the newest snapshot."""
    files = files_of(name)
    path = newest(files, suffix)
    finding = found(examinee(differing(files, path)), verified=True)["HF2111"]
    assert (finding.place.file, finding.severity) == (path, Severity.FATAL)


def test_verify_keeps_damage_in_place_of_a_damaged_snapshot_fatal() -> None:
    """Spark 4.2 and later load these files then."""
    files = differing(files_of(TOTALS), "state/0/0/8.snapshot")
    answer = examined(examinee(differing(files, "state/0/0/6.delta")), verified=True)
    told = {one.place.file: one.severity for one in answer.findings if one.code == "HF2111"}
    assert told == {"state/0/0/8.snapshot": Severity.ERROR, "state/0/0/6.delta": Severity.FATAL}


def test_verify_tells_the_tables_of_older_snapshots_from_those_that_are_loaded() -> None:
    """The snapshot that the next start loads names the tables that count."""
    files = files_of("aggregation-rocksdb")
    loaded = tables_of(files[newest(files, ".zip")])
    tables = [one for one in files if one.startswith("state/0/0/SSTs/") and one.endswith(".sst")]
    told: dict[str, Severity] = {}
    for path in tables:
        told[path] = found(examinee(differing(files, path)), verified=True)["HF2111"].severity
    assert {one.rpartition("/")[2] for one in told if told[one] is Severity.FATAL} == set(loaded)
    assert set(told.values()) == {Severity.FATAL, Severity.WARNING}


def differing(files: Files, path: str) -> Files:
    """Change the checksum beside a file, so that only a comparison notices it."""
    folder, _, name = path.rpartition("/")
    side = f"{folder}/.{name}.crc"
    return {**files, side: files[side][:-1] + bytes([files[side][-1] ^ 1])}


def test_a_damaged_snapshot_leads_on_to_the_files_in_its_place() -> None:
    """Spark 4.2 and later load these then, so damage in them is fatal."""
    files = files_of(TOTALS)
    damaged = changed(files, "state/0/0/8.snapshot", flipped)
    assert found(examinee(damaged))["HF2316"].severity is Severity.ERROR
    both = changed(damaged, "state/0/0/6.delta", halved)
    findings = examined(examinee(both)).findings
    told = {one.place.file: one.severity for one in findings if one.code == "HF2316"}
    assert told["state/0/0/6.delta"] is Severity.FATAL


@over_samples("one", STATEFUL)
def test_healthy_state_is_read_whole_and_nothing_is_said(one: Sample) -> None:
    """Of every shape and release."""
    codes = found(examinee(dict(one.files()), path=place_of(one)))
    assert not {"HF2316", "HF2318", "HF2320", "HF2111"} & codes.keys()


def test_what_is_read_follows_from_sizes() -> None:
    """Partition by partition, and a file that does not fit is passed over for one that does."""
    files = files_of(STATE)
    needed = [f"state/0/{part}/{version}.delta" for part in (0, 1) for version in range(1, 7)]
    sizes = [len(files[path]) for path in needed]
    everything = seen_of(Counting(files), Budget(sum(sizes), FOREVER))
    assert (everything.read_files, everything.unread_files) == (12, 0)
    assert everything.unread_reason == ""
    some = seen_of(Counting(files), Budget(sum(sizes[:5]), FOREVER))
    assert some == seen_of(Counting(files), Budget(sum(sizes[:5]), FOREVER))
    assert some.read_files + some.unread_files == 12
    assert some.read_bytes <= sum(sizes[:5])
    assert some.read_bytes + some.unread_bytes == sum(sizes)
    assert "at most" in some.unread_reason


@pytest.mark.parametrize("name", [STATE, TOTALS, "aggregation-rocksdb", "join-rocksdb-changelog"])
def test_no_more_is_fetched_than_the_budget_allows(name: str) -> None:
    """Tables of RocksDB count; the small zips that name them are looked into to know that."""
    files = files_of(name)
    zips = sum(len(data) for path, data in files.items() if path.endswith(".zip"))
    for most in (0, 500, 5_000, 50_000):
        reader = Counting(files)
        seen = seen_of(reader, Budget(most, FOREVER))
        assert reader.fetched <= most + zips
        assert seen.unread_files or seen.read_files


def test_the_clock_is_looked_at_between_files() -> None:
    """What was read until then counts; the rest is said to be unread."""
    ticks = count()
    budget = Budget(most_seconds=5, clock=lambda: float(next(ticks)))
    seen = seen_of(Counting(files_of(STATE)), budget)
    assert (seen.read_files, seen.unread_files) == (3, 9)
    assert "5 s" in seen.unread_reason


def test_how_much_was_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how much was not."""
    monkeypatch.setattr("holdfast.diagnosis.doctor.state.Budget", lambda: Budget(300))
    finding = found(examinee(files_of(STATE)))["HF2320"]
    assert finding.severity is Severity.INFO
    evidence = finding.evidence
    assert evidence["files_read"] and evidence["files"]
    assert f"{evidence['files']} state files" in finding.message
    assert f"{evidence['files_read']} files" in finding.message


def test_a_file_that_a_running_query_removed_is_no_damage() -> None:
    """Nothing needs it any more."""
    files = files_of(STATE)
    path = newest(files, ".delta")
    lost = {path: NotFoundError("HF7001", "there is no file", at=path)}
    seen = seen_of(Counting(files, lost), Budget(most_seconds=FOREVER))
    assert (seen.damages, seen.unread_files, seen.read_files) == ((), 0, 11)


@pytest.mark.parametrize("name,suffix", [(STATE, ".delta"), ("aggregation-rocksdb", ".sst")])
def test_a_file_that_could_not_be_read_is_not_called_damaged(name: str, suffix: str) -> None:
    """Nobody knows what is in it, and that is said."""
    files = files_of(name)
    path = max(one for one in files if one.endswith(suffix))
    lost = {path: StorageError("HF7002", "the storage did not answer", at=path)}
    seen = seen_of(Counting(files, lost), Budget(most_seconds=FOREVER))
    assert (seen.damages, seen.unread_files) == ((), 0)
    (denied,) = seen.denied
    assert denied.error.message == "the storage did not answer"


def test_nothing_is_read_where_the_next_start_loads_nothing() -> None:
    """The first batch begins with an empty state."""
    seen = seen_of(Counting(files_of("pending-first")), Budget(most_seconds=FOREVER))
    assert seen == StateSeen()
