"""The look at a real output folder, here and on S3: whole, interrupted, and touched by others."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.files.outputcheck import OutputState, look_at_output
from holdfast.ledgers.files.publishing import commit_manifest
from tests.ledgers.files.test_manifests import QUERY, Place, deliver, local, place, staged

__all__ = ["place"]


def look(output: FileOutput) -> OutputState | None:
    """Look as the doctor does."""
    return look_at_output(
        lambda folder: output.reader_of(f"{output.name}/{folder}" if folder else output.name),
        lambda folder: output.reader_of(f".holdfast/{output.name}/{folder}"),
        all_files=True,
    )


def test_what_was_never_written_is_no_sink(tmp_path: Path) -> None:
    assert look(local(tmp_path).output()) is None


def test_delivered_committed_and_foreign_files_are_told_apart(place: Place) -> None:
    """On both storages; partitions and attempts included."""
    deliver(place, 0, "a", "b")
    output = place.output()
    whole = look(output)
    assert whole is not None and whole.output is not None
    assert not (whole.unpublished or whole.attempts or whole.strange or whole.gaps)
    assert not (whole.output.missing or whole.output.changed or whole.output.unnamed)

    committed = staged(place, 2, "c", "d")
    assert commit_manifest(output, committed)
    staged(place, 3, "e")
    output.writer.replace(f"{output.name}/by-hand.csv", (b"x",))
    seen = look(output)
    assert seen is not None and seen.output is not None
    (waiting,) = seen.unpublished
    assert (waiting.batch_id, waiting.files) == (2, frozenset(one.path for one in committed.files))
    assert seen.gaps == {QUERY: (1,)}
    (attempt,) = seen.attempts
    assert attempt.startswith(f"{QUERY}/0000000003-")
    assert seen.output.unnamed == ("by-hand.csv",) and seen.output.missing == ()


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_published_file_is_compared_with_its_manifest(place: Place, damage: str) -> None:
    deliver(place, 0, "abc")
    output = place.output()
    (path,) = output.files_in(output.name)
    if damage == "gone":
        output.writer.remove(f"{output.name}/{path}")
    else:
        output.writer.replace(f"{output.name}/{path}", (b"a",))
    seen = look(output)
    assert seen is not None and seen.output is not None
    assert seen.output.missing == ((path,) if damage == "gone" else ())
    assert [(one.path, one.size, one.committed_size) for one in seen.output.changed] == (
        [] if damage == "gone" else [(path, 1, 3)]
    )
