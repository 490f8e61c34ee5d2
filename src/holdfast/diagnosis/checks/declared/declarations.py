"""A checkpoint against what its project declares: settings, sources with their paths and options,
sink."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import explained
from holdfast.checkpoint.releases import PINNED_SETTINGS, PROVIDER
from holdfast.diagnosis.checks.source.connectors import check_same_table
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset
from holdfast.jobs.options import misspelled_options
from holdfast.jobs.ready import ChangedTable
from holdfast.jobs.sqltext import source_uses
from holdfast.records.run import Run
from holdfast.redaction import REDACTED

_FILES = ("json", "csv", "parquet", "orc", "text")
KINDS: Mapping[str, str] = {
    **dict.fromkeys(_FILES, "file"),
    **{one: one for one in ("kafka", "delta", "rate", "rate-micro-batch", "socket")},
}
_LIMITS = frozenset({"maxfilespertrigger", "maxbytespertrigger"})
_NO_MEMORY: Mapping[str, str] = {
    "kafka": "a topic accepts every record that is sent",
    "custom": "the function decides whether a batch that runs again is written twice",
    "console": "it is for development",
    "memory": "it is for development",
}
_SAME_STORAGE = {"s3a": "s3", "s3n": "s3", "abfss": "abfs"}


def check_pinned_declarations(subject: Subject) -> Iterator[Finding]:
    """Report declared settings that the newest offsets entry pins to another value."""
    declared = subject.job.settings if subject.job is not None else {}
    pinned = subject.picture.settings
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=2)
    for key in (setting.key for setting in PINNED_SETTINGS):
        if key in declared and key in pinned and declared[key] != pinned[key]:
            yield Finding(
                "HF2322",
                Severity.WARNING,
                f"{key} is declared as {declared[key]}, but the checkpoint pins {pinned[key]}",
                place,
                {"setting": key, "declared": declared[key], "pinned": pinned[key]},
            )


def check_provider_declared(subject: Subject) -> Iterator[Finding]:
    """Mention a provider of state that the checkpoint pins and the project does not set."""
    pinned, job = subject.picture.settings.get(PROVIDER), subject.job
    default = next(one.default for one in PINNED_SETTINGS if one.key == PROVIDER)
    has_state = bool(subject.picture.layout.state.operators)
    if job is None or pinned in (None, default) or PROVIDER in job.settings or not has_state:
        return
    assert pinned is not None
    message = f"the checkpoint pins {pinned.rpartition('.')[2]}, and the project does not set it"
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=2)
    yield Finding("HF2349", Severity.INFO, message, place, {"setting": PROVIDER, "pinned": pinned})


def check_declared_sources(subject: Subject) -> Iterator[Finding]:
    """Report another number of sources than the checkpoint has, and kinds that it never had."""
    entry, job = subject.picture.newest_offsets, subject.job
    if entry is None or job is None:
        return
    declared = {name: one.format for name, one in job.job.named_sources.items()}
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=3)
    miscounted = _miscounted(job, len(entry.sources), by_name=entry.version > 1)
    if miscounted is not None:
        evidence = {"declared": sorted(declared), "recorded": len(entry.sources)}
        yield Finding("HF2323", Severity.FATAL, miscounted, place, evidence)
        return
    recorded = _recorded_kinds(subject)
    for name, format_ in declared.items():
        kind = KINDS.get(format_.lower())
        if kind is not None and recorded and "unknown" not in recorded and kind not in recorded:
            message = f"source {name} is declared as {format_}, the checkpoint has offsets of "
            message += f"{', '.join(sorted(recorded))}"
            evidence = {"declared": format_, "recorded": sorted(recorded)}
            yield Finding("HF2323", Severity.FATAL, message, place, evidence)


def check_newest_files_first(subject: Subject) -> Iterator[Finding]:
    """Mention file sources that take the newest files first, a few at a time."""
    for name, options in _source_options(subject.job):
        if options.get("latestfirst") == "true" and _LIMITS & options.keys():
            message = f"source {name} combines latestFirst with a limit per batch"
            yield Finding("HF2321", Severity.INFO, message, Place(""), {"source": name})


def check_data_loss_passed_over(subject: Subject) -> Iterator[Finding]:
    """Report sources that go on when data is gone."""
    for name, options in _source_options(subject.job):
        if options.get("failondataloss") == "false":
            message = f"source {name} has failOnDataLoss=false"
            yield Finding("HF2327", Severity.WARNING, message, Place(""), {"source": name})


def check_sink_knows_batches(subject: Subject) -> Iterator[Finding]:
    """Mention a declared sink that takes a repeated batch twice."""
    format_ = subject.job.job.sink.format if subject.job is not None else ""
    if format_ in _NO_MEMORY:
        message = f"the sink is {format_}: {_NO_MEMORY[format_]}"
        yield Finding("HF2326", Severity.INFO, message, Place(""), {"format": format_})


def check_pending_twice(subject: Subject) -> Iterator[Finding]:
    """Report a pending batch that a sink without a memory may already have."""
    pending, sink = subject.picture.pending, subject.sink
    format_ = subject.job.job.sink.format if subject.job is not None else ""
    has_ledger = sink is not None and sink.own is not None
    if pending is None or subject.runs_now or has_ledger or format_ not in ("kafka", "custom"):
        return
    message = f"batch {pending} is planned and not committed; the sink is {format_}"
    evidence = {"pending": pending, "format": format_}
    yield Finding("HF2371", Severity.ERROR, message, Place(f"offsets/{pending}"), evidence)


def _miscounted(job: DeclaredJob, recorded: int, *, by_name: bool) -> str | None:
    """Say how the number of streams differs from the recorded one; None where it may fit.

    Spark counts every use of a source. SQL shows them; a function may use a source more than once,
    but hardly leaves one out. Sources that are found by their names are not counted.
    """
    declared = job.job.named_sources
    uses = source_uses(job.job.sql, declared) if job.job.sql is not None else None
    if uses is not None and not by_name and uses not in (0, recorded):
        if uses == len(declared):
            return f"{uses} sources are declared, the checkpoint has {recorded}"
        return f"the SQL uses its sources {uses} times in total, the checkpoint has {recorded}"
    if uses is None and len(declared) > recorded:
        return f"{len(declared)} sources are declared, the checkpoint has {recorded}"
    return None


def _recorded_kinds(subject: Subject) -> set[str]:
    entry = subject.picture.newest_offsets
    assert entry is not None
    found = (explained(subject.picture, entry, at, {}) for at in range(len(entry.sources)))
    return {one.kind if isinstance(one, ExplainedOffset) else "unknown" for one in found}


def _source_options(job: DeclaredJob | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each source's options; Spark does not mind how their names are spelled."""
    for name, source in job.job.named_sources.items() if job is not None else ():
        yield name, {key.lower(): value.lower() for key, value in source.options.items()}


