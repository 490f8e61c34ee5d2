"""What a release refuses is judged with the release that is asked."""

from __future__ import annotations

import pytest

from holdfast.diagnosis.doctor.doctor import examine
from holdfast.findings import Severity
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import examinee


@pytest.mark.parametrize(
    ("release", "severity"),
    [
        ("3.5", Severity.INFO),
        ("4.0", Severity.INFO),
        ("4.1", Severity.FATAL),
        ("4.3", Severity.FATAL),
    ],
)
def test_join_state_without_schema_files_is_judged_by_the_release_that_starts(
    release: str, severity: Severity
) -> None:
    """Not by the one that wrote it: 4.1 and later cannot write the schema of format 1."""
    files = {path: data for path, data in files_of("join-format-1", "4.0.5").items()
             if "/_metadata/" not in path.removeprefix("state/0/_metadata/")}  # fmt: skip
    (found,) = (
        one for one in examine([examinee(files)], spark=release).findings if one.code == "HF2306"
    )
    assert found.severity is severity
    assert found.evidence["spark"] == release
