"""A checkpoint against a ledger of Holdfast's own: manifests and their output folder, a table, a
function's; and what `run` would refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from holdfast.diagnosis.inspection.sink.gone import SinkCompared, sink_before
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.files.format import EPOCHS, INTENT
from holdfast.ledgers.files.manifests import manifest_path
from holdfast.ledgers.files.outputcheck import ListedOutput
from holdfast.ledgers.identity import is_backfill
from holdfast.ledgers.sinkstate import OwnLedger
from holdfast.wording import counted, id_ranges


def steps_for_former_id(
    subject: Subject, held: Mapping[str, int], sink: str = "sink"
) -> tuple[str, ...]:
    """Return the steps for a lost query id; empty unless `offsets/` holds every batch of it.

    Records of another query say that somebody put a foreign checkpoint here: its id is right.

    `held` is the newest batch that the sink has of each query. An id that is written into a
    checkpoint without those entries makes Spark plan batch ids that the sink knows: Delta skips
    their rows without an error.
    """
    picture = subject.picture
    planned, committed = picture.newest_offsets_id, picture.newest_commit_id
    if planned is None or committed is None or subject.recorded.contradicts(picture):
        return ()
    former = [one for one, newest in held.items() if newest in (committed, planned)]
    if len(former) != 1:
        return ()
    return (
        "if metadata was lost or written again: restore a backup --to another place, and copy its "
        "metadata back",
        f"without one, write the id {former[0]} back into metadata: offsets/ still holds every "
        f"batch that the {sink} has of it, so nothing is planned again",
    )


_MOST_QUERIES = 5


def check_ledger_not_ahead(subject: Subject) -> Iterator[Finding]:
    """Report a ledger that holds later batches of this query than the checkpoint has planned."""
    ledger, planned = _ledger(subject), subject.picture.newest_offsets_id
    held = ledger.newest.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or held is None or held <= subject.may_be_delivered:
        return
    ends = "has no planned batch" if planned is None else f"ends at {planned}"
    yield Finding(
        "HF2441",
        Severity.FATAL,
        f"the sink has batches of this query up to {held}, the checkpoint {ends}",
        _place(ledger),
        {"sink_newest": held, "newest_offsets": planned},
    )


def check_ledger_not_behind(subject: Subject) -> Iterator[Finding]:
    """Report committed batches that the ledger does not hold under this query id."""
    ledger, committed = _ledger(subject), subject.picture.newest_commit_id
    held = ledger.newest.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or held is None or committed is None or held >= committed:
        return
    yield Finding(
        "HF2442",
        Severity.ERROR,
        f"batches up to {committed} are committed, the sink has batches of this query only up to "
        f"{held}",
        _place(ledger),
        {"sink_newest": held, "newest_commit": committed},
    )


def check_ledger_knows_query(subject: Subject) -> Iterator[Finding]:
    """Report a ledger that holds other queries, or none, and nothing of this one."""
    ledger = _ledger(subject)
    if ledger is None or subject.query_id in ledger.newest:
        return
    newest = {name: batch for name, batch in ledger.newest.items() if not is_backfill(name)}
    if newest or subject.picture.newest_commit_id is not None:
        known = ", ".join(sorted(newest)[:_MOST_QUERIES]) or "no query at all"
        # A new checkpoint reads everything again, and nothing of it is known under its new id.
        is_new = bool(newest) and subject.picture.newest_offsets_id is None
        own = subject.query_id
        unknown = f"not this checkpoint's {own}" if own else "this checkpoint has no query id"
        yield Finding(
            "HF2443",
            Severity.FATAL if is_new else Severity.WARNING,
            f"the sink knows {known}, but {unknown}",
            _place(ledger),
            {"query_id": subject.query_id, "known": newest},
            next_steps=steps_for_former_id(subject, newest),
        )


def _ledger(subject: Subject) -> OwnLedger | None:
    return subject.sink.own if subject.sink is not None else None


def _place(ledger: OwnLedger) -> Place:
    return Place("", root=ledger.location)


_MOST_FILES = 20


def check_published(subject: Subject) -> Iterator[Finding]:
    """Report committed batches with files that are not published; a living driver is at it."""
    seen = subject.output
    for one in seen.unpublished if seen is not None else ():
        assert seen is not None
        yield Finding(
            "HF2451",
            Severity.INFO if subject.runs_now else Severity.WARNING,
            f"batch {one.batch_id} is committed, and {_files(len(one.files))} of it "
            f"{'is' if len(one.files) == 1 else 'are'} not published yet; the next start does it",
            Place(one.staged, root=seen.staging),
            {"query_id": one.query_id, "batch_id": one.batch_id, "files": _some(one.files)},
        )


def check_published_files(subject: Subject) -> Iterator[Finding]:
    """Report files that manifests name and that are gone, or of another size."""
    listed, root = _listed(subject), _output(subject)
    if listed is None:
        return
    if listed.missing:
        message = f"{_files(len(listed.missing))} that manifests list "
        message += (
            f"{'is' if len(listed.missing) == 1 else 'are'} missing from the output directory"
        )
        evidence = {"files": _some(listed.missing), "count": len(listed.missing)}
        place = Place(listed.missing[0], root=root)
        yield Finding("HF2452", Severity.WARNING, message, place, evidence)
    for one in listed.changed:
        message = f"{one.path} has {one.size:,} bytes, its manifest records {one.committed_size:,}"
        evidence = {"size": one.size, "committed_size": one.committed_size}
        yield Finding("HF2453", Severity.ERROR, message, Place(one.path, root=root), evidence)


def check_unnamed_files(subject: Subject) -> Iterator[Finding]:
    """Report files that readers see and no manifest names."""
    listed, root = _listed(subject), _output(subject)
    if listed is None or not listed.unnamed:
        return
    count = len(listed.unnamed)
    verb = "lies" if count == 1 else "lie"
    message = f"{_files(count)} {verb} in the output directory, listed by no manifest"
    evidence = {"files": _some(listed.unnamed), "count": count}
    place = Place(listed.unnamed[0], root=root)
    yield Finding("HF2454", Severity.ERROR, message, place, evidence)


def check_manifests_readable(subject: Subject) -> Iterator[Finding]:
    """Report manifests that can't be read; at the newest one, the next start stops."""
    seen = subject.output
    newest = _newest_manifests(subject)
    for error in seen.damages if seen is not None else ():
        at = error.at or ""
        stops = f"/{EPOCHS}/" in at or any(one in at for one in newest)
        severity = Severity.FATAL if stops else Severity.ERROR
        evidence = {"code": error.code.number}
        yield Finding("HF2455", severity, error.message, Place("", root=error.at), evidence)


