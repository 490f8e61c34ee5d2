"""How large the files of a store are, from the listing alone."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.checkpoint.statefiles import DEFAULT_STORE, PartitionFiles, StoreFiles
from holdfast.state.reading import StateView
from holdfast.state.results import BatchChange


def partition_bytes(view: StateView) -> dict[int, int]:
    """Give the size of all files that a partition keeps, of every batch, for each that is read."""
    own = "" if view.layout.store == DEFAULT_STORE else f"{view.layout.store}/"
    folders = {f"state/{view.operator}/{one}/{own}": one for one in view.partitions}
    depth = 3 + bool(own)
    sizes = dict.fromkeys(view.partitions, 0)
    for path, item in view.log.picture.layout.items.items():
        parts = path.split("/", depth)
        partition = folders.get("/".join(parts[:depth]) + "/") if len(parts) > depth else None
        if partition is not None:
            sizes[partition] += item.size
    return sizes


def batch_changes(view: StateView, batches: Iterable[int]) -> tuple[BatchChange, ...]:
    """Give what each batch wrote as deltas or changelogs, those that left any."""
    sizes: dict[int, int] = {}
    for files in _store(view).partitions.values():
        for version, size in _change_sizes(files):
            sizes[version - 1] = sizes.get(version - 1, 0) + size
    return tuple(BatchChange(batch, sizes[batch]) for batch in batches if batch in sizes)


def _store(view: StateView) -> StoreFiles:
    return view.log.picture.layout.state.operators[view.operator].stores[view.layout.store]


def _change_sizes(files: PartitionFiles) -> list[tuple[int, int]]:
    deltas = [(version, item.size) for version, item in files.deltas.items()]
    return [*deltas, *((version, item.size) for (version, _), item in files.changelogs.items())]
