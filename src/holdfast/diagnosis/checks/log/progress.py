"""Each batch must follow from the one before: sources, watermark, time, pinned settings and their
values, log version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from holdfast.checkpoint.layout import matching_position
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import movement_back
from holdfast.checkpoint.releases import CODEC, PARTITIONS, PINNED_SETTINGS, RELEASES
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.redaction import excerpt
from holdfast.wording import counted

Step = tuple[int, OffsetsEntry, OffsetsEntry]


def check_source_count(picture: Picture) -> Iterator[Finding]:
    """Report entries whose number of sources differs from the entry before (log version 1)."""
    for batch_id, before, after in _steps(picture):
        if before.version == after.version == 1 and len(before.sources) != len(after.sources):
            severity = _if_newest(picture, batch_id)
            now, then = counted(len(after.sources), "source"), len(before.sources)
            message = f"offsets/{batch_id} has {now}, the entry before has {then}"
            yield Finding("HF2214", severity, message, Place(f"offsets/{batch_id}"))


def check_offsets_forward(picture: Picture) -> Iterator[Finding]:
    """Report sources whose offset goes back, or is gone, from one entry to the next."""
    for batch_id, before, after in _steps(picture):
        for position, source in enumerate(after.sources):
            moved = _lost(before, after, position)
            moved = moved or movement_back(picture, before, after, position)
            if moved is not None:
                message = f"source {source.name} goes back in offsets/{batch_id}: {moved}"
                place = Place(f"offsets/{batch_id}", line=position + 3)
                yield Finding("HF2215", _if_newest(picture, batch_id), message, place)


def _lost(before: OffsetsEntry, after: OffsetsEntry, position: int) -> str | None:
    """Say that a source has no offset any more: Spark would read it from its beginning."""
    earlier = matching_position(before, after, position)
    had = before.sources[earlier].text if earlier is not None else None
    if had is None or after.sources[position].text is not None:
        return None
    return f"{had} before it, none here"


def check_watermark(picture: Picture) -> Iterator[Finding]:
    """Report a watermark that is not the greater of the entry's and the commit's before it."""
    for batch_id, before, after in _steps(picture):
        if before.metadata is None or after.metadata is None:
            continue
        commit = picture.commits.get(batch_id - 1)
        lowest = before.metadata.watermark_ms
        if commit is not None:
            lowest = max(lowest, commit.next_watermark_ms)
        found = after.metadata.watermark_ms
        if found < lowest or (commit is not None and found > lowest):
            yield Finding(
                "HF2218",
                Severity.ERROR,
                f"offsets/{batch_id} has the watermark {found}, after {lowest} before it",
                Place(f"offsets/{batch_id}", line=2),
                {"watermark_ms": found, "expected_ms": lowest},
            )


def check_commit_watermark(picture: Picture) -> Iterator[Finding]:
    """Report a commit that hands on a lower watermark than its own batch used."""
    for batch_id, commit in picture.commits.items():
        entry = picture.offsets.get(batch_id)
        if entry is None or entry.metadata is None or not commit.watermark_recorded:
            continue
        used, handed_on = entry.metadata.watermark_ms, commit.next_watermark_ms
        if handed_on < used:
            yield Finding(
                "HF2218",
                Severity.ERROR,
                f"commits/{batch_id} passes on the watermark {handed_on}, its batch used {used}",
                Place(f"commits/{batch_id}", line=2),
                {"watermark_ms": handed_on, "expected_ms": used},
            )


def check_batch_times(picture: Picture) -> Iterator[Finding]:
    """Report a batch that claims to be older than the one before it."""
    for batch_id, before, after in _steps(picture):
        if before.metadata is None or after.metadata is None:
            continue
        earlier, later = before.metadata.timestamp_ms, after.metadata.timestamp_ms
        if later < earlier:
            yield Finding(
                "HF2219",
                Severity.WARNING,
                f"offsets/{batch_id} is {earlier - later:,} ms older than the entry before it",
                Place(f"offsets/{batch_id}", line=2),
                {"timestamp_ms": later, "before_ms": earlier},
            )


def check_pinned_changes(picture: Picture) -> Iterator[Finding]:
    """Report pinned settings that change or vanish from one entry to the next."""
    for batch_id, before, after in _steps(picture):
        if before.metadata is None or after.metadata is None:
            continue
        changed = _changed(before, after)
        if changed:
            # An offline repartition copies the entry before and changes this one setting.
            repartitioned = set(changed) == {PARTITIONS} and before.sources == after.sources
            yield Finding(
                "HF2220",
                Severity.INFO if repartitioned else Severity.WARNING,
                f"offsets/{batch_id} changes {', '.join(sorted(changed))}",
                Place(f"offsets/{batch_id}", line=2),
                {"changed": changed},
            )


def _changed(before: OffsetsEntry, after: OffsetsEntry) -> dict[str, list[str | None]]:
    """Return the settings that differ, but for what another release of Spark explains."""
    old = before.metadata.settings if before.metadata is not None else {}
    new = after.metadata.settings if after.metadata is not None else {}
    changed: dict[str, list[str | None]] = {
        key: [old[key], new[key]] for key in old.keys() & new.keys() if old[key] != new[key]
    }
    gone, added = old.keys() - new.keys(), new.keys() - old.keys()
    known_sets = _is_known_set(set(old)), _is_known_set(set(new))
    if (gone | added) <= _all_keys() and all(known_sets):
        return changed
    if before.version > 1 and not gone and added == {PARTITIONS}:
        # Spark 4.2.0 left the partitions out of logs of version 2.
        return changed
    changed |= {key: [old[key], None] for key in gone}
    if known_sets == (False, True):
        changed |= {key: [None, new[key]] for key in added & _all_keys()}
    return changed


def check_known_settings(picture: Picture) -> Iterator[Finding]:
    """Report a newest entry whose pinned settings are no known release's set."""
    entry, newest = picture.newest_offsets, picture.newest_offsets_id
    if entry is None or entry.metadata is None:
        return
    keys = set(entry.metadata.settings)
    if keys and not _is_known_set(keys):
        yield Finding(
            "HF2235",
            Severity.WARNING,
            f"offsets/{newest} pins {counted(len(keys), 'setting')}, a set that no known Spark "
            "release writes",
            Place(f"offsets/{newest}", line=2),
            {"unknown": sorted(keys - _all_keys())},
        )


