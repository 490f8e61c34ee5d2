"""`holdfast inspect` as people and scripts see it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.running import holdfast
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample


def digest_tree(root: Path) -> dict[str, tuple[str, int]]:
    """Fingerprint every file: content and time of change."""
    return {
        str(path.relative_to(root)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder",
            path.stat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
    }


@over_samples("one", corpus())
def test_the_page_fits_80_columns_and_writes_nothing(
    one: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every real checkpoint, in text and in JSON."""
    monkeypatch.setenv("COLUMNS", "80")
    root = one.extract(tmp_path)
    before = digest_tree(tmp_path)
    shown = holdfast("inspect", str(root))
    assert shown.status in (0, 3), shown.err
    assert shown.fits(80)
    answered = holdfast("inspect", str(root), "--json", "--verify")
    assert answered.document["result"]["query_id"] == one.facts["query_id"]
    assert digest_tree(tmp_path) == before


def test_a_pending_batch_is_told_in_plain_words(tmp_path: Path) -> None:
    """What was planned, that it will run again, and that the sink may hold it."""
    root = sample("pending", "4.3.0").extract(tmp_path)
    text = " ".join(holdfast("inspect", str(root)).out.split())
    assert "The next start runs batch 2 again" in text
    assert "batch 2 was planned but not committed" in text
    assert "with exactly these offsets; it may already be in the sink" in text


def test_the_forecast_says_which_state_files_were_not_read(tmp_path: Path) -> None:
    """The next start may fail at a damaged one; --verify finds it."""
    root = sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path)
    files = [one for one in root.glob("state/0/*/*.*") if one.suffix in (".delta", ".snapshot")]
    damaged = root / "state/0/0/1.delta"
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    shown = " ".join(holdfast("inspect", str(root)).out.split())
    assert "The next start plans batch" in shown
    assert f"Not verified: {len(files)} state files," in shown
    assert "(--verify reads them)" in shown
    unverified = holdfast("inspect", str(root), "--json").document["result"]["unverified"]
    assert unverified == {
        "files": len(files),
        "size_bytes": sum(one.stat().st_size for one in files),
    }
    verified = holdfast("inspect", str(root), "--json", "--verify").document
    assert verified["result"]["unverified"] is None
    assert "HF2111" in [one["code"] for one in verified["findings"]]


@pytest.mark.parametrize(
    "shape,file",
    [
        ("aggregation-hdfs-lz4", "state/0/0/6.delta"),
        ("aggregation-hdfs-purged", "state/0/0/6.delta"),
        ("aggregation-hdfs-purged", "state/0/0/9.delta"),
        ("aggregation-rocksdb", "state/0/0/6.zip"),
        ("aggregation-rocksdb", "state/0/0/SSTs/000008-*.sst"),
        ("aggregation-rocksdb", "state/0/0/SSTs/000013-*.sst"),
    ],
)
def test_verified_the_forecast_and_the_doctor_agree(tmp_path: Path, shape: str, file: str) -> None:
    """It fails where the next start loads the truncated file, and only there."""
    root = sample(shape, "4.3.0").extract(tmp_path)
    (damaged,) = root.glob(file)
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    inspected = holdfast("inspect", str(root), "--json", "--verify").document
    doctored = holdfast("doctor", str(root), "--json", "--verify").document
    start = inspected["result"]["next_start"]
    is_fatal = "fatal" in [one["severity"] for one in doctored["findings"]]
    assert (start["action"] == "fail") == is_fatal
    if is_fatal:
        assert start["reason"].startswith(f"{damaged.relative_to(root)}") and start["sink_touched"]
    told = [[(one["code"], one["severity"]) for one in document["findings"]
             if one["severity"] != "info"] for document in (inspected, doctored)]  # fmt: skip
    assert told[0] == told[1] and "HF2221" not in dict(told[0])


def test_state_without_a_checksum_stays_unverified(tmp_path: Path) -> None:
    """Only the doctor decodes it."""
    root = sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path)
    damaged = root / "state/0/1/6.delta"
    damaged.write_bytes(damaged.read_bytes()[:40])
    for side in (root / "state/0/1/.6.delta.crc", root / "state/0/1/6.delta.crc"):
        side.unlink(missing_ok=True)
    result = holdfast("inspect", str(root), "--json", "--verify").document["result"]
    assert result["unverified"] == {"files": 1, "size_bytes": 40} and result["verified"]
    shown = " ".join(holdfast("inspect", str(root), "--verify").out.split())
    assert "Not verified: 1 state file, 40 B, without checksums" in shown
    assert "(holdfast doctor --verify decodes them)" in shown


def test_a_query_without_state_has_nothing_to_verify(tmp_path: Path) -> None:
    root = sample("stateless", "4.3.0").extract(tmp_path)
    assert "Not verified" not in holdfast("inspect", str(root)).out
    assert holdfast("inspect", str(root), "--json").document["result"]["unverified"] is None


