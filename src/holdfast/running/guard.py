"""Compares what is about to start with the checkpoint and the sink; a start may be refused.

Each guard is a function that yields findings. One of error or worse refuses the start; what the
user accepts by name becomes a note, and is recorded with the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.diagnosis.checks.location import NO_PLACES, WrittenPlaces, on_own_disks
from holdfast.diagnosis.checks.sink.sparkfiles import CLOCK_TOLERANCE_MS
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.sink.gone import SinkBefore, SinkCompared
from holdfast.errors import RefusedError
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer, SinkState
from holdfast.plurals import counted
from holdfast.records.run import SHARED_SINK, PlanFacts
from holdfast.redaction import redact

SHARED_MOUNT = "shared-mount"
ACCEPTABLE: Mapping[str, str] = {
    "empty-sink": "HF3013",
    "new-checkpoint": "HF3025",
    "sink-behind": "HF3006",
    SHARED_SINK: "HF3007",
    "changing-source": "HF2372",
    SHARED_MOUNT: "HF3028",
}
"""What a user can accept by name, and the finding that it softens."""

_HERE = Place("")
_UNSAFE = 30
"""The status of a start that is refused for what the doctor calls fatal, whatever the code's own
status is where a command can't go on."""
_OWN_STATUS = frozenset({"HF2230"})
"""What could not be read is refused with the status of its code."""


@dataclass(frozen=True)
class StartFacts:
    """Everything that the guards look at."""

    inspection: Inspection
    plan: PlanFacts
    sight: SinkState
    """What is seen of the sink."""
    sink_queries: Collection[str]
    """Other queries whose batches the sink knows."""
    settings: Mapping[str, str]
    """What the user sets."""
    before: SinkBefore | None = None
    """The sink of earlier runs, as the records know it."""
    mode: str = "append"
    """How the sink takes a batch: append, upsert or complete."""
    recorded: int | None = None
    """The newest batch that a recorded run delivered from this checkpoint."""
    recorded_query: str | None = None
    """The query whose batch that is."""
    unread: tuple[str, ...] = ()
    """Why newer records of runs cannot be read."""
    declared: tuple[Finding, ...] = ()
    """What is known of the declared sources without asking Spark."""
    master: str = "local"
    """Where Spark runs."""
    places: WrittenPlaces = NO_PLACES
    """Local places that its tasks write to."""
    emptied: tuple[Finding, ...] = ()
    """What is said of a checkpoint in a temporary directory."""
    fatal: tuple[Finding, ...] = ()
    """What the doctor's checks call fatal."""

    @property
    def sink(self) -> LastCommitted:
        """What the sink says of this query."""
        return self.sight.held

    @property
    def foreign_queries(self) -> frozenset[str]:
        """Queries in the sink that are not an earlier one of this job, whose checkpoint is gone."""
        return frozenset(self.sink_queries) - {self.recorded_query or ""}

    @property
    def is_fresh(self) -> bool:
        """Whether no batch was ever planned."""
        return self.inspection.batches.last_planned is None

    @property
    def delivered_before(self) -> int | None:
        """The newest batch that earlier runs of this query delivered."""
        return None if self.inspection.query_id is None else self.recorded

    @property
    def rerun(self) -> int | None:
        """The pending batch that Spark runs again first."""
        next_start = self.inspection.next_start
        return next_start.batch_id if next_start.action is Action.RERUN else None


def run_guards(start: StartFacts, accepted: Collection[str]) -> tuple[Finding, ...]:
    """Run every guard; raise RefusedError for the first finding that forbids the start."""
    findings = [finding for guard in GUARDS for finding in guard(start)]
    return refuse_unaccepted(findings, accepted, start.inspection.location)


def refuse_unaccepted(
    findings: Collection[Finding], accepted: Collection[str], location: str
) -> tuple[Finding, ...]:
    """Return findings, those softened that are accepted; raise RefusedError for a serious one."""
    softened = {ACCEPTABLE[name] for name in accepted if name in ACCEPTABLE}
    for finding in findings:
        if finding.severity.rank >= Severity.ERROR.rank and finding.code not in softened:
            raise _refusal(finding, location)
    return tuple(_softened(finding) if finding.code in softened else finding
                 for finding in findings)  # fmt: skip


def accepted_by_name(findings: Collection[Finding], accepted: Collection[str]) -> tuple[str, ...]:
    """Name what was accepted and indeed found."""
    found = {finding.code for finding in findings}
    return tuple(sorted(name for name in accepted if ACCEPTABLE.get(name) in found))


def guard_next_start(start: StartFacts) -> Iterator[Finding]:
    """Refuse where Spark itself would fail, or where what it would do is unknown."""
    told = start.inspection.next_start
    if told.action is Action.FAIL:
        reached = "; the batch would reach the sink before that" if told.sink_touched else ""
        yield Finding("HF3001", Severity.FATAL, f"Spark would fail: {told.reason}{reached}", _HERE)
    if told.action is Action.UNKNOWN:
        yield Finding("HF2230", Severity.FATAL, told.reason, _HERE)


