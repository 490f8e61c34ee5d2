"""Tables whose batches were taken back: a doctor sees one query under all its names."""

from __future__ import annotations

import uuid

import pytest

from holdfast.diagnosis.doctor.doctor import examine
from holdfast.ledgers.delta.batches import CLOSED
from holdfast.records.leases.state import Standing
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import examinee, found
from tests.diagnosis.doctor.recording import lease, recorded, run_on
from tests.diagnosis.doctor.scenarios import delta_id, delta_output
from tests.diagnosis.doctor.trials.loading import record_named


@pytest.mark.parametrize(
    ("later", "held", "told"),
    [
        ({"#1:from": 1, "#1": 2}, 2, set()),
        ({"#1:from": 3}, 2, set()),
        ({"#1:from": 2}, 1, {"HF2414"}),
        ({"#1:from": 1, "#1": CLOSED, "#2:from": 3}, 2, set()),
        ({"#1:from": 0}, None, {"HF2412"}),
        ({}, None, {"HF2411"}),
    ],
)
def test_the_newest_name_counts(later: dict[str, int], held: int | None, told: set[str]) -> None:
    """The checkpoint committed batch 2; the closed name alone would mean that all is skipped."""
    names = {delta_id(): CLOSED, **{f"{delta_id()}{end}": one for end, one in later.items()}}
    answer = examine([examinee(files_of("delta", "4.2.0"), delta_output(names))])
    (seen,) = answer.result.targets
    assert seen.sink is not None and seen.sink.last_committed == held
    assert {one.code for one in seen.findings if one.code.startswith("HF241")} == told


@pytest.mark.parametrize(("held", "told"), [(3, False), (4, True), (CLOSED, True)])
def test_a_driver_that_runs_now_may_be_one_batch_further(held: int, told: bool) -> None:
    """The table is asked after the checkpoint; without a driver one more is one too many."""
    files, output = files_of("delta", "4.2.0"), delta_output({delta_id(): held})
    running = recorded(run_on("delta", "4.2.0", ended=None), lease=lease(Standing.HELD))
    assert ("HF2411" in found(examinee(files, output, recorded=running))) is told
    assert "HF2411" in found(examinee(files, output))


def _steps(files: dict[str, bytes], names: dict[str, int]) -> str | None:
    answer = examine([examinee(files, delta_output(names))])
    (seen,) = answer.result.targets
    found = [one for one in seen.findings if one.code == "HF2412"]
    return " ".join(found[0].next) if found else None


def test_a_former_id_is_written_back_only_while_its_batches_are_planned() -> None:
    """Elsewhere Delta drops what Spark plans again: trial delta-former-id-in-new-checkpoint."""
    former, other = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
    kept = dict(files_of("delta", "4.2.0"))
    kept["metadata"] = f'{{"id":"{other}"}}'.encode()
    fresh = {"metadata": kept["metadata"]}
    assert f"write the id {former} back" in str(_steps(kept, {former: 2}))
    for files, held in ((fresh, 2), (kept, 9), (kept, 0)):
        steps = str(_steps(files, {former: held}))
        assert "do not write the id" in steps and "write the id 0000" not in steps
    assert "do not write the id" in str(_steps(kept, {}))
    assert _steps(kept, {"orders-job": 2}) is None
    for name, outcome in (("restored", "goes on"), ("in-new-checkpoint", "loses rows")):
        assert record_named(f"4.2.0/delta-former-id-{name}").outcome == outcome
