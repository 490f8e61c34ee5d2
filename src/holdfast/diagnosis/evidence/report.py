"""The evidence as a page of Markdown to paste into a ticket; secrets are gone from it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from holdfast.answers import Answer
from holdfast.diagnosis.inspection.evidence import (
    FACTS,
    Basis,
    Evidence,
    Missing,
    SourceOffsets,
)
from holdfast.diagnosis.inspection.runs.restarts import AttemptShown, RestartHistory, RunShown
from holdfast.findings import Finding
from holdfast.wording import counted

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_SPECIAL = str.maketrans({one: f"\\{one}" for one in "\\`*_|<>[]"})


def markdown_report(answer: Answer[Evidence]) -> str:
    """Draw the whole page from the answer, without secrets."""
    clean = answer.redacted()
    return "\n".join([*_page(clean), ""])


def _page(answer: Answer[Evidence]) -> Iterator[str]:
    found = answer.result
    yield f"# Evidence: {_escaped(answer.location)}"
    yield ""
    yield _verdict(found)
    yield ""
    yield "| fact | value | basis | source |"
    yield "|---|---|---|---|"
    for name in FACTS:
        fact = found.fact(name)
        title, value = name.replace("_", " "), fact_text(found, name)
        yield f"| {title} | {_escaped(value)} | {fact.basis.value} | {_escaped(fact.source)} |"
    if found.sink.value is not None and found.sink.value.promise:
        yield from ("", f"Delivery: {_escaped(found.sink.value.promise)}.")
    yield from _offsets(found.source_offsets.value)
    yield from _restarts(found.restart_history.value)
    yield from _missing(found.missing)
    yield from _findings(answer.findings, answer.location)


def fact_text(found: Evidence, name: str) -> str:
    """Return one fact's value in one line."""
    drawn = {
        "source_offsets": _offsets_text,
        "sink": _sink_text,
        "stateful_operators": _operators_text,
        "state_store_provider": _provider_text,
        "spark_version": _version_text,
        "restart_history": _history_text,
    }
    if found.fact(name).value is None and name != "state_store_provider":
        return "unknown"
    return drawn[name](found) if name in drawn else str(found.fact(name).value)


def _offsets_text(found: Evidence) -> str:
    offsets = found.source_offsets.value
    assert offsets is not None
    state = "committed" if offsets.committed else "planned, not committed"
    sources = "; ".join(f"{one.name} {one.kind}: {one.summary}" for one in offsets.sources)
    return f"batch {offsets.batch_id} ({state}): {sources or 'no sources'}"


def _sink_text(found: Evidence) -> str:
    sink = found.sink.value
    assert sink is not None
    name = f"{sink.kind} {sink.identity}" if sink.identity else sink.kind
    if sink.last_committed is not None:
        return f"{name}, has batches up to {sink.last_committed}"
    return f"{name}; {sink.last_committed_basis}"


def _operators_text(found: Evidence) -> str:
    operators = found.stateful_operators.value or ()
    texts = [f"{one.id} {one.name or 'not named'}" for one in operators]
    return ", ".join(texts) or "none"


def _provider_text(found: Evidence) -> str:
    fact = found.state_store_provider
    return fact.value or ("unknown" if fact.basis.value == "unknown" else "none, it keeps no state")


def _version_text(found: Evidence) -> str:
    version = found.spark_version.value
    assert version is not None
    if version.value is not None:
        return version.value
    return f"{version.low} to {version.high}" if version.low else f"{version.high} or older"


def _history_text(found: Evidence) -> str:
    history = found.restart_history.value
    assert history is not None
    failed = f"; {counted(len(history.attempts), 'failed start')}" if history.attempts else ""
    if history.runs:
        newest = run_text(history.runs[0])
        return f"{counted(len(history.runs), 'recorded run')}; the newest: {newest}{failed}"
    span = f"in batches {history.first_batch} to {history.last_batch}"
    ended = (
        f"; batch {history.unfinished_batch} is not finished" if history.unfinished_batch else ""
    )
    seen = f"{history.certain} certain, {history.likely} likely {span}"
    return f"{seen}; there may be more{ended}{failed}"


