"""What the doctor says of state files: up to which batch they load, what was read and what not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.diagnosis.checks.state import rocksdb
from holdfast.diagnosis.checks.state.rocksdb import tables_of
from holdfast.diagnosis.doctor import state
from holdfast.errors import UsageError
from holdfast.findings import Severity
from tests.checkpoint.pictures import files_of, without
from tests.corpus.loading import sample
from tests.diagnosis.doctor.examining import Files, examined, examinee, found
from tests.diagnosis.doctor.scenarios import STATE
from tests.diagnosis.doctor.statescenarios import changed, halved, newest, of_version

TOTALS = "aggregation-hdfs-snapshots"
"""Batches 0 to 8; snapshots of versions 4 and 8, which batches 3 and 7 wrote."""
IDS = "aggregation-rocksdb-format-2-changelog"


def loadable(files: Files, code: str, *, verified: bool) -> tuple[object, object]:
    """Give what a finding says of batches that can be loaded."""
    finding = found(examinee(files), verified=verified)[code]
    evidence = finding.evidence
    return evidence.get("newest_loadable_batch"), evidence.get("loadable_batches")


@pytest.mark.parametrize(
    ("version", "newest_batch", "ranges"),
    [
        (2, 8, ((0, 0), (3, 8))),
        (6, 8, ((0, 4), (7, 8))),
        (9, 7, ((0, 7),)),
    ],
)
def test_a_damaged_delta_names_the_batches_that_can_still_be_loaded(
    version: int, newest_batch: int, ranges: tuple[tuple[int, int], ...]
) -> None:
    """Those before it, and those since a snapshot behind it."""
    files = files_of(TOTALS)
    cut = changed(files, of_version(files, version), halved)
    assert loadable(cut, "HF2316", verified=True) == (newest_batch, ranges)
    message = found(examinee(cut), verified=True)["HF2316"].message
    assert f"the newest batch whose state can be loaded is {newest_batch}" in message


@pytest.mark.parametrize("verified", [False, True])
def test_a_file_that_does_not_match_its_checksum_is_not_loaded(verified: bool) -> None:
    """Spark compares it, and fails, also where the file can still be decoded."""
    files = files_of("aggregation-hdfs-lz4")
    side = "state/0/0/.6.delta.crc"
    files[side] = files[side][:-1] + bytes([files[side][-1] ^ 1])
    assert found(examinee(files), verified=verified)["HF2111"].severity is Severity.FATAL
    assert loadable(files, "HF2111", verified=verified) == (4, ((0, 4),))


def test_a_table_that_is_missing_is_not_told_again_by_its_checksum() -> None:
    """That would call it harmless, and advise to remove what proves the table."""
    files = files_of("aggregation-rocksdb")
    gone = f"state/0/0/SSTs/{next(iter(tables_of(files['state/0/0/6.zip'])))}"
    assert f"state/0/0/SSTs/.{gone.rpartition('/')[2]}.crc" in files
    del files[gone]
    told = {one.code for one in examined(examinee(files)).findings}
    assert "HF2314" in told and "HF2211" not in told


def test_a_missing_delta_names_them_without_reading_any_file() -> None:
    """Names are enough."""
    files = files_of("aggregation-hdfs-lz4")
    gone = without(files, of_version(files, 4))
    assert loadable(gone, "HF2221", verified=False) == (2, ((0, 2),))


@pytest.mark.parametrize("verified", [False, True])
def test_a_missing_table_takes_every_snapshot_with_it_that_names_it(verified: bool) -> None:
    """Without changelogs each zip is a version of its own: the last that names other tables."""
    files = files_of("aggregation-rocksdb")
    tables = {version: tables_of(files[f"state/0/0/{version}.zip"]) for version in range(1, 7)}
    gone = next(iter(tables[6]))
    last = max(version for version, names in tables.items() if gone not in names)
    assert last < 5
    left = without(files, f"state/0/0/SSTs/{gone}")
    assert loadable(left, "HF2314", verified=verified)[0] == last - 1


def test_a_table_that_many_snapshots_name_is_told_once() -> None:
    """With the one that the next start needs."""
    files = files_of("aggregation-rocksdb")
    gone = f"state/0/0/SSTs/{next(iter(tables_of(files['state/0/0/6.zip'])))}"
    told = [
        finding
        for finding in examined(examinee(without(files, gone)), verified=True).findings
        if finding.code == "HF2314"
    ]
    assert [(one.place.file, one.severity) for one in told] == [(gone, Severity.FATAL)]
    assert told[0].evidence["snapshot"] == "state/0/0/6.zip"


def test_where_snapshots_are_many_nothing_is_claimed_of_those_not_looked_into(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They may name the same table that is gone."""
    monkeypatch.setattr(rocksdb, "_FEW", 1)
    files = files_of("aggregation-rocksdb")
    gone = next(iter(tables_of(files["state/0/0/6.zip"])))
    left = without(files, f"state/0/0/SSTs/{gone}")
    assert loadable(left, "HF2314", verified=False) == (None, None)


