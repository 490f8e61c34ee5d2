"""What `rehearse` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.records.run import OperatorState
from holdfast.remedy.results import StepDone


@dataclass(frozen=True)
class RehearsedStart:
    """What Spark did with the copies."""

    starts: bool
    """Whether the job starts and runs without an error."""
    ended: str
    """How it ended: `finished`, `stopped` after the batches that were asked for, `failed` or
    `refused`."""
    batches: int
    """How many batches ran."""
    first_batch: int | None
    """The first of them; null where none ran."""
    last_batch: int | None
    """The last of them."""
    rows: int
    """How many rows Spark read."""
    skipped_batches: int
    """Batches that the sink had already: they were not written again."""
    code: str | None = None
    """The code of the error; null where there was none. `holdfast explain` has its page."""
    message: str | None = None
    """What went wrong, in one sentence."""


@dataclass(frozen=True)
class RehearsedBatches:
    """The batches of the copy afterwards."""

    last_planned: int | None
    """The newest batch in offsets/."""
    last_committed: int | None
    """The newest batch in commits/."""
    pending: int | None
    """The batch that was planned and not committed."""


@dataclass(frozen=True)
class ScratchSink:
    """The copy of the sink that the job wrote to."""

    kind: str
    """The format of the sink."""
    place: str
    """Where the scratch sink is, or was."""
    before: int | None
    """The newest batch of the query in the original; null where it has none, or it is unknown."""
    planned: int | None
    """The newest batch in the scratch sink once the plan was applied."""
    after: int | None
    """The newest batch in the scratch sink after the run."""
    rows_planned: int | None
    """How many rows a reader saw once the plan was applied; null where they were not counted."""
    rows_after: int | None
    """How many rows a reader saw after the run."""
    known: bool = True
    """False where the scratch sink cannot say which batches it has."""


@dataclass(frozen=True)
class Original:
    """Something that was copied, and that must be as it was."""

    what: str
    """`checkpoint`, `records`, `output`, `records of the output` or `table`."""
    location: str
    """Where it is."""
    files: int
    """How many files it has; of a table, how many rows."""
    size_bytes: int | None
    """Their size in bytes; null for a table."""
    digest: str
    """The digest of all names and bytes before the rehearsal."""
    unchanged: bool
    """Whether the digest is the same afterwards."""


@dataclass(frozen=True, repr=False)
class Rehearsal(OneLine):
    """A plan as it went on copies."""

    SHOWN: ClassVar = ("plan", "location", "start", "verdict")
    COMMAND: ClassVar = "rehearse"

    location: str
    """The checkpoint that the plan is for."""
    plan: str
    """The id of the plan."""
    remedy: str
    """Its remedy."""
    job: str | None
    """The job in the project; null for a checkpoint that no job is known of."""
    workspace: str | None
    """The directory with the copies; null where it was removed."""
    steps: tuple[StepDone, ...]
    """The steps that were done on the copies."""
    verdict: str | None
    """What `check` says of the copy once the plan was applied; null where Spark was not started."""
    start: RehearsedStart | None
    """What Spark did; null where it was not started."""
    not_started: str | None
    """Why Spark was not started; null where it was."""
    batches: RehearsedBatches
    """The batches of the copy afterwards."""
    next_start: str
    """What the start after that would do."""
    state: tuple[OperatorState, ...]
    """The state after the last batch that ran, as Spark measured it; empty where it has none."""
    sink: ScratchSink | None
    """The scratch sink; null where the sink was not copied."""
    originals: tuple[Original, ...]
    """What was copied, with the proof that it is unchanged."""
    notes: tuple[str, ...] = ()
    """What is different from the real thing."""
