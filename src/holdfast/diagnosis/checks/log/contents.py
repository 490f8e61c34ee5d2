"""Each file can be read, is as Spark wrote it, and holds at least what every Spark writes into
it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.logs import needed_paths
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.recovery.state import is_passed_over, superseded_state
from holdfast.checkpoint.releases import at_least, start_releases
from holdfast.diagnosis.checks.state.versions import written_again
from holdfast.errors import StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.offsets import OffsetsEntry


def check_offsets_complete(picture: Picture) -> Iterator[Finding]:
    """Report offsets entries without a source, without a time, or without a metadata line."""
    has_metadata = any(entry.metadata is not None for entry in picture.offsets.values())
    for batch_id, entry in picture.offsets.items():
        lack = _lack(entry, has_metadata)
        if lack is not None:
            newest = batch_id == picture.newest_offsets_id
            severity = Severity.WARNING if not newest else _severity_of_lack(entry)
            place = Place(f"offsets/{batch_id}", line=2)
            yield Finding("HF2237", severity, f"offsets/{batch_id} has no {lack}", place)


def check_commits_complete(picture: Picture) -> Iterator[Finding]:
    """Report commits without a watermark, and commits of version 2 without state ids."""
    for batch_id, commit in picture.commits.items():
        lacks_watermark = not commit.watermark_recorded and not _of_old_spark(picture)
        lack = "watermark" if lacks_watermark else None
        if commit.version == 2 and commit.state_ids is None:
            lack = "state ids, which version 2 exists for"
        if lack is not None:
            newest = batch_id == picture.newest_commit_id and commit.version == 2
            severity = Severity.FATAL if newest and _fails(picture) else Severity.WARNING
            place = Place(f"commits/{batch_id}", line=2)
            yield Finding("HF2237", severity, f"commits/{batch_id} has no {lack}", place)


def check_commit_sinks(picture: Picture) -> Iterator[Finding]:
    """Report sinks that a commit records under another name than their own."""
    for batch_id, commit in picture.commits.items():
        for name, sink in (commit.sinks or {}).items():
            if sink.sink_name != name or sink.api_version not in ("DSv1", "DSv2"):
                message = f"commits/{batch_id} records {sink.sink_name!r} under the name {name!r}"
                place = Place(f"commits/{batch_id}", line=2)
                yield Finding("HF2245", Severity.ERROR, message, place)


def check_source_logs_complete(picture: Picture) -> Iterator[Finding]:
    """Report entries of a file source's log that name no file."""
    for name, logs in picture.source_logs.items():
        for log_id, log in logs.items():
            if not log.items:
                files = picture.layout.sources[name].files
                path = files[log_id].path
                # Spark takes the files of the newest entry for new ones and delivers them again;
                # a pending batch takes none, and its files come after it.
                again = log_id == max(files) and picture.pending is None
                severity = Severity.FATAL if again else Severity.ERROR
                yield Finding("HF2237", severity, f"{path} names no file", Place(path))


_SETTINGS_OF_35 = 10


def _fails(picture: Picture) -> bool:
    outcomes = (outcome_with(picture, one) for one in start_releases(picture))
    return any(one.action is Action.FAIL for one in outcomes)


def _of_old_spark(picture: Picture) -> bool:
    """Spark 2.2 and 2.3 wrote commits without a watermark; they pinned few settings, but some."""
    entries = (entry.metadata for entry in picture.offsets.values())
    pinned = max((len(entry.settings) for entry in entries if entry is not None), default=0)
    return 0 < pinned < _SETTINGS_OF_35


def _lack(entry: OffsetsEntry, has_metadata: bool) -> str | None:
    if not entry.sources:
        return "source"
    if entry.metadata is None:
        return "metadata, unlike others" if has_metadata else None
    return "time of planning" if entry.metadata.timestamp_ms <= 0 else None


def _severity_of_lack(entry: OffsetsEntry) -> Severity:
    """Without sources or metadata Spark stops; without a time it takes 1970 for the batch's."""
    stops = not entry.sources or entry.metadata is None
    return Severity.FATAL if stops else Severity.ERROR


def check_damaged_files(picture: Picture) -> Iterator[Finding]:
    """Report every file whose bytes were refused, with how much depends on it."""
    needed, not_loaded = needed_paths(picture), NotLoaded.of(picture)
    for damage in picture.damages:
        finding = Finding(
            damage.error.code.number,
            _severity_of_damage(picture, damage, needed),
            damage.error.message,
            damage.place,
            {"file": damage.file, "line": damage.place.line, "byte": damage.place.byte},
            _why(picture, damage),
            damage.error.next_steps,
        )
        unread = isinstance(damage.error, StorageError)
        yield finding if unread else not_loaded.judged(picture, finding)


_DAMAGED_STATE = (
    "Hadoop wrote both together; the file was changed or damaged since. Spark fails when it loads "
    "this state, after the batch has reached the sink"
)
_PASSED_OVER = (
    "Hadoop wrote both together; the file was changed or damaged since. Spark 4.2 and later load "
    "an older snapshot and the changes since; earlier releases fail"
)
_SUPERSEDED = (
    "the file was changed or damaged after it was written. The next start does not load it: a "
    "newer snapshot has its content. Only reading an older batch still needs it: Spark's state "
    "reader, `holdfast state` of that batch, and a start after the checkpoint was restored to it"
)
_LEFT_OVER = (
    "an attempt at batch {} that was not committed wrote it. The next start loads the version "
    "before it, runs the batch again and replaces the file; nothing reads this one"
)


@dataclass(frozen=True)
class NotLoaded:
    """The state files that the next start does not load, by why it does not."""

    superseded: frozenset[str]
    """A newer snapshot has their content."""
    replaced: frozenset[str]
    """The pending batch writes them again."""

    @staticmethod
    def of(picture: Picture) -> NotLoaded:
        """Sort the state files of a checkpoint."""
        return NotLoaded(superseded_state(picture), written_again(picture))

    def judged(self, picture: Picture, finding: Finding) -> Finding:
        """Return a finding about a damaged state file, lowered where the file is not loaded."""
        path = finding.place.file
        if finding.code == "HF2111" and path in self.superseded:
            return superseded(finding)
        if path not in self.replaced:
            return finding
        why = _LEFT_OVER.format(picture.pending)
        steps = ("holdfast inspect TARGET     (which batch the next start runs again)",)
        return replace(finding, severity=Severity.INFO, why=why, next_steps=steps)


def superseded(finding: Finding) -> Finding:
    """Return a finding about a damaged state file as a warning that says who still reads it."""
    return replace(finding, severity=Severity.WARNING, why=_SUPERSEDED)


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


def _severity_of_damage(picture: Picture, damage: Damage, needed: frozenset[str]) -> Severity:
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


def check_query_id(picture: Picture) -> Iterator[Finding]:
    """Report a missing `metadata` over existing logs, and an id that Spark refuses."""
    layout = picture.layout
    has_batches = bool(layout.offsets.files or layout.commits.files)
    if has_batches and "metadata" not in layout.items:
        refused = [one for one in start_releases(picture) if at_least(one, "4.2")]
        yield Finding(
            "HF2201",
            Severity.FATAL if refused else Severity.ERROR,
            "metadata, which contains the query id, is missing, but the logs have batches",
            Place("metadata"),
            {"newest_batch": layout.offsets.newest},
        )
    if picture.query is not None and not picture.query.well_formed:
        yield Finding(
            "HF2202",
            Severity.FATAL,
            f"the query id {picture.query.id!r} is not a UUID",
            Place("metadata"),
            {"id": picture.query.id},
        )
