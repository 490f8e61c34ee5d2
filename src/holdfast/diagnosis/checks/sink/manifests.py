"""The manifests of a file sink against each other, its staging and its output folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.diagnosis.inspection.ranges import id_ranges
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.files.epochs import EPOCHS
from holdfast.ledgers.files.manifests import manifest_path
from holdfast.ledgers.files.outputsight import Listed
from holdfast.ledgers.files.takenback import INTENT
from holdfast.plurals import counted

_MOST_NAMED = 20


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
        message = f"{_files(len(listed.missing))} that manifests name "
        message += f"{'is' if len(listed.missing) == 1 else 'are'} gone from the output folder"
        evidence = {"files": _some(listed.missing), "count": len(listed.missing)}
        place = Place(listed.missing[0], root=root)
        yield Finding("HF2452", Severity.WARNING, message, place, evidence)
    for one in listed.changed:
        message = f"{one.path} has {one.size:,} bytes, its manifest says {one.committed_size:,}"
        evidence = {"size": one.size, "committed_size": one.committed_size}
        yield Finding("HF2453", Severity.ERROR, message, Place(one.path, root=root), evidence)


def check_unnamed_files(subject: Subject) -> Iterator[Finding]:
    """Report files that readers see and no manifest names."""
    listed, root = _listed(subject), _output(subject)
    if listed is None or not listed.unnamed:
        return
    count = len(listed.unnamed)
    verb = "lies" if count == 1 else "lie"
    message = f"{_files(count)} {verb} in the output folder, named by no manifest"
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
            f"the manifests lack batch {shown} of query {query_id}",
            Place(manifest_path(query_id, gap[0]), root=seen.manifests),
            {"query_id": query_id, "missing": list(gap[:_MOST_NAMED]), "count": len(gap)},
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
        message = f"staging holds files of {many} not committed"
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
        what = "every batch is" if intent.query_id is None else (
            f"the batches of query {intent.query_id} after {intent.batch_id} are"
        )  # fmt: skip
        evidence: dict[str, object] = {"query_id": intent.query_id, "batch_id": intent.batch_id}
        place = Place(seen.intent_at, root=seen.manifests)
        message = f"{what} being taken back, and that is not finished"
        yield Finding("HF2458", Severity.WARNING, message, place, evidence)
    if seen.void:
        count = len(seen.void)
        many = counted(count, "manifest is", "manifests are")
        message = f"{many} void: a driver wrote after its batches had been taken back"
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


def _listed(subject: Subject) -> Listed | None:
    return subject.output.output if subject.output is not None else None


def _output(subject: Subject) -> str:
    return subject.sink.location if subject.sink is not None else ""


def _files(count: int) -> str:
    return counted(count, "file")


def _some(names: Sequence[str] | frozenset[str]) -> list[str]:
    return sorted(names)[:_MOST_NAMED]
