"""Kafka: an offset is, for every topic and partition, the record to read next."""

from __future__ import annotations

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import (
    LIKELY,
    NOT_MINE,
    POSSIBLE,
    Amount,
    Confidence,
    OffsetReader,
    Recognition,
    SourceEvidence,
    as_integer,
    as_object,
    is_integer,
    is_partition,
    shorten,
)
from holdfast.format.strictjson import decode_object
from holdfast.wording import counted

_WHAT = "the offset of a Kafka source"
_INITIAL = "the initial offset of a Kafka source"

KafkaOffset = dict[str, dict[str, int]]


class KafkaOffsetReader(OffsetReader[KafkaOffset]):
    """Reads `{"orders":{"0":123,"1":45}}`.

    The Event Hubs connector was modelled on it and writes the same, also in `sources/<i>/0`;
    its sequence numbers count like Kafka's offsets, so that everything here holds for both.
    """

    kind = "kafka"
    formats = frozenset(("kafka", "kafkasourceprovider"))
    lookalikes = ("eventhubs",)

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of an initial offset that begins as Kafka's does."""
        if is_initial(evidence.initial):
            return Recognition(Confidence.CERTAIN, "initial offset file")
        value = evidence.value
        if not isinstance(value, dict):
            return NOT_MINE
        if not value:
            return POSSIBLE
        fits = all(isinstance(inner, dict) and _are_partitions(inner) for inner in value.values())
        return LIKELY if fits else NOT_MINE

    def decode(self, text: str) -> KafkaOffset:
        """Decode with topics in the order of their names and partitions in that of numbers."""
        return _topics(decode_object(text, what=_WHAT), _WHAT)

    def summary(self, decoded: KafkaOffset) -> str:
        """Name the one topic, or count them; give the span of the records to read next."""
        nexts = [record for partitions in decoded.values() for record in partitions.values()]
        if not nexts:
            return "no partitions yet"
        subject = next(iter(decoded)) if len(decoded) == 1 else counted(len(decoded), "topic")
        if len(nexts) == 1 and len(decoded) == 1:
            return f"{subject}: partition {next(iter(decoded[subject]))}, next {nexts[0]:,}"
        low, high = min(nexts), max(nexts)
        span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return f"{subject}: {counted(len(nexts), 'partition')}, next {span}"

    def amount(self, before: KafkaOffset | None, after: KafkaOffset) -> Amount:
        """Subtract by partition.

        The difference is the most records there can be: compaction and transactions leave gaps.
        """
        if before is None:
            unknown = "where the first batch began is in sources/, which is missing"
            return Amount("records", None, note=unknown)
        old, new = _flat(before), _flat(after)
        kept = [name for name in new if name in old]
        back = [name for name in kept if new[name] < old[name]]
        parts = {name: new[name] - old[name] for name in kept if new[name] >= old[name]}
        notes = (
            _new_note([name for name in new if name not in old]),
            _gone_note([name for name in old if name not in new]),
            f"{_names(back)} went back" if back else "",
        )
        note = "; ".join(filter(None, notes)) or None
        known = set(parts) == set(new)
        return Amount("records", sum(parts.values()) if known else None, parts, note)

    def went_back(self, before: KafkaOffset, after: KafkaOffset) -> str | None:
        """Look for a partition that is gone, or whose next record is an earlier one."""
        old, new = _flat(before), _flat(after)
        back = [name for name in new if name in old and new[name] < old[name]]
        moves = [f"{name} from {old[name]} to {new[name]}" for name in back]
        said = (
            f"the next record went back: {_names(moves)}" if moves else "",
            _gone_note([name for name in old if name not in new]),
        )
        return "; ".join(filter(None, said)) or None

    def beginning(self, evidence: SourceEvidence) -> KafkaOffset | None:
        """Decode `sources/<i>/0`: a NUL, a version line (not in Spark 2.1), the offset."""
        initial = evidence.initial
        if initial is None or not is_initial(initial):
            return None
        try:
            text = initial[1:].decode()
        except UnicodeDecodeError as error:
            message = f"{_INITIAL} is not UTF-8"
            raise DecodeError("HF2104", message, byte=error.start + 1) from error
        body = text.partition("\n")[2] if text.startswith("v") else text
        return _topics(decode_object(body, what=_INITIAL), _INITIAL)


def is_initial(initial: bytes | None) -> bool:
    """Distinguish Kafka's initial offset from other sources' files and from a file of zeros."""
    return initial is not None and initial[:1] == b"\0" and initial[1:2] in (b"v", b"{")


def _are_partitions(inner: dict[str, object]) -> bool:
    return all(is_partition(key) and is_integer(value) for key, value in inner.items())


def _topics(value: dict[str, object], what: str) -> KafkaOffset:
    return {topic: _partitions(topic, value[topic], what) for topic in sorted(value)}


def _partitions(topic: str, value: object, what: str) -> dict[str, int]:
    inner = as_object(value, f"topic {topic} in {what}")
    for key in inner:
        if not is_partition(key):
            message = (
                f"topic {topic} in {what} has a key that is not a partition: {shorten(key, 40)}"
            )
            raise DecodeError("HF2106", message)
    return {
        key: as_integer(inner[key], f"partition {key} of topic {topic} in {what}", low=0)
        for key in sorted(inner, key=int)
    }


def _flat(offset: KafkaOffset) -> dict[str, int]:
    return {
        f"{topic}-{partition}": record
        for topic, partitions in offset.items()
        for partition, record in partitions.items()
    }


def _names(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5:,} more"


def _new_note(names: list[str]) -> str:
    if not names:
        return ""
    each = "partition" if len(names) == 1 else "partitions"
    return f"new {each} {_names(names)}: read from the earliest record, which only the broker knows"


def _gone_note(names: list[str]) -> str:
    if not names:
        return ""
    return f"{'partition' if len(names) == 1 else 'partitions'} {_names(names)} gone"
