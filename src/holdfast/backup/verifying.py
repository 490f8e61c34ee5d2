"""Reads every copy again and compares it with the digest that it is named by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.backup.copying import WORKERS
from holdfast.backup.snapshot import CopiedFile, Snapshot
from holdfast.backup.store import Catalogue, Store, object_path, snapshot_path
from holdfast.checkpoint.verification import Progress
from holdfast.findings import Finding, Place, Severity
from holdfast.storage.sidebyside import side_by_side

_AT_ONCE = 64


@dataclass(frozen=True)
class Verified:
    """What was read again, and what was not as it should be."""

    files: int
    size_bytes: int
    damaged: tuple[str, ...]
    findings: tuple[Finding, ...]


def verify_snapshots(
    store: Store, snapshots: Iterable[Snapshot], progress: Progress | None = None
) -> Verified:
    """Hash every copy that the snapshots name, each once."""
    named: dict[str, tuple[CopiedFile, list[str]]] = {}
    for snapshot in snapshots:
        for file in snapshot.files:
            named.setdefault(file.sha256, (file, []))[1].append(f"{snapshot.id}: {file.path}")
    files = [file for file, _ in named.values()]
    total, done = sum(file.size for file in files), 0
    broken: list[CopiedFile] = []
    for start in range(0, len(files), _AT_ONCE):
        part = files[start : start + _AT_ONCE]
        whole = side_by_side(store.is_whole, part, WORKERS)
        broken += [file for file in part if not whole[file]]
        done += sum(file.size for file in part)
        if progress is not None:
            progress(done, total)
    findings = tuple(_damage(file, named[file.sha256][1]) for file in broken)
    damaged = tuple(place for file in broken for place in named[file.sha256][1])
    return Verified(len(files), total, damaged, findings)


def catalogue_findings(catalogue: Catalogue) -> Iterator[Finding]:
    """Tell the snapshots that can't be read."""
    for snapshot_id, error in catalogue.damaged:
        yield Finding(
            code="HF4511",
            severity=Severity.ERROR,
            message=f"backup {snapshot_id}: {error.message}",
            place=Place(snapshot_path(snapshot_id)),
        )


def _damage(file: CopiedFile, places: list[str]) -> Finding:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    first = places[0].partition(":")[0]
    return Finding(
        code="HF4510",
        severity=Severity.ERROR,
        message=f"the copy of {file.path} is missing or damaged, in {first}{more}",
        place=Place(object_path(file.sha256)),
        evidence={"sha256": file.sha256, "named_by": places[:20]},
    )
