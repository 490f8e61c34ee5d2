"""Sources of connectors: Delta's offset in a batch without data, the shards of Kinesis."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.checkpoint.gaps import entry_before
from holdfast.checkpoint.sourcefolders import matching_position
from holdfast.checkpoint.sourceview import explained
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset

_SHARDS = re.compile(r"sources/([^/]+)/shard-commit/([0-9]+)")


def check_idle_delta_source(subject: Subject) -> Iterator[Finding]:
    """Report a pending batch that takes nothing from a Delta source between table versions."""
    picture = subject.picture
    newest_id, newest = picture.pending, picture.newest_offsets
    if newest_id is None or newest is None:
        return
    before = entry_before(picture, newest_id)
    for position, source in enumerate(newest.sources):
        earlier = matching_position(before, newest, position)
        now = explained(picture, newest, position, {})
        if before is None or earlier is None or not isinstance(now, ExplainedOffset):
            continue
        decoded = now.decoded
        idle = before.sources[earlier].text == source.text
        if idle and now.kind == "delta" and isinstance(decoded, dict) and decoded["index"] == -1:
            message = f"batch {newest_id} is pending and takes nothing from source {source.name}"
            place = Place(f"offsets/{newest_id}", line=position + 3)
            yield Finding("HF2307", Severity.WARNING, message, place)


def check_kinesis_shards(subject: Subject) -> Iterator[Finding]:
    """Report a Kinesis source without the file of shards of the newest committed batch."""
    committed = subject.picture.newest_commit_id
    kept: dict[str, set[int]] = {}
    for path in subject.picture.layout.items:
        found = _SHARDS.fullmatch(path)
        if found is not None:
            kept.setdefault(found[1], set()).add(int(found[2]))
    for name, ids in sorted(kept.items()):
        if committed is not None and committed not in ids:
            path = f"sources/{name}/shard-commit/{committed}"
            evidence = {"newest_kept": max(ids), "newest_commit": committed}
            yield Finding("HF2311", Severity.ERROR, f"{path} is missing", Place(path), evidence)
