"""Each entry holds at least what every Spark writes into it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.writer import start_releases
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
            lack = "state ids, which version 2 is for"
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
