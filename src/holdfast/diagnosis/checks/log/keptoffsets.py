"""The offsets entries against the copies that were kept of them: the same bytes, none lost."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity


def check_offsets_as_kept(subject: Subject) -> Iterator[Finding]:
    """Report an entry that is readable and has other bytes than were kept of it."""
    kept = subject.kept
    for batch_id, present in kept.present.items():
        path = f"offsets/{batch_id}"
        readable = batch_id in subject.picture.offsets and not subject.picture.refused(path)
        if present != kept.copies[batch_id] and readable:
            message = f"{path} is not what was kept of it when a run delivered batch {batch_id}"
            evidence = {"batch_id": batch_id, "kept_copy": kept.path_of(batch_id)}
            yield Finding("HF2604", Severity.FATAL, message, Place(path), evidence)


def check_newest_offsets_kept(subject: Subject) -> Iterator[Finding]:
    """Report the entry after the newest one: a run kept it, and the checkpoint has lost it."""
    newest, kept = subject.picture.newest_offsets_id, subject.kept
    lost = 0 if newest is None else newest + 1
    if lost in kept.copies:
        message = f"offsets/{lost} was planned and kept, but the checkpoint has lost it"
        evidence = {"batch_id": lost, "kept_copy": kept.path_of(lost), "last_planned": newest}
        yield Finding("HF2342", Severity.FATAL, message, Place(f"offsets/{lost}"), evidence)


def check_copies_readable(subject: Subject) -> Iterator[Finding]:
    """Report kept copies that could not be had."""
    for batch_id, error in list(subject.kept.failures.items())[:1]:
        place = Place("", root=error.at or subject.recorded.location)
        number, evidence = error.code.number, {"batch_id": batch_id}
        yield Finding(
            number, Severity.WARNING, error.message, place, evidence, error.why, error.next_steps
        )
