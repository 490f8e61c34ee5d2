"""A snapshot: the write-once list of everything that one backup holds, sealed by its own digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from holdfast.errors import CheckpointError

FORMAT = 3
"""The newest format that is known: 2 has the modes of files, 3 names files that do not match their
checksums. The oldest format that says everything is written."""
CHECKPOINT = "checkpoint"
SINK_LOG = "sink-log"
BACKUP = "backup"
BEFORE_RESTORE = "before-restore"
BEFORE_PLAN = "before-plan"
ARCHIVE = "archive"
"""A checkpoint that was emptied on purpose: retention never removes its backup."""
ID = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{8}")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_DAMAGED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What other content than a snapshot ends in while it is decoded and held against its digest."""


@dataclass(frozen=True)
class CopiedFile:
    """One file as it was: its path below the root, its size and the digest of its bytes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Modes:
    """Who may read and write the files and folders of a root, as `chmod` spells it."""

    file: int
    """The mode of most files."""
    folder: int
    """The mode of most folders."""
    others: Mapping[str, int]
    """The modes of all others by their paths; '' is the root itself."""

    def of_file(self, path: str) -> int:
        """Return the mode of a file."""
        return self.others.get(path, self.file)

    def of_folder(self, path: str) -> int:
        """Return the mode of a folder."""
        return self.others.get(path, self.folder)


@dataclass(frozen=True)
class Root:
    """One folder that was copied: the checkpoint, or the log of its sink."""

    name: str
    location: str
    files: tuple[CopiedFile, ...]
    folders: tuple[str, ...]
    modes: Modes | None = None
    """None where the storage has no modes, or an older release made the backup."""

    @cached_property
    def by_path(self) -> Mapping[str, CopiedFile]:
        """Return the files by their paths."""
        return {file.path: file for file in self.files}


@dataclass(frozen=True)
class Snapshot:
    """One moment of a checkpoint, whole."""

    made_ms: int
    holdfast: str
    location: str
    query_id: str | None
    last_planned: int | None
    last_committed: int | None
    pending: int | None
    running: bool
    """A query seemed to be running while the copy was made."""
    purpose: str
    """`backup`, or `before-restore` or `before-plan` for the copy that a restore or an applied plan
    makes first."""
    roots: tuple[Root, ...]
    format: int = 1
    mismatched: tuple[str, ...] = ()
    """Files of the checkpoint that did not match their checksums when they were copied."""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything in the snapshot."""
        return hashlib.sha256(_encoded(_plain(self))).hexdigest()

    @cached_property
    def id(self) -> str:
        """Time and digest; sorts by time."""
        return f"{moment_text(self.made_ms)}-{self.digest[:8]}"

    @property
    def checkpoint(self) -> Root:
        """The checkpoint's own files."""
        return next(root for root in self.roots if root.name == CHECKPOINT)

    @property
    def files(self) -> tuple[CopiedFile, ...]:
        """Every file of every root."""
        return tuple(file for root in self.roots for file in root.files)

    @property
    def total_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self.files)


def moment_text(moment_ms: int) -> str:
    """Spell a time so that it sorts and fits a file name: 20260131T235959123Z."""
    moment = _EPOCH + timedelta(milliseconds=moment_ms)
    return f"{moment:%Y%m%dT%H%M%S}{moment_ms % 1000:03d}Z"


def moment_ms(snapshot_id: str) -> int:
    """Return the time that a snapshot's id tells."""
    moment = datetime.strptime(snapshot_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
    return (moment - _EPOCH) // timedelta(seconds=1) * 1000 + int(snapshot_id[15:18])


def rfc3339(moment_ms: int) -> str:
    """Spell a time for JSON, in UTC."""
    moment = _EPOCH + timedelta(milliseconds=moment_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment_ms % 1000:03d}Z"


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return the bytes of `snapshots/<id>.json`."""
    document = {
        **_plain(snapshot),
        "id": snapshot.id,
        "made_at": rfc3339(snapshot.made_ms),
        "file_count": len(snapshot.files),
        "total_bytes": snapshot.total_bytes,
        "digest": snapshot.digest,
    }
    return _encoded(document) + b"\n"


def decode_snapshot(data: bytes, at: str) -> Snapshot:
    """Read a snapshot; raise HF4511 where it is not what was written."""
    try:
        snapshot = _snapshot(json.loads(data))
        newer = snapshot.format > FORMAT
        whole = newer or encode_snapshot(snapshot) == data
    except _DAMAGED as error:
        message = f"it cannot be read: {type(error).__name__}"
        raise CheckpointError("HF4511", message, at=at) from error
    if newer:
        message = f"format {snapshot.format} was written by a newer Holdfast"
        raise CheckpointError("HF4511", message, at=at, next_steps=("update Holdfast",))
    if not whole:
        raise CheckpointError("HF4511", "its content does not match its own digest", at=at)
    return snapshot


def _snapshot(document: Mapping[str, Any]) -> Snapshot:
    roots = tuple(
        Root(
            root["name"],
            root["location"],
            tuple(CopiedFile(one["path"], one["size"], one["sha256"]) for one in root["files"]),
            tuple(root["folders"]),
            Modes(**root["modes"]) if "modes" in root else None,
        )
        for root in document["roots"]
    )
    names = [name for name in Snapshot.__dataclass_fields__ if name not in ("roots", "mismatched")]
    mismatched = tuple(document["mismatched"]) if "mismatched" in document else ()
    return Snapshot(**{name: document[name] for name in names}, roots=roots, mismatched=mismatched)


def _plain(snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields; what a snapshot does not have is spelled as before there was any."""
    # `asdict` copies every value of every file: there are tens of thousands of them.
    plain = {name: getattr(snapshot, name) for name in Snapshot.__dataclass_fields__}
    plain["roots"] = [_plain_root(root) for root in snapshot.roots]
    if not snapshot.mismatched:
        del plain["mismatched"]
    return plain


def _plain_root(root: Root) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": root.name,
        "location": root.location,
        "files": [{"path": one.path, "size": one.size, "sha256": one.sha256} for one in root.files],
        "folders": root.folders,
    }
    if root.modes is not None:
        plain["modes"] = asdict(root.modes)
    return plain


def _encoded(document: Mapping[str, object]) -> bytes:
    # ASCII: a file name that is no text is a lone surrogate, which UTF-8 refuses.
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")
