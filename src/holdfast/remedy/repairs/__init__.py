"""Every proven repair: one function each, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.errors import PlanError
from holdfast.remedy.repairs.copies import RESTORABLE, backed_up_files
from holdfast.remedy.repairs.identity import lost_query_id
from holdfast.remedy.repairs.logs import left_checksums, torn_commit
from holdfast.remedy.repairs.offsets import kept_entries, torn_newest, unfinished_repartition
from holdfast.remedy.repairs.places import ELSEWHERE, recorded_paths
from holdfast.remedy.repairs.repair import DAMAGED_ENTRY, Damaged, Fix, Repair
from holdfast.remedy.repairs.snapshots import DAMAGED_SNAPSHOT, damaged_snapshots

_NEWEST_LOST = frozenset(("HF2210", "HF2342", "HF2411"))
"""What is found where the newest entry is gone: the checkpoint looks like an earlier one."""

_BY_ITSELF = {
    "HF2207": "the next start passes these batches over",
    "HF2451": "the next start of the job publishes what is committed first",
    "HF2458": "the next start of the job finishes it first",
    "HF2459": "the next commit of this batch removes them",
}
"""What needs no change of files, and why."""


def repaired_by_itself(damaged: Damaged) -> Iterator[Fix]:
    """Say of what the next start repairs that nothing has to be done."""
    for finding in damaged.findings:
        if finding.code in _BY_ITSELF:
            message = f"{finding.message}: {_BY_ITSELF[finding.code]}"
            raise PlanError("HF4611", message, at=damaged.facts.location)
    yield from ()


REPAIRS: tuple[Repair, ...] = (
    Repair(
        "kept offsets",
        DAMAGED_ENTRY
        | {"HF2203", "HF2204", "HF2208", "HF2214", "HF2215", "HF2218", "HF2236", "HF3027"}
        | _NEWEST_LOST,
        kept_entries,
    ),
    Repair("files from a backup", RESTORABLE, backed_up_files),
    Repair("query id", DAMAGED_ENTRY | {"HF2201", "HF2202"}, lost_query_id),
    Repair("torn offsets", DAMAGED_ENTRY, torn_newest),
    Repair("torn commit", DAMAGED_ENTRY, torn_commit),
    Repair("unfinished repartition", frozenset(("HF2220", "HF2246")), unfinished_repartition),
    Repair("left-over checksums", frozenset(("HF2210", "HF2211")), left_checksums),
    Repair("damaged snapshots", DAMAGED_SNAPSHOT, damaged_snapshots),
    Repair("recorded paths", ELSEWHERE, recorded_paths),
    Repair("by itself", frozenset(_BY_ITSELF), repaired_by_itself),
)