def check_manifest_gaps(subject: Subject) -> Iterator[Finding]:
    """Report batches without a manifest between others."""
    seen = subject.output
    for query_id, gap in seen.gaps.items() if seen is not None else ():
        assert seen is not None
        shown = ", ".join(f"{first}" if first == last else f"{first} to {last}"
                          for first, last in id_ranges(gap)[:5])  # fmt: skip
        yield Finding(
            "HF2456",
            Severity.WARNING,
            f"the manifests do not have batch {shown} of query {query_id}",
            Place(manifest_path(query_id, gap[0]), root=seen.manifests),
            {"query_id": query_id, "missing": list(gap[:_MOST_FILES]), "count": len(gap)},
        )


def check_staging(subject: Subject) -> Iterator[Finding]:
    """Mention what lies in staging and will not be published."""
    seen = subject.output
    if seen is None:
        return
    if seen.strange:
        verb = "belongs" if len(seen.strange) == 1 else "belong"
        message = f"{_files(len(seen.strange))} in staging {verb} to no attempt of the sink"
        evidence = {"files": _some(seen.strange), "count": len(seen.strange)}
        place = Place(seen.strange[0], root=seen.staging)
        yield Finding("HF2457", Severity.INFO, message, place, evidence)
    if seen.attempts and not subject.runs_now:
        count = len(seen.attempts)
        many = counted(count, "attempt that was", "attempts that were")
        message = f"staging has files of {many} not committed"
        evidence = {"attempts": _some(seen.attempts), "count": len(seen.attempts)}
        place = Place(seen.attempts[0], root=seen.staging)
        yield Finding("HF2459", Severity.INFO, message, place, evidence)


