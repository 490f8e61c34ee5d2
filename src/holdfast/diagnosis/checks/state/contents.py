"""State as its files tell it: each decodes, its rows fit their schema, all partitions reach the
same version, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import is_passed_over, state_failure
from holdfast.checkpoint.releases import start_releases
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.diagnosis.checks.log.contents import NotLoaded, damaged_state, superseded
from holdfast.diagnosis.checks.state.operators import lost_state
from holdfast.diagnosis.checks.state.versions import check_state_present, missing_state
from holdfast.diagnosis.inspection.runs.lastquery import recorded_operators
from holdfast.diagnosis.inspection.subject import StateDamage, Subject, every_partition, place_of
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.wording import counted


def check_state_decodes(subject: Subject) -> Iterator[Finding]:
    """Report state files whose content is not what Spark writes."""
    reported = {damage.file for damage in subject.picture.damages}
    not_loaded = NotLoaded.of(subject.picture)
    for damage in subject.state.damages:
        if damage.path in reported:
            continue
        severity = _severity(subject, damage.path)
        message = f"{damage.path} cannot be decoded: {damage.error.message}"
        finding = Finding("HF2316", severity, message, _place(damage), _evidence(damage))
        yield not_loaded.judged(subject.picture, finding)
    for one in subject.state.overlooked:
        if one.place.file not in reported:
            yield _overlooked(subject, one)


def missing_operators(subject: Subject) -> tuple[Finding, ...]:
    """Return what is found of operators whose state is gone: by its files, and by the last run."""
    picture = subject.picture
    if any(folder in ("", "state") for folder in picture.unlisted or {}):
        return ()
    failure = state_failure(picture, unhindered_start(picture), start_releases(picture)[0])
    if failure is not None and failure.folder_missing:
        return (missing_state(failure),)
    names = recorded_operators(subject.recorded, picture)
    return tuple(lost_state(picture.layout.state.operators, names))


def check_recorded_operators(subject: Subject) -> Iterator[Finding]:
    """Report operators of the last run whose state is gone, where its files do not show it."""
    reported = frozenset(one.place for one in check_state_present(subject.picture))
    yield from (one for one in missing_operators(subject) if one.place not in reported)


def check_rows_fit_schema(subject: Subject) -> Iterator[Finding]:
    """Report stores whose rows can't be those that their schema file describes."""
    for misfit in subject.state.misfits:
        message = f"rows in {misfit.path} do not fit the schema file: {misfit.error.message}"
        yield Finding("HF2318", Severity.ERROR, message, Place(misfit.path), _evidence(misfit))


def check_state_unread(subject: Subject) -> Iterator[Finding]:
    """Say how much of the state was not read, and why; what was denied, Spark may be denied too."""
    seen = subject.state
    reported = {damage.file for damage in subject.picture.damages}
    for one in seen.denied:
        if one.path not in reported and one.error.at not in reported:
            message = f"{one.path} could not be read: {one.error.message}"
            number, steps = one.error.code.number, one.error.next_steps
            yield Finding(number, Severity.ERROR, message, Place(one.path), _evidence(one),
                          one.error.why, steps)  # fmt: skip
    if not seen.unread_files and not seen.unread_reason:
        return
    files = f"{counted(seen.unread_files, 'state file')} ({seen.unread_bytes:,} bytes)"
    verb = "was" if seen.unread_files == 1 else "were"
    done = "decoded" if seen.compared_files else "read"
    message = f"{files if seen.unread_files else 'state files'} {verb} not {done}: "
    message += seen.unread_reason
    if seen.compared_files:
        compared = counted(seen.compared_files, "file was", "files were")
        message += f"; {compared} compared with " + (
            "its checksum" if seen.compared_files == 1 else "their checksums"
        )
    if seen.read_files:
        message += f"; {counted(seen.read_files, 'file was', 'files were')} read "
        message += f"({seen.read_bytes:,} bytes)"
    evidence = {
        "files": seen.unread_files,
        "bytes": seen.unread_bytes,
        "files_read": seen.read_files,
        "bytes_read": seen.read_bytes,
        "files_compared": seen.compared_files,
    }
    yield Finding("HF2320", Severity.INFO, message, Place("state"), evidence)


def _overlooked(subject: Subject, finding: Finding) -> Finding:
    """Judge a changed file by whether the next load, which compares checksums, needs it."""
    if finding.code != "HF2111":
        return finding
    path = finding.place.file
    if path not in subject.state.needed:
        return superseded(finding)
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


_MOST_NAMED = 20


def check_partition_versions(subject: Subject) -> Iterator[Finding]:
    """Report partitions that end at an older version than others: a part of a copy, or a loss."""
    picture = subject.picture
    committed = picture.newest_commit_id
    if committed is None:
        return
    newest: dict[str, int] = {}
    found: dict[str, PartitionFiles] = {}
    for operator, store, partition, files in every_partition(picture):
        found[place_of(operator, store, partition)] = files
        # What a pending batch wrote may be in some partitions alone.
        versions = [version for version in files.versions() if version <= committed + 1]
        newest[place_of(operator, store, partition)] = max(versions, default=0)
    last = max(newest.values(), default=0)
    behind = {place: version for place, version in newest.items() if version < last}
    if behind:
        first = min(behind, key=lambda place: (behind[place], place))
        path = found[first].missing_path(first, behind[first] + 1)
        message = (
            f"{len(behind)} of {len(newest)} partitions end at an older version of the state than "
            f"the others: {first} at {behind[first]}, others at {last}; {path} is missing"
        )
        evidence = {"newest_version": last, "behind": dict(list(behind.items())[:_MOST_NAMED])}
        release = start_releases(picture)[0]
        fails = state_failure(picture, unhindered_start(picture), release) is not None
        severity = Severity.FATAL if fails else Severity.ERROR
        yield Finding("HF2317", severity, message, Place(path), evidence)
