"""One batch of a file sink: what was committed, by whom, and every file of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.errors import SinkError
from holdfast.ledgers.files.attempts import attempt_of

VERSION = 1
"""The version of the document, in its field `holdfast`; fields may be added without a new one."""


@dataclass(frozen=True)
class ManifestFile:
    """One file of a batch."""

    path: str
    """Its final name, relative to the output folder."""
    staged: str
    """Where it was staged, relative to the batch's staging folder."""
    size: int
    sha256: str | None
    """None where the storage would have to send every byte for it."""


@dataclass(frozen=True)
class Manifest:
    """A committed batch; it is written once and never changed."""

    query_id: str
    batch_id: int
    generation: int
    offsets_digest: str
    format: str
    mode: str
    partition_by: tuple[str, ...]
    schema: Mapping[str, Any]
    """Spark's own JSON of the rows' schema."""
    rows: int | None
    written_at: str
    staging: str
    """The name of the folder in which the files were staged."""
    files: tuple[ManifestFile, ...]
    marked: bool = True
    """Its publication ends with a mark; False in manifests from before there were marks."""

    @property
    def epoch(self) -> int:
        """The epoch in which the batch was written, which its staging folder is named after."""
        attempt = attempt_of(self.staging)
        return 0 if attempt is None else attempt.epoch


def encode_manifest(manifest: Manifest) -> bytes:
    """Give the bytes of a manifest: JSON in ASCII, names in order."""
    document = {"holdfast": VERSION, **asdict(manifest)}
    return json.dumps(document, sort_keys=True, indent=1).encode("ascii") + b"\n"


def decode_manifest(content: bytes, at: str) -> Manifest:
    """Give the manifest that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"a manifest can't be read: {type(error).__name__}"
        raise SinkError("HF5023", message, at=at) from error


def _decoded(document: Any) -> Manifest:
    if _of(int, document["holdfast"]) > VERSION:
        raise ValueError("a newer version")
    rows = document["rows"]
    return Manifest(
        query_id=_of(str, document["query_id"]),
        batch_id=_of(int, document["batch_id"]),
        generation=_of(int, document["generation"]),
        offsets_digest=_of(str, document["offsets_digest"]),
        format=_of(str, document["format"]),
        mode=_of(str, document["mode"]),
        partition_by=tuple(_of(str, one) for one in _of(list, document["partition_by"])),
        schema=_of(dict, document["schema"]),
        rows=None if rows is None else _of(int, rows),
        written_at=_of(str, document["written_at"]),
        staging=_of(str, document["staging"]),
        files=tuple(_file(one) for one in _of(list, document["files"])),
        marked=_of(bool, document.get("marked", False)),
    )


def _file(document: Any) -> ManifestFile:
    digest = document["sha256"]
    return ManifestFile(
        path=_of(str, document["path"]),
        staged=_of(str, document["staged"]),
        size=_of(int, document["size"]),
        sha256=None if digest is None else _of(str, digest),
    )


def _of(kind: type[Any], value: object) -> Any:
    # A truth value is an int to Python, and none here.
    if type(value) is not kind:
        raise TypeError(f"no {kind.__name__}")
    return value
