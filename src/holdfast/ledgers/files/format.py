"""What a file sink writes down: staging names, manifests of batches, and their epochs.

A manifest carries the epoch of its batch in its name. A driver that comes late still writes the old
name, and so its manifest is void for every reader, and nobody has to find and remove it. A rewind
that was interrupted is finished by a fence in its place.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from holdfast.errors import SinkError

_STAGING_NAME = re.compile(
    r"(?P<batch>\d{10,})-(?P<generation>\d+)-[0-9a-f]+(?:\.(?P<epoch>[1-9]\d*))?", re.ASCII
)


class StagingAttempt(NamedTuple):
    """One attempt at a batch."""

    batch_id: int
    generation: int
    epoch: int
    """The epoch of the manifest that may name it; 0 before anything was taken back."""


def staging_name(batch_id: int, generation: int, epoch: int = 0) -> str:
    """Return a name for a staging folder that no other attempt has."""
    name = f"{batch_id:010d}-{generation}-{uuid.uuid4().hex[:12]}"
    return f"{name}.{epoch}" if epoch else name


def attempt_of(name: str) -> StagingAttempt | None:
    """Return the attempt that a staging folder was made for, None where it is none's."""
    found = _STAGING_NAME.fullmatch(name)
    if found is None:
        return None
    return StagingAttempt(int(found["batch"]), int(found["generation"]), int(found["epoch"] or 0))


MANIFEST_VERSION = 1
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
    """Return the bytes of a manifest: JSON in ASCII, names in order."""
    document = {"holdfast": MANIFEST_VERSION, **asdict(manifest)}
    return json.dumps(document, sort_keys=True, indent=1).encode("ascii") + b"\n"


