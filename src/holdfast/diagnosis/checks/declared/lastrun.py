"""The declared job against the record of its last run: what Spark accepts silently or ignores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from holdfast.checkpoint.releases import RELEASES, spark_version
from holdfast.checkpoint.sourcefolders import folder_of
from holdfast.diagnosis.inspection.evidence import Basis
from holdfast.diagnosis.inspection.sink.facts import EITHER, SinkClues, output_mode_fact
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources.kafka import KafkaOffsetReader
from holdfast.format.sources.offset import SourceEvidence
from holdfast.jobs.options import starting_options
from holdfast.records.run import Run

_HERE = Place("")
_JARS = ("spark.jars", "spark.jars.packages")
_OFFSETS = "startingoffsets"


def check_output_mode(subject: Subject) -> Iterator[Finding]:
    """Report a declared output mode that is not the one of the last run."""
    if subject.job is None or subject.picture.newest_offsets_id is None:
        return
    declared = subject.job.job.decided_output_mode
    run = subject.recorded.run_of(subject.picture)
    before, source = _mode_before(subject, run)
    if before not in (None, EITHER, declared):
        message = f"output mode {declared} is declared; the last run had {before}"
        evidence = {"declared": declared, "recorded": before, "source": source}
        yield Finding("HF2357", Severity.WARNING, message, _HERE, evidence)


def check_starting_options(subject: Subject) -> Iterator[Finding]:
    """Report options on where to begin that differ from those the query began with."""
    if subject.job is None or subject.picture.newest_offsets_id is None:
        return
    run = subject.recorded.run_of(subject.picture)
    for name, source in subject.job.job.named_sources.items():
        declared = starting_options(source.options)
        before = _starting_before(subject, run, name)
        for key in sorted(declared.keys() | (before or {}).keys()):
            now, then = declared.get(key), (before or {}).get(key)
            if before is not None and now != then:
                message = f"{key} of source {name} is {now or 'not set'}, was {then or 'not set'}"
                evidence = {"source": name, "option": key, "declared": now, "recorded": then}
                yield Finding("HF2358", Severity.WARNING, message, _HERE, evidence)


def check_same_spark(subject: Subject) -> Iterator[Finding]:
    """Mention another release of Spark, or other jars, than those of the last run."""
    if subject.job is None or subject.picture.newest_offsets_id is None:
        return
    run = subject.recorded.run_of(subject.picture)
    here, (before, basis) = subject.job.spark, _spark_before(subject, run)
    if here is not None and before is not None and _release(here) != _release(before):
        older = _release(here) < _release(before)
        message = f"Spark {here} is installed here; the last run used Spark {before}"
        severity = Severity.WARNING if older else Severity.INFO
        evidence = {"here": here, "recorded": before, "basis": basis}
        yield Finding("HF2359", severity, message, _HERE, evidence)
    for key in _JARS:
        now, then = subject.job.settings.get(key), run.settings.get(key) if run else None
        # What a run resolves by itself is in its record and in no declaration.
        if now is not None and then is not None and not _same_jars(now, then):
            message = f"{key} is {now}; the last run had {then}"
            evidence = {"setting": key, "declared": now, "recorded": then}
            yield Finding("HF2359", Severity.INFO, message, _HERE, evidence)


def check_sink_kind(subject: Subject) -> Iterator[Finding]:
    """Report a declared sink of another kind than the one of the last run."""
    run = subject.recorded.run_of(subject.picture)
    if subject.job is None or run is None or run.sink is None:
        return
    sink = subject.job.job.sink
    declared = _kind(sink.format, is_native=sink.native)
    before = _kind(run.sink.kind, is_native=run.sink.native)
    if subject.picture.newest_offsets_id is not None and declared != before:
        message = f"the sink is declared as {declared}; the last run wrote to {before}"
        evidence = {"declared": declared, "recorded": before, "identity": run.sink.identity}
        yield Finding("HF2365", Severity.WARNING, message, _HERE, evidence)


def _kind(format_: str, *, is_native: bool) -> str:
    """Name a sink; Delta tables are the same ones for Spark's own sink and for Holdfast's."""
    is_other = is_native and format_.lower() != "delta"
    return f"Spark's own {format_.lower()} sink" if is_other else format_.lower()


def _mode_before(subject: Subject, run: Run | None) -> tuple[str | None, str]:
    """Return the mode that the record, or else the state itself, tells, and where it stands."""
    if run is not None and run.output_mode is not None:
        return run.output_mode, f"the record of run {run.generation}"
    fact = output_mode_fact(subject.picture, SinkClues())
    return (fact.value, fact.source) if fact.basis is Basis.READ else (None, "")


def _spark_before(subject: Subject, run: Run | None) -> tuple[str | None, str]:
    """Return the release of the last run: recorded, else the only one that the files allow."""
    if run is not None and run.versions.spark:
        return run.versions.spark, f"the record of run {run.generation}"
    told = spark_version(subject.picture)
    newest = RELEASES[-1] if told.high is None else told.high
    # Patch releases and what may be the newest known release do not differ by their files.
    return (told.high, told.basis) if newest != RELEASES[-1] else (None, told.basis)


def _starting_before(subject: Subject, run: Run | None, name: str) -> Mapping[str, str] | None:
    """Return the options of the last run, or the offsets that Kafka's source began with."""
    recorded = [one for one in run.sources if one.name == name] if run is not None else []
    if recorded and recorded[0].starting is not None:
        return recorded[0].starting
    return _initial_offsets(subject, subject.job, name) if subject.job is not None else None


def _initial_offsets(subject: Subject, job: DeclaredJob, name: str) -> Mapping[str, str] | None:
    """Return the declared option with the numbers that the checkpoint began with instead."""
    entry, declared = subject.picture.newest_offsets, job.job.named_sources[name]
    wanted = starting_options(declared.options)
    if entry is None or len(entry.sources) != 1 or declared.format.lower() != "kafka":
        return None
    folder = folder_of(entry, 0, subject.picture.layout)
    initial = subject.picture.initial_offsets.get(folder or "")
    text = entry.sources[0].text
    if initial is None or text is None:
        return None
    try:
        began = KafkaOffsetReader().beginning(SourceEvidence(text, initial=initial))
        given = json.loads(wanted.get(_OFFSETS, ""))
        differ = any(
            int(offset) >= 0 and (began or {}).get(topic, {}).get(partition) != int(offset)
            for topic, partitions in given.items()
            for partition, offset in partitions.items()
        )
    except (DecodeError, ValueError, AttributeError, TypeError, RecursionError):
        return None
    shown = json.dumps(began, separators=(",", ":"))
    return {**wanted, _OFFSETS: shown} if differ else wanted


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _same_jars(one: str, other: str) -> bool:
    """Compare names of jars: a run may have resolved a relative path."""
    names = [{jar.strip().rpartition("/")[2] for jar in text.split(",")} for text in (one, other)]
    return names[0] <= names[1]
