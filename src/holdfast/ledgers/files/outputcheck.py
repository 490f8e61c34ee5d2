"""Looks at a file sink's manifests, its staging and its output together; nothing is written.

Manifests are listed first, staging next and the output last: what moves from one to the next while
a job runs is seen at least once, so that nothing seems to be gone that is only on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import NotFoundError, SinkError
from holdfast.ledgers.files.format import (
    EPOCHS,
    INTENT,
    Epochs,
    Fence,
    Intent,
    Manifest,
    attempt_of,
)
from holdfast.ledgers.files.manifests import ManifestLog, manifest_path, mark_path
from holdfast.ledgers.files.output import MANIFESTS, PUBLISHED, STAGING, is_hidden, query_of
from holdfast.ledgers.files.replacing import REMOVED, REPLACED
from holdfast.storage.reading import FileKind, Reader

Open = Callable[[str], Reader]

LOOKED_AT = 100
"""How many of a query's newest manifests are read, where not all are asked for."""


@dataclass(frozen=True)
class Unpublished:
    """A committed batch with files that still lie in staging."""

    query_id: str
    batch_id: int
    staged: str
    """`<query id>/<attempt>`."""
    files: frozenset[str]
    """Final names, relative to the output folder."""


@dataclass(frozen=True)
class Changed:
    """A published file with another size than its manifest says."""

    path: str
    size: int
    committed_size: int


@dataclass(frozen=True)
class ListedOutput:
    """The output folder against its manifests, where it was listed."""

    missing: tuple[str, ...] = ()
    """Files that a manifest names and that are neither published nor staged."""
    changed: tuple[Changed, ...] = ()
    unnamed: tuple[str, ...] = ()
    """Files that a reader sees and no manifest names."""


@dataclass(frozen=True)
class OutputState:
    """What was seen beside an output folder, and in it."""

    manifests: str
    """Where the manifests are, as shown to people."""
    staging: str
    gaps: Mapping[str, tuple[int, ...]]
    """Query id to the batches without a manifest between others."""
    damages: tuple[SinkError, ...]
    intent: Intent | None
    """What is being taken back."""
    intent_at: str
    """What says so: a name below the manifests."""
    void: tuple[str, ...]
    """Manifests of batches that were taken back before a late driver wrote them."""
    unpublished: tuple[Unpublished, ...]
    attempts: tuple[str, ...]
    """Folders in staging, `<query id>/<attempt>`, in which nothing waits to be published."""
    strange: tuple[str, ...]
    """What lies in staging and is no attempt's."""
    output: ListedOutput | None
    """None where the output folder was not listed: it may hold millions of files."""


def look_at_output(open_below: Open, open_beside: Open, *, all_files: bool) -> OutputState | None:
    """Look; None where no file sink ever wrote here. Raises StorageError.

    With `all_files` every manifest is read, and the output folder is listed and compared.
    """
    look = _Look(ManifestLog(open_beside(MANIFESTS)))
    look.read(None if all_files else LOOKED_AT)
    staging = open_beside(STAGING)
    staged = _Staged(_files_below(staging))
    if not look.batches and not look.damages and look.intent is None and not staged.files:
        return None
    unpublished = tuple(look.unpublished(staged, open_beside(PUBLISHED)))
    output = look.compared(_files_below(open_below("")), unpublished) if all_files else None
    return OutputState(
        manifests=look.log.reader.location,
        staging=staging.location,
        gaps={query: gap for query, ids in look.batches.items() if (gap := _gap(ids))},
        damages=tuple(look.damages),
        intent=look.intent,
        intent_at=look.intent_at,
        void=look.void,
        unpublished=unpublished,
        attempts=tuple(sorted(set(staged.attempts) - {one.staged for one in unpublished})),
        strange=staged.strange,
        output=output,
    )


class _Staged:
    """The files below staging, by the attempt that they are of: `<query id>/<name>`."""

    def __init__(self, files: Mapping[str, int]) -> None:
        self.files = files
        self.attempts: dict[str, set[str]] = {}
        strange = []
        for path in sorted(files):
            query, name, inner = ([*path.split("/", 2), "", ""])[:3]
            if inner and (attempt_of(name) is not None or name.startswith((REPLACED, REMOVED))):
                self.attempts.setdefault(f"{query_of(query)}/{name}", set()).add(inner)
            else:
                strange.append(path)
        self.strange = tuple(strange)


