"""What keeps a job from starting before Spark is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import SinkError
from holdfast.running.admission import admit
from tests.jobs.declaring import job_text, ready_jobs


@pytest.mark.parametrize("form", ["delta", "parquet"])
def test_a_file_in_place_of_the_output_is_refused(tmp_path: Path, form: str) -> None:
    """HF5006: Spark would fail at the first batch; an absent directory and one that is there go."""
    sink = f"{{format: {form}, path: ./out}}"
    (job,) = ready_jobs(tmp_path, job_text("raw", sink=sink))
    admit(job)
    (tmp_path / "out").write_text("a file")
    with pytest.raises(SinkError) as refused:
        admit(job)
    assert (refused.value.code.number, refused.value.exit_status) == ("HF5006", 50)
    assert refused.value.message == f"the sink's path is a file, not a directory: {tmp_path}/out"
    assert refused.value.next_steps == ("give the sink a directory of its own",)
