"""Scenarios about what is inside of state files, and all scenarios in one tuple."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.diagnosis.doctor.doctor import Examinee
from tests.checkpoint.pictures import files_of, replaced, without
from tests.diagnosis.doctor.examining import Files, examinee
from tests.diagnosis.doctor.fieldscenarios import FIELD_SCENARIOS
from tests.diagnosis.doctor.scenarios import (
    ERROR,
    FATAL,
    INFO,
    SCENARIOS,
    STATE,
    WARNING,
    Scenario,
    Swollen,
    alone,
)

TOTALS = "aggregation-hdfs-snapshots"
ROCKSDB = "aggregation-rocksdb"
IDS = "aggregation-rocksdb-format-2-changelog"
MEGABYTE = 1024 * 1024


def changed(files: Files, path: str, change: Callable[[bytes], bytes]) -> Files:
    """Change one file; its checksums are gone, as on a store that keeps none."""
    bare = without(files, f"{path}.crc")
    return replaced(bare, path, change(files[path]))


def halved(data: bytes) -> bytes:
    """Cut a file in the middle."""
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    """Flip a byte in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def newest(files: Files, suffix: str, partition: int = 0) -> str:
    """Name the newest file of a suffix in a partition."""
    start = f"state/0/{partition}/"
    paths = [one for one in files if one.startswith(start) and one.endswith(suffix)]
    return max(paths, key=lambda one: int(one.removeprefix(start).split(".")[0].split("_")[0]))


def of_version(files: Files, version: int, partition: int = 0) -> str:
    """Name the changes of one version, whatever id it has."""
    start = f"state/0/{partition}/{version}"
    return next(one for one in files if one.startswith((f"{start}.", f"{start}_"))
                and one.endswith((".delta", ".changelog")))  # fmt: skip


def damaged_table() -> Files:
    """Flip a byte of a table that the newest snapshot names; the size stays."""
    files = files_of(ROCKSDB)
    tables = [one for one in files if one.startswith("state/0/0/SSTs/") and one.endswith(".sst")]
    for path in tables:
        files = changed(files, path, flipped)
    return files


def without_old_tables() -> Files:
    """Take away a table that only older snapshots name."""
    from holdfast.diagnosis.checks.state.rocksdb import tables_of

    files = files_of(ROCKSDB)
    now = tables_of(files[newest(files, ".zip")])
    old = next(name for name in tables_of(files["state/0/0/1.zip"]) if name not in now)
    return without(files, f"state/0/0/SSTs/{old}")


def partition_behind() -> Files:
    """Take the two newest versions of one partition away, as an older copy has them."""
    files = files_of(STATE)
    return without(files, of_version(files, 6, partition=1), of_version(files, 5, partition=1))


def foreign_schema() -> Files:
    """Give an aggregation the schema file of another query."""
    other = files_of("types")["state/0/0/_metadata/schema"]
    return replaced(files_of(TOTALS), "state/0/0/_metadata/schema", other)


def moved_away() -> Examinee:
    """Move a checkpoint of transformWithState; nothing is left where it was."""
    return replace(examinee(files_of("transform-pandas")), exists_at=lambda _path: False)


def swollen() -> Swollen:
    """List a delta that is larger than what the doctor reads by itself."""
    files = files_of(STATE)
    return Swollen(files, {newest(files, ".delta"): 65 * MEGABYTE})


def grown() -> Swollen:
    """List snapshots with sizes of a state that has grown."""
    sizes = {"4.snapshot": 150 * MEGABYTE, "8.snapshot": 400 * MEGABYTE}
    return Swollen(
        files_of(TOTALS),
        {f"state/0/{partition}/{name}": size for partition in (0, 1)
         for name, size in sizes.items()},
    )  # fmt: skip


STATE_SCENARIOS: tuple[Scenario, ...] = (
    Scenario((41,), "HF2316", FATAL, ".delta",
             "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(changed(files_of(STATE), newest(files_of(STATE), ".delta"), halved)),
             tried=("4.3.0/aggregation/state-newest-cut",)),
    Scenario((), "HF2316", FATAL, ".delta",
             "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(changed(files_of(STATE), newest(files_of(STATE), ".delta"), flipped)),
             tried=("4.3.0/aggregation/state-newest-flipped",)),
    Scenario((), "HF2316", FATAL, ".changelog",
             "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(changed(files_of(IDS), newest(files_of(IDS), ".changelog"), halved)),
             tried=("4.3.0/rocksdb/state-newest-cut",)),
    Scenario((42,), "HF2316", ERROR, ".snapshot",
             "4.2 and later go on: they take an older one and the deltas. 3.5 stops: Stream is "
             "corrupted.",
             lambda: alone(changed(files_of(TOTALS), newest(files_of(TOTALS), ".snapshot"),
                                   flipped)),
             tried=("4.3.0/snapshot-flipped", "3.5.9/snapshot-flipped")),
    Scenario((), "HF2316", WARNING, "2.delta",
             "Spark goes on with the snapshot, which is newer, and never reads it.",
             lambda: alone(changed(files_of(TOTALS), of_version(files_of(TOTALS), 2), halved)),
             verified=True, not_tried="what is older than the newest snapshot is not loaded"),
    Scenario((), "HF2316", FATAL, "state/0/0/",
             "RocksDB refuses the block, and Spark stops.",
             lambda: alone(damaged_table()),
             not_tried="a table of the right size with a flipped byte was not started"),
    Scenario((), "HF2314", WARNING, ".sst",
             "Spark goes on with the newest snapshot.",
             lambda: alone(without_old_tables()), verified=True,
             not_tried="an older snapshot is not loaded unless the query is rolled back"),
    Scenario((), "HF2317", FATAL, "state/0/1/5.delta",
             "Spark stops: CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS.",
             lambda: alone(partition_behind()),
             tried=("4.3.0/aggregation/state-newest-missing",)),
    Scenario((), "HF2225", FATAL, "state/0/_metadata/v2/0",
             "Spark reads the schema from the old path and stops: FileNotFoundException.",
             lambda: (moved_away(),),
             tried=("4.2.0/transform-moved",)),
    Scenario((), "HF2318", ERROR, "state/0/",
             "Spark compares the query with the schema file alone, and reads rows by the query.",
             lambda: alone(foreign_schema()), verified=True,
             not_tried="which bytes a row then shows depends on chance"),
    Scenario((), "HF2319", WARNING, "state/0",
             "Spark keeps every key for ever.",
             lambda: (examinee({}, reader=grown()),),
             not_tried="only the size differs"),
    Scenario((), "HF2320", INFO, "state", "Spark reads what it loads.",
             lambda: (examinee({}, reader=swollen()),),
             not_tried="it is about what the doctor did not read"),
    Scenario((), "HF2229", INFO, "state/0/0/notes.txt",
             "Spark goes on and never reads it.",
             lambda: alone({**files_of(STATE), "state/0/0/notes.txt": b"by hand"}),
             not_tried="Spark opens state files by name"),
)  # fmt: skip

EVERY_SCENARIO = (*SCENARIOS, *STATE_SCENARIOS, *FIELD_SCENARIOS)
