"""The table of families: names, units, and what the real parsers make of the text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families as classic_families

from holdfast.metrics.exposition import metrics_text
from holdfast.metrics.families import FAMILIES, Face, families_of
from holdfast.metrics.figures import JobFigures
from tests.metrics.jobs import EVERYTHING, families_in, names_of, parsed, value


def text_of(face: Face, *figures: JobFigures) -> str:
    return metrics_text(face, figures).decode()


def test_names_are_unique_and_follow_the_conventions() -> None:
    names = [one.name for one in FAMILIES]
    assert len(set(names)) == len(names)
    for one in FAMILIES:
        assert re.fullmatch(r"holdfast_[a-z]+(_[a-z]+)*", one.name)
        assert one.help and not one.help.endswith(".")
        assert one.is_counter == one.name.endswith("_total")


@pytest.mark.parametrize("face", Face)
def test_everything_that_is_known_is_shown(face: Face) -> None:
    """By its own name, which a counter keeps."""
    shown = parsed(text_of(face, EVERYTHING))
    assert names_of(shown, "orders") == {one.name for one in families_of(face)}


def test_the_numbers_have_their_labels() -> None:
    shown = parsed(text_of(Face.RUN, EVERYTHING))
    assert value(shown, "holdfast_batch_duration_seconds", "orders", phase="addBatch") == 1.5
    operator = {"operator": "0", "operator_name": "stateStoreSave"}
    assert value(shown, "holdfast_state_rows", "orders", **operator) == 12
    assert value(shown, "holdfast_state_memory_bytes", "orders", **operator) == 4096
    assert value(shown, "holdfast_source_lag_records", "orders", source="orders") == 10
    assert value(shown, "holdfast_source_lag_versions", "orders", source="orders") == 2
    assert value(shown, "holdfast_job_state", "orders", state="running") == 1
    assert value(shown, "holdfast_restarts_total", "orders") == 2
    assert value(shown, "holdfast_last_commit_age_seconds", "orders") > 1e9


def test_what_is_unknown_is_absent_and_zero_is_not() -> None:
    nothing = JobFigures("shop", "orders", "unclear", up=None, ended=None, failed=None)
    assert names_of(parsed(text_of(Face.STATUS, nothing)), "orders") == {"holdfast_job_state"}
    first = replace(EVERYTHING, batch_id=0, pending=None)
    shown = parsed(text_of(Face.STATUS, first))
    assert value(shown, "holdfast_batch_id", "orders") == 0
    assert "holdfast_pending_batch_id" not in names_of(shown, "orders")


def test_types_and_units_are_declared() -> None:
    text = text_of(Face.RUN, EVERYTHING)
    found = {one.name: (one.type, one.unit) for one in families_in(text)}
    assert found["holdfast_rows"] == ("counter", "")
    assert found["holdfast_state_memory_bytes"] == ("gauge", "bytes")
    assert found["holdfast_batch_duration_seconds"] == ("gauge", "seconds")


@pytest.mark.parametrize("face", Face)
def test_the_textfile_collector_s_older_format_reads_it_too(face: Face) -> None:
    """It knows gauges, counters and comments, and wants a line end at the very end."""
    text = text_of(face, EVERYTHING)
    samples = {one.name for family in classic_families(text) for one in family.samples}
    assert samples == {one.name for one in families_of(face)}
    assert set(re.findall(r"^# TYPE \S+ (\S+)$", text, re.MULTILINE)) <= {"gauge", "counter"}
    assert text.endswith("\n")


def test_a_strange_name_stays_one_label() -> None:
    strange = replace(EVERYTHING, project='a"b\\c\nd')
    shown = parsed(text_of(Face.RUN, strange))
    assert value(shown, "holdfast_job_up", "orders", project='a"b\\c\nd') == 1
