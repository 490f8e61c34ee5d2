"""Compares the newest offsets entries with the copies that were kept of them before the sink wrote.

Only entries that matter for the next start are asked for: the two newest, and those that are
missing or damaged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from holdfast.checkpoint.gaps import missing_between
from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.recorded import Recorded
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Severity
from holdfast.format.log import batch_id_of
from holdfast.records.offsetcopies import copy_path
from holdfast.storage.reading import Reader

MOST_ASKED = 20


@dataclass(frozen=True)
class KeptOffsets:
    """What was kept of entries, and what stands in the checkpoint in their place."""

    query_id: str | None = None
    folder: str = ""
    """The folder of the copies, as shown to people."""
    copies: Mapping[int, bytes] = field(default_factory=dict)
    present: Mapping[int, bytes] = field(default_factory=dict)
    """The entries that could be read, of those that a copy is kept of."""
    failures: Mapping[int, HoldfastError] = field(default_factory=dict)
    """Why a copy could not be had."""

    def path_of(self, batch_id: int) -> str:
        """Spell where the copy of an entry is."""
        digest = hashlib.sha256(self.copies[batch_id]).hexdigest()
        return f"{self.folder}/{copy_path(self.query_id or '', batch_id, digest)}"


NOTHING_KEPT = KeptOffsets()


def look_at_kept(recorded: Recorded, picture: Picture, reader: Reader) -> KeptOffsets:
    """Ask for the copies, and read the entries that they are compared with."""
    run = recorded.run_of(picture)
    query_id = picture.query.id if picture.query is not None else run.query_id if run else None
    if run is None or query_id is None:
        return NOTHING_KEPT
    copies: dict[int, bytes] = {}
    failures: dict[int, HoldfastError] = {}
    for batch_id in _asked(picture):
        try:
            copy = recorded.copy_of(query_id, batch_id)
        except HoldfastError as error:
            failures[batch_id] = error
        else:
            copies |= {} if copy is None else {batch_id: copy}
    planned_since = copies.keys() - picture.layout.offsets.files.keys()
    if planned_since:
        # A query that runs may have planned one while we looked.
        names = reader.names("offsets")
        copies = {one: copy for one, copy in copies.items()
                  if one not in planned_since or str(one) not in names}  # fmt: skip
    files = picture.layout.offsets.files
    paths = {files[one].path: one for one in copies if one in files}
    read = reader.read_many(paths)
    present = {paths[path]: data for path, data in read.items() if isinstance(data, bytes)}
    return KeptOffsets(query_id, f"{recorded.location}/offsets", copies, present, failures)


def with_kept_copy(finding: Finding, kept: KeptOffsets) -> Finding:
    """Say in a finding about an offsets entry that a copy of it is kept."""
    folder, _, name = finding.place.file.partition("/")
    batch_id = batch_id_of(name) if folder == "offsets" else None
    told = finding.severity.rank >= Severity.WARNING.rank
    if batch_id is None or not told or not _is_lost(batch_id, kept):
        return finding
    path = kept.path_of(batch_id)
    step = (
        f"a byte-identical copy is kept: put {path} back as offsets/{batch_id} while nothing runs, "
        f"without a .{batch_id}.crc that is there"
    )
    evidence = {**finding.evidence, "kept_copy": path}
    return replace(finding, evidence=evidence, next_steps=(step, *finding.next_steps))


def _is_lost(batch_id: int, kept: KeptOffsets) -> bool:
    return batch_id in kept.copies and kept.present.get(batch_id) != kept.copies[batch_id]


def _asked(picture: Picture) -> list[int]:
    ids = picture.layout.offsets.ids
    newest = ids[-1] if ids else -1
    # A run keeps a copy before the sink writes: the newest entry itself may be what was lost.
    committed = picture.newest_commit_id
    likely = {newest + 1, newest, newest - 1, *([] if committed is None else [committed])}
    damaged = {
        batch_id
        for damage in picture.damages
        if damage.file.startswith("offsets/")
        and (batch_id := batch_id_of(damage.file.partition("/")[2])) is not None
    }
    wanted = sorted({*likely, *damaged, *missing_between(ids)}, reverse=True)
    return [one for one in wanted if one >= 0][:MOST_ASKED]
