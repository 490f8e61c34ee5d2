"""Rules on places across jobs: told at their line, in every spelling, before and after secrets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError, ProjectError
from holdfast.jobs.ownership import check_paths, check_place
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from tests.jobs.declaring import RATE, job_text, load_jobs, ready_jobs

KAFKA = "kafka.bootstrap.servers: 'h:1'"

BAD: dict[str, tuple[tuple[str, ...], str, int, str]] = {
    "one output": (
        (
            job_text("a", sink="{format: delta, path: ./lake/raw}"),
            job_text("b", sink="{format: delta, path: ./lake/x/../raw/}"),
        ),
        "HF1111",
        10,
        "jobs.b writes at the same path as the output of jobs.a",
    ),
    "one output through a link": (
        (
            job_text("a", sink="{format: delta, path: ./lake/raw}"),
            job_text("b", sink="{format: delta, path: ./linked/raw}"),
        ),
        "HF1111",
        10,
        "the same path",
    ),
    "one output by URL": (
        (
            job_text("a", sink="{format: delta, path: 's3a://Lake/raw'}"),
            job_text("b", sink="{format: delta, path: 's3://lake//raw/'}"),
        ),
        "HF1111",
        10,
        "the same path",
    ),
    "one output behind one reference": (
        (
            job_text("a", sink="{format: delta, path: '${env:NOT_SET}/raw'}"),
            job_text("b", sink="{format: delta, path: '${env:NOT_SET}/raw/'}"),
        ),
        "HF1111",
        10,
        "the same path",
    ),
    "an output inside of another": (
        (
            job_text("a", sink="{format: delta, path: ./lake}"),
            job_text("b", sink="{format: json, path: ./lake/raw}"),
        ),
        "HF1111",
        10,
        "jobs.b writes inside the output of jobs.a",
    ),
    "an output around another": (
        (
            job_text("a", sink="{format: delta, path: ./lake/raw}"),
            job_text("b", sink="{format: json, path: ./lake}"),
        ),
        "HF1111",
        10,
        "around",
    ),
    "one table": (
        (
            job_text("a", sink="{format: postgres, url: 'postgresql://u:pw@h/db', table: t}"),
            job_text("b", sink="{format: jdbc, url: 'jdbc:postgresql://H/db', table: public.t}"),
        ),
        "HF1111",
        10,
        "the same table",
    ),
    "one table of the catalog": (
        (
            job_text("a", sink="{format: delta, native: true, table: shop.t}"),
            job_text("b", sink="{format: delta, native: true, table: Shop.T}"),
        ),
        "HF1111",
        10,
        "the same table",
    ),
    "one table behind one reference": (
        (
            job_text("a", sink="{format: postgres, url: '${env:NOT_SET}', table: t}"),
            job_text("b", sink="{format: postgres, url: '${env:NOT_SET}', table: t}"),
        ),
        "HF1111",
        10,
        "the same table",
    ),
    "reads what it writes": (
        (job_text("a", "{format: delta, path: ./x}", "{format: delta, path: 'x/'}"),),
        "HF1112",
        6,
        "source overlaps with its sink",
    ),
    "reads the topic that it writes": (
        (
            job_text(
                "a",
                f"{{format: kafka, options: {{{KAFKA}, subscribe: t}}}}",
                f"{{format: kafka, options: {{{KAFKA}, topic: t}}}}",
            ),
        ),
        "HF1112",
        6,
        "source overlaps with its sink",
    ),
    "reads all below": (
        (
            job_text(
                "a",
                "{format: json, path: ./x, options: {recursiveFileLookup: true}}",
                "{format: json, path: ./x/out}",
            ),
        ),
        "HF1112",
        6,
        "overlaps",
    ),
    "reads a part of what it writes": (
        (job_text("a", "{format: parquet, path: ./x/*.parquet}", "{format: delta, path: ./x}"),),
        "HF1112",
        6,
        "overlaps",
    ),
    "checkpoint inside of another": (
        (job_text("a"), job_text("b", more="checkpoint: ./checkpoints/a/b")),
        "HF1113",
        11,
        "the checkpoint of jobs.b is inside the checkpoint of jobs.a",
    ),
    "checkpoint around another": (
        (job_text("a"), job_text("b", more="checkpoint: ./checkpoints")),
        "HF1113",
        11,
        "around",
    ),
    "checkpoint inside of its output": (
        (job_text("a", sink="{format: delta, path: ./checkpoints}"),),
        "HF1113",
        3,
        "the checkpoint of jobs.a is inside the output of jobs.a",
    ),
    "output inside the checkpoint": (
        (job_text("a", sink="{format: delta, path: ./checkpoints/a/out}"),),
        "HF1113",
        3,
        "around the output",
    ),
    "checkpoint is a source": (
        (job_text("a", "{format: json, path: 'checkpoints/a'}"),),
        "HF1113",
        3,
        "at the same path as the source source",
    ),
    "checkpoint inside of another job's source": (
        (job_text("a"), job_text("b", "{format: json, path: ./checkpoints}")),
        "HF1113",
        3,
        "the source source of jobs.b",
    ),
    "checkpoint that a pattern reaches": (
        (job_text("a", "{format: json, path: './*'}"),),
        "HF1113",
        3,
        "inside",
    ),
    "new checkpoint in a hidden folder of the table": (
        (job_text("a", sink="{format: delta, path: ./lake}"),),
        "HF1113",
        3,
        "inside",
    ),
    "adopted checkpoint in the table's log": (
        (job_text("a", sink="{format: delta, path: ./x}", more="checkpoint: ./x/_delta_log/_c/a"),),
        "HF1113",
        7,
        "inside",
    ),
    "adopted checkpoint in a hidden folder of files": (
        (job_text("a", sink="{format: json, path: ./x}", more="checkpoint: ./x/_checkpoints/a"),),
        "HF1113",
        7,
        "inside",
    ),
}
HEADS = {"new checkpoint in a hidden folder of the table": "checkpoints: ./lake/_checkpoints\n"}

GOOD: dict[str, tuple[str, ...]] = {
    "a pipeline": (
        job_text("a", "{format: json, path: ./in}", "{format: delta, path: ./lake/raw}"),
        job_text("b", "{format: delta, path: ./lake/raw}", "{format: delta, path: ./lake/clean}"),
    ),
    "names that begin alike": (
        job_text("a", sink="{format: delta, path: ./lake}"),
        job_text("ab", sink="{format: delta, path: ./lake-2}"),
    ),
    "output below a folder that is not read as a whole": (
        job_text("a", "{format: json, path: ./x}", "{format: delta, path: ./x/out}"),
    ),
    "a pattern that does not reach the checkpoint": (
        job_text("a", "{format: json, path: './*.json'}"),
    ),
    "two jobs write one topic": (
        job_text("a", sink=f"{{format: kafka, options: {{{KAFKA}, topic: t}}}}"),
        job_text("b", sink=f"{{format: kafka, options: {{{KAFKA}, topic: t}}}}"),
    ),
    "tables of two databases": (
        job_text("a", sink="{format: postgres, url: 'postgresql://h/x', table: t}"),
        job_text("b", sink="{format: postgres, url: 'postgresql://h/y', table: t}"),
    ),
    "adopted checkpoint in a hidden folder of the table": (
        job_text(
            "a",
            "{format: delta, path: ./y}",
            "{format: delta, path: ./x}",
            more="checkpoint: ./x/_checkpoints/a",
        ),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_project_in_its_own_way_is_told_at_its_line(name: str, tmp_path: Path) -> None:
    jobs, code, line, message = BAD[name]
    (tmp_path / "lake").mkdir()
    (tmp_path / "linked").symlink_to("lake")
    head = "project: p\n" + HEADS.get(name, "")
    with pytest.raises(ProjectError) as raised:
        load_jobs(tmp_path, *jobs, head=head)
    assert raised.value.code.number == code, raised.value.message
    line += head.count("\n") - 1
    assert (raised.value.at or "").startswith(f"holdfast.yaml:{line}:"), raised.value.at
    assert message in raised.value.message
    assert "pw" not in raised.value.message


@pytest.mark.parametrize("name", GOOD)
def test_a_project_that_is_in_nobodys_way(name: str, tmp_path: Path) -> None:
    check_paths(ready_jobs(tmp_path, *GOOD[name]))


def test_what_secrets_hold_is_seen_once_they_are_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_ONE", "postgresql://u:opensesame42@h/db")
    monkeypatch.setenv("HOLDFAST_TEST_TWO", "postgresql://h:5432/db")
    jobs = ready_jobs(
        tmp_path,
        job_text("a", sink="{format: postgres, url: '${env:HOLDFAST_TEST_ONE}', table: t}"),
        job_text("b", sink="{format: postgres, url: '${env:HOLDFAST_TEST_TWO}', table: t}"),
    )
    with pytest.raises(ProjectError, match="the same table") as raised:
        check_paths(jobs)
    assert (raised.value.code.number, raised.value.at) == ("HF1111", "holdfast.yaml:10:5")


def test_ready_jobs_with_one_checkpoint(tmp_path: Path) -> None:
    """As two that are declared in Python may have."""
    first, second = ready_jobs(tmp_path, job_text("a"), job_text("b", RATE))
    shared = replace(second, checkpoint=parse_location(f"file:{first.checkpoint.url}/"))
    with pytest.raises(ProjectError, match="same checkpoint") as raised:
        check_paths([first, shared])
    assert (raised.value.code.number, raised.value.at) == ("HF1109", second.at)


@pytest.mark.parametrize("part", ["offsets", "metadata", "commits", "state"])
def test_a_checkpoint_or_nothing_may_be_at_its_place(part: str, tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    reader = open_reader(job.checkpoint, job.settings)
    check_place(job, reader)
    (tmp_path / "checkpoints" / "a").mkdir(parents=True)
    check_place(job, reader)
    (tmp_path / "checkpoints" / "a" / ".metadata.7b.tmp").touch()
    check_place(job, reader)
    (tmp_path / "checkpoints" / "a" / part).mkdir()
    check_place(job, reader)


def test_a_checkpoint_that_is_adopted_is_there(tmp_path: Path) -> None:
    """A misspelt path would begin from zero; a program can't but name one that is new."""
    (job,) = ready_jobs(tmp_path, job_text("a", more="checkpoint: ./old/plaec"))
    reader = open_reader(job.checkpoint, job.settings)
    with pytest.raises(CheckpointError, match="the job adopts a checkpoint") as raised:
        check_place(job, reader)
    assert (raised.value.code.number, raised.value.at) == ("HF2001", str(tmp_path / "old/plaec"))
    check_place(replace(job, project=None), reader)
    (tmp_path / "old/plaec/offsets").mkdir(parents=True)
    check_place(job, reader)


def test_other_files_at_the_place_of_a_checkpoint(tmp_path: Path) -> None:
    (job,) = ready_jobs(tmp_path, job_text("a"))
    place = tmp_path / "checkpoints" / "a"
    (place / "_delta_log").mkdir(parents=True)
    with pytest.raises(CheckpointError, match="among other files: _delta_log") as raised:
        check_place(job, open_reader(job.checkpoint, job.settings))
    assert (raised.value.code.number, raised.value.at) == ("HF2001", str(place))
