"""Shows a checkpoint as it will be without its newest batches, before anything is removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.backup.safety import side_files
from holdfast.checkpoint.layout import Layout
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.statefiles import OperatorFiles
from holdfast.diagnosis.checks.picture import check_picture
from holdfast.diagnosis.checks.state.rocksdb import snapshots_to_read
from holdfast.diagnosis.doctor.state import look_at_state
from holdfast.errors import NotFoundError, PlanError, StorageError
from holdfast.findings import Severity
from holdfast.storage.location import place_within, shown_path
from holdfast.storage.reading import FileKind, Listing, Reader


@dataclass(frozen=True)
class WithoutFiles:
    """Reads what another reader reads, without some files and folders."""

    whole: Reader
    hidden: frozenset[str]

    @property
    def location(self) -> str:
        """Where this is, as shown to people."""
        return self.whole.location

    def list(self) -> Listing:
        """List everything but what is hidden."""
        listing = self.whole.list()
        return replace(
            listing, items=tuple(one for one in listing.items if one.path not in self.hidden)
        )

    def names(self, folder: str) -> frozenset[str]:
        """Names directly in a folder, but those that are hidden."""
        start = f"{folder}/" if folder else ""
        return frozenset(
            name for name in self.whole.names(folder) if f"{start}{name}" not in self.hidden
        )

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or a part of it; one that is hidden is not there."""
        if path in self.hidden:
            raise self._missing(path)
        return self.whole.read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read several whole files; a failure stands in place of the bytes."""
        wanted = list(paths)
        found: dict[str, bytes | StorageError] = {
            path: self._missing(path) for path in wanted if path in self.hidden
        }
        return found | dict(self.whole.read_many([one for one in wanted if one not in found]))

    def _missing(self, path: str) -> NotFoundError:
        at = place_within(self.location, path)
        return NotFoundError("HF7001", f"there is no file {shown_path(path)}", at=at)


@dataclass(frozen=True)
class Removal:
    """What goes with the batches from one on."""

    files: tuple[str, ...]
    """In the order in which they are removed."""
    folders: tuple[str, ...]
    """Removed afterwards, the innermost first."""


def removal_from(layout: Layout, batch: int) -> Removal:
    """Return everything that the batches from this one on left in offsets/, commits/ and state/.

    Left in place, a snapshot of a later version would be loaded when the new batches reach it. The
    newest offsets entry goes last and the one before it first: until then Spark finds a gap and
    stops. From batch 0 on no state may be there at all.
    """
    newest = layout.offsets.newest
    planned = [f"offsets/{one}" for one in layout.offsets.ids if one >= batch]
    committed = [f"commits/{one}" for one in layout.commits.ids if one >= batch]
    before, last = f"offsets/{(newest or 0) - 1}", f"offsets/{newest}"
    first = [one for one in planned if one == before]
    between = [one for one in planned if one not in (before, last)]
    ends = [one for one in planned if one == last]
    folders: tuple[str, ...] = ()
    if batch > 0:
        state = list(_state_from(layout, batch))
    else:
        below = [path for path in layout.items if path == "state" or path.startswith("state/")]
        state = [one for one in below if layout.items[one].kind is not FileKind.FOLDER]
        folders = tuple(
            sorted((one for one in below if one not in set(state)), key=lambda one: -one.count("/"))
        )
    order = [*first, *state, *sorted(committed, reverse=True), *between, *ends]
    return Removal(tuple(_with_sides(layout, order)), folders)


def _state_from(layout: Layout, batch: int) -> Iterator[str]:
    for operator in layout.state.operators.values():
        yield from _described_from(operator, batch)
        for store in operator.stores.values():
            for files in store.partitions.values():
                for version in sorted(files.versions(), reverse=True):
                    # Batch B reads version B; what the batches from B on wrote is newer.
                    yield from files.of_version(version) if version > batch else ()


def _described_from(operator: OperatorFiles, batch: int) -> Iterator[str]:
    """Yield metadata and schemas that a start at a later batch wrote; the older ones stay."""
    by_batch = operator.metadata_by_batch
    if min(by_batch, default=batch) < batch:
        yield from (path for at, path in by_batch.items() if at >= batch)
    for store in operator.stores.values():
        written = {name: int(name.partition("_")[0]) for name in store.schema_files}
        if min(written.values(), default=batch) < batch:
            yield from (store.schema_files[name] for name, at in written.items() if at >= batch)


def _with_sides(layout: Layout, paths: Iterable[str]) -> Iterator[str]:
    """Yield each file once, then its checksum: one that is left over makes the next write fail."""
    seen: set[str] = set()
    for path in paths:
        for one in (path, *side_files(path)):
            if one not in seen and (one == path or layout.has_file(one)):
                seen.add(one)
                yield one


def refuse_unstartable(reader: Reader, removal: Removal, batch: int, spark: str) -> Picture:
    """Return the picture afterwards; raise PlanError where the next start would not plan the batch.

    Its state is decoded as the doctor does it.
    """
    after = WithoutFiles(reader, frozenset({*removal.files, *removal.folders}))
    picture = read_picture(after, history=SHOWN_BATCHES)
    told = next_start(picture, spark)
    wanted = Action.PLAN if batch else Action.FRESH
    if told.action is Action.UNKNOWN:
        raise PlanError("HF4603", told.reason, at=picture.location)
    if told.action is not wanted or told.batch_id != batch:
        code = "HF4613" if "state" in told.reason else "HF4601"
        message = f"batch {batch} would not come next: {told.reason}"
        raise PlanError(code, message, at=picture.location, why=_OTHERWISE)
    _refuse_damaged_state(after, picture, batch)
    worst = [one for one in check_picture(picture) if one.severity is Severity.FATAL]
    if worst:
        message = f"the next start would still fail: {worst[0].message} ({worst[0].code})"
        raise PlanError("HF4601", message, at=picture.location, why=_OTHERWISE)
    return picture


_OTHERWISE = (
    "replay continues from the offsets, the commit and the state that the batch before it left. "
    "Restore these from a backup, replay from another batch, or use reset, which starts over"
)


def _refuse_damaged_state(reader: Reader, picture: Picture, batch: int) -> None:
    if not batch:
        return
    read = reader.read_many(snapshots_to_read(picture, everything=False))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    seen = look_at_state(reader, picture, snapshots, verified=False)
    for damage in (*seen.damages, *seen.denied):
        message = f"the state that batch {batch} reads cannot be loaded: {damage.error.message}"
        at = f"{picture.location}/{damage.path}"
        raise PlanError("HF4613", message, at=at, why=_OTHERWISE)
