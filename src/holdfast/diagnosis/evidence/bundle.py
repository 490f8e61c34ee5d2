"""Packs a checkpoint's logs, without state rows and without secrets, into one archive, and puts
it in its place whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import HoldfastError, StorageError, UsageError
from holdfast.redaction import REDACTED, redact, redact_value
from holdfast.storage.local import is_inside
from holdfast.storage.localwriter import publish_new, write_new
from holdfast.storage.location import shown_path
from holdfast.storage.reading import FileKind, Listed, Reader

_KAFKA_MARK = b"\0"
"""Spark's Kafka source puts a zero byte before the text of its initial offsets."""
_HARMLESS = re.compile(r"v[0-9]{1,9}|-|\s*")
"""Lines of a log that are no JSON: its version, a source without an offset, an empty one."""


class UncleanableError(Exception):
    """Whether the bytes contain a secret is unknown, or it cannot be removed; says why."""


def without_secrets(data: bytes) -> bytes:
    """Return the bytes without secrets; raise UncleanableError."""
    mark = _KAFKA_MARK if data.startswith(_KAFKA_MARK) else b""
    text = _text_of(data[len(mark) :])
    if text is not None:
        return mark + _text_without_secrets(text).encode("utf-8")
    for encoding in ("latin-1", "utf-8"):
        seen = data.decode(encoding, "replace")
        if redact(seen) != seen:
            raise UncleanableError("it is binary, and something in it looks like a secret")
    return data


def _text_of(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _text_without_secrets(text: str) -> str:
    """Redact line by line; a line that is damaged beside a secret goes whole.

    Where values begin and end is known in JSON, but not in what is left of it.
    """
    suspicious = redact(text) != text
    lines = [_line_without_secrets(line, suspicious) for line in text.split("\n")]
    return redact("\n".join(lines))


def _line_without_secrets(line: str, suspicious: bool) -> str:
    name, colon, rest = "", "", line
    if not line.startswith(("{", "[", '"')):
        # A named source's line: its name, a colon, its JSON.
        name, colon, rest = line.partition(":")
    try:
        value: object = json.loads(rest or name)
        clean = redact_value(value)
        if clean == value:
            return line
        return name + colon + json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return REDACTED if suspicious and not _HARMLESS.fullmatch(line) else line
    except RecursionError as error:
        raise UncleanableError("its JSON is nested too deeply to search it for secrets") from error


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
        elif item.kind is not FileKind.FOLDER:
            packing.leave(item, reason)
    read = reader.read_many([item.path for item in wanted])
    for item in wanted:
        data = read[item.path]
        if isinstance(data, StorageError):
            packing.leave(item, f"it cannot be read: {redact(data.message)}")
        else:
            packing.take(item, data)
    contents = {**packing.contents, **made, "manifest.json": packing.manifest(head, made)}
    redacted = sum(bool(one["redacted"]) for one in packing.taken)
    return Packed(_archive(contents), len(packing.taken), redacted, packing.left_out.total())


def _reason_to_leave(item: Listed) -> str | None:
    parts = item.path.split("/")
    if item.kind is not FileKind.FILE:
        return "it is not a regular file"
    if item.path.endswith(_SIDE_FILES):
        return "it is a side file"
    if item.path.endswith(_ROWS):
        return "it may contain rows"
    described = parts[0] == "state" and bool(_DESCRIPTIONS & set(parts[1:-1]))
    if item.path != "metadata" and not described and (len(parts) < 2 or parts[0] not in _LOGS):
        return "it may contain rows" if parts[0] == "state" else "it is not a log of a checkpoint"
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


def refuse_bad_place(target: Path, evidence: Sequence[Path]) -> None:
    """Refuse a name that is taken, a folder that is not there, or one that is evidence itself."""
    at = shown_path(str(target))
    if target.suffix.lower() != ".zip":
        message = "the bundle is a zip archive, and the file name does not end in .zip"
        raise UsageError("HF2503", message, at=at, next_steps=("end the file name in .zip",))
    if os.path.lexists(target):
        raise UsageError("HF2501", "the bundle file already exists", at=at)
    folder = os.path.realpath(target.parent)
    for root in evidence:
        if is_inside(folder, os.path.realpath(root)):
            message = f"the bundle would be inside {shown_path(str(root))}"
            raise UsageError("HF2502", message, at=at)
    if not Path(folder).is_dir():
        raise UsageError("HF2503", "the directory of the bundle does not exist", at=at)


def put_bundle(target: Path, data: bytes) -> None:
    """Write the bytes beside the target and give them its name at the end, if it is still free."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    at = shown_path(str(target))
    try:
        try:
            write_new(temporary, data)
            publish_new(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError as failure:
        raise UsageError("HF2501", "the bundle file already exists", at=at) from failure
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        message = f"the bundle cannot be written: {reason}"
        raise HoldfastError("HF2503", message, at=at) from failure