def run_text(run: RunShown) -> str:
    """Return one recorded run in one line."""
    ended = f"{run.ended.value} {run.ended_at or ''}".rstrip() if run.ended else "no final record"
    failure = run.failure
    failed = f" ({failure.error_class})" if failure is not None else ""
    span = f"batches {run.first_batch} to {run.last_batch}" if run.batches else "no batch"
    rows = counted(run.rows, "row")
    page = f"; holdfast explain {failure.page or failure.code}" if failure is not None else ""
    return f"run {run.generation}, {run.started_at}, {ended}{failed}: {span}, {rows}{page}"


def attempt_text(attempt: AttemptShown) -> str:
    """Return one failed start in one line."""
    reason = f"{attempt.code} {attempt.message}"
    start = f"start of job {attempt.job}, {attempt.at}, {attempt.ended.value}"
    return f"{start}: {reason}; holdfast explain {attempt.page}"


def _verdict(found: Evidence) -> str:
    if found.ready:
        return "Every essential fact is known."
    return f"**Not ready for advice:** {_escaped(lacking_text(found))}."


def lacking_text(found: Evidence) -> str:
    """Return why the evidence is not ready: what is unknown, or what happened to the sink."""
    lacking = [one for one in found.missing if one.essential]
    unknown = [one.fact for one in lacking if found.fact(one.fact).basis is Basis.UNKNOWN]
    names = ", ".join(name.replace("_", " ") for name in dict.fromkeys(unknown))
    known = [one.what for one in lacking if one.fact not in unknown]
    return "; ".join([*known, *([f"{names} unknown"] if names else [])])


def _offsets(offsets: SourceOffsets | None) -> Iterator[str]:
    sources = offsets.sources if offsets is not None else ()
    if not sources:
        return
    yield from ("", "## Source offsets", "", "| source | kind | read up to |", "|---|---|---|")
    for one in sources:
        yield f"| {_escaped(one.name)} | {one.kind} | {_escaped(one.summary)} |"


def _restarts(history: RestartHistory | None) -> Iterator[str]:
    if history is None:
        return
    if history.runs:
        yield from ("", "## Recorded runs, the newest first", "")
        yield from (f"- {_escaped(run_text(run))}" for run in history.runs)
    if history.attempts:
        yield from ("", "## Failed starts, newest first", "")
        yield from (f"- {_escaped(attempt_text(one))}" for one in history.attempts)
    yield from ("", "## Restarts that can be detected", "")
    for one in history.restarts:
        signs = _escaped("; ".join(one.signs))
        when = f", {moment_text(one.timestamp_ms)}" if one.timestamp_ms is not None else ""
        yield f"- before batch {one.batch_id}{when} ({one.certainty.value}): {signs}"
    if not history.restarts:
        yield "- none"
    yield from ("", f"Not visible: {history.not_visible}.")


def _missing(missing: tuple[Missing, ...]) -> Iterator[str]:
    if not missing:
        return
    yield from ("", "## What is missing, and how to get it", "")
    for one in missing:
        need = "essential" if one.essential else "helpful"
        yield f"- **{one.fact.replace('_', ' ')}** ({need}): {_escaped(one.what)}"
        yield from (f"  - {_escaped(how)}" for how in one.how)


def _findings(findings: tuple[Finding, ...], location: str) -> Iterator[str]:
    if not findings:
        return
    yield from ("", "## Findings", "")
    for one in findings:
        yield f"- **{one.severity.value} {one.code}**: {_escaped(one.message)}"
        yield f"  - at {_escaped(one.place.within(location))}"
        yield from (f"  - {_escaped(step)}" for step in one.next_steps)


def moment_text(moment_ms: int) -> str:
    """Spell a time as RFC 3339 in UTC, or as the number that it is."""
    try:
        moment = _EPOCH + timedelta(milliseconds=moment_ms)
    except OverflowError:
        return f"{moment_ms} ms"
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _escaped(text: str) -> str:
    """Keep a text on one line, and from being taken for Markdown."""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(printable.split()).translate(_SPECIAL)
