"""A checkpoint against what its project declares: settings, sources, sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.releases import PINNED_SETTINGS, PROVIDER
from holdfast.checkpoint.sourceview import explained
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset
from holdfast.jobs.sqltext import source_uses

_FILES = ("json", "csv", "parquet", "orc", "text")
KINDS: Mapping[str, str] = {
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
        return f"the SQL uses its sources {uses} times in all, the checkpoint has {recorded}"
    if uses is None and len(declared) > recorded:
        return f"{len(declared)} sources are declared, the checkpoint has {recorded}"
    return None


def _recorded_kinds(subject: Subject) -> set[str]:
    entry = subject.picture.newest_offsets
    assert entry is not None
    found = (explained(subject.picture, entry, at, {}) for at in range(len(entry.sources)))
    return {one.kind if isinstance(one, ExplainedOffset) else "unknown" for one in found}


def _source_options(job: DeclaredJob | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Give each source's options; Spark does not mind how their names are spelled."""
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
