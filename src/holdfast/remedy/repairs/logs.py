"""Repairs of `commits/`, and of checksums that were left behind without their entries."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.layout import checked_name, checksum_name
from holdfast.checkpoint.picture import skips_like_async
from holdfast.errors import PlanError
from holdfast.format.logs.log import batch_id_of
from holdfast.remedy.repairs.repair import Damaged, Fix, require_older, require_rerun

_LOGS = ("offsets/", "commits/", "sources/")


def torn_commit(damaged: Damaged) -> Iterator[Fix]:
    """Take out the newest commit that Spark cannot read: its batch runs again, or is passed over"""
    picture, facts = damaged.picture, damaged.facts
    newest, planned = picture.newest_commit_id, picture.newest_offsets_id
    if newest is None or planned is None or picture.refused(f"commits/{newest}") is None:
        return
    path = f"commits/{newest}"
    at = f"{facts.location}/{path}"
    if newest > planned or skips_like_async(picture):
        message = f"{path} cannot be read, and nothing else shows how far the query got"
        raise PlanError("HF4601", message, at=at)
    # The newest planned batch runs again, whether this is its commit or that of the one before.
    require_rerun(facts, planned)
    detail = f"remove {path}, which Spark cannot read: the next start runs batch {planned} again"
    yield Fix(detail, removes=(path, checksum_name(path)))


def left_checksums(damaged: Damaged) -> Iterator[Fix]:
    """Take out checksums in the way of the next entry of their log."""
    picture, facts = damaged.picture, damaged.facts
    for side in picture.layout.orphan_checksums:
        if not side.startswith(_LOGS):
            continue
        folder, _, name = (checked_name(side) or side).rpartition("/")
        batch = batch_id_of(name)
        if folder == "offsets" and batch is not None and batch > _planned(damaged):
            # Somebody removed the entry itself: its batch may have been delivered.
            require_older(facts, batch)
        if folder == "commits" and batch is not None and batch == picture.pending:
            require_rerun(facts, batch)
        detail = f"remove {side}, which is in the way of {folder}/{name}"
        yield Fix(detail, removes=(side,), replans=folder == "offsets")


def _planned(damaged: Damaged) -> int:
    newest = damaged.picture.newest_offsets_id
    return -1 if newest is None else newest