class _Look:
    """One look, which gathers the manifests and what is damaged."""

    def __init__(self, log: ManifestLog) -> None:
        self.log = log
        self.damages: list[SinkError] = []
        self.batches: dict[str, tuple[int, ...]] = {}
        self.manifests: dict[tuple[str, int], Manifest | None] = {}
        self.epochs = self._read_epochs()
        fence = _unfinished(self.epochs)
        self.intent = None if fence is None else Intent(fence.query_id, fence.batch_id)
        self.intent_at = INTENT if fence is not None and fence.token == INTENT else EPOCHS
        self.void: tuple[str, ...] = ()

    def read(self, newest: int | None) -> None:
        """Read the newest manifests of each query, all of them where no number is given."""
        void: list[str] = []
        for query_id in self.log.folders():
            left = self.log.batches(query_id, self.epochs)
            if left:
                self.batches[query_id] = left
            for batch_id in left if newest is None else left[-newest:]:
                self.manifest(query_id, batch_id)
            if self.intent is None:
                found = self.log.void(query_id, self.epochs)
                void += (manifest_path(query_id, batch, epoch) for batch, epoch in found)
        self.void = tuple(void)

    def manifest(self, query_id: str, batch_id: int) -> Manifest | None:
        """Return a manifest, read once; None where there is none, or a damaged one."""
        key = (query_id, batch_id)
        if key not in self.manifests:
            try:
                self.manifests[key] = self.log.manifest(query_id, batch_id, self.epochs)
            except SinkError as error:
                self.damages.append(error)
                self.manifests[key] = None
        return self.manifests[key]

    def unpublished(self, staged: _Staged, marks: Reader) -> Iterator[Unpublished]:
        """Yield the committed batches whose files are still in staging."""
        for attempt, files in sorted(staged.attempts.items()):
            query_id, _, name = attempt.rpartition("/")
            made = attempt_of(name)
            batch_id = -1 if made is None else made.batch_id
            if batch_id not in self.batches.get(query_id, ()):
                continue
            manifest = self.manifest(query_id, batch_id)
            if (
                manifest is not None
                and manifest.staging == name
                and not _is_marked(marks, manifest)
            ):
                left = frozenset(one.path for one in manifest.files if one.staged in files)
                if left:
                    yield Unpublished(query_id, batch_id, attempt, left)

    def compared(
        self, there: Mapping[str, int], unpublished: Iterable[Unpublished]
    ) -> ListedOutput:
        """Compare the output folder with the manifests."""
        known = [one for one in self.manifests.values() if one is not None]
        newest = max(known, key=lambda one: one.written_at, default=None)
        waiting = {path for one in unpublished for path in one.files}
        if newest is not None and newest.mode == "complete":
            if waiting:
                # The folder of the batch before is there, or none: it is about to be replaced.
                return ListedOutput()
            known = [newest]
        wanted = {file.path: file.size for one in known for file in one.files}
        missing = sorted(wanted.keys() - there.keys() - waiting)
        changed = [Changed(path, there[path], size) for path, size in sorted(wanted.items())
                   if there.get(path, size) != size]  # fmt: skip
        unnamed = {path for path in there.keys() - wanted.keys() if not is_hidden(path)}
        if unnamed:
            # What was committed while we listed, or is being taken back, has a name too.
            unnamed -= set(self._every_name())
        return ListedOutput(tuple(missing), tuple(changed), tuple(sorted(unnamed)))

    def _every_name(self) -> Iterator[str]:
        """Yield the names of all files that came by a manifest, or are on their way out."""
        known = self.log.head() if self.intent is None else self.epochs
        for query_id in self.log.folders():
            void = () if self.intent is None else self.log.void(query_id, known)
            for batch_id in self.log.batches(query_id, known):
                yield from _names(self.manifest(query_id, batch_id))
            for batch_id, epoch in void:
                yield from _names(self._of_epoch(query_id, batch_id, epoch))

    def _of_epoch(self, query_id: str, batch_id: int, epoch: int) -> Manifest | None:
        try:
            return self.log.manifest_of(query_id, batch_id, epoch)
        except SinkError:
            return None

    def _read_epochs(self) -> Epochs:
        try:
            return self.log.epochs()
        except SinkError as error:
            self.damages.append(error)
        try:
            return self.log.head()
        except SinkError:
            return Epochs()


def _unfinished(epochs: Epochs) -> Fence | None:
    """Return the newest fence that is not finished."""
    left = [fence for fence in epochs.fences if fence.number in epochs.unfinished]
    return left[-1] if left else None


def _names(manifest: Manifest | None) -> Iterator[str]:
    yield from (file.path for file in manifest.files) if manifest is not None else ()


def _is_marked(marks: Reader, manifest: Manifest) -> bool:
    try:
        marks.read(mark_path(manifest), 0, 1)
    except NotFoundError:
        return False
    return True


def _files_below(reader: Reader) -> dict[str, int]:
    """Return the size of every file by its path; none where there is no folder."""
    try:
        return {one.path: one.size for one in reader.list().whole() if one.kind is FileKind.FILE}
    except NotFoundError:
        return {}


def _gap(batches: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ids that are missing between the first and the last."""
    if not batches:
        return ()
    return tuple(sorted({*range(batches[0], batches[-1])} - {*batches}))