def plain_uri(uri: str) -> str:
    """Bring `file:/x`, `file:///x` and `s3a://…` to one spelling."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        return uri
    if scheme == "file":
        return "/" + rest.lstrip("/")
    return f"{_SAME_STORAGE.get(scheme, scheme)}:{rest}"


_HERE = Place("")
_DESCRIPTION = re.compile(r"(?P<kind>FileStreamSource|DeltaSource)\[(?P<path>.+)\]")
_EFFECTS = {
    "skipChangeCommits": "skips every commit that changes rows, including its new rows",
    "ignoreChanges": "delivers unchanged rows of rewritten files again",
}


def check_declared_folders(subject: Subject) -> Iterator[Finding]:
    """Report file sources whose log names files in no declared folder."""
    folders = subject.job.source_folders if subject.job is not None else {}
    yield from moved_folders(subject.picture, folders, "HF2324")


def check_recorded_paths(subject: Subject) -> Iterator[Finding]:
    """Report sources whose path is not the one of the last run, where nothing else shows it."""
    run = subject.recorded.run_of(subject.picture)
    if subject.job is None or subject.picture.newest_offsets_id is None:
        return
    shown_otherwise = {
        "FileStreamSource": any(check_declared_folders(subject)),
        "DeltaSource": any(check_same_table(subject)),
    }
    yield from other_paths(
        subject.job.source_paths,
        run,
        frozenset(kind for kind, is_shown in shown_otherwise.items() if is_shown),
    )


def check_option_names(subject: Subject) -> Iterator[Finding]:
    """Report options of sources and of the sink that look misspelled."""
    if subject.job is None:
        return
    job = subject.job.job
    sources = [(name, one.format, one.options) for name, one in job.named_sources.items()]
    yield from misspelled(sources, job.sink.format, job.sink.options)


def misspelled(
    sources: Iterable[tuple[str, str, Mapping[str, str]]],
    sink_format: str,
    sink_options: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield a finding for each option that is like a known one; sources are given by name."""
    places = [
        ("source" if name == "source" else f"source {name}", form, options)
        for name, form, options in sources
    ]
    for one in misspelled_options([*places, ("sink", sink_format, sink_options)]):
        message = f"{one.place}: {one.format} has no option {one.option}; did you mean {one.meant}?"
        evidence = {"format": one.format, "option": one.option, "nearest": one.meant}
        yield Finding("HF2375", Severity.WARNING, message, _HERE, evidence)


