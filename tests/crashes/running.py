"""Takes a killed job to its end in a Spark that lives on, and gives the verdict."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import holdfast
from tests.crashes.cases import Case
from tests.crashes.judging import judge_end, judge_no_op
from tests.crashes.killing import Killed
from tests.crashes.projects import Audited


@dataclass(frozen=True)
class Verdict:
    """What became of a case."""

    case: Case
    seed: int
    kills: int
    told: tuple[str, ...]
    """What is wrong; nothing where every row is there exactly once."""

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return f"python -m tests.crashes --seed {self.seed} --case {shlex.quote(self.case.name)}"


def finish(killed: Killed) -> Verdict:
    """Run the job again, and once more; judge both."""
    told = list(killed.told) or _finished(killed.project)
    return Verdict(killed.case, killed.seed, killed.kills, tuple(told))


def _finished(project: Audited) -> list[str]:
    ended, _ = run_again(project)
    if ended != "finished":
        return [f"the next run ended as {ended}"]
    seen = project.seen()
    batches = len(project.batches)
    told = judge_end(seen, project.state(batches), batches)
    ended, delivered = run_again(project)
    if ended != "finished":
        return [*told, f"one more run ended as {ended}"]
    return told + judge_no_op(seen, project.seen(), delivered)


def run_again(project: Audited, *, declared: bool = False) -> tuple[str, int]:
    """Run what is left in the Spark of this process; tell how it ended and how many batches."""
    if not declared:
        project.declare(project.master)
    answer = holdfast.run(project=project.file, raise_on_failure=False)
    (job,) = answer.result.jobs
    words = "; ".join(finding.message for finding in answer.findings)
    ended = job.ended.value
    return ended if ended == "finished" else f"{ended}: {words}", job.batches
