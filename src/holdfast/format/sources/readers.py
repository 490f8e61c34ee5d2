"""Every kind of source that Holdfast can read offsets of, and Spark's sequential union of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from holdfast.errors import DecodeError
from holdfast.format.sources.file import FileOffsetReader
from holdfast.format.sources.kafka import KafkaOffsetReader
from holdfast.format.sources.offset import (
    CERTAIN,
    NOT_MINE,
    Amount,
    Confidence,
    NotJson,
    OffsetReader,
    Recognition,
    SourceEvidence,
    text_field,
    text_list_field,
)
from holdfast.format.sources.tables import DeltaOffsetReader, IcebergOffsetReader
from holdfast.format.sources.testing import (
    MemoryOffsetReader,
    RateMicroBatchOffsetReader,
    RateOffsetReader,
    SocketOffsetReader,
)
from holdfast.format.sources.unknown import (
    PythonOffsetReader,
    UnknownOffsetReader,
    recognise_connector,
)
from holdfast.format.strictjson import decode_object

_WHAT = "the offset of a sequential union"


class SequentialUnionOffset(TypedDict):
    """As Spark 4.2 and later write it; the sources' own offsets are entries of their own."""

    activeSourceName: str
    allSourceNames: list[str]
    completedSourceNames: list[str]


class SequentialUnionOffsetReader(OffsetReader[SequentialUnionOffset]):
    """Reads `{"activeSourceName":"live","allSourceNames":["old","live"],…}`."""

    kind = "sequential-union"
    formats = frozenset[str]()

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of the two names together."""
        value = evidence.value
        names = {"activeSourceName", "allSourceNames"}
        return CERTAIN if isinstance(value, dict) and names <= set(value) else NOT_MINE

    def decode(self, text: str) -> SequentialUnionOffset:
        """Decode the names, and hold them to what Spark itself demands of them."""
        entry = decode_object(text, what=_WHAT)
        active = text_field(entry, "activeSourceName", _WHAT)
        every = text_list_field(entry, "allSourceNames", _WHAT)
        completed = text_list_field(entry, "completedSourceNames", _WHAT)
        if active not in every or active in completed or not set(completed) <= set(every):
            raise DecodeError("HF2106", f"{_WHAT} names sources that contradict each other")
        return {
            "activeSourceName": active,
            "allSourceNames": every,
            "completedSourceNames": completed,
        }

    def summary(self, decoded: SequentialUnionOffset) -> str:
        """Name the source that is being read."""
        done, every = len(decoded["completedSourceNames"]), len(decoded["allSourceNames"])
        return f"{done} of {every} sources done, reading {decoded['activeSourceName']}"

    def amount(self, before: SequentialUnionOffset | None, after: SequentialUnionOffset) -> Amount:
        """Say that it is the sources' own offsets which tell how much."""
        if before is not None and _state(before) == _state(after):
            return Amount("unknown", 0)
        note = "the offsets of the united sources show how much was read"
        return Amount("unknown", None, note=note)

    def went_back(self, before: SequentialUnionOffset, after: SequentialUnionOffset) -> str | None:
        """Look for a source that was done and is not any more."""
        reopened = set(before["completedSourceNames"]) - set(after["completedSourceNames"])
        return f"done before, and no longer: {', '.join(sorted(reopened))}" if reopened else None


def _state(offset: SequentialUnionOffset) -> tuple[str, frozenset[str]]:
    return offset["activeSourceName"], frozenset(offset["completedSourceNames"])


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
    """Return the reader of a kind; a kind that does not exist is a bug and raises KeyError."""
    return _BY_KIND[kind]


def reader_named(name: str) -> Reader | None:
    """Return the reader for a format's short name, or for the name of a provider's class."""
    last = name.rpartition(".")[2].lower()
    return next((reader for reader in READERS if last in reader.formats), None)


@dataclass(frozen=True)
class Identified:
    """The reader for an offset, everything that it could be, and how we know."""

    reader: Reader
    candidates: tuple[str, ...]
    basis: str
    note: str | None = None


Seen = tuple[tuple[Reader, Recognition], ...]


