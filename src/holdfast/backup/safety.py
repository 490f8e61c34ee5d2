"""Decides whether a restore may write: what is there, and whether a query may be running.

A query that Holdfast did not start holds no lease: only its files show it. How long they may be old
while it runs follows from its trigger, and that from the distance between its batches.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.backup.copying import digested, log_id, newest_id
from holdfast.backup.snapshot import BACKUP, CopiedFile, Root, Snapshot
from holdfast.checkpoint.files import decoder_of, read_checked_files
from holdfast.checkpoint.layout import checksum_name
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES, read_picture
from holdfast.codes import code_of
from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.records.moments import epoch_seconds
from holdfast.records.rewinds import Rewind
from holdfast.storage.reading import FileKind, Listed, Reader

LEAST_MS = 10_000
"""A checkpoint that changed this short ago may have a running query, whatever its trigger."""
MOST_MS = 30 * 60_000
"""No restore has to wait for longer than this, whatever the distance between the batches."""
_DISTANCES = 3
"""A query that left out this many batches in a row is taken to be over."""
_NEWEST = 11
"""So many of the newest batches are looked at."""


@dataclass(frozen=True)
class Freshness:
    """How old the newest file is, and how old it has to be."""

    path: str
    age_ms: int
    usual_ms: int | None
    """The usual distance between batches; None where it does not count."""
    window_ms: int

    @property
    def is_fresh(self) -> bool:
        """Whether a query may be running."""
        return self.age_ms < self.window_ms

    @property
    def words(self) -> str:
        """Say what was seen."""
        seen = f"{self.path} changed {_seconds(max(self.age_ms, 0))} ago"
        if self.usual_ms is None or self.window_ms <= LEAST_MS:
            return f"{seen}: a query that holds no lease may be running"
        return (
            f"{seen}, and batches run about every {_seconds(self.usual_ms)}: a query that holds "
            "no lease may be running"
        )

    @property
    def advice(self) -> str:
        """Say how long to wait."""
        left = _seconds(self.window_ms - self.age_ms)
        return (
            f"stop the query, and try again when nothing has changed for {_seconds(self.window_ms)}"
            f" (in {left})"
        )


def freshness_of(items: Iterable[Listed], now_ms: int, *, by_trigger: bool) -> Freshness | None:
    """Look at the newest file; None where no file tells when it was written.

    `by_trigger` takes the distance between the newest batches into account.
    """
    times = [(item.modified_ms, item.path) for item in items if item.modified_ms is not None]
    if not times:
        return None
    newest_ms, path = max(times)
    usual = _usual_distance(times) if by_trigger else None
    window = LEAST_MS if usual is None else min(max(LEAST_MS, _DISTANCES * usual), MOST_MS)
    return Freshness(path, now_ms - newest_ms, usual, window)


def _usual_distance(times: Iterable[tuple[int, str]]) -> int | None:
    """Return the median distance between the newest batches, None for fewer than two."""
    batches = [
        (int(path.removeprefix("offsets/")), modified_ms)
        for modified_ms, path in times
        if path.startswith("offsets/") and path.removeprefix("offsets/").isdecimal()
    ]
    written = sorted(modified_ms for _, modified_ms in sorted(batches)[-_NEWEST:])
    distances = [later - earlier for earlier, later in pairwise(written)]
    return int(statistics.median(distances)) if distances else None


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.0f} s"


@dataclass(frozen=True)
class Present:
    """What is there now; `picture` is None where nothing is."""

    reader: Reader
    picture: Picture | None
    exists: bool
    """The folder itself is there, maybe empty."""
    files: Mapping[str, CopiedFile]
    """The files that were asked for, with their digests."""
    any_folder: bool = False
    """The place need not be a checkpoint, because single files are put there."""

    @property
    def is_plain_folder(self) -> bool:
        """Whether no query can run here: there is neither `metadata` nor a commit."""
        if self.picture is None or not self.any_folder:
            return False
        layout = self.picture.layout
        return not layout.has_file("metadata") and layout.commits.newest is None

    @property
    def empty(self) -> bool:
        """No file is there."""
        return self.picture is None or self.picture.layout.file_count == 0

    @property
    def names(self) -> frozenset[str]:
        """Every file."""
        items = self.picture.layout.items if self.picture is not None else {}
        return frozenset(path for path, item in items.items() if item.kind is FileKind.FILE)

    @property
    def folders(self) -> frozenset[str]:
        """Every folder."""
        items = self.picture.layout.items if self.picture is not None else {}
        return frozenset(path for path, item in items.items() if item.kind is FileKind.FOLDER)

    @property
    def moved(self) -> bool:
        """Whether something was written while the place was looked at."""
        return self.picture is not None and self.picture.moved

    def freshness(self, now_ms: int, *, by_trigger: bool) -> Freshness | None:
        """Look at the newest file, None where nothing is; see `freshness_of`."""
        items = self.picture.layout.items if self.picture is not None else {}
        return freshness_of(items.values(), now_ms, by_trigger=by_trigger)

    def is_damaged(self, path: str) -> bool | None:
        """Whether a file is not as Spark wrote it; None where nothing beside or in it tells."""
        assert self.picture is not None
        item = self.picture.layout.items[path]
        if item.size > ENTRY_LIMIT_BYTES:
            return None
        logs = self.picture.source_logs
        look = read_checked_files(self.reader, self.picture.layout, [path], logs)[path]
        if isinstance(look, StorageError):
            raise look
        if look.damages:
            return True
        told = look.compared or decoder_of(path, logs) is not None
        return False if told else None


def look(reader: Reader, wanted: Callable[[str], bool], *, any_folder: bool = False) -> Present:
    """Look at a place; the files for which `wanted` holds are read for their digests."""
    try:
        picture = read_picture(reader, history=1, any_folder=any_folder)
    except NotFoundError:
        return Present(reader, None, exists=False, files={})
    if picture.unlisted:
        raise next(iter(picture.unlisted.values()))
    files: dict[str, CopiedFile] = {}
    for path, item in picture.layout.items.items():
        if item.kind is FileKind.FILE and wanted(path):
            try:
                files[path] = digested(reader, path, item.size)
            except NotFoundError as error:
                message = "a file disappeared while it was read: another process is writing there"
                raise StorageError("HF4505", message, at=reader.location) from error
    return Present(reader, picture, exists=True, files=files, any_folder=any_folder)


_OLDER = code_of("HF4502").next_steps
_NEWEST_INSTEAD, _SINGLE_FILES, _TO_LOOK_AT = _OLDER[:1], _OLDER[1:2], _OLDER[2:]


def refuse_older(
    snapshot: Snapshot,
    present: Present,
    others: Iterable[Snapshot],
    recorded: int | None,
    held: LastCommitted | None,
) -> None:
    """Raise HF4502 where batches are known that came after the snapshot.

    `recorded` is the newest batch that a recorded run delivered, `held` what the declared sink has.
    """
    now = present.names
    planned, committed = newest_id(now, "offsets"), newest_id(now, "commits")
    known = [
        ("planned", planned, snapshot.last_planned, "offsets/ holds"),
        ("committed", committed, snapshot.last_committed, "commits/ holds"),
        ("planned", recorded, snapshot.last_planned, "a recorded run delivered"),
        ("planned", None if held is None else held.value, snapshot.last_planned, "the sink holds"),
    ]
    all_others = tuple(others)
    own_others = [other for other in all_others if other.query_id == snapshot.query_id]
    for other in own_others:
        where = f"backup {other.id} has"
        known.append(("planned", other.last_planned, snapshot.last_planned, where))
    for word, newest, own, where in known:
        if newest is not None and newest > _number(own):
            upto = "no batch" if own is None else f"batch {own}"
            message = f"the last {word} batch in the backup is {upto}, and {where} batch {newest}"
            batches = max(_number(one) for kind, one, *_ in known if kind == "planned")
            enough = [
                one
                for one in own_others
                if _number(one.last_planned) >= batches
                and _number(one.last_committed) >= _number(committed)
            ]
            files = () if present.empty else _SINGLE_FILES
            steps = _instead(enough, all_others) if enough else files
            raise CheckpointError(
                "HF4502", message, at=present.reader.location, next_steps=(*steps, *_TO_LOOK_AT)
            )


def refuse_taken_back(snapshot: Snapshot, rewinds: Iterable[Rewind], present: Present) -> None:
    """Raise HF4502 where batches of the snapshot were taken back from the sink after it was made.

    It would bring back a checkpoint that takes them for delivered. What was removed by then is
    known by its digest; clocks decide only about a rewind that says none.
    """
    for rewind in rewinds:
        if not has_taken_back(snapshot, rewind):
            continue
        planned = _number(snapshot.last_planned)
        left = "every batch" if rewind.through is None else f"every batch after {rewind.through}"
        message = (
            f"the {rewind.remedy} {rewind.act} took {left} back from the sink, and the backup has "
            f"batch {planned}: its rows would be missing"
        )
        raise CheckpointError(
            "HF4502", message, at=present.reader.location, next_steps=(_UNDO, *_TO_LOOK_AT)
        )


def has_taken_back(snapshot: Snapshot, rewind: Rewind) -> bool:
    """Return whether a snapshot holds batches that were taken back after it was made."""
    if rewind.every_query or rewind.query_id != snapshot.query_id:
        return False
    is_further = _number(snapshot.last_planned) > _number(rewind.through)
    return is_further and _is_older(snapshot, rewind)


_UNDO = "if the job has not run since, take the plan back instead: holdfast undo TARGET"


def _is_older(snapshot: Snapshot, rewind: Rewind) -> bool:
    """Whether a snapshot was made before batches were taken back."""
    if rewind.removed:
        files = snapshot.checkpoint.by_path
        return any(
            path in files and files[path].sha256 == digest
            for path, digest in rewind.removed.items()
        )
    at = epoch_seconds(rewind.at)
    return at is None or snapshot.made_ms < at * 1000


def _instead(enough: Sequence[Snapshot], others: Sequence[Snapshot]) -> tuple[str, ...]:
    """Name the newest backup that is not refused; `newest` means none that a restore set aside."""
    chosen = max(enough, key=lambda one: one.made_ms)
    asked_for = [one for one in others if one.purpose == BACKUP]
    if chosen is max(asked_for, key=lambda one: one.made_ms, default=None):
        return _NEWEST_INSTEAD
    return (f"restore the backup that has the newest batch: holdfast restore TARGET@{chosen.id}",)


def refuse_other_query(snapshot: Snapshot, present: Present) -> None:
    """Raise HF4504 where another query's checkpoint is there."""
    query = present.picture.query if present.picture is not None else None
    if query is not None and snapshot.query_id is not None and query.id != snapshot.query_id:
        message = (
            f"the checkpoint is of query {query.id}, the backup is of query {snapshot.query_id}"
        )
        raise CheckpointError("HF4504", message, at=present.reader.location)


