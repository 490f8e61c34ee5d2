"""Commands that steps name exist with these options, and end without an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.codes import CODES
from tests.advice.table import steps
from tests.cli.running import holdfast
from tests.corpus.loading import sample

_NAMED = re.compile(
    r"holdfast (?!run\b)((?:--help|[a-z]+)(?: (?:--[a-z-]+|[A-Z]{3,}|B\b|-(?!\S)|[0-9]+))*)"
)
IN_PROSE = {"backups", "diff", "doctor", "explain", "inspect", "inspect --verify", "status"}
"""Named without the target, which the sentence around says."""
ELSEWHERE = {
    "apply --finish TARGET", "backup JOB", "plan",
    "check JOB --against BUNDLE", "explain -", "inspect JOB", "record JOB",
    "restore --finish TARGET", "restore --undo TARGET", "restore TARGET", "undo TARGET",
    "undo TARGET --keep-rows",
}  # fmt: skip
"""With a pipe, a project, Spark or an interrupted restore: tests/cli, tests/backup and tests/spark
run them."""
WELL = (0, 3)
"""Without findings, and with some."""


def typed(words: str, folder: Path) -> list[str]:
    """Fill in what a person would."""
    real = {
        "TARGET": str(folder / "checkpoint"),
        "ONE": str(folder / "checkpoint"),
        "OTHER": str(folder / "other/checkpoint"),
        "PATH": str(folder / "output"),
        "DIR": str(folder / "new"),
        "CODE": "HF2204",
        "B": "1",
    }
    return [real.get(word, word) for word in words.split()]


def named() -> list[str]:
    """Return the commands that steps name; reading the steps takes seconds."""
    found = {words for code in CODES for step in steps(code) for words in _NAMED.findall(step)}
    return sorted(found)


def test_every_command_of_a_step_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a checkpoint with state and a file sink."""
    run = [one for one in named() if one not in IN_PROSE | ELSEWHERE]
    assert len(run) > 15
    failed = []
    for number, words in enumerate(run):
        folder = tmp_path / str(number)
        name = "aggregation-hdfs-lz4" if words.startswith("state") else "stateless"
        sample(name, "4.3.0").extract(folder)
        sample(name, "4.3.0").extract(folder / "other")
        monkeypatch.chdir(folder)
        shown = holdfast(*typed(words, folder))
        if shown.status not in WELL:
            failed.append((words, shown.err))
    assert failed == []


def test_what_is_named_in_prose_is_a_command() -> None:
    """And takes the options that are named."""
    for words in IN_PROSE:
        command, *options = words.split()
        shown = holdfast(command, "--help")
        assert shown.status == 0
        assert all(option in shown.out for option in options)


def test_run_takes_what_steps_accept() -> None:
    """`holdfast run JOB --accept NAME` and `--pending WORD`."""
    shown = holdfast("run", "--help").out
    for code in CODES:
        for step in steps(code):
            for option in re.findall(r"holdfast run JOB (--[a-z]+)", step):
                assert option in shown
