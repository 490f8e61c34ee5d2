"""Event logs on disk, and what is recorded of a query in one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.format.state.codecs import decompressed
from holdfast.records.recordings import Origin, QueryPart
from holdfast.restart.eventlogs import described_query, logged_query, read_event_log
from tests.eventlogs.loading import extracted, query_of
from tests.format.test_eventlogs_events import START, progress


def plain(shape: str, folder: Path) -> bytes:
    log, _ = extracted(shape, folder)
    file = log if log.is_file() else next(one for one in log.iterdir() if "events_" in one.name)
    return b"".join(decompressed(file.read_bytes()))


@pytest.mark.parametrize("shape", ["totals", "copied", "joined"])
def test_plain_gzip_and_as_spark_wrote_it_say_the_same(shape: str, tmp_path: Path) -> None:
    content = plain(shape, tmp_path)
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "log.gz").write_bytes(gzip.compress(content))
    as_written = read_event_log(extracted(shape, tmp_path / "again")[0])
    assert read_event_log(tmp_path / "plain") == as_written
    assert read_event_log(tmp_path / "log.gz") == as_written


def test_parts_follow_each_other_and_a_compact_one_replaces_those_before(tmp_path: Path) -> None:
    """Number 10 comes after number 9."""
    folder = tmp_path / "eventlog_v2_app"
    folder.mkdir()
    (folder / "appstatus_app").write_bytes(b"")
    (folder / "events_8_app").write_bytes(progress(99, "addBatch") + b"\n")
    (folder / "events_9_app.compact").write_bytes(START + b"\n" + progress(3, "addBatch") + b"\n")
    (folder / "events_9_app").write_bytes(progress(98, "addBatch") + b"\n")
    (folder / "events_10_app").write_bytes(progress(4, "addBatch") + b"\n")
    (query,) = read_event_log(folder).queries
    assert (query.first_batch, query.last_batch) == (3, 4)


def damaged(kind: str, folder: Path) -> Path:
    file = folder / "log"
    if kind == "missing":
        return file
    if kind == "empty folder":
        file.mkdir()
        (file / "eventlog_v2_app").mkdir()
        return file
    whole = next(one for one in extracted("totals", folder)[0].iterdir() if "events_" in one.name)
    content = {"cut": whole.read_bytes()[:9000], "text": b"hello\n", "empty": b""}
    file.write_bytes(content[kind])
    return file


@pytest.mark.parametrize("kind", ["missing", "empty folder", "cut", "text", "empty"])
def test_what_is_no_event_log_is_refused_with_its_place(kind: str, tmp_path: Path) -> None:
    file = damaged(kind, tmp_path)
    with pytest.raises(UsageError) as raised:
        read_event_log(file)
    assert (raised.value.code.number, raised.value.at) == ("HF2507", str(file))
    assert kind != "empty folder" or "eventlog_v2_app" in raised.value.message


def test_without_the_codecs_a_plain_log_is_read_and_a_compressed_one_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.restart.eventlogs.find_spec", lambda _: None)
    assert read_event_log(extracted("copied", tmp_path / "plain")[0]).spark == "4.2.0"
    with pytest.raises(UsageError) as raised:
        read_event_log(extracted("totals", tmp_path / "zstd")[0])
    assert raised.value.code.number == "HF2770"
    assert "pyarrow, xxhash" in raised.value.message


def test_a_log_of_another_query_is_refused(tmp_path: Path) -> None:
    log, query = query_of("totals", tmp_path)
    assert logged_query(log, query.query_id, tmp_path) is query
    for other in ("another", None):
        with pytest.raises(UsageError) as raised:
            logged_query(log, other, tmp_path)
        assert raised.value.code.number == "HF2508"
        assert query.query_id in raised.value.message


def test_what_is_known_and_what_is_not(tmp_path: Path) -> None:
    log, query = query_of("totals", tmp_path)
    found = described_query(log, query, passed=1)
    assert (found.origin, found.program, found.spark) == (Origin.EVENT_LOG, "totals", "4.2.0")
    assert (found.output_mode, found.passed, found.notes) == ("update", 1, ())
    facts = found.plan.query
    assert facts is not None and facts.operators is not None
    assert [one.name for one in facts.operators] == ["stateStoreSave"]
    assert facts.watermarks[0].delay_ms == 600_000
    for part in (QueryPart.KEYS, QueryPart.VALUES, QueryPart.FUNCTIONS, QueryPart.SOURCE_OPTIONS):
        assert part in found.missing
    assert QueryPart.OUTPUT_MODE not in found.missing


def test_a_query_without_state_lacks_no_keys(tmp_path: Path) -> None:
    found = described_query(*query_of("copied", tmp_path), passed=1)
    assert QueryPart.KEYS not in found.missing
    assert QueryPart.OUTPUT_MODE in found.missing


def test_batches_after_the_log_are_named(tmp_path: Path) -> None:
    log, query = query_of("totals", tmp_path)
    assert "batches 2 to 4" in described_query(log, query, passed=4).notes[0]
    assert "batch 2:" in described_query(log, query, passed=2).notes[0]


def test_secrets_in_settings_are_left_out(tmp_path: Path) -> None:
    from dataclasses import replace

    log, query = query_of("totals", tmp_path)
    secret = {"spark.sql.catalog.lake.password": "hunter2hunter2"}
    found = described_query(log, replace(query, settings={**query.settings, **secret}), passed=1)
    assert found.plan.query is not None
    assert "spark.sql.catalog.lake.password" not in found.plan.query.settings
    assert "hunter2" not in str(found)
