"""State that grows: told where it is large, has grown, and no watermark bounds it."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from holdfast.diagnosis.checks import growth as stategrowth
from tests.checkpoint.pictures import files_of, replaced
from tests.diagnosis.doctor.examining import Files, examinee, found
from tests.diagnosis.doctor.scenarios import Swollen
from tests.diagnosis.doctor.statescenarios import MEGABYTE

TOTALS = "aggregation-hdfs-snapshots"
CODE = "HF2319"


def listed(before: int, after: int, files: Files | None = None) -> Swollen:
    """List the snapshots of versions 4 and 8 with other sizes, in both partitions."""
    sizes = {"4.snapshot": before, "8.snapshot": after}
    return Swollen(
        files_of(TOTALS) if files is None else files,
        {f"state/0/{part}/{name}": size for part in (0, 1) for name, size in sizes.items()},
    )


def test_it_is_told_with_its_sizes_and_batches() -> None:
    """Of all partitions together."""
    finding = found(examinee({}, reader=listed(150 * MEGABYTE, 400 * MEGABYTE)))[CODE]
    assert finding.evidence["bytes_before"] == 300 * MEGABYTE
    assert finding.evidence["bytes"] == 800 * MEGABYTE
    assert "between batches 3 and 7" in finding.message


@pytest.mark.parametrize(
    ("before", "after"),
    [(1 * MEGABYTE, 2 * MEGABYTE), (400 * MEGABYTE, 410 * MEGABYTE), (400 * MEGABYTE, 200)],
    ids=["small", "steady", "shrunk"],
)
def test_small_or_steady_state_is_no_finding(before: int, after: int) -> None:
    """Every query without a watermark has state; only growth of a large one is news."""
    assert CODE not in found(examinee({}, reader=listed(before, after)))


def test_a_watermark_bounds_it() -> None:
    """Then growth is that of the data."""
    files = files_of(TOTALS)
    text = files["offsets/8"].replace(b'"batchWatermarkMs":0', b'"batchWatermarkMs":1767225600000')
    assert text != files["offsets/8"]
    marked = listed(150 * MEGABYTE, 400 * MEGABYTE, replaced(files, "offsets/8", text))
    assert CODE not in found(examinee({}, reader=marked))


def test_an_operator_that_cleans_up_by_itself_is_left_alone() -> None:
    """A limit, or state of the user's own, has no use for a watermark."""
    files = files_of(TOTALS)
    path = "state/0/_metadata/metadata"
    named = replaced(files, path, files[path].replace(b"stateStoreSave", b"transformWithStateExec"))
    grown = listed(150 * MEGABYTE, 400 * MEGABYTE, named)
    assert CODE not in found(examinee({}, reader=grown))


def with_tables_of(files: Files, path: str, size: int) -> Files:
    """Let a snapshot say that its tables have so many bytes in all."""
    packed = zipfile.ZipFile(io.BytesIO(files[path]))
    rewritten = io.BytesIO()
    with zipfile.ZipFile(rewritten, "w") as target:
        for name in packed.namelist():
            data = packed.read(name)
            if name == "metadata":
                head, _, text = data.decode().partition("\n")
                entry = json.loads(text)
                for table in entry["sstFiles"]:
                    table["sizeBytes"] = size // len(entry["sstFiles"])
                data = f"{head}\n{json.dumps(entry)}".encode()
            target.writestr(name, data)
    return replaced(files, path, rewritten.getvalue())


def test_rocksdb_is_measured_by_the_tables_that_snapshots_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A zip itself is small, however large the state is."""
    files = files_of("aggregation-rocksdb-changelog-snapshots")
    zips = [path for path in files if path.endswith(".zip")]
    for part in ("0", "1"):
        own = [path for path in zips if path.split("/")[2] == part]
        versions = sorted(own, key=lambda path: int(path.split("/")[3].split(".")[0]))
        files = with_tables_of(files, versions[0], 100_000)
        files = with_tables_of(files, versions[-1], 900_000)
    assert CODE not in found(examinee(files))
    monkeypatch.setattr(stategrowth, "LARGE_STATE_BYTES", 1_000_000)
    evidence = found(examinee(files))[CODE].evidence
    assert evidence["bytes_before"] == pytest.approx(200_000, abs=10)
    assert evidence["bytes"] == pytest.approx(1_800_000, abs=10)