def refuse_forked(root: Root, present: Present) -> None:
    """Raise HF4503 where a batch was planned or committed with other content than in the backup."""
    for path in _differing(root, present, (one for one in root.by_path if log_id(one) is not None)):
        if not _is_side_file(path) and not present.is_damaged(path):
            raise _differs(path, present)


def refuse_whole_files(root: Root, present: Present, chosen: Iterable[str]) -> None:
    """Raise HF4503 where a chosen file is there, whole, and another one than in the backup."""
    for path in _differing(root, present, chosen):
        if _is_side_file(path):
            continue
        damaged = present.is_damaged(path)
        # State is rewritten by every attempt; without a checksum nothing can tell it from damage.
        if damaged is False or (damaged is None and not path.startswith("state/")):
            raise _differs(path, present)


def refuse_overwriting(root: Root, present: Present, chosen: Iterable[str]) -> None:
    """Raise HF4503 where a chosen file is there with other content than in the backup."""
    for path in _differing(root, present, chosen):
        raise _differs(path, present)


def restore_findings(
    snapshot: Snapshot,
    present: Present,
    *,
    elsewhere: bool,
    whole: bool,
    recorded: int | None,
    held: LastCommitted | None = None,
) -> Iterator[Finding]:
    """Yield what to mind before the query is started; `recorded` is the newest delivered batch."""
    if elsewhere and (whole or not (present.empty or present.is_plain_folder)):
        yield Finding(
            code="HF4513",
            severity=Severity.WARNING,
            message=f"this copy and {snapshot.location} share query id {snapshot.query_id}",
            place=Place(""),
            evidence={"query_id": snapshot.query_id, "original": snapshot.location},
        )
    elif whole and present.empty:
        yield _ending(snapshot, recorded, held)


