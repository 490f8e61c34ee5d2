"""Files of the batch that runs again, against the folders that they were read from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import holdfast
from holdfast.diagnosis.inspection.sources import SourcePlaces
from holdfast.findings import Finding, Severity
from tests.checkpoint.pictures import Files, files_of
from tests.corpus.loading import sample
from tests.diagnosis.doctor.examining import examinee, found
from tests.diagnosis.doctor.recording import recorded, run_on
from tests.diagnosis.doctor.scenarios import declared

IN = "/tmp/holdfast-corpus/pending/in"
CODES = {"HF3034", "HF2368"}
WHOLE = frozenset({"0000.json", "0001.json", "0002.json"})


def told(
    names: frozenset[str] | None,
    *,
    files: Files | None = None,
    output: Files | None = None,
    here: bool = True,
    **fields: Any,
) -> dict[str, Finding]:
    """Give what is found of the sample whose batch 2 is pending, where its folder has names."""
    one = examinee(files or files_of("pending"), output, **fields)
    places = SourcePlaces(names_in={IN: names}.get, here=here)
    given = found(replace(one, sources=places))
    return {code: finding for code, finding in given.items() if code in CODES}


def test_a_file_of_the_pending_batch_that_is_gone_is_fatal() -> None:
    """As at the start; a file of an earlier batch is not read again."""
    lost = told(WHOLE - {"0002.json"})["HF3034"]
    assert lost.severity is Severity.FATAL
    assert lost.message == f"batch 2, which runs again, needs {IN}/0002.json: gone"
    assert (lost.place.file, lost.evidence["files"]) == ("offsets/2", [f"{IN}/0002.json"])
    assert told(WHOLE) == {}
    assert told(WHOLE - {"0000.json", "0001.json"}) == {}


def test_a_batch_that_is_committed_needs_no_file() -> None:
    """Nothing is asked."""
    assert told(frozenset(), files=files_of("stateless")) == {}


def test_a_folder_that_cannot_be_listed_is_unknown() -> None:
    """Never taken for a folder without files."""
    unknown = told(None)
    assert set(unknown) == {"HF2368"}
    assert unknown["HF2368"].severity is Severity.WARNING
    assert IN in unknown["HF2368"].message


def test_rows_may_be_missing_where_the_job_or_its_last_run_says_so() -> None:
    """By a setting, or by an option of the source, however it is spelled."""
    setting = {"spark.sql.files.ignoreMissingFiles": "true"}
    option = {"format": "json", "path": "in", "options": {"IgnoreMissingFiles": "True"}}
    gone = WHOLE - {"0002.json"}
    assert set(told(gone, job=declared())) == {"HF3034"}
    assert told(gone, job=declared(settings=setting)) == {}
    assert told(gone, job=declared(source=option)) == {}
    run = recorded(run_on("pending"))
    assert set(told(gone, recorded=run)) == {"HF3034"}
    assert told(gone, recorded=recorded(run_on("pending", settings=setting))) == {}


def test_a_batch_that_the_sink_has_is_skipped() -> None:
    """Its log has the batch; one that ends before it lacks the rows."""
    gone = WHOLE - {"0002.json"}
    log = {f"_spark_metadata/{one}": b"v1" for one in range(3)}
    assert told(gone, output=log) == {}
    del log["_spark_metadata/2"]
    assert set(told(gone, output=log)) == {"HF3034"}


def test_a_copy_from_another_machine_is_not_judged_by_the_folders_here(tmp_path: Path) -> None:
    """Where the folder of all its files is there, it is."""
    checkpoint = sample("pending", "4.3.0").extract(tmp_path)
    inputs = tmp_path / "in"
    for log in (checkpoint / "sources/0").iterdir():
        content = log.read_bytes().replace(IN.encode(), str(inputs).encode())
        if not log.name.startswith("."):
            log.write_bytes(content)
    for side in (checkpoint / "sources/0").glob(".*"):
        side.unlink()

    def codes() -> set[str]:
        return {one.code for one in holdfast.doctor(checkpoint).findings} & CODES

    assert codes() == set()
    inputs.mkdir()
    assert codes() == {"HF3034"}
    for name in WHOLE:
        (inputs / name).touch()
    assert codes() == set()
