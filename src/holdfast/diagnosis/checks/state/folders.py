"""State as far as names tell: there for the next batch, in as many partitions as are pinned."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.goingon import going_on
from holdfast.checkpoint.recovery.state import partition_count, state_failure
from holdfast.checkpoint.writer import start_releases
from holdfast.findings import Finding, Place, Severity
from holdfast.plurals import counted


def check_state_present(picture: Picture) -> Iterator[Finding]:
    """Report state files that the next batch needs and that are not there."""
    failure = state_failure(picture, going_on(picture), start_releases(picture)[0])
    if failure is not None and not failure.before_sink:
        yield Finding("HF2221", Severity.FATAL, failure.reason, Place(failure.place))


def check_state_not_ahead(picture: Picture) -> Iterator[Finding]:
    """Report state of a batch whose offsets are gone: the batch ran, and would be planned anew."""
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
                    f"state/{operator.id} holds version {newest}, which batch {newest - 1} wrote, "
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


def check_partition_number(picture: Picture) -> Iterator[Finding]:
    """Report partitions with current state beyond the pinned number."""
    version = going_on(picture).batch_id
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
