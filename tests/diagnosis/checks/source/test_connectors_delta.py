"""Stored offsets of Delta sources against their tables."""

from __future__ import annotations

from tests.diagnosis.doctor.examining import found
from tests.diagnosis.doctor.fieldscenarios import LOG, reading, versions

CODES = {"HF2366", "HF2367", "HF2368"}


def test_a_table_that_has_what_comes_next_gives_no_finding() -> None:
    """Whole, or cleaned below the batch that Spark has the source read once more."""
    assert not CODES & found(*reading(LOG)).keys()
    assert not CODES & found(*reading(versions(0, 1, 2))).keys()


def test_no_table_at_all_is_another_table() -> None:
    """The path is empty now."""
    assert "no table" in found(*reading({}))["HF2366"].message


def test_a_log_that_does_not_show_the_id_is_unknown() -> None:
    """Neither the same table nor another one."""
    silent: dict[str, object] = {f"{4:020}.json": {"commitInfo": {}}}
    assert found(*reading(silent)).keys() & CODES == {"HF2368"}


def test_a_gap_is_named_by_its_first_version() -> None:
    """What is before the stored version does not matter."""
    gone = found(*reading(versions(0, 1, 2, 4)))["HF2367"]
    assert gone.evidence["next"] == 3
