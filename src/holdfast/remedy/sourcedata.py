"""Whether a source still has the data of a range: files, versions of a table, records of a topic.

Spark leaves a file out that a recorded batch names and that is gone, without a word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.diagnosis.inspection.sourcefiles import NamesIn, look_for
from holdfast.diagnosis.inspection.sources import (
    NO_SOURCES_SEEN,
    BrokerSeen,
    Partition,
    SourcesSeen,
)
from holdfast.errors import PlanError
from holdfast.ledgers.delta.transactions import TableSeen
from holdfast.remedy.facts import unlisted

GIVE_UP = "holdfast undo TARGET --keep-rows gives up the batches that are left; rows stay"
_BACK = ("put the data back where it was, then holdfast apply --finish TARGET", GIVE_UP)
_NOT_ASKED = "HF4603"
_REACH = ("make the source reachable from here, then holdfast apply --finish TARGET", GIVE_UP)
GONE = "a backfill reads the range again. Name one whose data is still there"
_LEFT_OUT = (
    "Spark leaves data out that is gone, without a word: its rows would stay in the sink as they "
    "are. Nothing of the batch was written"
)
_UNKNOWN = (
    "rows that the source no longer has would be missing. Plan it where the source can be reached"
)


def not_asked(message: str, *, at: str) -> PlanError:
    """Return the error (HF4603) of a source that does not say what it has."""
    return PlanError("HF4603", message, at=at, why=_UNKNOWN)


def not_asked_kafka(why: str, *, at: str) -> PlanError:
    """Return the error (HF4603) of a broker that does not say what it has."""
    return not_asked(f"Kafka could not be asked what the source still has: {why}", at=at)


@dataclass(frozen=True)
class SourceNow:
    """Looks at the source of a job as it is now."""

    names_in: NamesIn = unlisted
    look: Callable[[], SourcesSeen] = lambda: NO_SOURCES_SEEN


UNSEEN = SourceNow()
"""Where no source is to be looked at."""


def refuse_gone_batch(
    ends: Sequence[str], files: Sequence[str], batch: int, source: SourceNow, *, at: str
) -> None:
    """Raise PlanError where the source lacks what a batch reads: HF4612, or HF4603 if unknown.

    `ends` are the offsets between the batches of a backfill, `files` the paths that this one reads.
    """
    try:
        _refuse_gone_batch(ends, files, batch, source, at=at)
    except PlanError as error:
        message = f"batch {batch} of the backfill: {error.message}"
        if error.code.number == _NOT_ASKED:
            raise PlanError("HF4603", message, at=at, why=_LEFT_OUT, next_steps=_REACH) from error
        raise PlanError("HF4612", message, at=at, why=_LEFT_OUT, next_steps=_BACK) from error


def _refuse_gone_batch(
    ends: Sequence[str], files: Sequence[str], batch: int, source: SourceNow, *, at: str
) -> None:
    begin, end = (json.loads(ends[one]) for one in (batch - 1, batch))
    if "logOffset" in end:
        refuse_gone_files(files, source.names_in, at=at)
    elif "reservoirId" in end:
        versions = int(begin["reservoirVersion"]), int(end["reservoirVersion"]) - 1
        refuse_lost_versions(source.look().tables, end["reservoirId"], *versions, at=at)
    else:
        begins, wanted = _records(begin), _records(end)
        read = [one for one in wanted if begins.get(one) != wanted[one]]
        refuse_lost_records(
            source.look().brokers,
            {one: begins[one] for one in read},
            {one: wanted[one] for one in read},
            at=at,
        )


def _records(offsets: Mapping[str, Mapping[str, int]]) -> dict[Partition, int]:
    return {
        (topic, int(number)): record
        for topic, partitions in offsets.items()
        for number, record in partitions.items()
    }


def refuse_gone_files(paths: Iterable[str], names_in: NamesIn, *, at: str) -> None:
    """Raise PlanError where a file is gone (HF4612), or its folder cannot be listed (HF4603)."""
    looked = look_for(paths, names_in)
    for folder in looked.unlisted:
        message = f"{folder} cannot be listed, so that it is unknown which files are there"
        raise not_asked(message, at=at)
    if gone := looked.gone:
        more = f" (and {len(gone) - 1} more)" if len(gone) > 1 else ""
        raise PlanError("HF4612", f"the source no longer has {gone[0]}{more}", at=at, why=GONE)


def refuse_lost_versions(
    seen: Sequence[TableSeen], table_id: str, begin: int, end: int, *, at: str
) -> None:
    """Raise PlanError where a Delta table lacks versions (HF4612), or cannot be asked (HF4603)."""
    tables = [one for one in seen if one.table_id == table_id]
    if not tables or tables[0].failure is not None or tables[0].newest is None:
        raise not_asked("the Delta table of the source could not be asked for its versions", at=at)
    table = tables[0]
    if end > (table.newest or 0):
        message = f"{table.location} has no version {end} yet; the newest is {table.newest}"
        raise PlanError("HF4612", message, at=at, why=GONE)
    missing = table.first_missing(begin)
    if missing is not None and missing <= end:
        message = f"the log of {table.location} has no version {missing}"
        raise PlanError("HF4612", message, at=at, why=GONE)


def refuse_lost_records(
    brokers: Sequence[BrokerSeen],
    begins: Mapping[Partition, int],
    ends: Mapping[Partition, int],
    *,
    at: str,
) -> None:
    """Raise PlanError where Kafka lacks records (HF4612), or cannot be asked (HF4603)."""
    if len({one.servers for one in brokers}) != 1 or brokers[0].failure is not None:
        why = next((one.failure for one in brokers if one.failure), "it is not declared here")
        raise not_asked_kafka(why, at=at)
    for one in sorted(begins):
        named, span = f"{one[0]} partition {one[1]}", brokers[0].spans.get(one)
        if span is None:
            raise PlanError("HF4612", f"{named} no longer exists", at=at, why=GONE)
        if begins[one] < span.first or ends[one] > span.following:
            message = f"{named} has records {span.first} to {span.following - 1}"
            raise PlanError("HF4612", message, at=at, why=GONE)
