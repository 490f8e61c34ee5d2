"""Clean removes what nothing reads, and nothing that a log, a snapshot or a repair still needs."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.errors import PlanError
from holdfast.findings import Severity
from holdfast.records.rewinds import Rewind, Rewinds
from tests.diagnosis.doctor.recording import a_run, records_beside, write_runs
from tests.remedy.repairing import Place, made

TEMPORARY = "2f1e6f0a-0c0c-4a55-9d6e-1a2b3c4d5e6f.tmp"


def cleaned(place: Place) -> set[str]:
    """Clean, undo and clean again; return what is gone."""
    before = place.files()
    plan = place.plan("clean").result
    holdfast.apply(plan, even_if_running=True)
    gone = before.keys() - place.files().keys()
    assert before.items() >= place.files().items()
    holdfast.undo(place.root)
    assert place.files() == before
    return set(gone)


def refused(place: Place) -> str:
    with pytest.raises(PlanError) as error:
        place.plan("clean")
    return error.value.code.number


def test_temporary_files_of_entries_that_are_there_are_removed(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    left = {f"offsets/.4.{TEMPORARY}", f"offsets/..4.{TEMPORARY}.crc", f"state/0/0/.5.{TEMPORARY}"}
    for path in left:
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).write_bytes(b"")
    assert cleaned(place) == left


def test_a_temporary_file_of_a_missing_entry_is_kept(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    (place.root / f"offsets/.5.{TEMPORARY}").write_bytes(b"v1")
    assert refused(place) == "HF4611"


@pytest.mark.parametrize("damage", ["crc-left-in-offsets", "crc-ahead-in-commits"])
def test_a_checksum_in_a_log_is_for_repair_alone(tmp_path: Path, damage: str) -> None:
    place = made(tmp_path, "stateless")
    place.damage(damage)
    assert refused(place) == "HF4611"


def test_tables_of_no_snapshot_are_removed(tmp_path: Path) -> None:
    place = made(tmp_path, "rocksdb")
    (place.root / "state/0/0/SSTs").mkdir(parents=True, exist_ok=True)
    spare = "state/0/0/SSTs/000099-2f1e6f0a-0c0c-4a55-9d6e-1a2b3c4d5e6f.sst"
    (place.root / spare).write_bytes(b"table")
    assert cleaned(place) == {spare}


def test_no_table_is_removed_while_a_snapshot_cannot_be_read(tmp_path: Path) -> None:
    place = made(tmp_path, "rocksdb")
    place.damage("state-newest-garbage")
    spare = "state/0/0/SSTs/000099-2f1e6f0a-0c0c-4a55-9d6e-1a2b3c4d5e6f.sst"
    (place.root / spare).write_bytes(b"table")
    assert refused(place) == "HF4611"


def test_state_that_came_after_its_batch_was_taken_back_is_removed(tmp_path: Path) -> None:
    """Only until a query has run: then newer state is its own."""
    place = made(tmp_path, "aggregation")
    newest = max(int(one.name) for one in (place.root / "offsets").glob("[0-9]*"))
    late = {f"state/0/0/{newest + 2}.delta", f"state/0/0/.{newest + 2}.delta.crc"}
    for path in late:
        (place.root / path).write_bytes(b"late")
    assert refused(place) == "HF4611"
    rewinds = Rewinds(records_beside(place.root))
    rewinds.write(Rewind(5, "act", "replay", place.query_id, newest, "2026-01-01T00:00:00Z"))
    found = {one.code: one for one in holdfast.doctor(place.root).findings}
    assert found["HF2352"].severity is Severity.FATAL
    assert any("plan clean" in step for step in found["HF2352"].next_steps)
    assert "HF2243" not in found
    assert cleaned(place) == late
    write_runs(place.root, a_run(query_id=place.query_id, last_batch=newest, generation=6))
    assert "HF2352" not in {one.code for one in holdfast.doctor(place.root).findings}
    assert refused(place) == "HF4611"


def test_a_clean_checkpoint_stays_as_it_is(tmp_path: Path) -> None:
    assert refused(made(tmp_path, "rocksdb")) == "HF4611"
