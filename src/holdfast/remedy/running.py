"""Notices a query that holds no lease, also while an act that wrote to the checkpoint is open.

Plain Spark shows itself by its files alone. Those that an act of ours wrote are known from its plan
and its backup, so that they do not pass for those of a query.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from holdfast.backup.access import Records
from holdfast.backup.restoring import refuse_running
from holdfast.backup.safety import look
from holdfast.checkpoint.layout import checksum_name
from holdfast.errors import HoldfastError
from holdfast.records.journal import JournalledAct
from holdfast.records.moments import epoch_seconds
from holdfast.remedy.evidence import written_by
from holdfast.remedy.plan import decode_plan
from holdfast.remedy.steps.checkpoint import METADATA
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import FileKind, Listed


def refuse_query(records: Records, *, may_override: bool) -> None:
    """Raise HF4505 where a query seems to run that holds no lease.

    `may_override` names the option with which whoever is sure goes on all the same.
    """
    present = look(records.checkpoint, lambda _: False, any_folder=True)
    if present.picture is None or present.empty:
        return
    now_ms = int(time.time() * 1000)
    items = [one for one in present.picture.layout.items.values() if one.kind is FileKind.FILE]
    acts = records.journal.acts()
    if acts:
        own = _written(records, acts)
        since = acts[0].ended_at if own is None else acts[0].act.at
        if since is None and not may_override:
            return  # A restore is being undone, or the journal is an older release's.
        items = items if own is None else [one for one in items if not own.has(one)]
        times = [one.modified_ms for one in items if one.modified_ms is not None]
        seconds = None if since is None else epoch_seconds(since)
        if seconds is not None and max(times, default=0) <= seconds * 1000:
            return
    refuse_running(records, present, now_ms, items, may_override=may_override)


@dataclass(frozen=True)
class _Written:
    """What an act may have written to the checkpoint."""

    paths: frozenset[str]
    sizes: dict[str, int]
    """Of what it puts back from its backup."""

    def has(self, item: Listed) -> bool:
        """Whether a file may be the act's own."""
        if is_temporary(item.path) or item.path in self.paths:
            return True
        return self.sizes.get(item.path) == item.size


def _written(records: Records, acts: tuple[JournalledAct, ...]) -> _Written | None:
    """Return what the newest act may have written; None where its journal does not tell.

    What a restore wrote is not told apart from what a query wrote.
    """
    undoes = acts[0].act.intent.get("undoes", acts[0].act.id)
    act = next((one for one in acts if one.act.id == undoes), acts[0])
    try:
        paths = written_by(decode_plan(act.act.intent["plan"], act.act.id))
    except (HoldfastError, KeyError):
        return None
    sides = {side for path in paths for side in (checksum_name(path), f"{path}.crc")}
    own = frozenset({*paths, *sides, METADATA, checksum_name(METADATA)})
    backups = [str(one["backup"]) for one in act.results().values() if "backup" in one]
    try:
        files = records.store.snapshot(backups[0]).checkpoint.files if backups else ()
    except HoldfastError:
        files = ()
    return _Written(own, {file.path: file.size for file in files})
