"""State as its files tell it: each decodes, its rows fit their schema, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.checkpoint.recovery.snapshotrepair import is_passed_over
from holdfast.checkpoint.writer import start_releases
from holdfast.diagnosis.checks.log.damagedfiles import damaged_state, left_over
from holdfast.diagnosis.inspection.state import StateDamage
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.plurals import counted


def check_state_decodes(subject: Subject) -> Iterator[Finding]:
    """Report state files whose content is not what Spark writes."""
    told = {damage.file for damage in subject.picture.damages}
    for damage in subject.state.damages:
        if damage.path in told:
            continue
        severity = _severity(subject, damage.path)
        message = f"{damage.path} can't be decoded: {damage.error.message}"
        finding = Finding("HF2316", severity, message, _place(damage), _evidence(damage))
        yield left_over(subject.picture, finding)
    for one in subject.state.overlooked:
        if one.place.file not in told:
            yield _overlooked(subject, one)


def check_rows_fit_schema(subject: Subject) -> Iterator[Finding]:
    """Report stores whose rows can't be those that their schema file describes."""
    for misfit in subject.state.misfits:
        message = f"rows in {misfit.path} do not fit the schema file: {misfit.error.message}"
        yield Finding("HF2318", Severity.ERROR, message, Place(misfit.path), _evidence(misfit))


def check_state_unread(subject: Subject) -> Iterator[Finding]:
    """Say how much of the state was not read, and why."""
    seen = subject.state
    if not seen.unread_files and not seen.unread_reason:
        return
    files = f"{counted(seen.unread_files, 'state file')} ({seen.unread_bytes:,} bytes)"
    verb = "was" if seen.unread_files == 1 else "were"
    message = f"{files if seen.unread_files else 'state files'} {verb} not read: "
    message += seen.unread_reason
    if seen.read_files:
        message += f"; {counted(seen.read_files, 'file was', 'files were')} read "
        message += f"({seen.read_bytes:,} bytes)"
    evidence = {
        "files": seen.unread_files,
        "bytes": seen.unread_bytes,
        "files_read": seen.read_files,
        "bytes_read": seen.read_bytes,
    }
    yield Finding("HF2320", Severity.INFO, message, Place("state"), evidence)


def _overlooked(subject: Subject, finding: Finding) -> Finding:
    """Judge a changed file by whether the next load, which compares checksums, needs it."""
    if finding.code != "HF2111":
        return finding
    path = finding.place.file
    why = damaged_state(subject.picture, path)
    return replace(finding, severity=_severity(subject, path), why=why)


def _severity(subject: Subject, path: str) -> Severity:
    """Fatal where the next load needs the file, and no release rebuilds the state without it."""
    if path not in subject.state.needed:
        return Severity.WARNING
    passed = is_passed_over(subject.picture, path, start_releases(subject.picture)[0])
    return Severity.ERROR if passed else Severity.FATAL


def _place(damage: StateDamage) -> Place:
    byte = damage.error.byte if isinstance(damage.error, DecodeError) else None
    return Place(damage.path, byte=byte)


def _evidence(damage: StateDamage) -> dict[str, object]:
    return {"code": damage.error.code.number, "at": damage.error.at}
