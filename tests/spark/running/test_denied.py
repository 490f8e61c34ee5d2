"""Places that a job may not read or write, by real permission bits: the error names the access."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.children import give_up_capabilities
from tests.parts.classarchive import quick_environment
from tests.spark.running.projects import Made, ingest

pytestmark = pytest.mark.spark

DENIED = {
    "source-folder": ("in/source-folder", 0),
    "source-file": ("in/source-file/000003.json", 0),
    "output": ("lake/output", 0o555),
    "table": ("lake/table/out", 0o555),
    "log": ("checkpoints/log/offsets", 0o555),
    "checkpoint": ("checkpoints/checkpoint", 0o555),
}
"""Job to what of it is denied."""


def job(name: str) -> dict[str, Any]:
    """Declare a job with places of its own."""
    declared = ingest(f"./lake/{name}/out")
    declared["source"]["path"] = f"./in/{name}"
    declared["sink"]["format"] = "delta" if name == "table" else "parquet"
    return declared


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """Run a job for each place that is denied, and give what was reported of it."""
    folder: Path = tmp_path_factory.mktemp("denied")
    made = Made(folder, {name: job(name) for name in DENIED})
    (folder / "in").mkdir()
    for name in DENIED:
        made.arrive(3, f"in/{name}")
    made.arrive(3, "in/source-file")
    (folder / "in/source-file").joinpath("000018.json").rename(folder / DENIED["source-file"][0])
    for path, mode in DENIED.values():
        place = folder / path
        if place.suffix != ".json":
            place.mkdir(parents=True, exist_ok=True)
        place.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "run", "--json"],
        cwd=folder,
        env=quick_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        preexec_fn=give_up_capabilities,
    )
    document = json.loads(done.stdout)
    yield {one["evidence"]["job"]: one for one in document["findings"] if "job" in one["evidence"]}
    for path, _ in DENIED.values():
        (folder / path).chmod(0o755)


def test_a_source_whose_folder_may_not_be_listed(reported: dict[str, Any]) -> None:
    finding = reported["source-folder"]
    assert finding["code"] == "HF5107"
    assert "in/source-folder: Permission denied" in finding["message"]
    assert finding["next"] == [
        "run as a user that can read the source, or give this user read access"
    ]


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("source-file", "source-files-denied"),
        ("table", "delta-log-not-created"),
        ("log", "checkpoint-access-denied"),
        ("checkpoint", "checkpoint-access-denied"),
    ],
)
def test_spark_s_own_error_leads_to_the_page_about_access(
    reported: dict[str, Any], name: str, page: str
) -> None:
    finding = reported[name]
    assert (finding["code"], finding["next"][-1]) == ("HF5302", f"holdfast explain {page}")
    assert "access" in finding["why"] + finding["next"][0]


def test_an_output_that_may_not_be_written(reported: dict[str, Any]) -> None:
    """It is not reading that was denied."""
    finding = reported["output"]
    assert finding["code"] == "HF5009"
    assert "writing was denied: Permission denied" in finding["message"]
    assert finding["next"] == ["run as the user that runs the job, or give this user write access"]
