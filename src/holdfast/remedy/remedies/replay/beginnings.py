"""Finds the batch that held a source offset, a file or a moment, in the offsets that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import explained
from holdfast.checkpoint.recovery.logs import file_log_offset
from holdfast.errors import PlanError, UsageError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import ExplainedOffset
from holdfast.records.moments import epoch_seconds

FROM = ("from_batch", "from_offset", "from_file", "from_time")
"""The options, of which exactly one is given."""
_OLDER = (
    "the offsets of older batches are purged: it may have been one of those. Name a kept batch "
    "with --from-batch, or use reset, which starts over"
)

Holds = Callable[[int, OffsetsEntry], bool]
"""Whether a batch, or one before it, held what is looked for."""


def first_batch(whole: Picture, options: Mapping[str, str]) -> int:
    """Return the batch that the options name; raise UsageError or PlanError (HF4601, HF4603).

    `whole` has every offsets entry that is kept.
    """
    given = [one for one in FROM if one in options]
    if len(given) != 1:
        shown = ", ".join(f"--{one.replace('_', '-')}" for one in FROM)
        raise UsageError("HF1001", f"pass exactly one of {shown}")
    name, value = given[0], options[given[0]]
    if name == "from_batch":
        return _number(value)
    holds, what = _LOOKUPS[name](whole, value)
    return _first(whole, holds, what)


def _number(text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise UsageError("HF1001", f"{text} is not a batch id")
    return int(text)


def _first(whole: Picture, holds: Holds, what: str) -> int:
    kept = sorted(whole.offsets)
    if set(kept) != set(whole.layout.offsets.ids):
        message = f"{what} cannot be looked up: an offsets entry cannot be read"
        raise PlanError("HF4603", message, at=whole.location)
    found = next((one for one in kept if holds(one, whole.offsets[one])), None)
    if found is None:
        raise _unprocessed(whole, f"no kept batch held {what}")
    if found == kept[0] and found > 0:
        message = f"{what} is in batch {found}, the oldest that is kept, or in one before it"
        raise PlanError("HF4601", message, at=whole.location, why=_OLDER)
    return found


def _unprocessed(whole: Picture, message: str) -> PlanError:
    why = "no batch processed it: it may be a typo, or still to come"
    step = "check what you passed for a typo; what is still to come needs no replay"
    return PlanError("HF4601", message, at=whole.location, why=why, next_steps=(step,))


def _by_time(whole: Picture, text: str) -> tuple[Holds, str]:
    seconds = epoch_seconds(text)
    if seconds is None and not text.isdecimal():
        message = f"{text} is neither a moment such as 2026-03-01T06:00:00Z nor "
        raise UsageError("HF1001", f"{message}milliseconds since 1970")
    moment = int(text) if seconds is None else int(seconds * 1000)

    def holds(_: int, entry: OffsetsEntry) -> bool:
        if entry.metadata is None:
            message = "an offsets entry does not say when its batch was planned"
            raise PlanError("HF4603", message, at=whole.location)
        return entry.metadata.timestamp_ms >= moment

    return holds, f"data of {text}"


def _by_file(whole: Picture, text: str) -> tuple[Holds, str]:
    """Look a file up in the logs of the file sources: by its whole path, or by the end of it."""
    positions = {
        folder: sorted(
            item.log_offset
            for log in logs.values()
            for item in log.items
            if _is_file(item.path, text)
        )
        for folder, logs in whole.source_logs.items()
    }
    found = {folder: offsets[0] for folder, offsets in positions.items() if offsets}
    if not found:
        raise _unprocessed(whole, f"no file source of the checkpoint has read {text}")

    def holds(_: int, entry: OffsetsEntry) -> bool:
        for position, source in enumerate(entry.sources):
            reached = file_log_offset(entry, position)
            wanted = found.get(source.name)
            if reached is not None and wanted is not None and reached >= wanted:
                return True
        return False

    return holds, text


def _is_file(path: str, text: str) -> bool:
    spelled = unquote(path)
    return text in (path, spelled) or spelled.endswith("/" + text.lstrip("/"))


def _by_offset(whole: Picture, text: str) -> tuple[Holds, str]:
    try:
        wanted = json.loads(text)
    except (ValueError, RecursionError):
        wanted = None
    if not isinstance(wanted, dict) or not wanted:
        message = f'{text} is not a JSON object such as {{"topic": {{"0": 1200}}}}'
        raise UsageError("HF1001", message)

    def holds(_: int, entry: OffsetsEntry) -> bool:
        return any(_passes(told, wanted) for told in _offsets(whole, entry))

    newest = whole.newest_offsets
    known = () if newest is None else tuple(_offsets(whole, newest))
    if not any(_passes(told, wanted) is not None for told in known):
        message = f"no source of the checkpoint has offsets like {text}"
        raise PlanError("HF4603", message, at=whole.location)
    return holds, f"offset {text}"


def _offsets(whole: Picture, entry: OffsetsEntry) -> Iterator[ExplainedOffset]:
    for position in range(len(entry.sources)):
        found = explained(whole, entry, position, {})
        if isinstance(found, ExplainedOffset):
            yield found


def _passes(told: ExplainedOffset, wanted: Mapping[str, object]) -> bool | None:
    """Return whether a source has read what is wanted; None where it has no such offsets."""
    decoded = told.decoded
    if not isinstance(decoded, dict):
        return None
    if told.kind == "kafka":
        return _passes_records(decoded, wanted)
    field = _FIELDS.get(told.kind)
    at = wanted.get(field or "")
    reached = decoded.get(field or "")
    if not isinstance(at, int) or not isinstance(reached, int):
        return None
    if told.kind == "delta":
        # The end of a table version is stored as the next version with index -1.
        return reached > at or (reached == at and decoded.get("index") != -1)
    return reached >= at


_FIELDS: Mapping[str, str] = {
    "delta": "reservoirVersion",
    "file": "logOffset",
    "rate-micro-batch": "offset",
}
"""The field that says how far a source was read."""


def _passes_records(decoded: Mapping[str, object], wanted: Mapping[str, object]) -> bool | None:
    compared: list[bool] = []
    for topic, partitions in wanted.items():
        ends = decoded.get(topic)
        if not isinstance(partitions, dict) or not isinstance(ends, dict):
            continue
        # An end is the record that comes next.
        compared += [
            ends[number] > record
            for number, record in partitions.items()
            if isinstance(record, int) and isinstance(ends.get(number), int)
        ]
    return any(compared) if compared else None


_LOOKUPS: Mapping[str, Callable[[Picture, str], tuple[Holds, str]]] = {
    "from_offset": _by_offset,
    "from_file": _by_file,
    "from_time": _by_time,
}
