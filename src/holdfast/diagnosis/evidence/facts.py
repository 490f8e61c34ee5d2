"""Draws the nine facts from a picture, the records of runs and what is known of the sink; nothing
is read here."""

from __future__ import annotations

from dataclasses import replace

from holdfast.checkpoint.operators import Operator
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.releases import SparkVersion
from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.diagnosis.evidence.missing import missing_facts
from holdfast.diagnosis.inspection.evidence import (
    ESSENTIAL,
    Basis,
    Evidence,
    HistoryFact,
    OffsetsFact,
    OperatorsFact,
    SinkEvidence,
    SinkFact,
    SourceOffsets,
    SparkVersionFact,
    TextFact,
)
from holdfast.diagnosis.inspection.result import Inspection, inspection_of, recorded_version
from holdfast.diagnosis.inspection.runs.lastquery import newest_of_both
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recorded
from holdfast.diagnosis.inspection.runs.restarts import (
    NO_RESTARTS,
    UNRECORDED,
    attempt_shown,
    restart_history,
    run_shown,
)
from holdfast.diagnosis.inspection.sink.facts import (
    SinkClues,
    identity_from_sink,
    output_mode_fact,
    sink_fact,
)
from holdfast.errors import StorageError
from holdfast.ledgers.sparkfilesink import FORMATS as FILE_FORMATS
from holdfast.records.recordings import QueryPart, Recording
from holdfast.records.run import Run
from holdfast.records.starts import Attempt
from holdfast.wording import counted

_NOT_ASKED = "the sink was not asked"


def source_of(run: Run) -> str:
    """Name a record for people."""
    return f"the record of run {run.generation} of job {run.job}"


def with_recorded_version(fact: SparkVersionFact, run: Run | None) -> SparkVersionFact:
    """Return the exact release where the checkpoint tells a range of them at most."""
    if run is None or fact.basis is Basis.READ:
        return fact
    version = recorded_version(run, fact.value)
    if version is None:
        return fact
    return SparkVersionFact(version, Basis.RECORDED, source_of(run))


def with_recorded_sink(fact: SinkFact, run: Run | None) -> SinkFact:
    """Return the recorded sink where nothing of its own says that this is the one."""
    if run is None or run.sink is None:
        return fact
    asked, sink = fact.value, run.sink
    kind = "files" if sink.kind in FILE_FORMATS else sink.kind
    reported = _NOT_ASKED
    if asked is not None and asked.kind in (kind, sink.kind):
        reported = asked.last_committed_basis
        asked = replace(asked, promise=sink.promise, native=sink.native)
        if fact.basis is Basis.READ:
            return replace(fact, value=asked)
        if asked.knows_query is not None:
            return SinkFact(asked, Basis.RECORDED, source_of(run))
    if fact.basis is Basis.READ:
        return fact
    if run.last_batch is not None:
        reported += f"; a run record says that batch {run.last_batch} was delivered"
    evidence = SinkEvidence(
        kind=sink.kind,
        identity=sink.identity,
        last_committed=None,
        last_committed_basis=reported,
        knows_query=None,
        promise=sink.promise,
        native=sink.native,
    )
    return SinkFact(evidence, Basis.RECORDED, source_of(run))


def with_recorded_mode(fact: TextFact, run: Run | None) -> TextFact:
    """Return the recorded output mode where neither state nor sink kept it."""
    if run is None or run.output_mode is None or fact.basis is Basis.READ:
        return fact
    return TextFact(run.output_mode, Basis.RECORDED, source_of(run))


def source_of_recording(recording: Recording) -> str:
    """Name a recording for people."""
    return f"the query of {recording.program}, recorded at {recording.at}; Holdfast did not run it"


def with_recording(evidence: Evidence, recording: Recording) -> Evidence:
    """Return the evidence with what a program that runs elsewhere recorded of its query."""
    source = source_of_recording(recording)
    mode, sink = evidence.output_mode, evidence.sink
    if mode.basis is not Basis.READ and QueryPart.OUTPUT_MODE not in recording.parts_missing:
        mode = TextFact(recording.output_mode, Basis.RECORDED, source)
    if sink.basis is Basis.UNKNOWN and recording.sink is not None:
        known = recording.sink
        reported = SinkEvidence(
            kind=known.kind,
            identity=known.identity,
            last_committed=None,
            last_committed_basis=_NOT_ASKED,
            knows_query=None,
            promise=known.promise,
            native=known.native,
        )
        sink = SinkFact(reported, Basis.RECORDED, source)
    return replace(evidence, output_mode=mode, sink=sink)


