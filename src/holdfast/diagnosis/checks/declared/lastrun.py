"""A declared job against its last run's record, or what its first start is refused for.

Only what is certain is reported, or a misspelling that is likely: Spark knows formats by the jars
that it has, and a path may be reachable from its machines alone.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.checkpoint.layout import folder_of
from holdfast.checkpoint.releases import RELEASES, spark_version
from holdfast.diagnosis.inspection.evidence import Basis
from holdfast.diagnosis.inspection.sink.facts import EITHER, SinkClues, output_mode_fact
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources.kafka import KafkaOffsetReader
from holdfast.format.sources.offset import SourceEvidence
from holdfast.jobs.discovery import module_file
from holdfast.jobs.options import starting_options
from holdfast.records.run import Run
from holdfast.wording import CLOSE, nearest

_NEED_SCHEMA = frozenset({"json", "csv", "parquet", "orc"})
_FORMATS = _NEED_SCHEMA | {
    "text", "delta", "kafka", "rate", "rate-micro-batch", "socket", "xml", "avro", "binaryfile",
    "iceberg", "hudi", "kinesis", "eventhubs", "pubsub", "pulsar", "memory", "statestore",
}  # fmt: skip
_TYPES = frozenset(
    {"array", "bigint", "binary", "boolean", "byte", "char", "character", "date", "dec", "decimal",
     "double", "float", "geography", "geometry", "int", "integer", "interval", "long", "map",
     "numeric", "real", "short", "smallint", "string", "struct", "time", "timestamp",
     "timestamp_ltz", "timestamp_ntz", "tinyint", "varchar", "variant", "void"}
)  # fmt: skip
_COLUMN = re.compile(r"(?:^|,)\s*(?:`[^`]+`|\w+)\s*:?\s+(\w+)")
_NESTED = re.compile(r"<[^<>]*>|\([^()]*\)")
_GLOB = re.compile(r"[*?\[{]")
_WHY = "the first start is refused for this reason; nothing is written"
_PATH = ("correct path:, or create the directory if data is still to come",)
_INFERENCE = "spark.sql.streaming.schemaInference"


def check_first_start(subject: Subject) -> Iterator[Finding]:
    """Report what keeps a job that has no checkpoint yet from starting."""
    job = subject.job
    if job is None or subject.is_there or job.folder is None:
        return
    yield from _missing_paths(job)
    yield from _sources(job)
    for key, reference in (("transform", job.job.transform), ("sink", job.job.sink.function)):
        if reference is not None:
            yield from _function(key, reference, Path(job.folder))


def _missing_paths(job: DeclaredJob) -> Iterator[Finding]:
    """Yield sources whose local path does not exist and that no other job of the project writes."""
    local = {name: path for name, path in job.source_paths.items() if path.startswith("/")}
    there = {name: _is_there(path) for name, path in local.items() if not _GLOB.search(path)}
    for name in (name for name, seen in there.items() if seen is None):
        message = f"{_named(name)}: access to {local[name]} was denied"
        yield Finding("HF5107", Severity.ERROR, message, Place(""))
    missing = [name for name, seen in there.items() if seen is False]
    for name in missing and [one for one in missing if one not in job.fed_sources()]:
        is_delta = job.job.named_sources[name].format.lower() == "delta"
        cause = "there is no Delta table at" if is_delta else "there is nothing at"
        message = f"{_named(name)}: {cause} {local[name]}"
        if is_delta:
            yield _refused_start("HF5105", message)
        else:
            yield Finding("HF5101", Severity.ERROR, message, Place(""), {}, _WHY, _PATH)


def _is_there(path: str) -> bool | None:
    """Return whether something is at a path; None where this user may not look."""
    try:
        return Path(path).exists()
    except PermissionError:
        return None
    except OSError:
        return False


def _sources(job: DeclaredJob) -> Iterator[Finding]:
    inferred = job.settings.get(_INFERENCE, "").lower() == "true"
    for name, source in job.job.named_sources.items():
        form, schema = source.format.lower(), source.schema_text
        near = None if form in _FORMATS or "." in form else nearest(form, _FORMATS, CLOSE)
        if near is not None:
            message = f"Spark knows no format {source.format}; did you mean {near}?"
            yield _refused_start("HF5103", f"{_named(name)}: {message}")
        if form in _NEED_SCHEMA and schema is None and not inferred:
            message = f"a {form} source requires a schema, and none is declared under schema:"
            yield _refused_start("HF5104", f"{_named(name)}: {message}")
        if schema is not None and (wrong := _wrong_type(schema)) is not None:
            message = f"Spark knows no type {wrong[0]}; did you mean {wrong[1]}?"
            yield _refused_start("HF5102", f"{_named(name)}: {message}")


def _wrong_type(schema: str) -> tuple[str, str] | None:
    """Return the first type of a column that looks misspelled, and what it looks like."""
    flat = schema
    while (shorter := _NESTED.sub("", flat)) != flat:
        flat = shorter
    for found in _COLUMN.finditer(flat):
        kind = found[1].lower()
        near = None if kind in _TYPES else nearest(kind, _TYPES, CLOSE)
        if near is not None:
            return found[1], near
    return None


def _function(key: str, reference: str, folder: Path) -> Iterator[Finding]:
    """Yield a module that is not in the project, or that binds no such name."""
    module, _, name = reference.partition(":")
    file = module_file(folder, module)
    if file is None:
        path = f"{module.replace('.', '/')}.py"
        yield _refused_start("HF5111", f"{key}: {folder} has no {path} for {reference}")
        return
    try:
        tree = ast.parse(file.read_bytes())
    except PermissionError:
        message = f"{key}: {reference} cannot be checked: access to {file} was denied"
        yield Finding("HF7002", Severity.ERROR, message, Place(""))
        return
    except (OSError, SyntaxError, ValueError) as error:
        yield _refused_start("HF5112", f"{key}: {reference} cannot be loaded: {error}")
        return
    bound = set(_bound(tree))
    if name not in bound and not bound & {"*", "__getattr__"}:
        near = nearest(name, bound)
        hint = f"; did you mean {near}?" if near else ""
        yield _refused_start("HF5113", f"{key}: {name} does not exist in {module}{hint}")


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module may bind, in whatever branch."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _named(source: str) -> str:
    return "source" if source == "source" else f"source {source}"


def _refused_start(code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, message, Place(""), {}, _WHY)


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
    reported = spark_version(subject.picture)
    newest = RELEASES[-1] if reported.high is None else reported.high
    # Patch releases and what may be the newest known release do not differ by their files.
    return (reported.high, reported.basis) if newest != RELEASES[-1] else (None, reported.basis)


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
