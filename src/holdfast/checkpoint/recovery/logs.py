"""What of the logs, a file source's own among them, decides or hinders the next start."""

from __future__ import annotations

import json
import re

from holdfast.checkpoint.layout import folder_of, matching_position
from holdfast.checkpoint.picture import Picture, skips_like_async
from holdfast.checkpoint.recovery.outcome import Action, StartOutcome, failure, unhindered_start
from holdfast.checkpoint.releases import PARTITIONS, SOURCE_EVOLUTION, at_least
from holdfast.format.logs.filelog import effective_interval, needed_ids
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.wording import counted


def query_id(picture: Picture, release: str) -> StartOutcome | None:
    """`metadata` is read first; 4.2 and later refuse to make a new id over an existing log."""
    damage = picture.refused("metadata")
    if damage is not None:
        return failure(f"Spark cannot read `metadata`: {damage.error.message}")
    if picture.query is not None and not picture.query.well_formed:
        return failure("the query id in `metadata` is not a UUID: Spark fails")
    written = picture.newest_offsets_id is not None or picture.newest_commit_id is not None
    if not picture.layout.has_file("metadata") and written and at_least(release, "4.2"):
        return failure(
            "`metadata` is missing, but the logs have batches: Spark fails with "
            "STREAMING_CHECKPOINT_MISSING_METADATA_FILE"
        )
    return None


def newest_entries(picture: Picture, release: str) -> StartOutcome | None:
    """The newest offsets and the newest commit must be readable."""
    for log in (picture.layout.offsets, picture.layout.commits):
        if log.newest is None:
            continue
        path = log.files[log.newest].path
        if path != f"{log.folder}/{log.newest}":
            return failure(f"Spark reads {path} as batch {log.newest} and looks for another name")
        damage = picture.refused(path)
        if damage is not None:
            return failure(f"Spark cannot read {path}: {damage.error.message}")
    return _log_versions(picture, release)


def _log_versions(picture: Picture, release: str) -> StartOutcome | None:
    offsets, commit = picture.newest_offsets, picture.newest_commit
    if offsets is not None and offsets.version > (2 if at_least(release, "4.2") else 1):
        return failure(f"Spark {release} does not support offsets log v{offsets.version}")
    greatest = 3 if at_least(release, "4.2") else 2 if at_least(release, "4.0") else 1
    if commit is not None and commit.version > greatest:
        return failure(f"Spark {release} does not support commit log v{commit.version}")
    return _commit_version_changes(picture) if release in ("4.0", "4.1") else None


def _commit_version_changes(picture: Picture) -> StartOutcome | None:
    """4.0 and 4.1 want every commit in the version that the session's state format asks for."""
    versions = {entry.version for entry in picture.commits.values()}
    if len(versions) < 2:
        return None
    return failure(
        f"commits/ mixes {' and '.join(f'v{one}' for one in sorted(versions))}: Spark fails "
        "with INVALID_LOG_VERSION.EXACT_MATCH_VERSION"
    )


def nothing_planned(picture: Picture, release: str) -> StartOutcome | None:
    """Without offsets Spark begins at batch 0, if it finds the rest as empty as it expects."""
    if picture.newest_offsets_id is not None:
        return None
    if picture.newest_commit_id is not None:
        if at_least(release, "4.1"):
            return failure("offsets/ is empty, but commits/ has batches: Spark refuses to start")
        return failure(
            "offsets/ is empty: Spark plans batch 0 again and it reaches the sink, then its "
            "commit collides with the old one",
            batch_id=0,
            sink_touched=True,
        )
    if picture.layout.state.any_file and at_least(release, "4.1"):
        return failure(
            "offsets/ and commits/ are empty but state/ is not: Spark fails with "
            "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
        )
    left = " over the state that was left behind" if picture.layout.state.any_file else ""
    return StartOutcome(Action.FRESH, 0, f"offsets/ has no batch: batch 0 comes first{left}")