def test_a_missing_partition_leaves_nothing_to_load() -> None:
    """It is told as such."""
    files = {path: data for path, data in files_of(TOTALS).items() if "state/0/1/" not in path}
    assert loadable(files, "HF2221", verified=False) == (None, ())
    message = found(examinee(files))["HF2221"].message
    assert message.endswith("no kept batch has a state that can be loaded")


def test_with_ids_only_the_files_themselves_tell() -> None:
    """What a changelog builds on is in its header: unread, nothing is claimed."""
    files = files_of(IDS)
    gone = without(files, newest(files, ".changelog"))
    assert loadable(gone, "HF2221", verified=False) == (None, None)
    last = max(int(path.split("/")[1]) for path in files if path.startswith("commits/")
               and path.split("/")[1].isdecimal())  # fmt: skip
    assert loadable(gone, "HF2221", verified=True)[0] == last - 1


def test_with_ids_a_damaged_commit_proves_nothing_about_the_state() -> None:
    """Only what is known to be lost is said to be."""
    files = files_of(IDS)
    last = max(int(path.split("/")[1]) for path in files if path.startswith("commits/")
               and path.split("/")[1].isdecimal())  # fmt: skip
    torn = {**without(files, f"commits/{last}"), f"commits/{last}": b""}
    gone = without(torn, of_version(files, 2))
    assert loadable(gone, "HF2238", verified=False) == (None, None)
    cut = changed(torn, of_version(files, 2), halved)
    assert loadable(cut, "HF2316", verified=True) == (0, ((0, 0),))


def test_an_older_damage_with_ids_is_no_fatal_one() -> None:
    """The next load needs its own chain alone."""
    files = files_of("aggregation-rocksdb-format-2-snapshots")
    old = changed(files, of_version(files, 2), halved)
    assert found(examinee(old), verified=True)["HF2316"].severity == "warning"


def test_partitions_are_told_with_their_versions() -> None:
    """Which one is behind, and how far."""
    files = files_of("aggregation-hdfs-lz4")
    behind = without(files, of_version(files, 6, partition=1), of_version(files, 5, partition=1))
    finding = found(examinee(behind))["HF2317"]
    assert finding.evidence["behind"] == {"state/0/1": 4}
    assert finding.evidence["newest_loadable_batch"] == 3


def test_a_pending_batch_that_only_some_partitions_wrote_is_no_finding() -> None:
    """A crash in the middle of a batch leaves exactly this."""
    files = files_of("pending-stateful")
    newest_version = of_version(files, 3, partition=1)
    assert "HF2317" not in found(examinee(without(files, newest_version)))