def with_recorded_query(fact: TextFact, run: Run | None) -> TextFact:
    """Return the recorded query id where `metadata` is gone."""
    if run is None or run.query_id is None or fact.basis is Basis.READ:
        return fact
    return TextFact(run.query_id, Basis.RECORDED, source_of(run))


def with_recorded_operators(fact: OperatorsFact, run: Run | None) -> OperatorsFact:
    """Return the recorded operators where the checkpoint has none, or none with a name."""
    names = _operator_names(run)
    if run is None or names is None or (fact.basis is Basis.READ and fact.value is None):
        return fact
    seen = fact.value or ()
    if fact.basis is not Basis.READ:
        operators = tuple(Operator(number, name, (), None) for number, name in enumerate(names))
        return OperatorsFact(operators, Basis.RECORDED, source_of(run))
    if len(seen) != len(names) or all(operator.name is not None for operator in seen):
        return fact
    named = tuple(
        Operator(one.id, one.name or name, one.stores, one.partitions)
        for one, name in zip(seen, names, strict=True)
    )
    return OperatorsFact(named, Basis.RECORDED, f"state/, with names from {source_of(run)}")


def with_recorded_provider(fact: TextFact, run: Run | None) -> TextFact:
    """Return the recorded provider where no entry pins it; a query without operators has none."""
    names = _operator_names(run)
    if run is None or fact.basis is Basis.READ or names is None:
        return fact
    if not names:
        return TextFact(None, Basis.RECORDED, f"{source_of(run)}: it keeps no state")
    if run.state_store_provider is None:
        return fact
    return TextFact(_provider_name(run.state_store_provider), Basis.RECORDED, source_of(run))


def with_recorded_runs(
    fact: HistoryFact, runs: tuple[Run, ...], attempts: tuple[Attempt, ...]
) -> HistoryFact:
    """Return the recorded runs and attempts beside what the batches give away."""
    if attempts:
        seen = replace(fact.value or NO_RESTARTS, attempts=tuple(map(attempt_shown, attempts)))
        fact = replace(fact, value=seen)
    if not runs:
        return fact
    seen = fact.value or NO_RESTARTS
    history = replace(seen, runs=tuple(map(run_shown, runs)), not_visible=UNRECORDED)
    return HistoryFact(history, Basis.RECORDED, f"the records of {counted(len(runs), 'run')}")


def _operator_names(run: Run | None) -> tuple[str, ...] | None:
    """Return the names, None where no plan was recorded."""
    return run.plan.operators if run is not None and run.plan.text else None


def _provider_name(recorded: str) -> str:
    if "HDFSBacked" in recorded:
        return "hdfs"
    return "rocksdb" if "RocksDB" in recorded else recorded


def _known_by_record(found: Inspection, run: Run | None) -> Inspection:
    """Return what was found with the query id of the record, where the checkpoint has none."""
    if found.query_id is not None or run is None:
        return found
    return replace(found, query_id=run.query_id)


def evidence_of(
    picture: Picture,
    clues: SinkClues,
    *,
    formats: Formats,
    job: str | None = None,
    recorded: Recorded = NOTHING_RECORDED,
) -> Evidence:
    """Gather the nine facts and what would complete them."""
    run = recorded.run_of(picture)
    found = inspection_of(picture, formats=formats, shown=1, spark=None, verified=False)
    place = f"the checkpoint of job {job}" if job is not None else "the target"
    evidence = Evidence(
        checkpoint_location=TextFact(picture.location, Basis.READ, place),
        query_id=with_recorded_query(_query_id(picture, clues), run),
        source_offsets=_source_offsets(picture, found),
        sink=with_recorded_sink(sink_fact(_known_by_record(found, run), clues), run),
        output_mode=with_recorded_mode(output_mode_fact(picture, clues), run),
        stateful_operators=with_recorded_operators(_operators(picture, found), run),
        state_store_provider=with_recorded_provider(_provider(picture, found), run),
        spark_version=with_recorded_version(_spark_version(picture, found, clues), run),
        restart_history=with_recorded_runs(
            _history(picture), recorded.runs_of(picture), recorded.attempts
        ),
        ready=False,
        missing=(),
    )
    last = newest_of_both(recorded, recorded.recordings, picture)
    if isinstance(last, Recording):
        evidence = with_recording(evidence, last)
    return _judged(evidence, job if job is not None else picture.location)


def _judged(evidence: Evidence, target: str) -> Evidence:
    ready = all(evidence.fact(name).basis is not Basis.UNKNOWN for name in ESSENTIAL)
    return replace(evidence, ready=ready, missing=missing_facts(evidence, target))