def previous_entry(picture: Picture, _release: str) -> StartOutcome | None:
    """Spark needs the offsets before the newest to know where that batch begins."""
    newest = picture.newest_offsets_id
    if newest is None or newest == 0:
        return None
    previous = newest - 1
    if previous not in picture.layout.offsets.files:
        if skips_like_async(picture):
            return None
        return failure(
            f'offsets/{previous} is missing: Spark fails with "batch {previous} doesn\'t exist"'
        )
    damage = picture.refused(f"offsets/{previous}")
    if damage is not None:
        return failure(f"Spark cannot read offsets/{previous}: {damage.error.message}")
    return _source_count(picture, previous, newest)


def _source_count(picture: Picture, previous: int, newest: int) -> StartOutcome | None:
    before, after = picture.offsets.get(previous), picture.offsets.get(newest)
    if before is None or after is None or after.version != 1 or before.version != 1:
        return None
    if len(before.sources) == len(after.sources):
        return None
    return failure(
        f"offsets/{newest} has {counted(len(after.sources), 'source')}, offsets/{previous} has "
        f"{len(before.sources)}: Spark compares the number with the query's and fails"
    )


def continuous(picture: Picture, release: str) -> StartOutcome | None:
    """Continuous processing writes no metadata and goes on from the newest commit."""
    newest, newest_id = picture.newest_offsets, picture.newest_offsets_id
    if newest is None or newest_id is None or newest.metadata is not None:
        return None
    before = picture.offsets.get(newest_id - 1)
    if before is not None and before.metadata is not None:
        reached = picture.pending is not None and not at_least(release, "4.2")
        reason = "the newest offsets entry has no metadata line, which Spark requires"
        return failure(reason, picture.pending, sink_touched=reached)
    epoch = picture.newest_commit_id
    if epoch is None:
        return StartOutcome(Action.FRESH, 0, "continuous processing: no epoch was ever committed")
    return StartOutcome(
        Action.PLAN,
        epoch + 1,
        f"continuous processing: epoch {epoch} is committed, epoch {epoch + 1} follows",
    )


def pinned_settings(picture: Picture, release: str) -> StartOutcome | None:
    """A pinned value that is no number stops the start, an unfinished repartition too (4.2+)."""
    partitions = picture.settings.get(PARTITIONS)
    if partitions is None:
        return None
    if not partitions.strip().isdecimal() or int(partitions) < 1:
        return failure(f"{PARTITIONS} is pinned to {partitions!r}, which Spark rejects")
    if picture.pending is None or picture.newest_commit_id is None:
        return None
    before = picture.offsets.get(picture.pending - 1)
    earlier = before.metadata.settings.get(PARTITIONS) if before and before.metadata else None
    if earlier is not None and earlier != partitions and at_least(release, "4.2"):
        return failure(
            f"{PARTITIONS} changed from {earlier} to {partitions} in the pending batch: Spark "
            "fails with STREAMING_UNFINISHED_REPARTITION_DETECTED"
        )
    return None


def blocked_write(picture: Picture, _release: str) -> StartOutcome | None:
    """A left-over side file, or a folder, where the next entry must be created."""
    ahead = unhindered_start(picture)
    batch_id = ahead.batch_id
    if ahead.action is Action.PLAN:
        obstacle = _obstacle(picture, f"offsets/{batch_id}") or _source_obstacle(picture)
        if obstacle is not None:
            return failure(f"{obstacle} prevents planning batch {batch_id}", batch_id)
    obstacle = _obstacle(picture, f"commits/{batch_id}")
    if obstacle is None:
        return None
    return failure(
        f"{obstacle} prevents the commit: batch {batch_id} reaches the sink, then Spark fails, on "
        "every start",
        batch_id,
        sink_touched=True,
    )


