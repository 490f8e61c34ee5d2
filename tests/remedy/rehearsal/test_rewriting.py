"""Copies lead nowhere back: paths inside of them, and records beside them."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.format.logs.filelog import decode_sink_log
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.run import SinkFacts
from holdfast.remedy.rehearsal.rewriting import (
    name_scratch_sink,
    rewrite_checkpoint,
    rewrite_sink_log,
)
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.corpus.loading import sample
from tests.diagnosis.doctor.recording import a_run, write_runs


def schema_paths(root: Path) -> set[str]:
    """Give the paths of state schemas that a checkpoint names."""
    found: set[str] = set()
    for file in root.glob("state/*/_metadata/v2/[0-9]*"):
        stores = json.loads(file.read_text("utf-8").partition("\n")[2])["stateStoreInfo"]
        found |= {path for one in stores for path in one["stateSchemaFilePaths"]}
    return found


def test_paths_of_state_schemas_lead_to_the_copy(tmp_path: Path) -> None:
    """Only those that led to the original: what is recorded wrongly is a finding in both."""
    sample("transform-rows", "4.3.0").extract(tmp_path)
    root = tmp_path / "checkpoint"
    recorded = schema_paths(root)
    former = next(iter(recorded)).removeprefix("file:").partition("/state/")[0]
    copy = parse_location(str(root))
    assert rewrite_checkpoint(copy, parse_location(str(tmp_path / "elsewhere"))) == 0
    assert schema_paths(root) == recorded
    assert rewrite_checkpoint(copy, parse_location(former)) > 0
    assert schema_paths(root)
    assert all(path.startswith(f"file:{root}/state/") for path in schema_paths(root))
    assert not [*root.glob("state/*/_metadata/v2/.*.crc")]


def test_the_log_of_sparks_file_sink_names_the_copies(tmp_path: Path) -> None:
    """Blanks in a path are encoded, and a foreign path stays."""
    copy, original = tmp_path / "the copy", "/lake/my orders"
    log = copy / "_spark_metadata"
    log.mkdir(parents=True)
    entry = {
        "size": 1, "isDir": False, "modificationTime": 0, "blockReplication": 1, "blockSize": 1,
        "action": "add",
    }  # fmt: skip
    lines = [
        json.dumps({"path": path, **entry})
        for path in ("file:///lake/my%20orders/part-0.parquet", "file:///other/part-1.parquet")
    ]
    (log / "0").write_text("\n".join(("v1", *lines)), encoding="utf-8")
    (log / ".0.crc").write_bytes(b"crc")
    assert rewrite_sink_log(parse_location(str(copy)), parse_location(original)) == 1
    told = [one.path for one in decode_sink_log((log / "0").read_bytes()).items]
    assert told == [
        f"file://{str(copy).replace(' ', '%20')}/part-0.parquet", "file:///other/part-1.parquet",
    ]  # fmt: skip
    assert not (log / ".0.crc").exists()


def test_records_of_runs_name_the_scratch_sink(tmp_path: Path) -> None:
    """Runs that wrote to another sink keep it: that is a finding in both."""
    root = tmp_path / "orders"
    sinks = [SinkFacts("delta", "lake", "append", "once", place, "table 1") for place in "ab"]
    runs = [a_run(generation=at, sink=sink) for at, sink in enumerate(sinks, 1)]
    write_runs(root, *runs)
    records = records_of(parse_location(str(root)), StorageSettings())
    nothing = LastCommitted.nothing("empty")
    before, now = SinkState(nothing, "a", "table 1"), SinkState(nothing, "copy", "table 2")
    assert name_scratch_sink(records, before, now) == 1
    newest, first = History(records).runs()
    assert newest.sink == sinks[1]
    assert first.sink is not None
    assert (first.sink.place, first.sink.incarnation) == ("copy", "table 2")
