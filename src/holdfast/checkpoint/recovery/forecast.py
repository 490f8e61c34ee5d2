"""Spark's recovery rule as one pure function: what the next start does with this checkpoint.

Every release since 3.0 refuses any but an inner join over it when the batch is planned
(SPARK-26154): a row of this format does not say whether it was matched. A join that committed a
batch with it in Spark 3 or later was thus an inner one. From 4.1 on Spark cannot write the schema
files of such state: where they are missing, as Spark 2 left it, an inner join is refused as well.

The steps stand in the order in which Spark takes them; the first that decides ends the matter.
They assume that the query is the one that wrote the checkpoint and runs in micro-batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.logs import (
    blocked_write,
    continuous,
    newest_entries,
    nothing_planned,
    pinned_settings,
    previous_entry,
    query_id,
    source_failure,
)
from holdfast.checkpoint.recovery.outcome import (
    Action,
    Difference,
    NextStart,
    StartOutcome,
    failure,
    unhindered_start,
)
from holdfast.checkpoint.recovery.state import provider_of, state_failure
from holdfast.checkpoint.releases import KNOWN_OPERATORS, RELEASES, at_least, spark_version
from holdfast.checkpoint.statefiles import JOIN_STORES, OperatorFiles
from holdfast.errors import DecodeError
from holdfast.format.state.schema import columns

JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"

_WITHOUT_WRITER = "4.1"
"""The first release that writes no schema files of format 1."""
_ROWS = tuple(name for name in JOIN_STORES if "keyWithIndexToValue" in name)
_MATCHED = "matched"
"""The column that format 2 added."""


@dataclass(frozen=True)
class FormatOneJoin:
    """A stream-stream join whose state the next start reads in format 1."""

    named: bool
    """The entry names the format, so Spark 3 or later wrote it; Spark 2 named none."""
    committed: bool
    """A batch was committed with it."""
    described: bool
    """Each of its stores has a schema file."""
    state_is_newer: bool
    """The schemas of the state are those of a later format: the entry does not fit them."""

    @property
    def was_inner(self) -> bool:
        """Whether only an inner join can have brought it here."""
        return self.named and self.committed

    def refusal(self, release: str) -> str | None:
        """Return why a release refuses even an inner join; None where it starts one."""
        if self.state_is_newer:
            return "the offsets entry names join state format 1, but the state has a later format"
        if not self.described and at_least(release, _WITHOUT_WRITER):
            return (
                f"join state of format 1 has no schema files, and Spark {release} cannot write "
                "them: 'Unsupported schema writer version: 1'"
            )
        return None


def format_one_join(picture: Picture) -> FormatOneJoin | None:
    """Return what is known of a join with state of format 1; None where there is none."""
    settings = picture.settings
    operators = picture.layout.state.operators.values()
    joins = [one for one in operators if JOIN_STORES[0] in one.stores]
    if not joins or not settings or settings.get(JOIN_FORMAT, "1") != "1":
        return None
    return FormatOneJoin(
        named=JOIN_FORMAT in settings,
        committed=picture.newest_commit_id is not None,
        described=all(map(_described, joins)),
        state_is_newer=any(all(_has_matched(picture, one.id, name) for name in _ROWS)
                           for one in joins),
    )  # fmt: skip


def _described(operator: OperatorFiles) -> bool:
    stores = [operator.stores.get(name) for name in JOIN_STORES]
    return all(one is not None and one.partition_schema is not None for one in stores)


def _has_matched(picture: Picture, operator: int, store: str) -> bool:
    schema = picture.schemas.get((operator, store))
    if schema is None or not schema.families:
        return False
    try:
        found = columns(schema.families[0].value_json)
    except DecodeError:
        return False
    return bool(found) and found[-1].name == _MATCHED


Step = Callable[[Picture, str], StartOutcome | None]


def next_start(picture: Picture, spark: str | None = None) -> NextStart:
    """Return what the next start does, with the release that wrote it or the given one."""
    assumed = spark or spark_version(picture).assumed
    outcome = outcome_with(picture, assumed)
    differs = []
    for release in RELEASES:
        other = outcome_with(picture, release)
        if (other.action, other.sink_touched) != (outcome.action, outcome.sink_touched):
            differs.append(Difference(release, other.action, other.reason))
    return NextStart(
        outcome.action,
        outcome.batch_id,
        outcome.reason,
        assumed,
        outcome.sink_touched,
        tuple(differs),
    )


def outcome_with(picture: Picture, release: str) -> StartOutcome:
    """Return what one Spark release does."""
    unseen = picture.access_failure
    if unseen is not None:
        reason = f"{unseen.at or picture.location} could not be read: {unseen.message}"
        return StartOutcome(Action.UNKNOWN, None, reason)
    for step in STEPS:
        outcome = step(picture, release)
        if outcome is not None:
            return outcome
    return _with_join(picture, _with_identity(picture, unhindered_start(picture)))


def _with_identity(picture: Picture, outcome: StartOutcome) -> StartOutcome:
    """Without `metadata` the older releases go on silently, as another query to the sink."""
    if outcome.action is Action.FRESH or picture.layout.has_file("metadata"):
        return outcome
    reported = f"{outcome.reason}; with a new query id, so the sink treats it as another query"
    return replace(outcome, reason=reported)


def _with_join(picture: Picture, outcome: StartOutcome) -> StartOutcome:
    """A checkpoint does not say how it joins; every release refuses an outer join in format 1."""
    if outcome.action is Action.FRESH or format_one_join(picture) is None:
        return outcome
    reported = f"{outcome.reason}; an outer join would fail: its state has format 1"
    return replace(outcome, reason=reported)


def _sources(picture: Picture, _release: str) -> StartOutcome | None:
    """A file source must find its own log whole."""
    reason = source_failure(picture)
    return None if reason is None else failure(reason)


def _commit_ahead(picture: Picture, _release: str) -> StartOutcome | None:
    """A commit without its offsets: the batch before runs again, then its commit collides."""
    planned, committed = picture.newest_offsets_id, picture.newest_commit_id
    if planned is None or committed is None or committed <= planned:
        return None
    return failure(
        f"commits/{committed} has no offsets: Spark runs batch {planned} again, it reaches the "
        "sink once more, then writing its commit fails with CONCURRENT_STREAM_LOG_UPDATE",
        batch_id=planned,
        sink_touched=True,
    )


def _operator_names(picture: Picture, release: str) -> StartOutcome | None:
    """From 4.0 on Spark compares each operator's recorded name with the query's."""
    if not at_least(release, "4.0"):
        return None
    for operator in picture.operators.values():
        if operator.name not in KNOWN_OPERATORS:
            return failure(f"Spark {release} has no operator named {operator.name!r}")
    return None


def _join_format(picture: Picture, release: str) -> StartOutcome | None:
    """Join state of format 1 is refused where it doesn't fit its entry, or has no schema."""
    join = format_one_join(picture)
    reason = join.refusal(release) if join is not None else None
    if reason is None:
        return None
    # 3.5 looks at the schema in the tasks, when the sink was called already.
    touched = not at_least(release, "4.0")
    return failure(reason, unhindered_start(picture).batch_id, sink_touched=touched)


def _state(picture: Picture, release: str) -> StartOutcome | None:
    """The state of the batch before must be loadable."""
    ahead = unhindered_start(picture)
    commit = picture.newest_commit
    with_ids = commit is not None and commit.version == 2 and at_least(release, "4.3")
    if with_ids and provider_of(picture) == "hdfs":
        reason = "commit log v2 requires state ids, which this state store does not have"
        return failure(reason, ahead.batch_id, sink_touched=True)
    unloadable = state_failure(picture, ahead, release)
    if unloadable is None:
        return None
    # 3.5 looks at the schema in the tasks, when the sink was called already.
    early = (unloadable.before_sink and at_least(release, "4.0")) or (
        unloadable.folder_missing and at_least(release, "4.2")
    )
    return failure(unloadable.reason, ahead.batch_id, sink_touched=not early)


STEPS: tuple[Step, ...] = (
    query_id,
    newest_entries,
    nothing_planned,
    previous_entry,
    continuous,
    pinned_settings,
    _sources,
    _commit_ahead,
    blocked_write,
    _operator_names,
    _join_format,
    _state,
)
