"""What the checkpoint keeps of each source: offsets in the source's own form, and a file source's
log, whole as far as Spark reads it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from holdfast.checkpoint.layout import folder_of
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import evidence_of, explained
from holdfast.checkpoint.recovery.logs import file_log_offset, source_failure
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.filelog import FileLog, SourceFile, effective_interval, needed_ids
from holdfast.format.logs.offsets import OffsetsEntry, decode_initial
from holdfast.format.sources import ExplainedOffset, amount_between
from holdfast.wording import counted


def check_source_offsets(picture: Picture) -> Iterator[Finding]:
    """Report offsets that their source does not write, or of another kind than before."""
    kinds: dict[str, str] = {}
    for batch_id in sorted(picture.offsets):
        entry = picture.offsets[batch_id]
        for position, source in enumerate(entry.sources):
            found = explained(picture, entry, position, {})
            reason = _reason(found, kinds.get(source.name) if entry.version == 1 else None)
            if isinstance(found, ExplainedOffset):
                kinds.setdefault(source.name, found.kind)
            if reason is not None:
                newest = batch_id == picture.newest_offsets_id
                yield Finding(
                    "HF2241",
                    Severity.FATAL if newest else Severity.WARNING,
                    f"offsets/{batch_id}, source {source.name}: {reason}",
                    Place(f"offsets/{batch_id}", line=position + 3),
                )


def check_initial_offsets(picture: Picture) -> Iterator[Finding]:
    """Report a file `0` of a Kafka or rate source that is not in that source's form."""
    entry = picture.newest_offsets
    if entry is None:
        return
    for position, _ in enumerate(entry.sources):
        folder = folder_of(entry, position, picture.layout)
        data = picture.initial_offsets.get(folder) if folder is not None else None
        wanted = _initial_kind(picture, entry, position)
        if data is None or wanted is None:
            continue
        path = f"sources/{folder}/0"
        known = any(damage.file == path for damage in picture.damages)
        if not known and not _is_initial(picture, entry, position, wanted):
            message = f"{path} is not what a {wanted} source writes there"
            yield Finding("HF2241", Severity.FATAL, message, Place(path))


def _reason(found: ExplainedOffset | DecodeError | None, kind: str | None) -> str | None:
    if isinstance(found, DecodeError):
        return found.message
    if found is None or kind is None or found.kind == kind:
        return None
    return f"this is an offset of a {found.kind} source, before it was a {kind} source"


def _is_initial(picture: Picture, entry: OffsetsEntry, position: int, wanted: str) -> bool:
    evidence = evidence_of(picture, entry, position, {})
    if evidence is None or evidence.initial is None:
        return True
    try:
        if decode_initial(evidence.initial).kind != wanted:
            return False
        amount_between(wanted, None, evidence)
    except DecodeError:
        return False
    return True


def _initial_kind(picture: Picture, entry: OffsetsEntry, position: int) -> str | None:
    """Return which source keeps a file `0`: a bare number as offset is the rate source's."""
    text = entry.sources[position].text or ""
    if text.isdecimal():
        return "rate"
    found = explained(picture, entry, position, {})
    return "kafka" if isinstance(found, ExplainedOffset) and found.kind == "kafka" else None


_DAY_MS = 86_400_000
_MAX_FILE_AGE_MS = 7 * _DAY_MS
"""Spark's default; a job may set another one."""
_MOST_NAMED = 5
"""One lost entry is named; that thousands are lost need not be said a thousand times."""


def check_source_log_whole(picture: Picture) -> Iterator[Finding]:
    """Report entries that the file source needs and does not find."""
    if picture.is_unlisted("sources"):
        return
    found_missing = False
    for name in picture.source_logs:
        source = picture.layout.sources[name]
        if not source.files:
            continue
        interval = effective_interval(source.compact_ids)
        needed = needed_ids(max(source.files), interval)
        for log_id in islice((one for one in needed if one not in source.files), _MOST_NAMED):
            found_missing = True
            path = f"sources/{name}/{log_id}"
            yield Finding("HF2216", Severity.FATAL, f"{path} is missing", Place(path))
    reason = source_failure(picture)
    if reason is not None and not found_missing and not _explained(picture):
        yield Finding("HF2216", Severity.FATAL, reason, Place(_newest_place(picture)))


