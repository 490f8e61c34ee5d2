"""A checkpoint is one job's, by what its records say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from holdfast.errors import ProjectError
from holdfast.jobs.ownership import check_owner
from tests.jobs.declaring import job_text, ready_jobs


@dataclass(frozen=True)
class Recorded:
    """As a run's record says it."""

    job: str
    project: str | None


@pytest.mark.parametrize("recorded", [None, Recorded("a", "p"), Recorded("a", None)])
def test_its_own_checkpoint(recorded: Recorded | None, tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    check_owner(job, recorded)


def test_a_program_keeps_the_checkpoint_of_a_project(tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    check_owner(replace(job, project=None), Recorded("a", "p"))


@pytest.mark.parametrize(
    ("recorded", "word"),
    [
        (Recorded("b", "p"), "the job b;"),
        (Recorded("b", None), "the job b;"),
        (Recorded("a", "q"), "a of project q; this is a of project p"),
    ],
)
def test_another_jobs_checkpoint_is_refused(recorded: Recorded, word: str, tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    with pytest.raises(ProjectError, match=word) as raised:
        check_owner(job, recorded)
    assert (raised.value.code.number, raised.value.at) == ("HF1118", job.at)
