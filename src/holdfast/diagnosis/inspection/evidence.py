"""The result of `evidence`: the nine facts that a diagnosis needs.

Eight of them are essential, which means that advice without them can lose or duplicate rows:
where the checkpoint is and the query id (which files, and what the sink knows the query by), the
source offsets (what a rerun reads), the sink and the output mode (duplicates in a rerun), the
stateful operators and their provider (what a rewind would have to undo), and at least the
range of Spark releases (recovery differs between them). The restart history shows how it came to
this, which helps to find the cause; nothing becomes unsafe without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.checkpoint.operators import Operator
from holdfast.checkpoint.releases import SparkVersion
from holdfast.diagnosis.inspection.result import Source
from holdfast.diagnosis.inspection.runs.restarts import RestartHistory

ESSENTIAL = (
    "checkpoint_location",
    "query_id",
    "source_offsets",
    "sink",
    "output_mode",
    "stateful_operators",
    "state_store_provider",
    "spark_version",
)
"""The facts without which `ready` is false."""
FACTS = (*ESSENTIAL, "restart_history")


class Basis(str, Enum):
    """How a fact is known."""

    RECORDED = "recorded"
    """A run of Holdfast's own wrote it down, or `holdfast record` did for a program that runs
    elsewhere."""
    READ = "read"
    """It stands in the checkpoint or in the sink's own log."""
    INFERRED = "inferred"
    """It follows from something else, which `source` names; the project file counts as such."""
    UNKNOWN = "unknown"
    """Unknown; `missing` says how to get it."""


@dataclass(frozen=True)
class TextFact:
    """A fact that is one text."""

    value: str | None
    """What is known; null where nothing is, and for the provider of a query without state."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


@dataclass(frozen=True)
class SourceOffsets:
    """How far the newest planned batch reads each source."""

    batch_id: int
    """The batch that these offsets belong to."""
    committed: bool
    """Whether that batch is committed."""
    sources: tuple[Source, ...]
    """In the order of the offsets log."""


@dataclass(frozen=True)
class OffsetsFact:
    """How far the sources were read."""

    value: SourceOffsets | None
    """Null where it is unknown."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


@dataclass(frozen=True)
class SinkEvidence:
    """Where the rows go, and what that place remembers of the query."""

    kind: str
    """delta, files, the provider that a commit names, or the format that the project declares."""
    identity: str | None
    """Its name, path, table or function."""
    last_committed: int | None
    """The newest batch of this query in the sink's own log; null if unknown."""
    last_committed_basis: str
    """How that is known, or why it is not."""
    knows_query: bool | None
    """Whether the sink's log names this query id; null where its kind of log names none."""
    promise: str | None = None
    """What the sink promised of a batch that is delivered twice, as recorded; null without."""
    native: bool = False
    """Whether Spark's own sink writes, under Holdfast's lease and records."""


@dataclass(frozen=True)
class SinkFact:
    """Which sink it is."""

    value: SinkEvidence | None
    """Null where it is unknown."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


@dataclass(frozen=True)
class OperatorsFact:
    """Which stateful operators the query has."""

    value: tuple[Operator, ...] | None
    """Empty for a query without state, null where it is unknown."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


@dataclass(frozen=True)
class SparkVersionFact:
    """Which Spark wrote the newest batch."""

    value: SparkVersion | None
    """One release or a range of them, null if unknown."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


@dataclass(frozen=True)
class HistoryFact:
    """How often the query was started again."""

    value: RestartHistory | None
    """Null where it is unknown."""
    basis: Basis
    """How it is known."""
    source: str
    """What it was taken from, or why it is unknown."""


Fact = TextFact | OffsetsFact | SinkFact | OperatorsFact | SparkVersionFact | HistoryFact


@dataclass(frozen=True)
class Missing:
    """Something that would complete the evidence."""

    fact: str
    """The fact that it belongs to."""
    essential: bool
    """Whether `ready` is false for the want of it."""
    what: str
    """What is not known."""
    how: tuple[str, ...]
    """How to get it: commands, and places to look, the best first."""


@dataclass(frozen=True)
class Bundle:
    """The archive that was written with the logs and this evidence."""

    path: str
    """Where it is."""
    sha256: str
    """The digest of the archive."""
    size_bytes: int
    """Its size."""
    files: int
    """How many files of the checkpoint are in it."""
    redacted: int
    """In how many of them something was redacted."""
    left_out: int
    """How many files of the checkpoint are not in it; its manifest says why."""


@dataclass(frozen=True, repr=False)
class Evidence(OneLine):
    """The nine facts, each with how it is known."""

    SHOWN: ClassVar = ("checkpoint_location.value", "query_id.value", "ready", "missing")
    COMMAND: ClassVar = "evidence"

    checkpoint_location: TextFact
    """Where the checkpoint is."""
    query_id: TextFact
    """What sinks know the query by."""
    source_offsets: OffsetsFact
    """How far the sources were read."""
    sink: SinkFact
    """Where the rows go."""
    output_mode: TextFact
    """append, update, complete, or `append or update` where both fit and write the same rows."""
    stateful_operators: OperatorsFact
    """What the query remembers between batches."""
    state_store_provider: TextFact
    """hdfs, rocksdb or another provider's class; null with a basis for a query without state."""
    spark_version: SparkVersionFact
    """Which Spark wrote the newest batch."""
    restart_history: HistoryFact
    """How often the query was started again, as far as it can be seen."""
    ready: bool
    """Nothing essential is unknown, and no start is refused because the sink lost its batches. All
    but the restart history is essential."""
    missing: tuple[Missing, ...]
    """What would complete it, and how to get it."""
    bundle: Bundle | None = None
    """The archive, if one was requested."""

    def fact(self, name: str) -> Fact:
        """Return one of the nine by its name."""
        found: Fact = getattr(self, name)
        return found
