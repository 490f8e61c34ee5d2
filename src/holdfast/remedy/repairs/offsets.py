"""Repairs of `offsets/`: entries put back from their kept copies, or taken out where no sink knows
their batch."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.layout import checksum_name
from holdfast.checkpoint.picture import skips_like_async
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.releases import PARTITIONS
from holdfast.diagnosis.inspection.keptoffsets import PutBack
from holdfast.errors import PlanError
from holdfast.remedy.repairs.repair import Damaged, Fix, require_older


def kept_entries(damaged: Damaged) -> Iterator[Fix]:
    """Put the copies back that runs kept, where the sink has these offsets or none."""
    kept = damaged.facts.subject.kept
    seen: set[int] = set()
    for batch_id, verdict in sorted(kept.verdicts.items()):
        if batch_id in seen or verdict.put_back is PutBack.SET_ASIDE:
            continue
        seen |= {*verdict.entries}
        shown = ", ".join(f"offsets/{one}" for one in verdict.entries)
        at = f"{damaged.facts.location}/offsets/{batch_id}"
        if verdict.put_back is PutBack.FORBIDDEN:
            message = f"the sink has batch {verdict.batch_id} with other offsets than the kept copy"
            raise PlanError("HF4601", message, at=at)
        if verdict.put_back is PutBack.UNKNOWN:
            message = f"what the sink has of batch {verdict.batch_id} is unknown"
            raise PlanError("HF4603", message, at=at)
        yield Fix(
            f"put {shown} back, byte-identical, from the copy that the run kept",
            {f"offsets/{one}": kept.copies[one] for one in verdict.entries},
        )


def torn_newest(damaged: Damaged) -> Iterator[Fix]:
    """Take out the newest entry that Spark cannot read, where the sink's newest batch is older."""
    picture, facts = damaged.picture, damaged.facts
    newest = picture.newest_offsets_id
    if newest is None or picture.refused(f"offsets/{newest}") is None:
        return
    at = f"{facts.location}/offsets/{newest}"
    if newest in picture.layout.commits.files:
        message = f"batch {newest} is committed: its offsets cannot be planned again"
        raise PlanError("HF4601", message, at=at)
    if skips_like_async(picture):
        message = "with async progress tracking it cannot be determined which batches the sink has"
        raise PlanError("HF4603", message, at=at)
    require_older(facts, newest)
    path = f"offsets/{newest}"
    detail = f"remove {path}, which Spark cannot read: batch {newest} never reached the sink"
    yield Fix(detail, removes=(path, checksum_name(path)), replans=True)


def unfinished_repartition(damaged: Damaged) -> Iterator[Fix]:
    """Take out the entry that a repartition left of a state that it cannot repartition."""
    picture, facts = damaged.picture, damaged.facts
    newest = picture.pending
    entry = picture.newest_offsets
    before = None if newest is None else picture.offsets.get(newest - 1)
    if newest is None or entry is None or before is None:
        return
    if entry.metadata is None or before.metadata is None or entry.sources != before.sources:
        return
    now, then = entry.metadata.settings, before.metadata.settings
    changed = {one for one in {*now, *then} if now.get(one) != then.get(one)}
    if changed != {PARTITIONS} or newest - 1 not in picture.layout.commits.files:
        return
    if provider_of(picture) != "hdfs":
        message = "a repartition was interrupted; repeat it to the same number of partitions"
        raise PlanError("HF4601", message, at=facts.location)
    require_older(facts, newest)
    path = f"offsets/{newest}"
    detail = f"remove {path}, which an unfinished repartition of the state left"
    yield Fix(detail, removes=(path, checksum_name(path)), replans=True)