def test_the_document_has_the_contracts_fields(tmp_path: Path) -> None:
    """Fixed names: other programs depend on them."""
    root = sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path)
    document = holdfast("inspect", str(root), "--json").document
    assert list(document) == [
        "schema", "holdfast", "command", "status", "result", "findings", "next", "error",
    ]  # fmt: skip
    assert document["schema"] == "holdfast.inspect/1"
    assert document["status"] == "ok"
    result = document["result"]
    assert {
        "location", "query_id", "size_bytes", "file_count", "batches", "next_start", "logs",
        "sources", "watermark_ms", "batch_timestamp_ms", "settings", "operators", "provider",
        "spark_version", "sink",
    } <= set(result)  # fmt: skip
    assert set(result["batches"]) == {"first_kept", "last_planned", "last_committed", "pending"}
    assert set(result["next_start"]) == {
        "action", "batch_id", "reason", "assumes_spark", "sink_touched", "differs",
    }  # fmt: skip
    assert result["logs"]["offsets"] == {"version": 1, "ids": [[0, 5]]}
    assert {"index", "name", "kind", "offset", "previous", "pending_amount"} <= set(
        result["sources"][0]
    )
    assert set(result["spark_version"]) == {"value", "low", "high", "basis"}
    (store,) = result["operators"][0]["stores"]
    assert {"name", "partitions", "key_schema", "value_schema", "versions"} <= set(store)
    assert result["provider"] == "hdfs"
    assert result["watermark_ms"] > 0


def test_damage_is_a_finding_with_status_3_and_a_result(tmp_path: Path) -> None:
    """What could still be read is told."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    (root / "offsets" / "3").write_bytes(b"")
    answered = holdfast("inspect", str(root), "--json")
    assert answered.status == 3
    document = answered.document
    assert document["status"] == "findings"
    assert document["result"]["batches"]["last_committed"] == 3
    finding = document["findings"][0]
    assert set(finding) == {"code", "severity", "message", "at", "evidence", "why", "next"}
    assert finding["code"] == "HF2101"
    assert finding["severity"] == "fatal"
    assert finding["at"].startswith(f"{root}/offsets/3")


def test_a_foreign_folder_ends_with_21(tmp_path: Path) -> None:
    """An error, on stderr or as the one document."""
    (tmp_path / "notes.txt").write_text("x")
    shown = holdfast("inspect", str(tmp_path))
    assert shown.status == 21
    assert shown.out == ""
    assert shown.err.startswith("error HF2001: ")
    assert "  why   " in shown.err
    assert "  next  " in shown.err
    answered = holdfast("inspect", str(tmp_path), "--json")
    assert answered.status == 21
    assert answered.document["error"]["code"] == "HF2001"
    assert answered.document["result"] is None


def test_a_missing_place_ends_with_21(tmp_path: Path) -> None:
    """Nothing there is told as such."""
    shown = holdfast("inspect", str(tmp_path / "none"))
    assert shown.status == 21
    assert "HF7001" in shown.err


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    """The exit status tells."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    shown = holdfast("inspect", str(root), "--quiet")
    assert (shown.status, shown.out, shown.err) == (0, "", "")


def test_another_release_can_be_asked(tmp_path: Path) -> None:
    """Before an upgrade: what would it do."""
    root = sample("stateless", "3.5.9").extract(tmp_path)
    (root / "metadata").unlink()
    older = holdfast("inspect", str(root), "--json").document["result"]["next_start"]
    newer = holdfast("inspect", str(root), "--json", "--spark", "4.3").document["result"]
    assert older["action"] == "plan"
    assert older["assumes_spark"] == "3.5"
    assert newer["next_start"]["action"] == "fail"
    assert [one["spark"] for one in older["differs"]] == ["4.2", "4.3"]


def test_the_number_of_batches_can_be_chosen(tmp_path: Path) -> None:
    """The newest ones."""
    root = sample("stateless-compacted", "4.3.0").extract(tmp_path)
    result = holdfast("inspect", str(root), "--json", "--batches", "2").document["result"]
    assert [batch["id"] for batch in result["timeline"]] == [9, 10]


def test_a_pipe_gets_plain_text(tmp_path: Path) -> None:
    """No control sequences where nobody sees colours."""
    root = sample("pending", "4.3.0").extract(tmp_path)
    assert "\x1b" not in holdfast("inspect", str(root)).out


def test_fields_of_a_later_spark_are_kept_and_shown(tmp_path: Path) -> None:
    """Not dropped, in both forms."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    entry = root / "commits" / "3"
    entry.write_bytes(entry.read_bytes().replace(b"}", b',"laterField":{"a":1}}'))
    (root / "commits" / ".3.crc").unlink()
    assert "laterField" in holdfast("inspect", str(root)).out
    (addition,) = holdfast("inspect", str(root), "--json").document["result"]["additions"]
    assert addition == {"file": "commits/3", "field": "laterField", "value": {"a": 1}}
