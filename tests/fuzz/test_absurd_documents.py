"""JSON from outside that no writer makes: each reader ends in its own error, never in a traceback.

Every value of a sound document is replaced in turn by what breaks decoders: nesting beyond any
stack, numbers beyond any type, and values of another kind.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.backup.snapshot import CopiedFile, Root, Snapshot, decode_snapshot, encode_snapshot
from holdfast.errors import HoldfastError
from holdfast.jobs.options import topics_of
from holdfast.jobs.registry import remembered_checkpoint
from holdfast.ledgers.custom import LedgerEntry, decode_entry, encode_entry
from holdfast.ledgers.files.format import (
    Intent,
    Manifest,
    ManifestFile,
    decode_intent,
    decode_manifest,
    encode_intent,
    encode_manifest,
)
from holdfast.records.busy import is_busy, mark_path
from holdfast.records.documents import UnreadableError, decode_document
from holdfast.records.journal import unfinished_act
from holdfast.storage.memory import MemoryReader

DEEP = "[" * 100_000 + "]" * 100_000
ABSURD = (
    DEEP,
    '{"a":' * 500 + "1" + "}" * 500,
    "1e999",
    "-1e999",
    "9" * 400,
    "9" * 10_000,
    "-1",
    "0.5",
    "NaN",
    "true",
    "null",
    "[]",
    "{}",
    '"\\ud800"',
)
MARKER = "@@absurd@@"

SNAPSHOT = Snapshot(
    0, "1", "here", None, 1, 0, 1, False, "backup",
    (Root("checkpoint", "here", (CopiedFile("a", 1, "0" * 64),), ("offsets",)),),
)  # fmt: skip
MANIFEST = Manifest(
    "q", 1, 1, "d", "parquet", "append", ("a",), {"type": "struct"}, 3, "now", "s",
    (ManifestFile("a", "b", 3, None),),
)  # fmt: skip
MARK = {"host": "elsewhere", "process": 1, "since": 0.0, "token": "t"}


@dataclass(frozen=True)
class Timed:
    """A record with a number of each kind."""

    count: int
    seconds: float


def read_registry(data: bytes, folder: Path) -> object:
    """Ask the list of checkpoints beside a project."""
    (folder / ".holdfast").mkdir(exist_ok=True)
    (folder / ".holdfast" / "checkpoints.json").write_bytes(data)
    return remembered_checkpoint(folder, "job")


READERS: dict[str, tuple[object, Callable[[bytes, Path], object]]] = {
    "snapshot": (json.loads(encode_snapshot(SNAPSHOT)), lambda data, _: decode_snapshot(data, "x")),
    "manifest": (json.loads(encode_manifest(MANIFEST)), lambda data, _: decode_manifest(data, "x")),
    "entry": (
        json.loads(encode_entry(LedgerEntry("q", 1, 1, "d", "now"))),
        lambda data, _: decode_entry(data, "x"),
    ),
    "intent": (json.loads(encode_intent(Intent("q", 1))), lambda data, _: decode_intent(data, "x")),
    "mark": (MARK, lambda data, _: is_busy(MemoryReader({mark_path(1): data}), [1])),
    "journal": (
        {"id": "a", "kind": "restore", "intent": {"files": [1]}},
        lambda data, _: unfinished_act(MemoryReader({"a/intent.json": data})),
    ),
    "record": (asdict(Timed(1, 1.0)), lambda data, _: decode_document(Timed, data)),
    "registry": ({"version": 1, "checkpoints": {"job": {"location": "x"}}}, read_registry),
    "assign": (
        {"topic": [0]},
        lambda data, _: topics_of({"assign": data.decode()}),
    ),
}


def spoiled(document: object) -> Iterator[bytes]:
    """Replace the whole, and each value in it, by each absurd one."""
    for shape in _marked(document):
        text = json.dumps(shape)
        for value in ABSURD:
            yield text.replace(f'"{MARKER}"', value).encode()


def _marked(value: Any) -> Iterator[Any]:
    yield MARKER
    if isinstance(value, dict):
        for name, inner in value.items():
            for shape in _marked(inner):
                yield {**value, name: shape}
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            for shape in _marked(inner):
                yield [*value[:place], shape, *value[place + 1 :]]


@pytest.mark.parametrize("name", READERS)
def test_every_reader_ends_in_its_own_error(name: str, tmp_path: Path) -> None:
    """Or in an answer."""
    document, read = READERS[name]
    for data in spoiled(document):
        with contextlib.suppress(HoldfastError, UnreadableError):
            read(data, tmp_path)


def test_a_number_beyond_any_type_is_unreadable() -> None:
    """No record holds infinity, however it was spelled."""
    for seconds in ("1e999", "9" * 400):
        with pytest.raises(UnreadableError):
            decode_document(Timed, f'{{"count":1,"seconds":{seconds}}}'.encode())