def _obstacle(picture: Picture, path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    for candidate in (path, f"{folder}/.{name}.crc"):
        if candidate in picture.layout.items:
            return candidate
    return None


def _source_obstacle(picture: Picture) -> str | None:
    for name in picture.source_logs:
        files = picture.layout.sources[name].files
        following = max(files, default=-1) + 1
        obstacle = _obstacle(picture, f"sources/{name}/{following}")
        if obstacle is not None:
            return obstacle
    return None


def needed_paths(picture: Picture) -> frozenset[str]:
    """Name the log and schema files that Spark opens at the next start (state files apart)."""
    layout = picture.layout
    paths = {"metadata"}
    newest, committed = layout.offsets.newest, layout.commits.newest
    if newest is not None:
        paths |= {f"offsets/{newest}", f"offsets/{newest - 1}"}
    if committed is not None:
        paths.add(f"commits/{committed}")
    for name in picture.source_logs:
        source = layout.sources[name]
        if source.files:
            interval = effective_interval(source.compact_ids)
            wanted = needed_ids(max(source.files), interval)
            paths |= {item.path for one, item in source.files.items() if one in wanted}
    for name, source in layout.sources.items():
        if name not in picture.source_logs and 0 in source.files:
            paths.add(source.files[0].path)
    for operator in layout.state.operators.values():
        for store in operator.stores.values():
            paths |= {path for path in (store.partition_schema,) if path is not None}
            paths |= set(store.schema_files.values())
    return frozenset(paths)


_OLD_OFFSET = re.compile(r"-?\d+")
"""Very old logs hold a file source's offset as a bare number."""


def source_failure(picture: Picture) -> str | None:
    """Return the reason why a file source would fail, None where every one finds its log whole."""
    newest_id, newest = picture.newest_offsets_id, picture.newest_offsets
    if newest_id is None or newest is None:
        return None
    before = picture.offsets.get(newest_id - 1)
    for position, source in enumerate(newest.sources):
        log_offset = file_log_offset(newest, position)
        if log_offset is None:
            if _is_no_offset(picture, newest, position):
                return (
                    f"offsets/{newest_id}: the text for source {source.name} is not an offset of "
                    "this source"
                )
            continue
        folder = folder_of(newest, position, picture.layout)
        if folder is None and newest.version > 1 and before and not _knows(before, source.name):
            # Version 2 goes by name: a source that the query does not have is passed over.
            continue
        if folder is None and newest.version == 1 and _names_sources(picture):
            # Spark 4.2 keeps named sources in a log of version 1: which folder is whose is lost.
            continue
        reason = _log_failure(picture, folder, source.name, log_offset)
        earlier = matching_position(before, newest, position)
        previous = file_log_offset(before, earlier) if before and earlier is not None else None
        if reason is None and previous is not None and previous > log_offset:
            reason = (
                f"source {source.name} goes back from log offset {previous} to {log_offset} in "
                f"offsets/{newest_id}: Spark fails with a bare assertion"
            )
        if reason is not None:
            return reason
    return None


def _is_no_offset(picture: Picture, entry: OffsetsEntry, position: int) -> bool:
    """A file source's own log lies there, but the offset is not one of a file source."""
    folder, text = folder_of(entry, position, picture.layout), entry.sources[position].text
    if text is None or folder is None or not picture.source_logs.get(folder):
        return False
    return not _OLD_OFFSET.fullmatch(text)


def _names_sources(picture: Picture) -> bool:
    return picture.settings.get(SOURCE_EVOLUTION) == "true" and bool(picture.layout.sources)


def _knows(entry: OffsetsEntry, name: str) -> bool:
    return any(source.name == name for source in entry.sources)


def file_log_offset(entry: OffsetsEntry, position: int) -> int | None:
    """Return the log offset of a file source's offset, None for any other source."""
    text = entry.sources[position].text if position < len(entry.sources) else None
    if text is None or '"logOffset"' not in text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    log_offset = value.get("logOffset") if isinstance(value, dict) else None
    return log_offset if isinstance(log_offset, int) else None


def _log_failure(picture: Picture, folder: str | None, name: str, log_offset: int) -> str | None:
    if log_offset < 0:
        return None
    files = picture.layout.sources[folder].files if folder is not None else {}
    newest = max(files, default=-1)
    if log_offset > newest:
        return (
            f"sources/{folder or name} has no entry {log_offset}, which the newest offsets point "
            f'to: Spark fails with "batch {log_offset} doesn\'t exist"'
        )
    assert folder is not None
    interval = effective_interval(picture.layout.sources[folder].compact_ids)
    for log_id in needed_ids(newest, interval):
        if log_id not in files:
            return f"sources/{folder}/{log_id} is missing: the file source cannot rebuild its list"
        if picture.refused(files[log_id].path):
            return f"Spark cannot read {files[log_id].path}, which the file source needs"
    return None
