"""A checkpoint against the log of Spark's file sink: which batches each of them knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sparkfilesink import FORMATS, LOG_FOLDER, FileSinkLog
from holdfast.wording import counted, id_ranges

CLOCK_TOLERANCE_MS = 60_000
"""How far the clocks of the driver and of the storage may be apart."""
LARGE_LOG_BYTES = 32 * 1024 * 1024
_NOT_OURS = (
    "the declared sink is Holdfast's file sink, which has no manifest of any batch here: the files "
    "are of another writer, and a start refuses the directory (HF5006)"
)


def check_sink_not_ahead(subject: Subject) -> Iterator[Finding]:
    """Report a sink that knows later batches than the checkpoint: those ids would be skipped."""
    log, planned = _log(subject), subject.picture.newest_offsets_id
    if log is None or log.newest is None or (planned is not None and log.newest <= planned):
        return
    is_new = planned is None and subject.picture.newest_commit_id is None
    foreign = is_new or bool(_older_than_planned(subject, log))
    if foreign and subject.twin is not None:
        # The checkpoint of this output lies at the twin: another output would be the wrong remedy.
        return
    following = 0 if planned is None else planned + 1
    known = f"has batches up to {log.newest}, the checkpoint "
    known += "has no planned batch" if planned is None else f"only up to {planned}"
    yield Finding(
        "HF2401" if foreign else "HF2402",
        Severity.FATAL,
        f"the sink {known}: what is planned as {_range_text(following, log.newest)} is discarded",
        _place(log, str(log.newest)),
        {"sink_newest": log.newest, "newest_offsets": planned},
    )


def check_sink_not_behind(subject: Subject) -> Iterator[Finding]:
    """Report batches that are committed in the checkpoint and not in the sink."""
    log, committed = _log(subject), subject.picture.newest_commit_id
    if log is None or log.newest is None or committed is None or log.newest >= committed:
        return
    yield Finding(
        "HF2404",
        Severity.ERROR,
        f"{_range_text(log.newest + 1, committed)} is committed, but the sink's log ends at "
        f"{log.newest}",
        _place(log, str(log.newest + 1)),
        {"sink_newest": log.newest, "newest_commit": committed},
    )


def check_sink_entries(subject: Subject) -> Iterator[Finding]:
    """Report entries that readers and the next compaction need and that are not there."""
    log = _log(subject)
    missing = log.missing() if log is not None else []
    if log is None or not missing:
        return
    compaction = log.next_compaction()
    first = ", ".join(_range_text(*one) for one in islice(id_ranges(missing), 3))
    yield Finding(
        "HF2403",
        Severity.FATAL if compaction - 1 == log.newest else Severity.ERROR,
        f"the sink's log has no {first}; the compaction at batch {compaction} will fail",
        _place(log, str(missing[0])),
        {"missing": missing[:20], "count": len(missing), "next_compaction": compaction},
    )


def check_sink_times(subject: Subject) -> Iterator[Finding]:
    """Report batches that were planned after the sink's entry of the same id was written."""
    log = _log(subject)
    lost = _older_than_planned(subject, log) if log is not None else []
    lost = [one for one in lost if one in subject.picture.layout.commits.files]
    if log is None or not lost:
        return
    yield Finding(
        "HF2405",
        Severity.ERROR,
        f"the sink wrote its entry of batch {lost[0]} before the checkpoint planned that batch: "
        f"rows of {counted(len(lost), 'committed batch')} are not in the sink",
        _place(log, str(lost[0])),
        {"batches": lost[:20], "count": len(lost)},
    )


def check_sink_log_size(subject: Subject) -> Iterator[Finding]:
    """Report a compact entry that slows every compaction down."""
    log = _log(subject)
    newest = max(log.compact_ids, default=None) if log is not None else None
    if log is None or newest is None or log.files[newest].size < LARGE_LOG_BYTES:
        return
    item = log.files[newest]
    message = f"{LOG_FOLDER}/{item.path} has {item.size:,} bytes, rewritten every "
    message += f"{log.interval} batches"
    evidence = {"bytes": item.size, "interval": log.interval}
    yield Finding("HF2406", Severity.WARNING, message, _place(log, item.path), evidence)


