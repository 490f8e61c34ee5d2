"""A folder that could not be listed adds no verdict on content, whatever the checkpoint is."""

from __future__ import annotations

import pytest

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.diagnosis.doctor.doctor import Examinee, examine
from holdfast.errors import StorageError
from holdfast.findings import Finding
from holdfast.restart.rules.checkpoint import next_start
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listing
from tests.corpus.loading import Sample, corpus

_NEWEST = max(one.spark for one in corpus())


class Denied(MemoryReader):
    """A storage that refuses to list one folder, as a time-out or a permission would."""

    def __init__(self, files: dict[str, bytes], folder: str, code: str = "HF7002") -> None:
        super().__init__(files)
        self._folder, self._code = folder, code

    def list(self) -> Listing:
        """List what the storage gives."""
        below = f"{self._folder}/"
        seen = tuple(one for one in super().list().items if not one.path.startswith(below))
        return Listing(seen, {self._folder: StorageError(self._code, "refused", at=self._folder)})


def _doctor(reader: MemoryReader) -> set[str]:
    answer = examine([Examinee("checkpoint", reader, "/checkpoint", "memory")])
    return {one.code for one in answer.findings}


@pytest.mark.parametrize("sample", [one for one in corpus() if one.spark == _NEWEST], ids=str)
def test_a_denied_folder_adds_no_verdict(sample: Sample) -> None:
    """Sources, state, or a folder deep in it: only the listing itself is reported."""
    files = sample.files()
    whole = inspect_checkpoint(MemoryReader(files))
    of_inspect = {one.code for one in whole.findings}
    of_doctor = _doctor(MemoryReader(files))
    folders = [one.path for one in MemoryReader(files).list().items if one.kind is FileKind.FOLDER]
    deepest = sorted(folders, key=lambda one: one.count("/"))[-1:]
    for folder in {"sources", "state"} & {*folders} | {*deepest} - {"offsets", "commits"}:
        answer = inspect_checkpoint(Denied(files, folder))
        assert {one.code for one in answer.findings} - of_inspect == {"HF2230"}, folder
        assert answer.result.next_start.action is Action.UNKNOWN, folder
        assert folder in answer.result.next_start.reason
        assert _doctor(Denied(files, folder)) - of_doctor == {"HF2230"}, folder


@pytest.mark.parametrize("code", ["HF7002", "HF7007", "HF7012"])
@pytest.mark.parametrize("folder", ["", "offsets", "commits"])
def test_without_its_logs_there_is_no_picture(folder: str, code: str) -> None:
    """The error of the storage is what is raised: nothing is called empty."""
    files = next(one for one in corpus() if one.spark == _NEWEST).files()
    with pytest.raises(StorageError) as raised:
        inspect_checkpoint(Denied(files, folder, code))
    assert raised.value.code.number == code


def test_a_start_is_refused_while_a_part_is_unknown() -> None:
    """Unknown is never safe."""
    from types import SimpleNamespace

    files = next(one for one in corpus() if one.spark == _NEWEST and one.name == "join").files()
    inspection = inspect_checkpoint(Denied(files, "state")).result
    (finding,) = next_start.look(SimpleNamespace(inspection=inspection))  # type: ignore[arg-type]
    assert isinstance(finding, Finding)
    assert (finding.code, finding.severity.value) == ("HF2230", "fatal")
