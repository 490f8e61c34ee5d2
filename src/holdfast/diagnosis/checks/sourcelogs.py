"""A file source's own log: whole as far as Spark reads it, each entry with its own files."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery import refused
from holdfast.checkpoint.sourcerecovery import source_failure
from holdfast.findings import Finding, Place, Severity
from holdfast.format.filelog import effective_interval, needed_ids


def check_source_log_whole(picture: Picture) -> Iterator[Finding]:
    """Report entries that the file source needs and does not find."""
    found_missing = False
    for name in picture.source_logs:
        source = picture.layout.sources[name]
        if not source.files:
            continue
        interval = effective_interval(source.compact_ids)
        for log_id in needed_ids(max(source.files), interval):
            if log_id not in source.files:
                found_missing = True
                path = f"sources/{name}/{log_id}"
                yield Finding("HF2216", Severity.FATAL, f"{path} is missing", Place(path))
    reason = source_failure(picture, lambda path: refused(picture, path) is not None)
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
                message = f"{path} holds {len(strange)} files of entry {strange[0].log_offset}"
                yield Finding("HF2217", Severity.ERROR, message, Place(path))


def _explained(picture: Picture) -> bool:
    """The failure comes from a damaged file, which is reported where it lies."""
    return any(damage.file.startswith("sources/") for damage in picture.damages)


def _newest_place(picture: Picture) -> str:
    return f"offsets/{picture.newest_offsets_id}"
