"""What is reported names what it is about, in the text and in the JSON document."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.answers import Answer, error_document, finding_document, naming
from holdfast.errors import CheckpointError
from holdfast.findings import Finding, Place, Severity, named
from holdfast.steps import named_steps
from tests.cli.running import holdfast
from tests.corpus.loading import sample


def test_placeholders_are_filled_in_where_they_are_known() -> None:
    steps = ("holdfast backups TARGET     (the newest)", "holdfast run JOB --accept empty-sink",
             "holdfast restore TARGET@newest", "`profiles.NAME.jobs.JOB.checkpoint`")  # fmt: skip
    assert named_steps(steps, "/lake/my checkpoints/a", "orders") == (
        "holdfast backups '/lake/my checkpoints/a'     (the newest)",
        "holdfast run orders --accept empty-sink",
        "holdfast restore '/lake/my checkpoints/a'@newest",
        "`profiles.NAME.jobs.JOB.checkpoint`",
    )
    assert named_steps(steps, None) == steps
    assert named_steps(steps, r"\1")[0].startswith(r"holdfast backups '\1'")


def test_findings_and_errors_name_the_target() -> None:
    finding = named(Finding("HF3025", Severity.ERROR, "gone", Place("")), "orders", "orders")
    assert finding.next_steps[0].startswith("holdfast backups orders ")
    assert "TARGET" not in str(finding_document(finding, ""))
    assert any("holdfast run orders --accept" in one for one in finding.next_steps[1:])
    answer = Answer("doctor", "", None, (Finding("HF3025", Severity.ERROR, "gone", Place("")),),
                    ("holdfast inspect TARGET",))  # fmt: skip
    assert answer.named("a/b").next_steps == ("holdfast inspect a/b",)
    with pytest.raises(CheckpointError) as caught, naming("orders"):
        raise CheckpointError("HF4502", "older")
    assert "restore orders@newest" in str(error_document("restore", "1", caught.value))


def test_commands_print_the_target_and_explain_keeps_the_placeholder(tmp_path: Path) -> None:
    sample("stateless", "4.3.0").extract(tmp_path)
    (tmp_path / "checkpoint/commits/1").unlink()
    target = str(tmp_path / "checkpoint")
    for options in ((), ("--json",)):
        shown = holdfast("doctor", target, *options)
        assert "HF2207" in shown.out
        assert f"holdfast doctor {target} --sink PATH" in " ".join(shown.out.split())
        assert "TARGET" not in shown.out
    assert "TARGET" in holdfast("explain", "HF2207").out


def test_names_that_look_like_placeholders_are_left_alone() -> None:
    steps = ("holdfast doctor TARGET; holdfast run JOB", "put /data/TARGET/q/3 back as offsets/3")
    assert named_steps(steps, "/data/JOB/cp", "orders") == (
        "holdfast doctor /data/JOB/cp; holdfast run orders",
        "put /data/TARGET/q/3 back as offsets/3",
    )