def guard_sources(start: StartFacts) -> Iterator[Finding]:
    """Refuse another number of sources, or a source of another kind at its place."""
    before, now = start.inspection.sources, start.plan.sources
    if start.is_fresh:
        return
    if len(before) != len(now):
        message = f"the job has {_sources(len(now))}, its checkpoint {_sources(len(before))}"
        evidence = {"job": list(now), "checkpoint": [source.kind for source in before]}
        yield Finding("HF3002", Severity.FATAL, message, _HERE, evidence)
        return
    for source, kind in zip(before, now, strict=True):
        if not {kind, source.kind} & {"unknown"} and kind not in (source.kind, *source.candidates):
            message = f"source {source.index} is {kind} in the job and {source.kind} in the "
            message += "checkpoint"
            told = {"offset": source.summary, "basis": source.basis}
            yield Finding("HF3003", Severity.FATAL, message, _HERE, told)


def guard_declared_sources(start: StartFacts) -> Iterator[Finding]:
    """Refuse sources at another path, and streams of tables in which another job changes rows."""
    yield from start.declared


def guard_local_places(start: StartFacts) -> Iterator[Finding]:
    """Refuse local places on a cluster, whose machines would each write to their own disks."""
    yield from on_own_disks(start.master, start.places, bool(start.plan.operators))


def guard_lasting_place(start: StartFacts) -> Iterator[Finding]:
    """Warn of a checkpoint in a temporary directory, unless its whole project is there."""
    yield from start.emptied


def guard_operators(start: StartFacts) -> Iterator[Finding]:
    """Refuse other stateful operators than those whose state there is."""
    if start.is_fresh:
        return
    if start.plan.operators is None:
        message = "the stateful operators of the job can't be told from its plan"
        yield Finding("HF3011", Severity.WARNING, message, _HERE)
        return
    before = [operator.name for operator in start.inspection.operators]
    if not before and start.inspection.batches.last_committed is None:
        return  # killed before the first batch wrote any state
    now = list(start.plan.operators)
    same = len(before) == len(now) and all(
        name is None or name == other for name, other in zip(before, now, strict=True)
    )
    if not same:
        message = f"the job has the operators {_listed(now)}, its checkpoint {_listed(before)}"
        evidence = {"job": now, "checkpoint": before}
        yield Finding("HF3004", Severity.FATAL, message, _HERE, evidence)


def guard_native_sink(start: StartFacts) -> Iterator[Finding]:
    """Refuse where Spark's own sink would lose rows; report where its batches are unknown."""
    native, passed = start.sight.native, start.inspection.batches.passed_over
    if native is None:
        return
    if native.continues_as is not None:
        message = (
            f"Holdfast took batches of this query back from {start.sight.place}, which continues "
            f"it as {native.continues_as}; Spark's own sink would write as "
            f"{start.inspection.query_id}"
        )
        yield Finding("HF3021", Severity.FATAL, message, _HERE)
    elif native.lacks_log and passed is not None:
        message = (
            f"the checkpoint committed batch {passed}; {start.sight.place} has no _spark_metadata"
        )
        yield Finding("HF3022", Severity.FATAL, message, _HERE, {"committed": passed})
    elif (
        start.sink.answer is SinkAnswer.UNKNOWN and start.sight.place is None and not start.is_fresh
    ):
        pending = start.inspection.batches.pending
        message = f"what the sink holds of this query cannot be determined: {start.sink.basis}"
        if pending is not None:
            message += f"; batch {pending} is pending and is written again"
        severity = Severity.INFO if pending is None else Severity.WARNING
        yield Finding("HF3024", severity, message, _HERE, {"pending": pending})


