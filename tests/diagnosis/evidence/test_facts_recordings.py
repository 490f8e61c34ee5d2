"""What a program recorded of its query is evidence, and goes into the bundle."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import holdfast
from holdfast.diagnosis.inspection.runs.lastquery import LAST_RUN, ComparedRun
from holdfast.records.documents import decode_document
from holdfast.records.folder import records_of
from holdfast.records.recordings import QueryPart, Recordings
from holdfast.records.run import SinkFacts
from holdfast.restart.bundles import read_bundle
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.corpus.loading import sample
from tests.records.recordings import some_recording


def recorded(folder: Path, **changes: Any) -> Path:
    """Extract a checkpoint without state, next to a recording of its query."""
    place = folder / "checkpoint"
    sample("stateless", "4.2.1").extract(folder)
    query_id = holdfast.inspect(place).result.query_id
    folder_of = records_of(parse_location(str(place)), StorageSettings())
    recording = some_recording(query_id=query_id, passed=0, **changes)
    Recordings(folder_of).write(recording)
    return place


def test_the_output_mode_is_recorded(tmp_path: Path) -> None:
    """`evidence` names the program, and that Holdfast did not run it."""
    mode = holdfast.evidence(recorded(tmp_path)).result.output_mode
    assert (mode.value, mode.basis.value) == ("update", "recorded")
    assert "/jobs/totals.py" in mode.source
    assert "Holdfast did not run it" in mode.source


def test_a_mode_that_is_not_known_stays_unknown(tmp_path: Path) -> None:
    place = recorded(tmp_path, missing=(QueryPart.OUTPUT_MODE.value,))
    assert holdfast.evidence(place).result.output_mode.basis.value != "recorded"


def test_a_declared_sink_is_recorded(tmp_path: Path) -> None:
    sink = SinkFacts("delta", "s3://lake/gold", "append", "exactly-once")
    found = holdfast.evidence(recorded(tmp_path, sink=sink)).result.sink
    assert found.value is not None
    assert (found.value.kind, found.value.identity) == ("delta", "s3://lake/gold")


def test_the_bundle_has_the_recorded_query(tmp_path: Path) -> None:
    place = recorded(tmp_path, missing=(QueryPart.KEYS.value,))
    holdfast.evidence(place, bundle=tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        last = decode_document(ComparedRun, archive.read(LAST_RUN))
    recording = some_recording()
    assert (last.job, last.generation, last.recorded_at) == ("", 0, recording.at)
    assert last.query == recording.plan.query
    bundled = read_bundle(tmp_path / "bundle.zip")
    start = bundled.start(replace(recording.plan), None, "4.2.0")
    assert start.missing == {QueryPart.KEYS}


def test_a_damaged_recording_is_reported(tmp_path: Path) -> None:
    place = recorded(tmp_path)
    (file,) = (tmp_path / ".holdfast/checkpoint/recordings").glob("*.json")
    file.write_text("{")
    answer = holdfast.evidence(place)
    assert answer.result.output_mode.basis.value != "recorded"
    assert file.name in str(answer.to_dict())
