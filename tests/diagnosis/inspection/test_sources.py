"""Which sources are looked at: those that the stored offsets are of, and no others."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.checkpoint.reading import read_picture
from holdfast.diagnosis.inspection.sources import NO_SOURCES_SEEN, SourcePlaces
from holdfast.errors import ProjectError
from holdfast.records.run import SourceProgress
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.recording import a_run


def refused() -> tuple[Mapping[str, str], ...]:
    """Fail as a missing secret does."""
    raise ProjectError("HF1108", "a secret is missing", at="holdfast.yaml:3")


def opened(path: str) -> tuple[str, Reader]:
    """Open an empty folder."""
    return path, MemoryReader({})


def test_only_what_offsets_are_of_is_looked_at() -> None:
    """A file source asks nobody."""
    picture = read_picture(MemoryReader(files_of("stateless")))
    places = SourcePlaces(opened, ("/lake/t",), refused)
    assert places.look(picture, None) == NO_SOURCES_SEEN


def test_a_secret_that_is_missing_is_part_of_the_answer() -> None:
    """Never raised."""
    picture = read_picture(MemoryReader(files_of("kafka", "4.2.0")))
    (broker,) = SourcePlaces(kafka=refused).look(picture, None).brokers
    assert (broker.failure, broker.tried) == ("a secret is missing", False)


def test_without_a_declaration_the_record_names_the_table() -> None:
    """As Spark describes its source."""
    picture = read_picture(MemoryReader(files_of("delta", "4.2.0")))
    source = SourceProgress("source", "delta", "DeltaSource[file:/lake/table]")
    run = a_run(sources=(source,))
    seen = SourcePlaces(opened).look(picture, run)
    assert [one.location for one in seen.tables] == ["file:/lake/table"]
    declared = SourcePlaces(opened, ("/lake/other",)).look(picture, run)
    assert [one.location for one in declared.tables] == ["/lake/other"]