def check_taking_back(subject: Subject) -> Iterator[Finding]:
    """Report batches that are being taken back, and void manifests that drivers left since."""
    seen = subject.output
    if seen is None:
        return
    if seen.intent is not None:
        intent = seen.intent
        what = "every batch" if intent.query_id is None else (
            f"the batches of query {intent.query_id} after {intent.batch_id}"
        )  # fmt: skip
        evidence: dict[str, object] = {"query_id": intent.query_id, "batch_id": intent.batch_id}
        place = Place(seen.intent_at, root=seen.manifests)
        message = f"a rewind of {what} is not finished"
        yield Finding("HF2458", Severity.WARNING, message, place, evidence)
    if seen.void:
        count = len(seen.void)
        many = counted(count, "manifest is", "manifests are")
        message = f"{many} void: a driver wrote after its batches had been rewound"
        evidence = {"manifests": _some(seen.void), "count": count}
        place = Place(seen.void[0], root=seen.manifests)
        yield Finding("HF2458", Severity.INFO, message, place, evidence)


def _newest_manifests(subject: Subject) -> list[str]:
    """Return what a start reads first: the newest manifest of each query, and the intent."""
    ledger = subject.sink.own if subject.sink is not None else None
    newest = ledger.newest.items() if ledger is not None else ()
    paths = (manifest_path(query_id, batch_id) for query_id, batch_id in newest)
    # With whatever epoch in its name.
    return [*(path.removesuffix("json") for path in paths), INTENT]


def _listed(subject: Subject) -> ListedOutput | None:
    return subject.output.output if subject.output is not None else None


def _output(subject: Subject) -> str:
    return subject.sink.location if subject.sink is not None else ""


def _files(count: int) -> str:
    return counted(count, "file")


def _some(names: Sequence[str] | frozenset[str]) -> list[str]:
    return sorted(names)[:_MOST_FILES]


def check_output_gone(subject: Subject) -> Iterator[Finding]:
    """Report an output that is gone, emptied or another one, by the rule that `run` refuses by."""
    sight, query_id = subject.sight, subject.query_id
    if sight is None or subject.job is None or query_id is None or subject.runs_now:
        return
    passed = subject.picture.passed_over
    if (passed, sight.held.value) == (None, None):
        return
    known = subject.sink.own.newest if subject.sink is not None and subject.sink.own else {}
    compared = SinkCompared(
        sight,
        sink_before(subject.recorded, query_id, passed),
        passed,
        subject.job.job.sink.mode == "complete",
        known.keys() - {query_id},
    )
    for finding in compared.findings():
        # A start that is refused delivers nothing.
        is_refused = finding.severity is Severity.ERROR
        severity = Severity.FATAL if is_refused else finding.severity
        yield replace(finding, severity=severity, place=Place("", root=sight.place or ""))
    if sight.rows_up_to is not None and sight.held.value is not None:
        message = (
            f"the sink's ledger has batch {sight.held.value}; the newest batch whose files exist "
            f"is {sight.rows_up_to}"
        )
        evidence = {"sink": sight.held.value, "found": sight.rows_up_to}
        yield Finding(
            "HF3006", Severity.FATAL, message, Place("", root=sight.place or ""), evidence
        )


def check_same_offsets(subject: Subject) -> Iterator[Finding]:
    """Report a sink that holds its newest batch with other offsets than the checkpoint."""
    if subject.other_offsets is not None:
        yield subject.other_offsets
