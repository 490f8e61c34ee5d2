"""Files that could not be read, or are not as Spark wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.checkpoint.needed import needed_paths
from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.recovery.snapshotrepair import is_passed_over
from holdfast.checkpoint.writer import start_releases
from holdfast.diagnosis.checks.state.versions import written_again
from holdfast.errors import StorageError
from holdfast.findings import Finding, Severity


def check_damaged_files(picture: Picture) -> Iterator[Finding]:
    """Report every file whose bytes were refused, with how much depends on it."""
    needed = needed_paths(picture)
    for damage in picture.damages:
        finding = Finding(
            damage.error.code.number,
            _severity(picture, damage, needed),
            damage.error.message,
            damage.place,
            {"file": damage.file, "line": damage.place.line, "byte": damage.place.byte},
            _why(picture, damage),
            damage.error.next_steps,
        )
        unread = isinstance(damage.error, StorageError)
        yield finding if unread else left_over(picture, finding)


_DAMAGED_STATE = (
    "Hadoop wrote both together; the file was changed or damaged since. Spark stops when it loads "
    "this state, after the batch has reached the sink"
)
_PASSED_OVER = (
    "Hadoop wrote both together; the file was changed or damaged since. Spark 4.2 and later load "
    "an older snapshot and the changes since; earlier releases stop"
)


_LEFT_OVER = (
    "an attempt at batch {} that was not committed wrote it. The next start loads the version "
    "before it, runs the batch again and replaces the file; nothing reads this one"
)


def left_over(picture: Picture, finding: Finding) -> Finding:
    """Return a finding about a damaged state file as a note where the pending batch replaces it."""
    if finding.place.file not in written_again(picture):
        return finding
    why = _LEFT_OVER.format(picture.pending)
    steps = ("holdfast inspect TARGET     (which batch the next start runs again)",)
    return replace(finding, severity=Severity.INFO, why=why, next_steps=steps)


def _why(picture: Picture, damage: Damage) -> str:
    """Return what the damage leads to: unlike a log, a state file is not read unchecked."""
    if damage.error.code.number != "HF2111" or not damage.file.startswith("state/"):
        return damage.error.why
    return damaged_state(picture, damage.file)


def damaged_state(picture: Picture, path: str) -> str:
    """Return what a state file leads to that does not match its checksum."""
    if is_passed_over(picture, path, start_releases(picture)[0]):
        return _PASSED_OVER
    return _DAMAGED_STATE


def _severity(picture: Picture, damage: Damage, needed: frozenset[str]) -> Severity:
    if isinstance(damage.error, StorageError):
        return Severity.ERROR
    number = damage.error.code.number
    if number == "HF2112":
        # A killed writer leaves empty ones; they only take away the means to verify.
        return Severity.INFO
    if number == "HF2111":
        # Spark compares it for state alone; from a log it goes on with the changed content.
        passed = is_passed_over(picture, damage.file, start_releases(picture)[0])
        compared = damage.file.startswith("state/") and not passed
        return Severity.FATAL if compared else Severity.ERROR
    if damage.overlooked:
        return Severity.WARNING
    return Severity.FATAL if damage.file in needed else Severity.WARNING