def _query_id(picture: Picture, clues: SinkClues) -> TextFact:
    if picture.query is not None:
        return TextFact(picture.query.id, Basis.READ, "metadata")
    in_sink = identity_from_sink(clues)
    if in_sink is not None and clues.log is not None:
        source = f"the only application id in {clues.log.location}/_delta_log"
        return TextFact(in_sink, Basis.INFERRED, source)
    if not picture.layout.has_file("metadata"):
        return TextFact(None, Basis.UNKNOWN, "there is no metadata file")
    return TextFact(None, Basis.UNKNOWN, _unreadable(picture, "metadata"))


def _unreadable(picture: Picture, file: str) -> str:
    """Say that a file can't be read, with the reason where it is one of access."""
    damage = picture.refused(file)
    denied = damage is not None and isinstance(damage.error, StorageError)
    return f"{file} cannot be read" + (f": {damage.error.message}" if damage and denied else "")


def _source_offsets(picture: Picture, found: Inspection) -> OffsetsFact:
    newest = picture.newest_offsets_id
    if newest is None:
        return OffsetsFact(None, Basis.UNKNOWN, "no batch was planned yet, or offsets/ is missing")
    if picture.newest_offsets is None:
        return OffsetsFact(None, Basis.UNKNOWN, _unreadable(picture, f"offsets/{newest}"))
    committed = newest in picture.layout.commits.files
    offsets = SourceOffsets(newest, committed, found.sources)
    return OffsetsFact(offsets, Basis.READ, f"offsets/{newest}")


def _operators(picture: Picture, found: Inspection) -> OperatorsFact:
    unseen = _state_unseen(picture)
    if unseen is not None:
        return OperatorsFact(None, Basis.UNKNOWN, unseen)
    if not found.operators:
        reason = "there is no state/ directory: the query keeps no state, or it was removed"
        return OperatorsFact((), Basis.INFERRED, reason)
    return OperatorsFact(found.operators, Basis.READ, "state/ and the metadata in it")


def _provider(picture: Picture, found: Inspection) -> TextFact:
    unseen = _state_unseen(picture)
    if unseen is not None:
        return TextFact(None, Basis.UNKNOWN, unseen)
    if not found.operators:
        reason = "there is no state/ directory: without state there is no provider"
        return TextFact(None, Basis.INFERRED, reason)
    if found.provider is not None:
        source = f"pinned in offsets/{picture.newest_offsets_id}"
        return TextFact(found.provider, Basis.READ, source)
    by_files = _provider_by_files(picture)
    if by_files is not None:
        return TextFact(by_files, Basis.INFERRED, "the kinds of files below state/")
    return TextFact(None, Basis.UNKNOWN, "no readable offsets entry pins it")


def _state_unseen(picture: Picture) -> str | None:
    """Say why nothing can be said of the state, None where something can."""
    unlisted = picture.unlisted or {}
    if any(folder.split("/", 1)[0] in ("", "state") for folder in unlisted):
        return "state/ could not be listed"
    if not picture.layout.offsets.ids and not picture.layout.state.operators:
        return "no batch was planned yet, so no operator has stored state"
    return None


def _provider_by_files(picture: Picture) -> str | None:
    kinds = {
        kind
        for operator in picture.layout.state.operators.values()
        for store in operator.stores.values()
        for files in store.partitions.values()
        for kind in _kinds(files)
    }
    return kinds.pop() if len(kinds) == 1 else None


def _kinds(files: PartitionFiles) -> set[str]:
    kinds = {"hdfs"} if files.deltas or files.snapshots else set()
    return kinds | ({"rocksdb"} if files.zips or files.changelogs else set())


def _spark_version(picture: Picture, found: Inspection, clues: SinkClues) -> SparkVersionFact:
    commit = clues.commit
    if commit is not None and commit.spark is not None and clues.log is not None:
        release = ".".join(commit.spark.split(".")[:2])
        source = f"{clues.log.location}/_delta_log/{commit.version}"
        version = SparkVersion(commit.spark, release, release, "read from the sink's log")
        return SparkVersionFact(version, Basis.READ, source)
    if not picture.layout.offsets.ids or found.spark_version.basis.startswith("nothing"):
        return SparkVersionFact(None, Basis.UNKNOWN, "no readable entry shows it")
    source = found.spark_version.basis.removeprefix("inferred from ")
    return SparkVersionFact(found.spark_version, Basis.INFERRED, source)


def _history(picture: Picture) -> HistoryFact:
    history = restart_history(picture)
    if history.first_batch is None and not history.restarts:
        return HistoryFact(None, Basis.UNKNOWN, "no batch records when it was planned")
    source = "timestamps, settings, sources and sinks of the batches, and operator metadata"
    return HistoryFact(history, Basis.INFERRED, source)
