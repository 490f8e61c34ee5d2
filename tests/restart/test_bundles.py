"""A change is compared with the last run that a bundle holds, without the checkpoint."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.diagnosis.evidence.collecting import BundlePlace, collect_evidence
from holdfast.diagnosis.inspection.runs.lastquery import LAST_RUN
from holdfast.errors import UsageError
from holdfast.records.run import PlanFacts
from holdfast.restart.bundles import BUNDLE_RULES, read_bundle
from holdfast.restart.judging import judge
from holdfast.restart.verdict import Verdict
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.recording import recorded, run_on
from tests.restart.queries import STATEFUL, operated

SHAPE = "aggregation-complete"


def bundled(folder: Path, plan: PlanFacts) -> Path:
    """Write the bundle of a checkpoint whose run had this plan."""
    run = replace(run_on(SHAPE), plan=plan)
    place = BundlePlace(folder / "evidence.zip", (), "0.1.0")
    reader = MemoryReader(files_of(SHAPE))
    collect_evidence(reader, bundle=place, recall=lambda: recorded(run))
    return place.target


def test_a_bundle_holds_the_query_of_the_last_run(tmp_path: Path) -> None:
    """The same query is safe, a changed one is not; the sink and the state are not asked for."""
    found = read_bundle(bundled(tmp_path, PlanFacts(query=STATEFUL)))
    assert found.last.query == STATEFUL
    kinds = tuple(one.kind for one in found.inspection.sources)
    same = found.start(PlanFacts(kinds, query=STATEFUL), found.last.sink, "4.2.1")
    assert judge(same, BUNDLE_RULES).verdict is Verdict.SAFE
    peaks = operated(values=("max(amount)", "count(1)"))
    other = judge(replace(same, current=peaks), BUNDLE_RULES)
    assert [one.rule for one in other.changes] == ["HF3116"]
    fewer = judge(replace(same, plan=PlanFacts((), query=STATEFUL)), BUNDLE_RULES)
    assert [one.rule for one in fewer.changes] == ["HF3002"]


def test_a_bundle_without_a_query_is_refused(tmp_path: Path) -> None:
    """HF2506: of a run of an older release, of a torn file, of something else."""
    older = bundled(tmp_path, PlanFacts())
    with zipfile.ZipFile(older) as archive:
        assert LAST_RUN not in archive.namelist()
    torn, other = tmp_path / "torn.zip", tmp_path / "other.zip"
    torn.write_bytes(older.read_bytes()[:100])
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(LAST_RUN, "[]")
    for file in (older, torn, other, tmp_path / "missing.zip"):
        with pytest.raises(UsageError) as told:
            read_bundle(file)
        assert told.value.code.number == "HF2506"
        if file.name == "missing.zip":
            assert told.value.message == "the bundle cannot be read: no such file or directory"
            assert told.value.next_steps == ("correct the path given with --against",)
