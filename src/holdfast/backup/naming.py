"""Understands how a backup is named: TARGET@ID, TARGET@newest, or the beginning of an id."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.backup.snapshot import BACKUP, Snapshot
from holdfast.backup.store import Store
from holdfast.errors import UsageError

NEWEST = "newest"
_BEGINNING = re.compile(r"\d{4,8}|\d{8}T\d{0,9}|\d{8}T\d{9}Z(-[0-9a-f]{0,8})?")


def split_name(text: str) -> tuple[str, str | None]:
    """Split TARGET@ID; the second part is None where the text names no backup."""
    target, at, name = text.rpartition("@")
    if at and target and (name == NEWEST or _BEGINNING.fullmatch(name)):
        return target, name
    return text, None


def find_snapshot(store: Store, name: str) -> Snapshot:
    """Find the one backup that the name means."""
    ids = store.snapshot_ids()
    if name == NEWEST:
        return _newest(ids, store)
    return store.snapshot(_only(ids, name, store))


def _newest(ids: Sequence[str], store: Store) -> Snapshot:
    """Give the newest that somebody asked for: what a restore set aside is named by its id only."""
    for snapshot_id in reversed(ids):
        snapshot = store.snapshot(snapshot_id)
        if snapshot.purpose == BACKUP:
            return snapshot
    raise UsageError("HF4509", "there is no backup here yet", at=store.location)


def _only(ids: Sequence[str], name: str, store: Store) -> str:
    found = [one for one in ids if one.startswith(name)]
    if len(found) == 1:
        return found[0]
    several = f"{len(found)} backups begin with {name}" if found else f"no backup {name} is here"
    raise UsageError("HF4509", several, at=store.location)
