"""The sources that a job declares, against what it read before and against other jobs.

`holdfast run` asks the same questions before a start, so what is found is a function of plain data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.checks.declared.declarations import plain_uri
from holdfast.diagnosis.checks.source.delta import check_same_table
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.knownoptions import misspelled_options
from holdfast.jobs.ready import ChangedTable
from holdfast.records.run import Run
from holdfast.redaction import REDACTED

_HERE = Place("")
_DESCRIPTION = re.compile(r"(?P<kind>FileStreamSource|DeltaSource)\[(?P<path>.+)\]")
_EFFECTS = {
    "skipChangeCommits": "skips every commit that changes rows, with the new rows in it",
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
