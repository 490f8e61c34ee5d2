"""A checkpoint against what its project declares: settings, sources, sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from holdfast.checkpoint.releases import PINNED_SETTINGS
from holdfast.checkpoint.sourceview import explained
from holdfast.diagnosis.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset

_FILES = ("json", "csv", "parquet", "orc", "text")
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(_FILES, "file"),
    **{one: one for one in ("kafka", "delta", "rate", "rate-micro-batch", "socket")},
}
_LIMITS = frozenset({"maxfilespertrigger", "maxbytespertrigger"})
_NO_MEMORY: Mapping[str, str] = {
    "kafka": "a topic takes every record that is sent",
    "custom": "whether a batch that is run again is written twice is up to the function",
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


def check_declared_sources(subject: Subject) -> Iterator[Finding]:
    """Report more sources than the checkpoint has, and kinds that it never had."""
    entry, job = subject.picture.newest_offsets, subject.job
    if entry is None or job is None:
        return
    declared = {name: one.format for name, one in job.job.named_sources.items()}
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=3)
    if len(declared) > len(entry.sources):
        message = f"{len(declared)} sources are declared, the checkpoint has {len(entry.sources)}"
        evidence = {"declared": sorted(declared), "recorded": len(entry.sources)}
        yield Finding("HF2323", Severity.ERROR, message, place, evidence)
        return
    recorded = _recorded_kinds(subject)
    for name, format_ in declared.items():
        kind = _KINDS.get(format_.lower())
        if kind is not None and recorded and "unknown" not in recorded and kind not in recorded:
            message = f"source {name} is declared as {format_}, the checkpoint has offsets of "
            message += f"{', '.join(sorted(recorded))}"
            evidence = {"declared": format_, "recorded": sorted(recorded)}
            yield Finding("HF2323", Severity.ERROR, message, place, evidence)


def check_declared_folders(subject: Subject) -> Iterator[Finding]:
    """Report file sources whose log names files in no declared folder."""
    folders = subject.job.source_folders if subject.job is not None else {}
    if not folders or any(set(folder) & set("*?[{") for folder in folders.values()):
        return
    starts = tuple(f"{_plain(folder).rstrip('/')}/" for folder in folders.values())
    for name, logs in sorted(subject.picture.source_logs.items()):
        newest = max(logs, default=None)
        items = logs[newest].items if newest is not None else ()
        if items and not _plain(unquote(items[-1].path)).startswith(starts):
            path = subject.picture.layout.sources[name].files[newest or 0].path
            declared = sorted(folders.values())
            yield Finding(
                "HF2324",
                Severity.ERROR,
                f"sources/{name} last read {items[-1].path}, which is not in {', '.join(declared)}",
                Place(path),
                {"last_read": items[-1].path, "declared": declared},
            )


def check_declared_topics(subject: Subject) -> Iterator[Finding]:
    """Report Kafka topics that are declared and unknown, or known and not declared any more."""
    declared = _declared_topics(subject.job) if subject.job is not None else set()
    recorded = _recorded_topics(subject)
    if not declared or not recorded or declared == recorded:
        return
    evidence = {"declared": sorted(declared), "recorded": sorted(recorded)}
    message = f"topics {', '.join(sorted(declared))} are declared, the checkpoint has "
    message += ", ".join(sorted(recorded))
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=3)
    severity = Severity.ERROR if recorded - declared else Severity.WARNING
    yield Finding("HF2325", severity, message, place, evidence)


def check_newest_files_first(subject: Subject) -> Iterator[Finding]:
    """Mention file sources that take the newest files first, a few at a time."""
    for name, options in _source_options(subject.job):
        if options.get("latestfirst") == "true" and _LIMITS & options.keys():
            message = f"source {name} has latestFirst together with a limit per batch"
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


def _recorded_kinds(subject: Subject) -> set[str]:
    entry = subject.picture.newest_offsets
    assert entry is not None
    found = (explained(subject.picture, entry, at, {}) for at in range(len(entry.sources)))
    return {one.kind if isinstance(one, ExplainedOffset) else "unknown" for one in found}


def _declared_topics(job: DeclaredJob) -> set[str]:
    texts = [one.options.get("subscribe", "") for one in job.job.named_sources.values()]
    return {topic.strip() for text in texts for topic in text.split(",") if topic.strip()}


def _recorded_topics(subject: Subject) -> set[str]:
    entry = subject.picture.newest_offsets
    topics: set[str] = set()
    for position in range(len(entry.sources) if entry is not None else 0):
        assert entry is not None
        found = explained(subject.picture, entry, position, {})
        if isinstance(found, ExplainedOffset) and found.kind == "kafka":
            decoded = found.decoded if isinstance(found.decoded, dict) else {}
            topics |= {str(one) for one in decoded}
    return topics


def _source_options(job: DeclaredJob | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Give each source's options; Spark does not mind how their names are spelled."""
    for name, source in job.job.named_sources.items() if job is not None else ():
        yield name, {key.lower(): value.lower() for key, value in source.options.items()}


def _plain(uri: str) -> str:
    """Bring `file:/x`, `file:///x` and `s3a://…` to one spelling."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        return uri
    if scheme == "file":
        return "/" + rest.lstrip("/")
    return f"{_SAME_STORAGE.get(scheme, scheme)}:{rest}"
