"""Identifiers that stand only in a checkpoint of a Delta log, as Spark and delta-rs write them."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from holdfast.errors import StorageError
from holdfast.ledgers.delta.log import find_checkpoints
from holdfast.ledgers.delta.transactions import DeltaLedger, read_delta_ledger
from holdfast.storage.local import LocalReader
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listed, Reader
from holdfast.storage.testing import FaultyReader, InjectedFault, RecordingReader
from tests.storage.s3server import S3Server

LOGS = Path(__file__).resolve().parent / "deltalogs"
KINDS = ("classic", "multi-part", "v2-parquet", "v2-json")
WRITTEN = {"application-0": 9, "application-1": 7, "application-2": 8}
Files = dict[str, bytes]


def spark_log(kind: str) -> Files:
    """A log that Spark and Delta wrote, cleaned up to version 8."""
    with zipfile.ZipFile(LOGS / f"{kind}.zip") as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def read(files: Files | Reader) -> DeltaLedger:
    """Read a log that is there."""
    ledger = read_delta_ledger(MemoryReader(files) if isinstance(files, dict) else files)
    assert ledger is not None
    return ledger


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_checkpoint_that_spark_writes_is_read(kind: str) -> None:
    ledger = read(spark_log(kind))
    assert ledger.transactions == WRITTEN
    assert (ledger.complete, ledger.unread, ledger.newest_version) == (True, (), 9)
    assert ledger.retention == "interval 1000 weeks"
    assert ledger.table_id and ledger.table_schema and ledger.partition_columns is not None
    assert ledger.last_committed("another").basis == (
        "the Delta log holds no txn action of this query id"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_of_nothing_but_its_checkpoint_is_a_log(kind: str) -> None:
    files = {name: data for name, data in spark_log(kind).items() if ".checkpoint." in name}
    ledger = read(files)
    assert (ledger.newest_version, ledger.complete) == (8, True)
    assert ledger.transactions == {**WRITTEN, "application-0": 6}


def test_a_log_of_delta_rs_is_read(tmp_path: Path) -> None:
    for version in range(5):
        mark = Transaction(f"application-{version % 2}", 10 * version)
        write_deltalake(
            tmp_path,
            pa.table({"a": [version]}),
            mode="append",
            commit_properties=CommitProperties(app_transactions=[mark]),
        )
        if version == 3:
            DeltaTable(tmp_path).create_checkpoint()
    for version in range(4):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    ledger = read(LocalReader(str(tmp_path / "_delta_log"), "log"))
    assert ledger.transactions == {"application-0": 40, "application-1": 30}
    assert ledger.complete


def test_only_the_columns_that_matter_are_fetched(tmp_path: Path) -> None:
    """Of a checkpoint with many data files, all but a few bytes tell of these."""
    table = pa.table({"a": list(range(1500)), "b": [f"{one}" * 20 for one in range(1500)]})
    mark = CommitProperties(app_transactions=[Transaction("application", 7)])
    write_deltalake(tmp_path, table, partition_by=["a"], commit_properties=mark)
    DeltaTable(tmp_path).create_checkpoint()
    (tmp_path / "_delta_log" / f"{0:020}.json").unlink()
    counted = RecordingReader(LocalReader(str(tmp_path / "_delta_log"), "log"))
    assert read(counted).transactions == {"application": 7}
    size = (tmp_path / "_delta_log" / f"{0:020}.checkpoint.parquet").stat().st_size
    assert counted.bytes_read < size / 2


@pytest.mark.s3
def test_it_is_read_from_an_object_store_in_a_few_calls() -> None:
    """With the reader that the table was opened with: nobody is told credentials twice."""
    server = S3Server()
    try:
        for kind in KINDS:
            files = {f"table/_delta_log/{name}": data for name, data in spark_log(kind).items()}
            server.fill(f"bucket-{kind}", files)
            ledger = read(server.reader(f"s3a://bucket-{kind}/table/_delta_log"))
            assert (ledger.transactions, ledger.complete) == (WRITTEN, True)
            assert len(server.requests) <= 10
    finally:
        server.stop()


def test_versions_after_the_checkpoint_have_the_last_word() -> None:
    files = spark_log("classic")
    files[f"{9:020}.json"] = b'{"txn":{"appId":"application-1","version":3}}'
    assert read(files).transactions == {**WRITTEN, "application-0": 6, "application-1": 3}


def test_a_gap_after_the_checkpoint_is_no_whole_log() -> None:
    files = spark_log("classic")
    files[f"{11:020}.json"] = files.pop(f"{9:020}.json")
    ledger = read(files)
    assert not ledger.complete
    assert ledger.transactions == {"application-0": 9}


def test_a_part_that_is_gone_leaves_the_checkpoint_before() -> None:
    """Its versions are gone, so the log is not whole, and says so."""
    files = spark_log("multi-part")
    del files[f"{8:020}.checkpoint.{2:010}.{2:010}.parquet"]
    assert not read(files).complete
    for version in range(5, 9):
        files[f"{version:020}.json"] = b'{"txn":{"appId":"application-%d","version":%d}}' % (
            version % 3,
            version,
        )
    assert read(files).transactions == WRITTEN
    assert read(files).complete


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"x" * 20_000, None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_checkpoint_is_said_to_be_unread(kind: str, damage: bytes | None) -> None:
    files = {name: data for name, data in spark_log(kind).items() if f"{4:020}" not in name}
    for name in [name for name in files if name.startswith(f"{8:020}")]:
        cut = files[name][: len(files[name]) // 2] if damage is None else damage
        files[name] = b'{"txn":' + cut if name.endswith(".json") else cut
    ledger = read(files)
    assert not ledger.complete
    assert ledger.unread
    assert "could not be read" in ledger.last_committed("another").basis


@pytest.mark.parametrize("operation", range(3, 5))
def test_a_storage_that_fails_in_the_checkpoint_leaves_it_unread(operation: int) -> None:
    """The first operation lists, the second reads the version after the checkpoint."""
    files = {name: data for name, data in spark_log("classic").items() if f"{4:020}" not in name}
    fault = InjectedFault(operation, StorageError("HF7003", "ordered"), times=None)
    ledger = read(FaultyReader(MemoryReader(files), fault))
    assert not ledger.complete
    assert ledger.unread[0] == f"{8:020}.checkpoint.parquet"


@pytest.mark.parametrize("kind", KINDS)
def test_without_pyarrow_it_is_told_what_to_install(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    ledger = read(spark_log(kind))
    if kind == "v2-json":
        assert ledger.transactions == WRITTEN
        return
    assert (ledger.complete, ledger.needs_pyarrow) == (False, True)
    assert "pyarrow is not installed" in ledger.last_committed("another").basis


def test_only_whole_checkpoints_count() -> None:
    names = [
        f"{3:020}.checkpoint.parquet",
        f"{7:020}.checkpoint.{1:010}.{3:010}.parquet",
        f"{7:020}.checkpoint.{3:010}.{3:010}.parquet",
        f"{5:020}.checkpoint.{1:010}.{1:010}.parquet",
        f"{9:020}.checkpoint.parquet.tmp",
        "_sidecars/00000000000000000009.checkpoint.parquet",
        "_last_checkpoint",
    ]
    found = find_checkpoints(Listed(name, FileKind.FILE, 1) for name in names)
    assert [one.version for one in found] == [5, 3]
