"""Every kind of source that Holdfast can read offsets of, in one tuple."""

from __future__ import annotations

from typing import Any

from holdfast.format.sources.delta import DeltaOffsetReader
from holdfast.format.sources.file import FileOffsetReader
from holdfast.format.sources.iceberg import IcebergOffsetReader
from holdfast.format.sources.kafka import KafkaOffsetReader
from holdfast.format.sources.memory import MemoryOffsetReader
from holdfast.format.sources.offset import OffsetReader
from holdfast.format.sources.python import PythonOffsetReader
from holdfast.format.sources.rate import RateOffsetReader
from holdfast.format.sources.ratemicrobatch import RateMicroBatchOffsetReader
from holdfast.format.sources.sequentialunion import SequentialUnionOffsetReader
from holdfast.format.sources.socket import SocketOffsetReader
from holdfast.format.sources.unknown import UnknownOffsetReader

Reader = OffsetReader[Any]

UNKNOWN: Reader = UnknownOffsetReader()

READERS: tuple[Reader, ...] = (
    FileOffsetReader(),
    KafkaOffsetReader(),
    DeltaOffsetReader(),
    RateOffsetReader(),
    RateMicroBatchOffsetReader(),
    SocketOffsetReader(),
    MemoryOffsetReader(),
    PythonOffsetReader(),
    IcebergOffsetReader(),
    SequentialUnionOffsetReader(),
    UNKNOWN,
)

_BY_KIND = {reader.kind: reader for reader in READERS}


def reader_of(kind: str) -> Reader:
    """Give the reader of a kind; a kind that does not exist is a bug and raises KeyError."""
    return _BY_KIND[kind]


def reader_named(name: str) -> Reader | None:
    """Give the reader for a format's short name, or for the name of a provider's class."""
    last = name.rpartition(".")[2].lower()
    return next((reader for reader in READERS if last in reader.formats), None)
