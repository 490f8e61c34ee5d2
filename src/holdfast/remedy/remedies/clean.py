"""Clean: remove leftovers in the checkpoint that no start reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from holdfast.backup.safety import side_files
from holdfast.checkpoint.layout import Layout
from holdfast.diagnosis.checks.records import late_state
from holdfast.diagnosis.checks.state.rocksdb import all_snapshots, unneeded_tables
from holdfast.errors import PlanError
from holdfast.remedy.drafting import backup_step, remove_step
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Draft, Effects
from holdfast.storage.machine import is_abandoned
from holdfast.storage.reading import FileKind
from holdfast.wording import counted

_LOGS = ("offsets/", "commits/", "sources/")
_TEMPORARY = re.compile(r"\.{1,2}(\d+(?:\.compact)?)\.[0-9a-f-]{36}\.")


def plan_clean(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return a plan that removes leftovers; raise PlanError (HF4611) where there are none."""
    del options
    leftovers = tuple(sorted(set(_leftovers(facts))))
    if not leftovers:
        raise PlanError("HF4611", "there are no leftovers in the checkpoint", at=facts.location)
    shown = f"remove {counted(len(leftovers), 'file')} that nothing reads"
    steps = (backup_step(facts), remove_step(facts, leftovers, shown, _empty_state(facts)))
    return Draft(steps, Effects(next_start="does what it would have done"))


def _empty_state(facts: Facts) -> tuple[str, ...]:
    """Return the folders of state, the innermost first, where no query has begun yet.

    Spark refuses a first batch where it finds any.
    """
    picture = facts.subject.picture
    if picture.newest_offsets_id is not None or not late_state(picture, facts.subject.recorded):
        return ()
    items = picture.layout.items
    found = [path for path in items if path == "state" or path.startswith("state/")]
    folders = [path for path in found if items[path].kind is FileKind.FOLDER]
    return tuple(sorted(folders, key=lambda path: -path.count("/")))


def _leftovers(facts: Facts) -> Iterator[str]:
    """Yield what killed writers left: temporary files, checksums of state, tables of no snapshot,
    and state of batches that were taken back.

    A checksum that was left in a log is repaired, not cleaned: without it Spark plans or runs a
    batch. A temporary file whose entry is missing is kept: it may be all that is left of it.
    """
    picture = facts.subject.picture
    layout = picture.layout
    yield from (path for path in layout.temporary if _is_superseded(layout, path))
    yield from (path for path in layout.orphan_checksums if path.startswith("state/"))
    items = layout.items.values()
    yield from (one.path for one in items if is_abandoned(one.path, one.modified_ms))
    read = facts.records.checkpoint.read_many(all_snapshots(picture))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    yield from unneeded_tables(picture, snapshots)
    for path in late_state(picture, facts.subject.recorded):
        yield from (one for one in (path, *side_files(path)) if layout.has_file(one))


def _is_superseded(layout: Layout, path: str) -> bool:
    """Whether a temporary file is of no log, or of an entry that is there."""
    if not path.startswith(_LOGS):
        return True
    folder, _, name = path.rpartition("/")
    entry = _TEMPORARY.match(name)
    return entry is not None and layout.has_file(f"{folder}/{entry[1]}")
