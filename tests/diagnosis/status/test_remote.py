"""Jobs and records on an object store: few requests, one connection for all jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import library
from holdfast.diagnosis.status.result import JobState
from holdfast.records.run import encode_run
from holdfast.storage import filesystem
from tests.corpus.loading import sample
from tests.diagnosis.doctor.recording import run_on
from tests.storage.s3server import KEY, SECRET, S3Server

pytestmark = pytest.mark.s3
JOBS = 12
JOB = "  job-{}: {{source: {{format: rate}}, sql: select 1, sink: {{format: console}}}}\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[S3Server]:
    """Jobs on S3, each with a checkpoint; all but the first with a record."""
    running = S3Server()
    parts = ("metadata", "offsets", "commits")
    files = sample("pending", "4.3.0").files()
    checkpoint = {path: data for path, data in files.items() if path.startswith(parts)}
    record = encode_run(run_on("pending"))
    keys = {
        f"ck/job-{one}/{path}": data for one in range(JOBS) for path, data in checkpoint.items()
    }
    keys |= {f"ck/.holdfast/job-{one}/runs/0000000001.json": record for one in range(1, JOBS)}
    running.fill("lake", keys)
    (tmp_path / "holdfast.yaml").write_text(
        "project: many\ncheckpoints: s3a://lake/ck\nstorage:\n"
        f'  s3: {{endpoint: "{running.endpoint}", region: us-east-1, path_style: true,\n'
        '       key: "${env:KEY}", secret: "${env:SECRET}"}\n'
        "jobs:\n" + "".join(JOB.format(one) for one in range(JOBS))
    )
    yield running
    running.stop()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KEY", KEY)
    monkeypatch.setenv("SECRET", SECRET)
    return tmp_path / "holdfast.yaml"


def test_all_jobs_over_one_connection(
    server: S3Server, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    make = filesystem._made

    def counted(*how: object) -> object:
        made.append(make(*how))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(filesystem, "_made", counted)
    jobs = library.status(project=project).result.jobs
    assert [one.last_planned for one in jobs] == [2] * JOBS
    assert [one.state for one in jobs] == [
        JobState.UNRECORDED,
        *([JobState.FINISHED] * (JOBS - 1)),
    ]
    assert len(made) == 1
    assert len(server.requests) <= 6 * JOBS


def test_records_cost_inspect_two_requests_where_there_are_none_and_three_where_there_are(
    server: S3Server, project: Path
) -> None:
    """The first listing is two: whoever lists nothing asks whether the name is an object."""
    for job, extra in (("job-0", 2), ("job-1", 3)):
        server.requests.clear()
        library.inspect(job, project=project)
        told = [f"{path}?{query}" for _, path, query in server.requests]
        assert sum(".holdfast" in one for one in told) == extra