def check_source_log_entries(picture: Picture) -> Iterator[Finding]:
    """Report entries whose files bear another entry's number."""
    for name, logs in picture.source_logs.items():
        compact = picture.layout.sources[name].compact_ids
        for log_id, log in logs.items():
            allowed = range(log_id + 1) if log_id in compact else range(log_id, log_id + 1)
            strange = [item for item in log.items if item.log_offset not in allowed]
            if strange:
                path = picture.layout.sources[name].files[log_id].path
                message = (
                    f"{path} contains {counted(len(strange), 'file')} of entry "
                    f"{strange[0].log_offset}"
                )
                yield Finding("HF2217", Severity.ERROR, message, Place(path))


def check_compact_entries(picture: Picture) -> Iterator[Finding]:
    """Report a compact entry that lacks an id before its own, or files of an entry still kept.

    Spark begins with the newest compact entry: what that one lacks counts as never read.
    """
    for name, logs in picture.source_logs.items():
        source = picture.layout.sources[name]
        newest = max(source.compact_ids, default=None)
        for compact_id in source.compact_ids & logs.keys():
            items = logs[compact_id].items
            lacking = _first_lacking(compact_id, {item.log_offset for item in items})
            if lacking is None:
                kept, held = range(compact_id), set(map(_key, items))
                others = ((one, log) for one, log in logs.items() if one in kept)
                lacking = next((one for one, log in others if not held >= _keys(log)), None)
            if lacking is not None:
                path = source.files[compact_id].path
                message = (
                    f"{path} repeats the entries before it, but files of {lacking} are missing"
                )
                severity = Severity.FATAL if compact_id == newest else Severity.ERROR
                yield Finding("HF2217", severity, message, Place(path))


def check_source_times(picture: Picture) -> Iterator[Finding]:
    """Report files so far in the future that Spark takes every new file for too old."""
    newest = picture.newest_offsets
    now = newest.metadata.timestamp_ms if newest is not None and newest.metadata else 0
    if now <= 0:
        return
    for name, logs in picture.source_logs.items():
        for log_id, log in logs.items():
            ahead = max((item.timestamp_ms for item in log.items), default=0) - now
            if ahead > _MAX_FILE_AGE_MS:
                path = picture.layout.sources[name].files[log_id].path
                message = f"{path} names a file that is {ahead // _DAY_MS:,} days in the future"
                evidence = {"ahead_ms": ahead, "max_file_age_ms": _MAX_FILE_AGE_MS}
                yield Finding("HF2247", Severity.FATAL, message, Place(path), evidence)


def _first_lacking(compact_id: int, found: set[int]) -> int | None:
    return next((one for one in range(compact_id + 1) if one not in found), None)


def _key(item: SourceFile) -> tuple[str, int, int]:
    return item.path, item.timestamp_ms, item.log_offset


def _keys(log: FileLog[SourceFile]) -> set[tuple[str, int, int]]:
    return set(map(_key, log.items))


def _explained(picture: Picture) -> bool:
    """The failure comes from a damaged file, which is reported where it lies."""
    return any(damage.file.startswith("sources/") for damage in picture.damages)


def _newest_place(picture: Picture) -> str:
    """Point to a log that is gone as a whole; else to the offsets, which do not fit it."""
    entry = picture.newest_offsets
    if entry is not None:
        for position, source in enumerate(entry.sources):
            is_file = file_log_offset(entry, position) is not None
            if is_file and folder_of(entry, position, picture.layout) is None:
                return f"sources/{source.name}"
    return f"offsets/{picture.newest_offsets_id}"
