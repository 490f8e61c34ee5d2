"""Decides whether a restore may write: never where Spark would plan a known batch id anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.backup.present import Present
from holdfast.backup.purging import log_id, newest_id
from holdfast.backup.snapshot import Root, Snapshot
from holdfast.checkpoint.layout import checksum_name
from holdfast.codes import code_of
from holdfast.errors import CheckpointError
from holdfast.findings import Finding, Place, Severity

_OLDER = code_of("HF4502").next_steps
_NEWEST_INSTEAD, _SINGLE_FILES, _TO_LOOK_AT = _OLDER[:1], _OLDER[1:2], _OLDER[2:]


def refuse_older(
    snapshot: Snapshot, present: Present, others: Iterable[Snapshot], recorded: int | None
) -> None:
    """Raise HF4502 where batches are known that came after the snapshot.

    `recorded` is the newest batch that a recorded run delivered.
    """
    now = present.names
    planned, committed = newest_id(now, "offsets"), newest_id(now, "commits")
    known = [
        ("planned", planned, snapshot.last_planned, "offsets/ holds"),
        ("committed", committed, snapshot.last_committed, "commits/ holds"),
        ("planned", recorded, snapshot.last_planned, "a recorded run delivered"),
    ]
    own_others = [other for other in others if other.query_id == snapshot.query_id]
    for other in own_others:
        where = f"backup {other.id} holds"
        known.append(("planned", other.last_planned, snapshot.last_planned, where))
    for word, newest, own, where in known:
        if newest is not None and newest > _number(own):
            upto = "no batch" if own is None else f"batch {own}"
            message = f"the backup knows {upto} as the last {word} one, and {where} batch {newest}"
            last = max(own_others, key=lambda one: one.made_ms, default=snapshot)
            is_enough = _number(last.last_planned) >= max(_number(planned), _number(recorded)) and (
                _number(last.last_committed) >= _number(committed)
            )
            files = () if present.empty else _SINGLE_FILES
            steps = _NEWEST_INSTEAD if is_enough else files
            raise CheckpointError(
                "HF4502", message, at=present.reader.location, next_steps=(*steps, *_TO_LOOK_AT)
            )


def refuse_other_query(snapshot: Snapshot, present: Present) -> None:
    """Raise HF4504 where another query's checkpoint is there."""
    query = present.picture.query if present.picture is not None else None
    if query is not None and snapshot.query_id is not None and query.id != snapshot.query_id:
        message = f"query {query.id} is there, the backup is of query {snapshot.query_id}"
        raise CheckpointError("HF4504", message, at=present.reader.location)


def refuse_forked(root: Root, present: Present) -> None:
    """Raise HF4503 where a batch was planned or committed with other content than in the backup."""
    for path in _differing(root, present, (one for one in root.by_path if log_id(one) is not None)):
        if not _is_side_file(path) and not present.is_damaged(path):
            raise _differs(path, present)


def refuse_whole_files(root: Root, present: Present, chosen: Iterable[str]) -> None:
    """Raise HF4503 where a chosen file is there, whole, and another one than in the backup."""
    for path in _differing(root, present, chosen):
        if _is_side_file(path):
            continue
        damaged = present.is_damaged(path)
        # State is rewritten by every attempt; without a checksum nothing can tell it from damage.
        if damaged is False or (damaged is None and not path.startswith("state/")):
            raise _differs(path, present)


def refuse_overwriting(root: Root, present: Present, chosen: Iterable[str]) -> None:
    """Raise HF4503 where a chosen file is there with other content than in the backup."""
    for path in _differing(root, present, chosen):
        raise _differs(path, present)


def restore_findings(
    snapshot: Snapshot, present: Present, *, elsewhere: bool, whole: bool, recorded: int | None
) -> Iterator[Finding]:
    """Yield what to mind before the query is started; `recorded` is the newest delivered batch."""
    if elsewhere and (whole or not (present.empty or present.is_plain_folder)):
        yield Finding(
            code="HF4513",
            severity=Severity.WARNING,
            message=f"this copy and {snapshot.location} share query id {snapshot.query_id}",
            place=Place(""),
            evidence={"query_id": snapshot.query_id, "original": snapshot.location},
        )
    elif whole and present.empty:
        yield _ending(snapshot, recorded)


def _ending(snapshot: Snapshot, recorded: int | None) -> Finding:
    """Report where the backup ends: runs that nobody recorded may have gone further."""
    planned = snapshot.last_planned
    ends = "holds no batch" if planned is None else f"ends with batch {planned}"
    severity, more = Severity.WARNING, "nothing here shows whether later batches ran"
    if recorded is not None:
        severity, more = Severity.INFO, f"the last recorded run delivered batch {recorded}"
    return Finding(
        code="HF4517",
        severity=severity,
        message=f"the backup {ends}; {more}",
        place=Place(""),
        evidence={"last_planned": planned, "made_ms": snapshot.made_ms, "recorded": recorded},
    )


def _differing(root: Root, present: Present, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths):
        now, then = present.files.get(path), root.by_path.get(path)
        if now is not None and then is not None and now.sha256 != then.sha256:
            yield path


def _differs(path: str, present: Present) -> CheckpointError:
    message = f"{path} is there and whole, with other content than in the backup"
    return CheckpointError("HF4503", message, at=f"{present.reader.location}/{path}")


def _is_side_file(path: str) -> bool:
    return path.endswith(".crc")


def _number(batch: int | None) -> int:
    return -1 if batch is None else batch


def side_files(path: str) -> tuple[str, ...]:
    """Name the checksums that Hadoop and Spark may keep beside a file."""
    return checksum_name(path), f"{path}.crc", checksum_name(f"{path}.crc")
