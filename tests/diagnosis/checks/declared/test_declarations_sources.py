"""Sources that a job declares: paths of before, and tables that other jobs change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.findings import Severity
from holdfast.records.run import SourceProgress
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import examined, found
from tests.diagnosis.doctor.fieldscenarios import after_run, streaming
from tests.diagnosis.doctor.scenarios import alone, declared

SHAPE = "stateless"


def test_a_misspelled_option_is_reported_until_it_is_corrected() -> None:
    """Of a source or of the sink; what a connector of one's own knows is left alone."""
    places = {
        "source": {"format": "json", "path": "in", "options": {"maxFilesPerTriger": "1"}},
        "sink": {"format": "delta", "path": "out", "options": {"mergeShema": "true"}},
    }
    told = [
        one.message
        for one in examined(*alone(files_of(SHAPE), job=declared(**places))).findings
        if one.code == "HF2375"
    ]
    assert told == [
        "source: json has no option maxFilesPerTriger; did you mean maxFilesPerTrigger?",
        "sink: delta has no option mergeShema; did you mean mergeSchema?",
    ]
    places["source"]["options"] = {"maxFilesPerTrigger": "1", "ownOption": "2"}
    places["sink"]["options"] = {"mergeSchema": "true"}
    assert "HF2375" not in found(*alone(files_of(SHAPE), job=declared(**places)))


@pytest.mark.parametrize(
    ("description", "declared_path", "is_told"),
    [
        ("FileStreamSource[file:/lake/in]", "/lake/in", False),
        ("FileStreamSource[file:///lake/in/]", "/lake/in", False),
        ("FileStreamSource[file:/lake/a%20b]", "/lake/a b", False),
        ("FileStreamSource[s3a://lake/in]", "s3://lake/in", False),
        ("DeltaSource[file:/lake/old]", "/lake/new", True),
        ("FileStreamSource[s3a://lake/in]", "/lake/in", True),
        ("FileStreamSource[file:/[redacted]/in]", "/lake/in", False),
        ("KafkaV2[Subscribe[orders]]", "/lake/in", False),
        (None, "/lake/in", False),
    ],
)
def test_the_path_of_the_last_run_is_compared_however_it_is_spelled(
    description: str | None, declared_path: str, is_told: bool
) -> None:
    source = SourceProgress("source", "file", description)
    job = replace(declared(), source_paths={"source": declared_path})
    assert ("HF2374" in found(*after_run(job, SHAPE, sources=(source,)))) is is_told


def test_a_path_that_the_log_of_files_shows_is_told_once() -> None:
    """By HF2324, which is certain of it."""
    source = SourceProgress("source", "file", "FileStreamSource[file:/lake/inA]")
    job = replace(declared(folders={"source": "/lake/inB"}), source_paths={"source": "/lake/inB"})
    told = found(*after_run(job, SHAPE, sources=(source,)))
    assert "HF2324" in told and "HF2374" not in told


def test_a_source_that_the_record_does_not_know_is_not_compared() -> None:
    job = replace(declared(), source_paths={"source": "/lake/new"})
    source = SourceProgress("other", "file", "FileStreamSource[file:/lake/old]")
    assert "HF2374" not in found(*after_run(job, SHAPE, sources=(source,)))
    assert "HF2374" not in found(*alone(files_of(SHAPE), job=job))


@pytest.mark.parametrize(
    ("option", "code", "severity", "word"),
    [
        (None, "HF2372", Severity.ERROR, "job totals upserts into"),
        ("skipChangeCommits", "HF2373", Severity.WARNING, "skips every commit"),
        ("ignoreChanges", "HF2373", Severity.WARNING, "again"),
    ],
)
def test_a_table_that_another_job_changes(
    option: str | None, code: str, severity: Severity, word: str
) -> None:
    """Also before the first start, when there is no checkpoint yet."""
    for files in (files_of(SHAPE), {}):
        told = found(*alone(files, job=streaming(option)))
        assert told[code].severity is severity
        assert word in told[code].message
        assert not {"HF2372", "HF2373"} & told.keys() - {code}
