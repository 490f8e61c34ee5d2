"""Entries that were begun or planned and are lost or changed: a temporary file, or a kept copy,
is left of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import state_failure
from holdfast.checkpoint.releases import start_releases
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-fA-F-]{36}(?:\.TID[0-9]+)?\.tmp")
_STATE_VERSION = re.compile(r"([0-9]+)(?:_[0-9a-fA-F-]{36})?\.(?:delta|changelog|zip)")
_MOST_NAMED = 20


def check_begun_files(subject: Subject) -> Iterator[Finding]:
    """Report entries and state files of which only the temporary file is there."""
    picture = subject.picture
    begun = {
        target: path
        for path in picture.layout.temporary
        if (target := _target(path)) is not None and target not in picture.layout.items
    }
    if not begun:
        return
    lost = [target for target in begun if _was_committed(picture, target)]
    first = min(lost or begun)
    failure = state_failure(picture, unhindered_start(picture), start_releases(picture)[0])
    severity = Severity.ERROR if lost else Severity.INFO
    if failure is not None and failure.place in lost:
        first, severity = failure.place, Severity.FATAL
    yield Finding(
        "HF2303",
        severity,
        f"{first} was begun, but only its temporary file exists"
        + (", although its batch is committed" if lost else ""),
        Place(begun[first]),
        {"files": sorted(begun)[:_MOST_NAMED], "count": len(begun), "of_committed_batches": lost},
    )


def _target(path: str) -> str | None:
    folder, slash, name = path.rpartition("/")
    found = _TEMPORARY.fullmatch(name)
    return f"{folder}{slash}{found[1]}" if found is not None else None


def _was_committed(picture: Picture, target: str) -> bool:
    """A state file of version n belongs to batch n - 1; an entry to the batch of its name."""
    head, name = target.partition("/")[0], target.rpartition("/")[2]
    committed, kept = picture.layout.commits.files, picture.layout.offsets.ids
    if head == "offsets" and name.isdecimal():
        return int(name) in committed
    version = _STATE_VERSION.fullmatch(name) if head == "state" else None
    if version is None or not kept:
        return False
    batch_id = int(version[1]) - 1
    return batch_id in committed and not _has_version(picture, target, int(version[1]))


def _has_version(picture: Picture, target: str, version: int) -> bool:
    """Another attempt, or a snapshot, may hold the same version in that folder."""
    folder = target.rpartition("/")[0]
    start = f"{folder}/{version}"
    return any(path.startswith((f"{start}.", f"{start}_")) for path in picture.layout.items)


def check_offsets_as_kept(subject: Subject) -> Iterator[Finding]:
    """Report an entry that is readable and has other bytes than were kept of it."""
    kept = subject.kept
    for batch_id, present in kept.present.items():
        path = f"offsets/{batch_id}"
        readable = batch_id in subject.picture.offsets and not subject.picture.refused(path)
        if present != kept.copies[batch_id] and readable:
            message = (
                f"{path} differs from the copy that was kept when a run delivered batch {batch_id}"
            )
            evidence = {"batch_id": batch_id, "kept_copy": kept.path_of(batch_id)}
            yield Finding("HF2604", Severity.FATAL, message, Place(path), evidence)


def check_newest_offsets_kept(subject: Subject) -> Iterator[Finding]:
    """Report the entry after the newest one: a run kept it, and the checkpoint has lost it."""
    newest, kept = subject.picture.newest_offsets_id, subject.kept
    lost = 0 if newest is None else newest + 1
    if lost in kept.copies:
        message = (
            f"offsets/{lost} was planned and a copy was kept, but it is missing from the checkpoint"
        )
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
