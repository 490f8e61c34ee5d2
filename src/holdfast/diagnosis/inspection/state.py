"""What the doctor saw of the state files: what is damaged, what was not read, what still loads."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import partition_count
from holdfast.checkpoint.statefiles import DEFAULT_STORE, OperatorFiles, PartitionFiles, StoreFiles
from holdfast.diagnosis.inspection.ranges import id_ranges
from holdfast.errors import HoldfastError
from holdfast.findings import Finding
from holdfast.state.loading.chains import PartitionHistory, loadable_batches, nearest_batch

_ABOUT_LOADING = ("HF2111", "HF2221", "HF2238", "HF2239", "HF2314", "HF2316", "HF2317")


@dataclass(frozen=True)
class StateDamage:
    """A state file that can't be decoded, or whose rows do not fit the schema of their store."""

    path: str
    error: HoldfastError


@dataclass(frozen=True)
class StateSeen:
    """What was seen of the state files of one checkpoint."""

    damages: tuple[StateDamage, ...] = ()
    misfits: tuple[StateDamage, ...] = ()
    """The first one of each store."""
    overlooked: tuple[Finding, ...] = ()
    """Damage that Spark does not notice."""
    denied: tuple[StateDamage, ...] = ()
    """Files that could not be read, whatever is in them."""
    needed: frozenset[str] = frozenset()
    """The files that the next load begins with or replays, where they were read."""
    read_files: int = 0
    read_bytes: int = 0
    """Of the files that the next load needs, where the budget decides what is read."""
    unread_files: int = 0
    unread_bytes: int = 0
    unread_reason: str = ""
    loadable: tuple[int, ...] | None = None
    """Committed batches whose whole state can still be loaded; None where nobody can tell."""


NOTHING_SEEN = StateSeen()


def histories_by_name(picture: Picture) -> list[PartitionHistory] | None:
    """Return every partition's files, None where names alone do not tell what builds on what."""
    found = [
        PartitionHistory(place_of(operator, store, partition), files)
        for operator, store, partition, files in every_partition(picture)
    ]
    ids = (key[1] for one in found for key in (*one.files.zips, *one.files.changelogs))
    return None if any(ids) else found


def every_partition(
    picture: Picture,
) -> Iterator[tuple[OperatorFiles, StoreFiles, int, PartitionFiles]]:
    """Yield each partition of each store that must be there, also where nothing of it is."""
    for operator in picture.layout.state.operators.values():
        count = partition_count(picture, operator.id)
        for store in operator.stores.values():
            wanted = range(count or max(store.partitions, default=-1) + 1)
            for partition in wanted if store.partitions else ():
                files = store.partitions.get(partition, PartitionFiles())
                yield operator, store, partition, files


def place_of(operator: OperatorFiles, store: StoreFiles, partition: int) -> str:
    """Name the folder of a partition."""
    own = "" if store.name == DEFAULT_STORE else f"/{store.name}"
    return f"state/{operator.id}/{partition}{own}"


def loadable_in(
    picture: Picture, histories: Iterable[PartitionHistory], damaged: Container[str]
) -> tuple[int, ...]:
    """Return the committed batches whose state every partition can load."""
    return loadable_batches(histories, picture.layout.commits.ids, damaged)


def with_loadable_batch(finding: Finding, seen: StateSeen, picture: Picture) -> Finding:
    """Say in a finding about missing or damaged state up to which batch it could be loaded."""
    newest = picture.newest_commit_id
    concerned = finding.code in _ABOUT_LOADING and finding.place.file.startswith("state")
    if not concerned or seen.loadable is None or newest is None:
        return finding
    batch = newest if newest in seen.loadable else nearest_batch(newest, seen.loadable)
    told = "no kept batch has a state that can be loaded"
    if batch is not None:
        told = f"the newest batch whose state can be loaded is {batch}"
    evidence = {
        **finding.evidence,
        "newest_loadable_batch": batch,
        "loadable_batches": id_ranges(seen.loadable),
    }
    return replace(finding, message=f"{finding.message}; {told}", evidence=evidence)