def decode_manifest(content: bytes, at: str) -> Manifest:
    """Return the manifest that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded_manifest(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"a manifest cannot be read: {type(error).__name__}"
        raise SinkError("HF5023", message, at=at) from error


def _decoded_manifest(document: Any) -> Manifest:
    if _of(int, document["holdfast"]) > MANIFEST_VERSION:
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
        raise TypeError(f"not a {kind.__name__}")
    return value


EPOCHS = "-epochs"
"""The folder of the epochs, in the folder of the manifests; it comes before every query id."""
EPOCHS_VERSION = 1
STOP_NAME = "0000000000.json"
"""Looks like a manifest to versions without epochs, and makes them stop (HF5023)."""
STOP = b'{"holdfast": 2}\n'


@dataclass(frozen=True)
class Fence:
    """One taking back: older manifests of batches after `batch_id` are void."""

    number: int
    """Its epoch, greater than those of all fences before it."""
    generation: int
    """The lease under which it happened: drivers of older ones are refused."""
    query_id: str | None
    """None: of every query."""
    batch_id: int
    """The last batch that stays, -1 where none does."""
    token: str
    """By which its maker finds it again."""

    def covers(self, query_id: str) -> bool:
        """Return whether it is about this query."""
        return self.query_id is None or self.query_id == query_id

    def takes(self, query_id: str, batch_id: int) -> bool:
        """Return whether it takes a batch back."""
        return self.covers(query_id) and batch_id > self.batch_id


@dataclass(frozen=True)
class Epochs:
    """The newest document of the epochs: each one holds everything, and replaces the one before."""

    number: int = 0
    generations: Mapping[str, int] = field(default_factory=dict)
    """Query id to the greatest generation that ever wrote it."""
    fences: tuple[Fence, ...] = ()
    unfinished: tuple[int, ...] = ()
    """Fences whose files may still be there."""

    def epoch(self, query_id: str, batch_id: int) -> int:
        """Return the epoch of a batch; it only ever grows, and one name per batch counts."""
        takes = (one.number for one in self.fences if one.takes(query_id, batch_id))
        return max(takes, default=0)

    def fenced_below(self, query_id: str) -> int:
        """Return the generation below which drivers of a query are refused."""
        return max((one.generation for one in self.fences if one.covers(query_id)), default=0)

    def newest_generation(self, query_id: str | None) -> int:
        """Return the greatest generation that is known of a query, or of all of them."""
        known = [
            generation for query, generation in self.generations.items()
            if query_id in (None, query)
        ]  # fmt: skip
        known += [one.generation for one in self.fences if query_id is None or one.covers(query_id)]
        return max(known, default=0)

    def newest_of(self, query_id: str | None) -> int:
        """Return the greatest generation that wrote a query or fenced it; None: a new query."""
        return self.newest_generation(query_id or "")

    def opened(self, query_id: str, generation: int) -> Epochs:
        """Return them with a driver of a query that begins to write."""
        return replace(self, generations={**self.generations, query_id: generation})

    def fenced(self, fence: Fence) -> Epochs:
        """Return them with one more fence; those that it makes superfluous go."""
        kept = [
            one for one in self.fences
            if fence.query_id is not None
            and (one.query_id != fence.query_id or one.batch_id < fence.batch_id)
        ]  # fmt: skip
        return replace(self, fences=(*kept, fence), unfinished=(*self.unfinished, fence.number))

    def finished(self, numbers: tuple[int, ...]) -> Epochs:
        """Return them with nothing left to do for some fences."""
        left = tuple(one for one in self.unfinished if one not in numbers)
        return replace(self, unfinished=left)


def encode_epochs(epochs: Epochs) -> bytes:
    """Return the bytes of a document: JSON in ASCII, names in order."""
    document = {"holdfast": EPOCHS_VERSION, **asdict(epochs)}
    return json.dumps(document, sort_keys=True, indent=1).encode("ascii") + b"\n"


def decode_epochs(content: bytes, at: str) -> Epochs:
    """Return the epochs that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded_epochs(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"the epochs of the manifests cannot be read: {type(error).__name__}"
        raise SinkError("HF5023", message, at=at) from error


def _decoded_epochs(document: Any) -> Epochs:
    if _number(document["holdfast"]) > EPOCHS_VERSION:
        raise ValueError("a newer version")
    return Epochs(
        number=_number(document["number"]),
        generations={str(query): _number(one) for query, one in document["generations"].items()},
        fences=tuple(_fence(one) for one in document["fences"]),
        unfinished=tuple(_number(one) for one in document["unfinished"]),
    )


def _fence(document: Any) -> Fence:
    query_id, token = document["query_id"], document["token"]
    if not isinstance(query_id, str | None) or not isinstance(token, str):
        raise TypeError("not a fence")
    return Fence(
        number=_number(document["number"]),
        generation=_number(document["generation"]),
        query_id=query_id,
        batch_id=_number(document["batch_id"]),
        token=token,
    )


def _number(value: object) -> int:
    # A truth value is an int to Python, and none here.
    if type(value) is not int:
        raise TypeError("not a number")
    return value


INTENT = "taking-back.json"
"""Its name in the folder of the manifests."""


@dataclass(frozen=True)
class Intent:
    """Batches that go: those of one query after `batch_id`, or of every query."""

    query_id: str | None
    """None: everything."""
    batch_id: int


def encode_intent(intent: Intent) -> bytes:
    """Return the bytes of the intent."""
    return json.dumps(asdict(intent), sort_keys=True).encode("ascii") + b"\n"


def decode_intent(content: bytes, at: str) -> Intent:
    """Return the intent that the bytes hold; raise SinkError where they hold none."""
    try:
        document = json.loads(content.decode("utf-8"))
        query_id, batch_id = document["query_id"], document["batch_id"]
        if not isinstance(query_id, str | None) or type(batch_id) is not int:
            raise TypeError("not an intent")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = "the intent of a rewind cannot be read"
        raise SinkError("HF5023", message, at=at) from error
    return Intent(query_id, batch_id)