def guard_sink_ahead(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the sink holds a batch that this checkpoint would plan anew."""
    planned = start.inspection.batches.last_planned
    held = start.sink.value
    is_ahead = held is not None and held > (-1 if planned is None else planned)
    if is_ahead or start.sink.closed:
        shown = "none" if planned is None else f"batch {planned}"
        has = f"holds batch {held}" if is_ahead else "is closed for this query"
        message = f"the sink {has}; the newest that the checkpoint knows is {shown}"
        evidence = {"sink": held, "planned": planned, "basis": start.sink.basis}
        yield Finding("HF3005", Severity.FATAL, message, _HERE, evidence)


def guard_foreign_log(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the log of Spark's file sink has the newest batch of another checkpoint.

    The log names no query, but says when it was written: before this checkpoint planned the batch.
    """
    written = None if start.sight.native is None else start.sight.native.written_ms
    planned, held = start.inspection.batches.last_planned, start.sink.value
    planned_ms = start.inspection.batch_timestamp_ms
    if written is None or planned is None or held != planned or planned_ms is None:
        return
    if written + CLOCK_TOLERANCE_MS < planned_ms:
        message = (
            f"the sink wrote its entry of batch {held} {(planned_ms - written) // 1000:,} s before "
            "this checkpoint planned that batch: it is of another checkpoint"
        )
        evidence = {"sink": held, "planned": planned, "written_ms": written}
        yield Finding("HF3005", Severity.FATAL, message, _HERE, evidence)


def guard_sink_gone(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the output of delivered batches is gone, or the sink is another one.

    A pending batch counts where the ledger holds it: it would be skipped when it runs again.
    """
    passed = start.inspection.batches.passed_over
    if start.inspection.query_id is not None and (passed, start.sink.value) != (None, None):
        compared = SinkCompared(
            start.sight, start.before, passed, start.mode == "complete", start.sink_queries
        )
        yield from compared.findings()


def guard_records(start: StartFacts) -> Iterator[Finding]:
    """Refuse a checkpoint that lost batches, where the sink cannot recognise them.

    A sink that knows the query, or another job's, has its own guard; an empty one may begin again.
    """
    planned, recorded = start.inspection.batches.last_planned, start.recorded
    if recorded is None or recorded <= (-1 if planned is None else planned):
        return
    sight = start.sight
    knows_others = (
        start.foreign_queries or sight.held.answer is SinkAnswer.BATCH or sight.held.closed
    )
    is_empty = sight.is_for_development or (sight.shows_rows and sight.contents.is_without_rows)
    if start.recorded_query not in start.sink_queries and (knows_others or is_empty):
        return
    has = "is empty" if planned is None else f"ends with batch {planned}"
    message = f"the checkpoint {has}, but a recorded run delivered batch {recorded} from it"
    evidence = {"planned": planned, "recorded": recorded, "sink": sight.place}
    yield Finding("HF3025", Severity.ERROR, message, _HERE, evidence)


def guard_unreadable_records(start: StartFacts) -> Iterator[Finding]:
    """Refuse a sink without a batch of this query while the records of its runs are unreadable."""
    passed, sight = start.inspection.batches.passed_over, start.sight
    is_without = sight.place is not None and sight.held.answer is SinkAnswer.NOTHING
    if start.unread and start.before is None and passed is not None and is_without:
        message = f"the sink holds no batch of this query, and {start.unread[0]}"
        evidence = {"committed": passed, "unreadable": list(start.unread)}
        yield Finding("HF3026", Severity.ERROR, message, _HERE, evidence)


def guard_sink_behind(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the checkpoint takes batches for delivered that the sink does not hold."""
    delivered = start.inspection.batches.passed_over
    held, found = start.sink.value, start.sight.rows_up_to
    evidence = {"sink": held, "committed": delivered, "basis": start.sink.basis}
    if delivered is not None and held is not None and held < delivered:
        message = f"the checkpoint committed batch {delivered}; the sink holds only up to {held}"
        yield Finding("HF3006", Severity.ERROR, message, _HERE, evidence)
    elif held is not None and found is not None:
        message = f"the sink's ledger holds batch {held}; the newest whose files exist is {found}"
        yield Finding("HF3006", Severity.ERROR, message, _HERE, evidence | {"found": found})


def guard_foreign_sink(start: StartFacts) -> Iterator[Finding]:
    """Refuse a new checkpoint on a sink that another query filled."""
    if start.is_fresh and start.sink.value is None and start.foreign_queries:
        others = sorted(start.foreign_queries)
        message = f"the sink holds batches of {counted(len(others), 'other query')}"
        yield Finding("HF3007", Severity.ERROR, message, _HERE, {"query_ids": others[:10]})


def guard_settings(start: StartFacts) -> Iterator[Finding]:
    """Tell which given settings Spark will overrule with those of the checkpoint."""
    for name, pinned in start.inspection.settings.items():
        given = start.settings.get(name)
        if given is not None and given != pinned:
            message = f"{name} is {redact(given)} here and {pinned} in the checkpoint"
            evidence = {"setting": name, "given": given, "pinned": pinned}
            yield Finding("HF3008", Severity.INFO, message, _HERE, evidence)


def guard_examined(start: StartFacts) -> Iterator[Finding]:
    """Refuse what the doctor calls fatal, with the doctor's own code."""
    yield from start.fatal


Guard = Callable[[StartFacts], Iterator[Finding]]

GUARDS: tuple[Guard, ...] = (
    guard_next_start,
    guard_sources,
    guard_declared_sources,
    guard_local_places,
    guard_lasting_place,
    guard_operators,
    guard_native_sink,
    guard_sink_ahead,
    guard_foreign_log,
    guard_sink_gone,
    guard_records,
    guard_unreadable_records,
    guard_sink_behind,
    guard_foreign_sink,
    guard_settings,
    guard_examined,
)
"""In the order in which they are told."""


def _refusal(finding: Finding, location: str) -> RefusedError:
    is_of_doctor = finding.severity is Severity.FATAL and finding.code not in _OWN_STATUS
    return RefusedError(
        finding.code,
        finding.message,
        at=finding.place.within(location),
        why=finding.why,
        next_steps=finding.next_steps,
        status=_UNSAFE if is_of_doctor else None,
    )


def _softened(finding: Finding) -> Finding:
    return replace(
        finding,
        severity=Severity.INFO,
        message=f"{finding.message} (accepted)",
        next_steps=(),
        accepted=True,
    )


def _sources(count: int) -> str:
    return counted(count, "source")


def _listed(names: Collection[str | None]) -> str:
    return ", ".join(name or "unnamed" for name in names) or "none"
