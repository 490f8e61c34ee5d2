"""State as far as names tell: there for the next batch, one version after the other, in as many
partitions as are pinned."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture, missing_between
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import StateFailure, partition_count, state_failure
from holdfast.checkpoint.releases import start_releases
from holdfast.checkpoint.statefiles import DEFAULT_STORE, PartitionFiles
from holdfast.findings import Finding, Place, Severity
from holdfast.storage.reading import Listed
from holdfast.wording import counted

_MOST_NAMED = 5


def check_state_versions(picture: Picture) -> Iterator[Finding]:
    """Report versions that are missing between kept ones of the same partition."""
    for folder, files in _partitions(picture):
        for version in missing_between(tuple(sorted(files.versions())))[:_MOST_NAMED]:
            path = files.missing_path(folder, version)
            message = f"{path} is missing; older and newer versions of this state exist"
            evidence = {"version": version, "files": files.of_version(max(files.versions()))}
            yield Finding("HF2238", Severity.WARNING, message, Place(path), evidence)


def check_empty_state(picture: Picture) -> Iterator[Finding]:
    """Report state files of no bytes, but those that the pending batch writes again."""
    items = picture.layout.items
    replaced = written_again(picture)
    failure = state_failure(picture, unhindered_start(picture), start_releases(picture)[0])
    for _, files in _partitions(picture):
        for item in _files(files):
            if item.size == 0 and item.path not in replaced:
                message = f"{item.path} is empty"
                needed = failure is not None and failure.place == item.path
                severity = Severity.FATAL if needed else Severity.ERROR
                yield Finding("HF2239", severity, message, Place(item.path))
    for path in picture.layout.besides:
        if path.endswith(".sst") and path.startswith("state/") and not items[path].size:
            yield Finding("HF2239", Severity.ERROR, f"{path} is empty", Place(path))


def _partitions(picture: Picture) -> Iterator[tuple[str, PartitionFiles]]:
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            suffix = "" if store.name == DEFAULT_STORE else f"/{store.name}"
            for partition, files in store.partitions.items():
                yield f"state/{operator.id}/{partition}{suffix}", files


def written_again(picture: Picture) -> frozenset[str]:
    """Name the changes that the pending batch made before it was stopped: it makes them again.

    A snapshot is not among them: Spark makes it later, and does not replace one that is there.
    """
    if picture.pending is None:
        return frozenset()
    version = picture.pending + 1
    return frozenset(
        item.path
        for _, files in _partitions(picture)
        for number, item in (
            *files.deltas.items(),
            *((number, item) for (number, _), item in files.changelogs.items()),
        )
        if number == version
    )


def _files(files: PartitionFiles) -> Iterator[Listed]:
    yield from files.deltas.values()
    yield from files.snapshots.values()
    yield from files.zips.values()
    yield from files.changelogs.values()


def check_state_present(picture: Picture) -> Iterator[Finding]:
    """Report state files that the next batch needs and that are not there."""
    failure = state_failure(picture, unhindered_start(picture), start_releases(picture)[0])
    if failure is not None and not failure.before_sink:
        yield missing_state(failure)


def missing_state(failure: StateFailure) -> Finding:
    """Return the finding that the next start cannot load state."""
    return Finding("HF2221", Severity.FATAL, failure.reason, Place(failure.place))


def check_state_not_ahead(picture: Picture) -> Iterator[Finding]:
    """Report state of a batch whose offsets are gone: the batch ran, and would be planned again."""
    planned = picture.newest_offsets_id
    if planned is None:
        return
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            versions = {one for part in store.partitions.values() for one in part.versions()}
            newest = max(versions, default=0)
            if newest > planned + 1:
                yield Finding(
                    "HF2243",
                    Severity.ERROR,
                    f"state/{operator.id} has version {newest}, which batch {newest - 1} wrote, "
                    f"but offsets/ ends at {planned}",
                    Place(f"offsets/{newest - 1}"),
                    {
                        "newest_state_version": newest,
                        "newest_offsets": planned,
                        "files": [
                            path
                            for part in store.partitions.values()
                            for path in part.of_version(newest)
                        ][:20],
                    },
                )


def state_ahead(picture: Picture) -> list[str]:
    """Name the state files of versions that no planned batch has written."""
    planned = -1 if picture.newest_offsets_id is None else picture.newest_offsets_id
    return [
        path
        for _, files in _partitions(picture)
        for version in sorted(files.versions())
        if version > planned + 1
        for path in files.of_version(version)
    ]


def check_partition_number(picture: Picture) -> Iterator[Finding]:
    """Report partitions with current state beyond the pinned number."""
    version = unhindered_start(picture).batch_id
    for operator in picture.layout.state.operators.values():
        count = partition_count(picture, operator.id)
        for store in operator.stores.values():
            current = [
                partition
                for partition, files in store.partitions.items()
                if count is not None and partition >= count and version in files.versions()
            ]
            if count is not None and current and version:
                yield Finding(
                    "HF2222",
                    Severity.FATAL,
                    f"state/{operator.id} has state in partition {max(current)}, but only "
                    f"{counted(count, 'partition is', 'partitions are')} pinned",
                    Place(f"offsets/{picture.newest_offsets_id}", line=2),
                    {"partitions": current[:20], "pinned": count},
                )
