"""Temporary files whose own name never appeared: the rename failed, or had no effect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.goingon import going_on
from holdfast.checkpoint.recovery.state import state_failure
from holdfast.checkpoint.writer import start_releases
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
    failure = state_failure(picture, going_on(picture), start_releases(picture)[0])
    severity = Severity.ERROR if lost else Severity.INFO
    if failure is not None and failure.place in lost:
        first, severity = failure.place, Severity.FATAL
    yield Finding(
        "HF2303",
        severity,
        f"{first} was begun, but only its temporary file is there"
        + (", though its batch is committed" if lost else ""),
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