def _ending(snapshot: Snapshot, recorded: int | None, held: LastCommitted | None) -> Finding:
    """Report where the backup ends: runs that nobody recorded may have gone further."""
    planned = snapshot.last_planned
    ends = "has no batch" if planned is None else f"ends with batch {planned}"
    severity, more = Severity.WARNING, "nothing here shows whether later batches ran"
    if recorded is not None:
        severity, more = Severity.INFO, f"the last recorded run delivered batch {recorded}"
    elif held is not None and held.value is not None:
        severity, more = Severity.INFO, f"the newest batch in the sink is {held.value}"
    return Finding(
        code="HF4517",
        severity=severity,
        message=f"the backup {ends}; {more}",
        place=Place(""),
        evidence={"last_planned": planned, "made_ms": snapshot.made_ms, "recorded": recorded},
    )


def _differing(root: Root, present: Present, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths):
        now, then = present.files.get(path), root.by_path.get(path)
        if now is not None and then is not None and now.sha256 != then.sha256:
            yield path


def _differs(path: str, present: Present) -> CheckpointError:
    message = f"{path} exists and is intact, with content that differs from the backup"
    return CheckpointError("HF4503", message, at=f"{present.reader.location}/{path}")


def _is_side_file(path: str) -> bool:
    return path.endswith(".crc")


def _number(batch: int | None) -> int:
    return -1 if batch is None else batch


def side_files(path: str) -> tuple[str, ...]:
    """Name the checksums that Hadoop and Spark may keep beside a file."""
    return checksum_name(path), f"{path}.crc", checksum_name(f"{path}.crc")