def identify(evidence: SourceEvidence) -> Identified:
    """Weigh what lies in the checkpoint first, then what was declared, then the shape."""
    seen = tuple((reader, reader.recognises(evidence)) for reader in READERS)
    certain = tuple(pair for pair in seen if pair[1].certainty is Confidence.CERTAIN)
    provider = reader_named(evidence.provider) if evidence.provider else None
    if len(certain) > 1:
        return _contradiction(certain, evidence)
    if certain:
        return _by_checkpoint(*certain[0], evidence)
    if provider is not None:
        return Identified(provider, (provider.kind,), "provider")
    declared = evidence.provider or evidence.declared_format
    return _by_declaration(seen, declared, evidence) if declared else _by_shape(seen, evidence)


def _contradiction(certain: Seen, evidence: SourceEvidence) -> Identified:
    proofs = " and ".join(
        f"its {found.basis} is that of {reader.kind}" for reader, found in certain
    )
    return _unknown(evidence, _kinds(certain), f"the checkpoint contradicts itself: {proofs}")


def _by_checkpoint(reader: Reader, found: Recognition, evidence: SourceEvidence) -> Identified:
    declared = evidence.provider or evidence.declared_format
    if declared is None:
        return _alike(reader, found.basis)
    named = reader_named(declared)
    if named is reader:
        return Identified(reader, (reader.kind,), found.basis)
    if named is None and reader.lookalikes:
        return _foreign(evidence, (reader.kind,), declared)
    note = f"declared as {declared}, but the {found.basis} is that of a {reader.kind} source"
    return Identified(reader, (reader.kind,), found.basis, note)


def _by_declaration(seen: Seen, declared: str, evidence: SourceEvidence) -> Identified:
    named = reader_named(declared)
    if named is None:
        return _foreign(evidence, _kinds(seen), declared)
    if named.kind in _kinds(seen):
        return Identified(named, (named.kind,), "declared")
    found = _by_shape(tuple(pair for pair in seen if pair[0].kind != "python"), evidence)
    note = f"declared as {declared}, which writes offsets of a different form"
    return Identified(found.reader, found.candidates, found.basis, note)


def _by_shape(seen: Seen, evidence: SourceEvidence) -> Identified:
    likely = [reader for reader, found in seen if found.certainty is Confidence.LIKELY]
    if len(likely) == 1:
        return _alike(likely[0], "shape")
    kinds = _kinds(seen)
    fits = f"the form fits {' and '.join(kinds)}; nothing else in the checkpoint shows which"
    return _unknown(evidence, kinds, fits if len(kinds) > 1 else None)


def _alike(reader: Reader, basis: str) -> Identified:
    """Take the reader, and name the connectors whose offsets look like its own."""
    if not reader.lookalikes:
        return Identified(reader, (reader.kind,), basis)
    others = " and ".join(reader.lookalikes)
    note = f"{others} writes the same form; a format declared in a project resolves this"
    return Identified(reader, (reader.kind, *reader.lookalikes), basis, note)


def _foreign(evidence: SourceEvidence, kinds: tuple[str, ...], declared: str) -> Identified:
    """Keep an offset unknown whose declared format we have no reader for."""
    if any(declared.lower() in reader.lookalikes for reader in READERS):
        return Identified(UNKNOWN, (declared.lower(),), "declared")
    return _unknown(evidence, kinds, f"declared as {declared}, an unknown source")


def _unknown(evidence: SourceEvidence, kinds: tuple[str, ...], note: str | None) -> Identified:
    """Keep an offset unknown, with the connector whose shape it has."""
    value = evidence.value
    if isinstance(value, NotJson):
        note = f"not JSON, which all of Spark's own sources write: {value.reason}"
        return Identified(UNKNOWN, kinds, "shape", note)
    connector = recognise_connector(value)
    if connector is None:
        return Identified(UNKNOWN, kinds, "shape", note)
    note = f"it has the form that {connector.name} writes"
    return Identified(UNKNOWN, (connector.name,), "shape", note)


def _kinds(seen: Seen) -> tuple[str, ...]:
    return tuple(reader.kind for reader, found in seen if found.certainty > Confidence.NO)