def check_changed_tables(subject: Subject) -> Iterator[Finding]:
    """Report streams of Delta tables in which another job changes rows."""
    yield from changing_sources(subject.job.changed_tables if subject.job is not None else ())


def moved_folders(picture: Picture, folders: Mapping[str, str], code: str) -> Iterator[Finding]:
    """Yield a finding for each file source that last read a file outside of these folders."""
    if not folders or any(set(folder) & set("*?[{") for folder in folders.values()):
        return
    starts = tuple(f"{plain_uri(folder).rstrip('/')}/" for folder in folders.values())
    for name, logs in sorted(picture.source_logs.items()):
        newest = max(logs, default=None)
        items = logs[newest].items if newest is not None else ()
        if items and not plain_uri(unquote(items[-1].path)).startswith(starts):
            path = picture.layout.sources[name].files[newest or 0].path
            declared = sorted(folders.values())
            message = f"sources/{name} last read {items[-1].path}, which is not in "
            message += ", ".join(declared)
            evidence = {"last_read": items[-1].path, "declared": declared}
            yield Finding(code, Severity.FATAL, message, Place(path), evidence)


def other_paths(
    paths: Mapping[str, str], run: Run | None, passed_over: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Yield a finding for each source that read another path in a run than it is to read now."""
    for source in run.sources if run is not None else ():
        found = _DESCRIPTION.fullmatch(source.description or "")
        declared = paths.get(source.name)
        if found is None or declared is None or found["kind"] in passed_over:
            continue
        before = found["path"]
        if REDACTED not in before and _spelled(before) != _spelled(declared):
            assert run is not None
            message = f"{_named(source.name)} reads {declared}; run {run.generation} read {before}"
            evidence = {"source": source.name, "declared": declared, "recorded": before}
            yield Finding("HF2374", Severity.WARNING, message, _HERE, evidence)


def changing_sources(tables: Iterable[ChangedTable]) -> Iterator[Finding]:
    """Yield a finding for each stream of a table in which another job changes rows."""
    for table in tables:
        how = "overwrites in every batch" if table.mode == "complete" else "upserts into"
        message = f"{_named(table.source)} streams the Delta table that job {table.upstream} {how}"
        evidence = {"source": table.source, "upstream": table.upstream, "mode": table.mode}
        if table.option is None:
            yield Finding("HF2372", Severity.ERROR, message, _HERE, evidence)
        else:
            message += f"; {table.option} {_EFFECTS[table.option]}"
            evidence["option"] = table.option
            yield Finding("HF2373", Severity.WARNING, message, _HERE, evidence)


def _named(source: str) -> str:
    """Return a source in words; the only one of a job has no name of its own."""
    return "the source" if source == "source" else f"source {source}"


def _spelled(path: str) -> str:
    return plain_uri(unquote(path)).rstrip("/")