def check_output_of_spark(subject: Subject) -> Iterator[Finding]:
    """Report a job whose output folder belongs to Spark's own file sink: `run` refuses it."""
    sink = None if subject.job is None else subject.job.job.sink
    if sink is None or sink.native:
        return
    if sink.format in FORMATS and _log(subject) is not None:
        assert subject.sink is not None
        yield output_of_spark(subject.sink.location)


def output_of_spark(location: str) -> Finding:
    """Return the finding that `run` refuses to start with."""
    message = f"{location} contains {LOG_FOLDER}"
    return Finding("HF5020", Severity.FATAL, message, Place(LOG_FOLDER, root=location))


def check_sink_damage(subject: Subject) -> Iterator[Finding]:
    """Report entries of the sink's log that can't be read."""
    log = _log(subject)
    for path, error in log.damages if log is not None else ():
        evidence = {"code": error.code.number}
        message = f"{LOG_FOLDER}/{path}: {error.message}"
        assert log is not None
        yield Finding("HF2408", Severity.ERROR, message, _place(log, path), evidence)


def check_sink_memory(subject: Subject) -> Iterator[Finding]:
    """Report an output without any memory of batches, and one that could not be asked."""
    sink, committed = subject.sink, subject.picture.newest_commit_id
    if sink is None:
        return
    root = Place("", root=sink.location)
    if sink.failure is not None:
        evidence = {"code": sink.failure.code.number}
        message = f"the sink could not be read: {sink.failure.message}"
        steps = () if sink.is_folder else sink.failure.next_steps
        yield Finding("HF2431", Severity.WARNING, message, root, evidence, "", steps)
    elif subject.sight is not None and subject.recorded.runs_of(subject.picture):
        return  # a sink that Holdfast delivered to is compared as its next start would
    elif sink.kind == "none" and sink.is_folder and committed is not None:
        if subject.job is not None and subject.job.job.sink.format == "delta":
            message = f"batches up to {committed} are committed, but there is no Delta table here"
            yield Finding("HF2248", Severity.ERROR, message, root, {"newest_commit": committed})
            return
        message = f"batches up to {committed} are committed, but the output has no log of batches"
        known = {"newest_commit": committed}
        if not _is_own(subject):
            yield Finding("HF2407", Severity.WARNING, message, root, known)
        elif subject.sight is not None and not subject.sight.contents.is_without_rows:
            yield _without_manifests(message, root, known)


def _without_manifests(message: str, root: Place, evidence: Mapping[str, object]) -> Finding:
    steps = ("give the sink a directory of its own",)
    return Finding("HF2407", Severity.WARNING, message, root, evidence, _NOT_OURS, steps)


def _is_own(subject: Subject) -> bool:
    """Whether Holdfast's file sink is declared: an empty output of it is reported as HF3023."""
    sink = None if subject.job is None else subject.job.job.sink
    return sink is not None and not sink.native and sink.format in FORMATS


def _log(subject: Subject) -> FileSinkLog | None:
    return subject.sink.files if subject.sink is not None else None


def _place(log: FileSinkLog, file: str) -> Place:
    return Place(file, root=log.location)


def _older_than_planned(subject: Subject, log: FileSinkLog) -> list[int]:
    """Name the batches whose entry in the sink is older than their planning."""
    found: list[int] = []
    for batch_id, entry in sorted(subject.picture.offsets.items()):
        written = log.written_ms.get(batch_id)
        planned = entry.metadata.timestamp_ms if entry.metadata is not None else 0
        if written is not None and written + CLOCK_TOLERANCE_MS < planned:
            found.append(batch_id)
    return found


def _range_text(first: int, last: int) -> str:
    return f"batch {first}" if first == last else f"batches {first} to {last}"
