"""Packs a checkpoint's logs, without state rows and without secrets, into one archive.

What is taken is listed by what it is (metadata, offsets, commits, logs of sources, operator
metadata, schemas), so that a kind of file that nobody thought of stays out. The same checkpoint
gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.diagnosis.evidence.bundletext import UncleanableError, without_secrets
from holdfast.errors import StorageError
from holdfast.redaction import redact
from holdfast.storage.reading import Kind, Listed, Reader
from holdfast.storage.showing import shown_path

LARGEST_BYTES = 16 * 1024 * 1024
"""Compacted file logs grow for ever; a larger one says nothing that its tail does not."""

_LOGS = ("offsets", "commits", "sources")
_DESCRIPTIONS = frozenset({"_metadata", "_stateSchema"})
_ROWS = (".delta", ".snapshot", ".sst", ".changelog", ".zip", ".log")
_SIDE_FILES = (".crc", ".tmp")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16


@dataclass(frozen=True)
class Packed:
    """An archive in memory, with what its manifest counts."""

    data: bytes
    files: int
    redacted: int
    left_out: int


@dataclass
class _Packing:
    """Collects what goes into the archive, and what does not and why."""

    contents: dict[str, bytes] = field(default_factory=dict)
    taken: list[dict[str, object]] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    left_out_bytes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def leave(self, item: Listed, reason: str) -> None:
        key = (_shown(item.path.rpartition("/")[0]), reason)
        self.left_out[key] += 1
        self.left_out_bytes[key] += item.size

    def take(self, item: Listed, data: bytes) -> None:
        try:
            clean = without_secrets(data)
        except UncleanableError as error:
            self.leave(item, str(error))
            return
        # A name that is shown in another way could become another file's.
        shown = _shown(item.path)
        renamed = shown != item.path
        name = f"checkpoint/{f'renamed/{len(self.taken)}' if renamed else shown}"
        self.contents[name] = clean
        self.taken.append(
            {
                "path": shown,
                "stored_as": name,
                "size_bytes": len(data),
                "sha256": _digest(data),
                "redacted": clean != data,
                "stored_sha256": _digest(clean),
            }
        )

    def manifest(self, head: Mapping[str, object], made: Mapping[str, bytes]) -> bytes:
        left_out = [
            {
                "folder": folder,
                "reason": reason,
                "files": count,
                "size_bytes": self.left_out_bytes[folder, reason],
            }
            for (folder, reason), count in sorted(self.left_out.items())
        ]
        digests = {name: _digest(data) for name, data in sorted(made.items())}
        document = {**head, "made": digests, "files": self.taken, "left_out": left_out}
        return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def pack(
    reader: Reader,
    items: Mapping[str, Listed],
    *,
    head: Mapping[str, object],
    made: Mapping[str, bytes],
) -> Packed:
    """Pack the logs among the listed names, the files made from them, and a manifest."""
    packing = _Packing()
    wanted: list[Listed] = []
    for path in sorted(items):
        item = items[path]
        reason = _reason_to_leave(item)
        if reason is None:
            wanted.append(item)
        elif item.kind is not Kind.FOLDER:
            packing.leave(item, reason)
    read = reader.read_many([item.path for item in wanted])
    for item in wanted:
        data = read[item.path]
        if isinstance(data, StorageError):
            packing.leave(item, f"it can't be read: {redact(data.message)}")
        else:
            packing.take(item, data)
    contents = {**packing.contents, **made, "manifest.json": packing.manifest(head, made)}
    redacted = sum(bool(one["redacted"]) for one in packing.taken)
    return Packed(_archive(contents), len(packing.taken), redacted, packing.left_out.total())


def _reason_to_leave(item: Listed) -> str | None:
    parts = item.path.split("/")
    if item.kind is not Kind.FILE:
        return "it is no plain file"
    if item.path.endswith(_SIDE_FILES):
        return "it is a side file"
    if item.path.endswith(_ROWS):
        return "it may hold rows"
    described = parts[0] == "state" and bool(_DESCRIPTIONS & set(parts[1:-1]))
    if item.path != "metadata" and not described and (len(parts) < 2 or parts[0] not in _LOGS):
        return "it may hold rows" if parts[0] == "state" else "it is no log of a checkpoint"
    return f"it is larger than {LARGEST_BYTES:,} bytes" if item.size > LARGEST_BYTES else None


def _shown(path: str) -> str:
    return shown_path(redact(path))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _archive(contents: Mapping[str, bytes]) -> bytes:
    """Write an archive that depends on nothing but its contents: no clock, no owner."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = _READABLE
            archive.writestr(entry, contents[name])
    return target.getvalue()