def test_without_the_libraries_names_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said that no row was read, and what is missing."""

    def refuse() -> None:
        raise UsageError("HF1001", "reading state requires numpy")

    monkeypatch.setattr(state, "require_state_extra", refuse)
    finding = found(examinee(files_of(TOTALS)), verified=True)["HF2320"]
    assert "were not decoded: reading state requires numpy; 22 files were" in finding.message


def test_without_the_libraries_checksums_are_compared_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of what the next start loads, within the budget; what is older is left to --verify."""

    def refuse() -> None:
        raise UsageError("HF2770", "reading state requires numpy")

    monkeypatch.setattr(state, "require_state_extra", refuse)
    files = files_of(TOTALS)
    damaged = found(examinee({**files, "state/0/1/9.delta": b"garbage"}))
    assert damaged["HF2111"].severity is Severity.FATAL
    assert damaged["HF2320"].message.endswith("; 4 files were compared with their checksums")
    old = {**files, "state/0/1/3.delta": b"garbage"}
    assert "HF2111" not in found(examinee(old))
    assert found(examinee(old), verified=True)["HF2111"].severity is Severity.WARNING
    monkeypatch.setattr(state.Budget, "is_over", lambda _: True)
    assert "compared" not in found(examinee(files))["HF2320"].message


def test_a_provider_that_is_not_known_is_told(tmp_path: Path) -> None:
    """Its files can't be decoded, and nobody can say that they could be."""
    files = files_of("limit")
    for path in [one for one in files if one.endswith(".delta")]:
        files[f"{path}.other"] = files.pop(path)
    for path in [one for one in files if one.startswith("offsets/")]:
        files[path] = files[path].replace(b"HDFSBackedStateStoreProvider", b"Elsewhere")
    finding = found(examinee(files), verified=True)["HF2320"]
    assert "Elsewhere" in finding.message


@pytest.mark.parametrize(
    "name,libraries",
    [("stateless", ("numpy", "pyarrow", "rocksdict")), (TOTALS, ("rocksdict",))],
)
def test_a_look_imports_no_library_that_it_does_not_need(
    tmp_path: Path, name: str, libraries: tuple[str, ...]
) -> None:
    """Their import takes longer than everything else that the doctor does."""
    place = sample(name, "4.3.0").extract(tmp_path)
    program = (
        "import sys; from holdfast import doctor; "
        f"doctor({str(place)!r}); "
        f"sys.exit(any(one in sys.modules for one in {libraries!r}))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    "name,path",
    [
        (STATE, "state/0/1/6.delta"),
        ("aggregation-rocksdb", "state/0/1/6.zip"),
        ("aggregation-rocksdb-changelog", "state/0/1/6.changelog"),
    ],
)
def test_missing_state_is_named_by_its_file(name: str, path: str) -> None:
    """Not by its folder: the file is what has to be put back."""
    findings = found(examinee(without(files_of(name), path, f"{path}.crc")))
    for code in ("HF2221", "HF2317"):
        finding = findings[code]
        assert (finding.place.file, finding.severity) == (path, Severity.FATAL)
        assert f"{path} is missing" in finding.message


def test_missing_state_of_format_2_is_named_by_the_id_in_the_commit() -> None:
    """An id is in the name of every file, and the commit tells it."""
    files = files_of("aggregation-rocksdb-format-2-changelog")
    (path,) = [one for one in files if re.fullmatch(r"state/0/1/6_[0-9a-f-]+\.changelog", one)]
    finding = found(examinee(without(files, path)))["HF2221"]
    assert finding.place.file == path


@pytest.mark.parametrize("name", ["aggregation-hdfs-lz4", "aggregation-rocksdb-changelog"])
@pytest.mark.parametrize("checksum", [True, False], ids=["with-checksum", "without-checksum"])
def test_a_damaged_change_of_the_pending_batch_is_a_note(name: str, checksum: bool) -> None:
    """The batch is run again and replaces it; whatever it loads is still fatal."""
    files = without(files_of(name), "commits/5")
    written = of_version(files, 6)
    damaged = changed(files, written, halved)
    if checksum:
        damaged = {**files, written: halved(files[written])}
    (finding,) = (
        one
        for one in examined(examinee(damaged), verified=True).findings
        if one.place.file == written
    )
    assert finding.severity is Severity.INFO
    assert "runs the batch again and replaces the file" in finding.why
    loaded = changed(files, of_version(files, 5), halved)
    severities = {one.severity for one in examined(examinee(loaded), verified=True).findings}
    assert Severity.FATAL in severities
