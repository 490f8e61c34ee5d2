"""Collects the evidence of a checkpoint: reads it and its sink's log, and packs what is asked for.

Nothing but the bundle is ever written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.answers import Answer
from holdfast.checkpoint.picture import Picture, passed_over
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import read_picture
from holdfast.diagnosis.checks.location import check_is_there
from holdfast.diagnosis.checks.picture import check_picture
from holdfast.diagnosis.checks.records import with_records
from holdfast.diagnosis.checks.sink.ownledger import check_output_gone
from holdfast.diagnosis.checks.subject import SINK_CHECKS
from holdfast.diagnosis.evidence.bundle import pack, put_bundle, refuse_bad_place
from holdfast.diagnosis.evidence.facts import evidence_of
from holdfast.diagnosis.evidence.missing import refused_by_sink
from holdfast.diagnosis.evidence.report import markdown_report
from holdfast.diagnosis.inspection.evidence import Bundle, Evidence
from holdfast.diagnosis.inspection.runs.lastquery import (
    LAST_RUN,
    ComparedRun,
    compared_run,
    last_compared,
    newest_of_both,
)
from holdfast.diagnosis.inspection.runs.recorded import Recall, Recorded, nothing
from holdfast.diagnosis.inspection.sink.deltacommits import DeltaCommit, newest_commit_of
from holdfast.diagnosis.inspection.sink.facts import (
    SinkClues,
    contradicted_format,
    contradicted_mode,
    identity_from_sink,
)
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.errors import NotFoundError, StorageError
from holdfast.findings import Finding, Place, Severity, worst_first
from holdfast.jobs.target import DeclaredSink
from holdfast.ledgers.delta import transactions as delta
from holdfast.ledgers.reading import SinkPlace
from holdfast.ledgers.sinkstate import SinkState
from holdfast.records.documents import document_of, encode_document
from holdfast.redaction import redact
from holdfast.storage.location import shown_path
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

HISTORY_BATCHES = 1000
"""How many of the newest batches are looked at for restarts; Spark keeps 100 by default."""


@dataclass(frozen=True)
class BundlePlace:
    """Where an archive is wanted, and the local folders that it may not lie in."""

    target: Path
    evidence: tuple[Path, ...]
    version: str
    """Of Holdfast, for the documents in the archive."""


def collect_evidence(
    reader: Reader,
    *,
    formats: Formats | None = None,
    job: str | None = None,
    declared: DeclaredSink | None = None,
    sink: SinkPlace | None = None,
    bundle: BundlePlace | None = None,
    recall: Recall = nothing,
    declared_job: DeclaredJob | None = None,
) -> Answer[Evidence]:
    """Gather the nine facts of a checkpoint, each with how it is known.

    They are not ready where the next start would be refused because of what happened to the sink.
    """
    if bundle is not None:
        refuse_bad_place(bundle.target, bundle.evidence)
    recorded = recall()
    picture, is_there = _picture(reader, sink, recorded)
    clues = _clues(picture, declared, sink)
    result = evidence_of(picture, clues, formats=formats or {}, job=job, recorded=recorded)
    reported = worst_first(with_records(check_picture(picture), picture, recorded))
    if not is_there and recorded.runs and not recorded.was_reset:
        # This says more than that the checkpoint knows less than its records.
        reported = (_lost(recorded, clues), *(one for one in reported if one.code != "HF2342"))
    subject = Subject(
        picture, picture.location, sink=clues.memory, job=declared_job, is_there=is_there,
        recorded=recorded, sight=_sight(picture, sink),
    )  # fmt: skip
    refusals = _fatal(check_output_gone(subject))
    result = refused_by_sink(result, refusals, declared_job.name if declared_job else None)
    findings = (*_findings(result, clues), *_of_sink(subject), *reported)
    steps = tuple(dict.fromkeys(_steps(result)))
    answer = Answer("evidence", picture.location, result, findings, steps)
    if bundle is None:
        return answer
    last = _last_run(recorded, result, picture)
    packed = _packed(reader, picture, answer, bundle, last)
    return replace(answer, result=replace(result, bundle=packed))


def _last_run(recorded: Recorded, result: Evidence, picture: Picture) -> ComparedRun | None:
    last = newest_of_both(recorded, recorded.recordings, picture)
    if last is None:
        # The checkpoint may be gone, and its id be known from a record.
        passed = passed_over(picture.newest_commit_id, picture.pending)
        last = last_compared(recorded, result.query_id.value, passed)
    return None if last is None else compared_run(last)


def _picture(reader: Reader, sink: SinkPlace | None, recorded: Recorded) -> tuple[Picture, bool]:
    """Read the checkpoint; one that is not there may be, where records or a sink know more."""
    try:
        return read_picture(reader, history=HISTORY_BATCHES), True
    except NotFoundError:
        if not recorded.runs and not _knows_batches(sink):
            raise
    return read_picture(MemoryReader({}, location=reader.location)), False


def _knows_batches(sink: SinkPlace | None) -> bool:
    """Whether a sink was named, or the declared one knows batches of any query."""
    if sink is None or sink.given:
        return sink is not None
    memory = sink.ask()
    known = memory.delta.identifiers if memory.delta is not None else ()
    return bool(known) or (memory.own is not None and bool(memory.own.newest))


def _lost(recorded: Recorded, clues: SinkClues) -> Finding:
    """Say that the checkpoint is gone, and what its records and its sink still know."""
    run = recorded.started or recorded.runs[0]
    delivered = max((one.last_batch for one in recorded.runs if one.last_batch is not None),
                    default=None)  # fmt: skip
    ended = "without a final record" if run.ended is None else f"{run.ended.value} {run.ended_at}"
    upto = "no batch" if delivered is None else f"batches up to {delivered}"
    reported = f"the checkpoint is missing; the records have run {run.generation} of job {run.job} "
    reported += f"({ended}), and that {upto} {'was' if delivered is None else 'were'} delivered"
    held = None if clues.memory is None else clues.memory.last_committed(run.query_id)
    if held is not None:
        reported += f"; the sink: {held.basis}" if held.value is None else (
            f"; the sink has batches up to {held.value}")  # fmt: skip
    evidence = {
        "run": run.generation, "recorded": delivered, "query_id": run.query_id,
        "sink": None if held is None else held.value,
    }  # fmt: skip
    return Finding("HF3025", Severity.FATAL, reported, Place(""), evidence)


def _of_sink(subject: Subject) -> Iterator[Finding]:
    """Yield what a start would do to the rows in the sink, and that there is no checkpoint."""
    # What is declared is no evidence: also of a job, a checkpoint that is not there is reported.
    yield from check_is_there(replace(subject, job=None))
    for check in SINK_CHECKS:
        yield from _fatal(check(subject))


def _fatal(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(one for one in findings if one.severity is Severity.FATAL)


def _sight(picture: Picture, sink: SinkPlace | None) -> SinkState | None:
    """Look at the declared sink as a start does; None where there is none."""
    query_id = None if picture.query is None else picture.query.id
    return None if sink is None else sink.see(query_id)


def _clues(picture: Picture, declared: DeclaredSink | None, sink: SinkPlace | None) -> SinkClues:
    if sink is None:
        return SinkClues(declared=declared)
    memory = sink.ask()
    clues = SinkClues(memory, None, declared, sink.given)
    query_id = picture.query.id if picture.query is not None else identity_from_sink(clues)
    if memory.delta is None or query_id is None:
        return clues
    return replace(clues, commit=_delta_commit(sink, query_id))


def _delta_commit(sink: SinkPlace, query_id: str) -> DeltaCommit | None:
    if sink.open_below is None:
        return None
    try:
        return newest_commit_of(sink.open_below(delta.LOG_FOLDER), query_id)
    except StorageError:
        # The ledger was read a moment ago; two facts less is what a failure costs here.
        return None


def _findings(result: Evidence, clues: SinkClues) -> Iterator[Finding]:
    if clues.given and clues.log is None and clues.memory is not None:
        message = (
            f"the sink's directory does not show it: {clues.memory.last_committed(None).basis}"
        )
        evidence = {"sink": clues.memory.location}
        yield Finding("HF2504", Severity.WARNING, message, Place(""), evidence)
    mode = contradicted_mode(result.output_mode, clues)
    if mode is not None and clues.declared is not None:
        message = f"the query wrote in {result.output_mode.value} mode, but {mode} is declared"
        evidence = {"read": result.output_mode.source, "declared": clues.declared.at}
        yield Finding("HF2505", Severity.WARNING, message, Place(""), evidence)
    declared_format = contradicted_format(clues)
    if declared_format is not None and clues.log is not None and clues.declared is not None:
        message = (
            f"the log in the output directory is of {clues.log.kind}, not of {declared_format}"
        )
        evidence = {"read": clues.log.location, "declared": clues.declared.at}
        yield Finding("HF2505", Severity.WARNING, message, Place(""), evidence)


def _steps(result: Evidence) -> Iterator[str]:
    for missing in result.missing:
        for how in missing.how:
            if missing.essential and how.startswith("holdfast "):
                yield how.partition("   ")[0]


def _packed(
    reader: Reader,
    picture: Picture,
    answer: Answer[Evidence],
    place: BundlePlace,
    last: ComparedRun | None,
) -> Bundle:
    document = json.dumps(answer.document(place.version), indent=2, ensure_ascii=False) + "\n"
    made = {
        "evidence.json": document.encode("utf-8", "backslashreplace"),
        "evidence.md": markdown_report(answer).encode("utf-8", "backslashreplace"),
    }
    if last is not None:
        # Made without secrets, so that it can be compared with the next version of the code.
        made[LAST_RUN] = encode_document(document_of(last))
    head: dict[str, object] = {
        "schema": "holdfast.bundle/1",
        "holdfast": place.version,
        "checkpoint": redact(picture.location),
        "query_id": redact(answer.result.query_id.value or "") or None,
    }
    packed = pack(reader, picture.layout.items, head=head, made=made)
    put_bundle(place.target, packed.data)
    return Bundle(
        path=shown_path(str(place.target)),
        sha256=hashlib.sha256(packed.data).hexdigest(),
        size_bytes=len(packed.data),
        files=packed.files,
        redacted=packed.redacted,
        left_out=packed.left_out,
    )
