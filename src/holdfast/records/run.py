"""What is remembered of one run, and its bytes: without secrets, and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, cast

from holdfast.records.documents import decode_document, document_of, encode_document
from holdfast.records.facts import QueryFacts
from holdfast.redaction import redact, redact_value


class Ended(str, Enum):
    """How a run ended."""

    FINISHED = "finished"
    """Everything that was available is delivered."""
    STOPPED = "stopped"
    """Somebody asked it to stop."""
    FAILED = "failed"
    REFUSED = "refused"
    """It was not started: rows would have been lost or duplicated."""
    LOST_LEASE = "lost-lease"
    """Another driver took over."""
    SKIPPED = "skipped"
    """A job that it reads from failed."""


@dataclass(frozen=True)
class Versions:
    """What the run ran on."""

    holdfast: str
    spark: str
    java: str
    python: str


@dataclass(frozen=True)
class SourceProgress:
    """One source of a run, in the order of the query's plan."""

    name: str
    format: str
    description: str | None = None
    start_offset: str | None = None
    """The JSON of the offset before the run's first batch; None at the very beginning."""
    end_offset: str | None = None
    """The JSON of the offset after its last batch."""
    starting: Mapping[str, str] | None = None
    """The options that say where a new query begins; None in records of before."""


@dataclass(frozen=True)
class SinkFacts:
    """Where the rows went, and what is promised of it."""

    kind: str
    identity: str | None
    mode: str
    promise: str
    place: str | None = None
    """The one name of the place; None for a sink without a ledger, and in records of before."""
    incarnation: str | None = None
    """Which table it was, among those that were created at this place."""
    held: int | None = None
    """The newest batch that was in the sink at the start, or that this run delivered."""
    since: int | None = None
    """The first batch that this run could deliver: one that is committed from here on was in the
    sink, also where the run was killed before it could say so."""
    native: bool = False
    """Spark's own sink wrote, not Holdfast's."""
    key: tuple[str, ...] | None = None
    """By which columns rows are replaced; None in records of older releases."""


@dataclass(frozen=True)
class PlanFacts:
    """What the query is, from its analysed plan, without starting it."""

    sources: tuple[str, ...] = ()
    """The kind of every source, in Spark's order."""
    operators: tuple[str, ...] | None = ()
    """The name of every stateful operator as its metadata spells it, in the order of their ids;
    None if they could not be determined."""
    text: str = ""
    """The analysed plan as Spark prints it, bounded."""
    code: Mapping[str, str] = field(default_factory=dict)
    """The transform's source files, relative to the project, with their SHA-256."""
    query: QueryFacts | None = None
    """What a restart depends on; None in records of older releases."""


@dataclass(frozen=True)
class BatchNote:
    """One batch of a run."""

    batch_id: int
    rows: int
    started_at: str
    seconds: float
    skipped: bool = False
    """It was already in the sink."""


@dataclass(frozen=True)
class OperatorState:
    """The state of one stateful operator after a batch, over all of its partitions."""

    operator: int
    """Its place among the stateful operators of the query, from 0."""
    name: str
    """Spark's name of it, such as `stateStoreSave`."""
    rows: int
    """How many rows it holds."""
    memory_bytes: int
    """How much memory the state store uses for it."""


@dataclass(frozen=True)
class SourceLag:
    """How much a source had at the end of a batch that the batch did not read."""

    source: str
    """The name of the source in the project."""
    amount: int
    """How many of the unit."""
    unit: str
    """What is counted, such as `records`, `files` or `bytes`."""


@dataclass(frozen=True)
class Measures:
    """What Spark measured in one batch."""

    batch_id: int
    """Which batch that was."""
    phase_seconds: Mapping[str, float]
    """How long each phase took, by Spark's name of it; `triggerExecution` is the whole batch."""
    state: tuple[OperatorState, ...] = ()
    """The stateful operators, in Spark's order."""
    lag: tuple[SourceLag, ...] = ()
    """The lag of each source that reports its newest offset."""


@dataclass(frozen=True)
class Failure:
    """Why a run failed."""

    error_class: str
    """Spark's error class, or the class of the exception."""
    code: str
    message: str
    at: str | None = None
    """The user's own line, where it is theirs."""
    page: str | None = None
    """What `holdfast explain` shows the page of; None in records of older releases."""


SHARED_SINK = "shared-sink"
"""Accepted by a user whose sink is written by several jobs on purpose."""


@dataclass(frozen=True)
class Run:
    """One life of a job. A run without `ended` is running or was killed: its lease shows which."""

    job: str
    project: str | None
    checkpoint: str
    """The canonical location."""
    generation: int
    versions: Versions
    started_at: str
    query_id: str | None = None
    run_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceProgress, ...] = ()
    sink: SinkFacts | None = None
    output_mode: str | None = None
    trigger: str | None = None
    state_store_provider: str | None = None
    plan: PlanFacts = PlanFacts()
    batches: int = 0
    rows: int = 0
    skipped_batches: int = 0
    first_batch: int | None = None
    last_batch: int | None = None
    delivered_before: int | None = None
    """The newest batch of this query that earlier runs delivered: their records are not kept
    permanently, and a run that finds nothing new delivers none."""
    recent: tuple[BatchNote, ...] = ()
    """The newest batches, bounded."""
    measures: Measures | None = None
    """What was measured in the newest batch; None in records of older releases."""
    updated_at: str | None = None
    ended_at: str | None = None
    seconds: float = 0.0
    ended: Ended | None = None
    failure: Failure | None = None
    taken_over: str | None = None
    """Whose lease this run took over, in words; None where it was free."""
    accepted: tuple[str, ...] = ()
    """Findings in spite of which it was started, by the names that the user gave; `shared-sink`
    holds for every later run of the query, too."""

    @property
    def newest_delivered(self) -> int | None:
        """The newest batch that this run or one before it delivered."""
        return self.delivered_before if self.last_batch is None else self.last_batch


KEPT_BATCHES = 100
"""How many of the newest batches a record lists."""
LONGEST_PLAN = 64 * 1024
LONGEST_MESSAGE = 16 * 1024


def encode_run(run: Run) -> bytes:
    """Return the bytes of a run's record."""
    return encode_document(_without_secrets(document_of(_bounded(run))))


def decode_run(content: bytes) -> Run:
    """Return the run that the bytes hold; raise UnreadableError where they hold none."""
    return decode_document(Run, content)


def _bounded(run: Run) -> Run:
    failure = run.failure
    if failure is not None:
        failure = replace(failure, message=failure.message[:LONGEST_MESSAGE])
    plan = replace(run.plan, text=run.plan.text[:LONGEST_PLAN])
    return replace(run, recent=run.recent[-KEPT_BATCHES:], failure=failure, plan=plan)


def _without_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """Redact everything but numbers, times, and the digests of files, which may bear any name."""
    plan, recent = document["plan"], document["recent"]
    once = _redacted_once(tuple(sorted(document["settings"].items())), plan["text"])
    # Facts of the query are made without secrets: they are compared with those of the next start.
    emptied = {**plan, "code": {}, "text": "", "query": None}
    several = {**document, "plan": emptied, "settings": {}, "recent": []}
    redacted = cast("dict[str, Any]", redact_value(several))
    redacted["plan"] |= {"code": plan["code"], "text": once[1], "query": plan["query"]}
    return redacted | {"settings": once[0], "recent": recent}


@lru_cache(maxsize=32)
def _redacted_once(settings: tuple[tuple[str, str], ...], text: str) -> tuple[object, str]:
    """Redact what is long and stays the same during a run, not again for every batch."""
    return redact_value(dict(settings)), redact(text)
