"""Statements about pending batches: said once, for these very offsets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError, RefusedError
from holdfast.records.statements import Statement, Statements
from tests.records.drivers import records_in

SAID = Statement("5f0f3d3c", 7, "ab" * 32, True, "2026-03-01T10:00:00.000Z", "zoë")


def file_of(folder: Path) -> Path:
    return folder / ".holdfast/orders/statements/5f0f3d3c" / f"7.{'ab' * 32}.json"


def about(statements: Statements, said: Statement) -> Statement | None:
    return statements.statement_about(said.query_id, said.batch_id, said.offsets_digest)


def test_a_statement_is_read_as_it_was_said(tmp_path: Path) -> None:
    statements = Statements(records_in(tmp_path))
    assert about(statements, SAID) is None
    assert list(tmp_path.iterdir()) == []
    statements.write(SAID)
    assert about(statements, SAID) == SAID
    content = file_of(tmp_path).read_bytes()
    assert content == json.dumps(json.loads(content), sort_keys=True).encode("ascii") + b"\n"


def test_the_same_may_be_said_again_and_the_first_stays(tmp_path: Path) -> None:
    statements = Statements(records_in(tmp_path))
    statements.write(SAID)
    statements.write(replace(SAID, said_by="bob", said_at="2026-03-02T00:00:00.000Z"))
    assert about(statements, SAID) == SAID


@pytest.mark.parametrize("delivered", [True, False])
def test_the_opposite_is_refused(tmp_path: Path, delivered: bool) -> None:
    statements = Statements(records_in(tmp_path))
    first = replace(SAID, delivered=delivered)
    statements.write(first)
    with pytest.raises(RefusedError) as caught:
        statements.write(replace(SAID, delivered=not delivered))
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2605", 30)
    assert ("not delivered" in caught.value.message) is not delivered
    assert about(statements, SAID) == first


def test_a_wrong_statement_is_moved_elsewhere_and_made_again(tmp_path: Path) -> None:
    """As the refusal says, where nothing ran since; its file is the one that it names."""
    statements = Statements(records_in(tmp_path))
    statements.write(SAID)
    opposite = replace(SAID, delivered=not SAID.delivered)
    with pytest.raises(RefusedError) as caught:
        statements.write(opposite)
    assert caught.value.at == str(file_of(tmp_path))
    file_of(tmp_path).rename(tmp_path / "elsewhere.json")
    statements.write(opposite)
    assert about(statements, SAID) == opposite


def test_it_holds_for_no_other_offsets_batch_or_query(tmp_path: Path) -> None:
    statements = Statements(records_in(tmp_path))
    statements.write(SAID)
    for other in (
        replace(SAID, offsets_digest="cd" * 32),
        replace(SAID, batch_id=8),
        replace(SAID, query_id="another"),
    ):
        assert about(statements, other) is None
        statements.write(replace(other, delivered=False))


RANGE = "range1:" + "ef" * 32


def test_a_statement_of_the_older_kind_counts_for_the_same_batch(tmp_path: Path) -> None:
    """It was made before ranges were known: found by the second digest, and never contradicted."""
    statements = Statements(records_in(tmp_path))
    statements.write(SAID)
    new = replace(SAID, offsets_digest=RANGE)
    assert about(statements, new) is None
    older = SAID.offsets_digest
    assert statements.statement_about(SAID.query_id, SAID.batch_id, RANGE, older) == SAID
    statements.write(new, older)
    assert about(statements, new) is None, "the same was said before"
    with pytest.raises(RefusedError) as caught:
        statements.write(replace(new, delivered=False), older)
    assert caught.value.code.number == "HF2605"
    assert caught.value.at is not None and caught.value.at.endswith(f"7.{older}.json")


def test_a_statement_about_a_range_is_found_first(tmp_path: Path) -> None:
    statements = Statements(records_in(tmp_path))
    new = replace(SAID, offsets_digest=RANGE)
    statements.write(new, "cd" * 32)
    found = statements.statement_about(SAID.query_id, SAID.batch_id, RANGE, SAID.offsets_digest)
    assert found == new
    assert about(statements, replace(SAID, offsets_digest=RANGE.replace("1:", "2:"))) is None


def test_a_damaged_statement_is_told_and_not_written_over(tmp_path: Path) -> None:
    statements = Statements(records_in(tmp_path))
    statements.write(SAID)
    other = json.loads(file_of(tmp_path).read_bytes()) | {"batch_id": 8}
    for damage in (b"", b"{}", json.dumps(other).encode()):
        file_of(tmp_path).write_bytes(damage)
        with pytest.raises(CheckpointError) as caught:
            about(statements, SAID)
        assert caught.value.code.number == "HF2603"
        with pytest.raises(CheckpointError):
            statements.write(SAID)
        assert file_of(tmp_path).read_bytes() == damage