def check_log_versions(picture: Picture) -> Iterator[Finding]:
    """Report entries whose log version goes back."""
    for batch_id, before, after in _steps(picture):
        if after.version < before.version:
            message = f"offsets/{batch_id} is v{after.version}, after v{before.version}"
            yield Finding("HF2232", Severity.ERROR, message, Place(f"offsets/{batch_id}", line=1))
    ids = sorted(picture.commits)
    for earlier, later in pairwise(ids):
        versions = picture.commits[earlier].version, picture.commits[later].version
        if versions[1] < versions[0]:
            message = f"commits/{later} is v{versions[1]}, after v{versions[0]}"
            yield Finding("HF2232", Severity.ERROR, message, Place(f"commits/{later}", line=1))


def check_repeated_entries(picture: Picture) -> Iterator[Finding]:
    """Report an offsets entry that is the same as the one before, time and all."""
    for batch_id, before, after in _steps(picture):
        if before == after and after.metadata is not None:
            message = f"offsets/{batch_id} is the same as the entry before it"
            severity = _of_repeated(picture, batch_id)
            yield Finding("HF2236", severity, message, Place(f"offsets/{batch_id}"))


def _steps(picture: Picture) -> Iterator[Step]:
    """Yield each read entry whose predecessor was read too."""
    for batch_id in sorted(picture.offsets):
        before = picture.offsets.get(batch_id - 1)
        if before is not None:
            yield batch_id, before, picture.offsets[batch_id]


def _of_repeated(picture: Picture, batch_id: int) -> Severity:
    """Judge by what the batch leaves out or delivers again."""
    if batch_id != picture.newest_offsets_id:
        return Severity.WARNING
    # A pending batch that takes nothing is harmless where the one before it is done.
    harmless = picture.pending == batch_id and batch_id - 1 in picture.layout.commits.files
    return Severity.ERROR if harmless else Severity.FATAL


def _if_newest(picture: Picture, batch_id: int) -> Severity:
    return Severity.FATAL if batch_id == picture.newest_offsets_id else Severity.ERROR


def _all_keys() -> set[str]:
    return {setting.key for setting in PINNED_SETTINGS}


def _is_known_set(keys: set[str]) -> bool:
    """Return whether the known keys are those of one release (a vendor may add its own)."""
    known = keys & _all_keys()
    for position, _ in enumerate(RELEASES):
        wanted = {one.key for one in PINNED_SETTINGS if RELEASES.index(one.since) <= position}
        if known == wanted and not any(key.startswith("spark.sql.") for key in keys - wanted):
            return True
    return False


_STREAMING = "spark.sql.streaming."
_FLAG = re.compile(r"true|false", re.IGNORECASE)
_SMALL = re.compile(r"[1-9][0-9]?")

_FORMS: dict[str, re.Pattern[str]] = {
    PARTITIONS: re.compile(r"[1-9][0-9]{0,8}"),
    CODEC: re.compile(r"lz4|lzf|snappy|zstd|[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+"),
    f"{_STREAMING}multipleWatermarkPolicy": re.compile(r"min|max", re.IGNORECASE),
    f"{_STREAMING}flatMapGroupsWithState.stateFormatVersion": _SMALL,
    f"{_STREAMING}aggregation.stateFormatVersion": _SMALL,
    f"{_STREAMING}join.stateFormatVersion": _SMALL,
    f"{_STREAMING}stateStore.rocksdb.formatVersion": re.compile(r"[0-9]{1,2}"),
    f"{_STREAMING}stateStore.rocksdb.mergeOperatorVersion": _SMALL,
    f"{_STREAMING}stateStore.encodingFormat": re.compile(r"unsaferow|avro", re.IGNORECASE),
    f"{_STREAMING}statefulOperator.useStrictDistribution": _FLAG,
    f"{_STREAMING}stateStore.rowChecksum.enabled": _FLAG,
    f"{_STREAMING}queryEvolution.enableSourceEvolution": _FLAG,
    f"{_STREAMING}statefulOperator.alwaysNullableOutput.enabled": _FLAG,
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": _FLAG,
    "spark.sql.function.protobufExtensions.enabled": _FLAG,
    "spark.sql.dropDuplicates.deterministicKeyOrder.enabled": _FLAG,
}


def check_setting_values(picture: Picture) -> Iterator[Finding]:
    """Report values of the newest entry that are not of their setting's form."""
    for key, value in picture.settings.items():
        form = _FORMS.get(key)
        if form is not None and not form.fullmatch(value.strip()):
            severity = Severity.FATAL if key == PARTITIONS else Severity.ERROR
            place = Place(f"offsets/{picture.newest_offsets_id}", line=2)
            evidence = {"setting": key, "value": value}
            message = f"{key} is pinned to {excerpt(value, 60)!r}"
            yield Finding("HF2242", severity, message, place, evidence)
