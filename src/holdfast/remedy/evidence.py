"""What a checkpoint and its sink showed before an act and after it: kept in the journal, and
compared before anything is undone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.answers import plain
from holdfast.backup.copying import log_id
from holdfast.backup.safety import look
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.releases import spark_version
from holdfast.errors import HoldfastError
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer
from holdfast.records.journal import Event, JournalledAct, StepEntry
from holdfast.records.moments import moment_now
from holdfast.remedy.plan import Plan
from holdfast.storage.reading import FileKind, Reader

AskSink = Callable[[str], LastCommitted]
"""Returns the newest batch that the declared sink holds of a query; never raises."""
Evidence = Mapping[str, Any]
WHOLE_ACT = 0
"""The step of an entry that is about the whole act."""


def evidence_entry(event: Event, checkpoint: Reader, ask_sink: AskSink | None) -> StepEntry:
    """Return the entry of what is there before the first step, or after the last one."""
    return StepEntry(WHOLE_ACT, event, moment_now(), observed(checkpoint, ask_sink))


def observed(checkpoint: Reader, ask_sink: AskSink | None) -> dict[str, Any]:
    """Return what a checkpoint and its sink show now; what cannot be read is named, not raised."""
    try:
        present = look(checkpoint, _is_log, any_folder=True)
    except HoldfastError as error:
        return {"unreadable": f"{error.code.number}: {error.message}"}
    if present.picture is None:
        return {"missing": True}
    picture = present.picture
    items = picture.layout.items.values()
    sizes = sorted((one.path, one.size) for one in items if one.kind is FileKind.FILE)
    logs = {path: file.sha256 for path, file in sorted(present.files.items())}
    query = picture.query.id if picture.query is not None else None
    return {
        "query_id": query,
        "batches": {
            "last_planned": picture.newest_offsets_id,
            "last_committed": picture.newest_commit_id,
            "pending": picture.pending,
        },
        "next_start": _next_start(picture),
        "sink": _sink(query, ask_sink),
        "files": len(sizes),
        "size_bytes": sum(size for _, size in sizes),
        "digest": _digest([[list(one) for one in sizes], logs]),
        "logs": _digest(logs),
    }


def what_came_after(act: JournalledAct, checkpoint: Reader, ask_sink: AskSink | None) -> str | None:
    """Return what changed since an act that kept evidence, so that it can no longer be undone.

    Plain Spark leaves no record of a run: its offsets, its commits and the sink show it.
    """
    left = evidence_of(act, Event.AFTER)
    if left is None:
        return None
    now = observed(checkpoint, ask_sink)
    if now.get("logs") != left.get("logs"):
        return f"the checkpoint changed since: {_batches_in_words(left, now)}"
    return sink_moved(left.get("sink"), now.get("sink"))


def sink_moved(then: Evidence | None, now: Evidence | None) -> str | None:
    """Return what the sink took since it was asked; None where it took nothing."""
    if then is None or then["answer"] == SinkAnswer.UNKNOWN.value:
        return None
    if now is None or now["answer"] == SinkAnswer.UNKNOWN.value:
        basis = "it is not declared any more" if now is None else now["basis"]
        return f"whether the sink has newer batches is unknown: {basis}"
    if (-1 if now["value"] is None else now["value"]) > (
        -1 if then["value"] is None else then["value"]
    ):
        return f"the sink has batch {now['value']} since"
    return None


def evidence_of(act: JournalledAct, event: Event) -> Evidence | None:
    """Return what an act noted before its first or after its last step; None where it did not."""
    found = [one.result for one in act.entries if one.event is event]
    return found[-1] if found else None


def written_by(plan: Plan) -> Mapping[str, set[str]]:
    """Return the digests that the steps of a plan write, by the paths of files."""
    found: dict[str, set[str]] = {}
    for step in plan.steps:
        for path, content in _written(step.arguments):
            found.setdefault(path, set()).add(content)
    return found


def late_entries(
    checkpoint: Reader, before: Iterable[tuple[str, str]], written: Mapping[str, set[str]]
) -> tuple[str, ...]:
    """Return the entries of offsets and commits that are neither of before nor of the plan: a query
    went on after the backup was made. `before` are paths with their digests."""
    known = {path: set(digests) for path, digests in written.items()}
    for path, digest in before:
        known.setdefault(path, set()).add(digest)
    present = look(checkpoint, _is_log, any_folder=True)
    return tuple(
        path
        for path, file in sorted(present.files.items())
        if file.sha256 not in known.get(path, ())
    )


def _is_log(path: str) -> bool:
    return log_id(path) is not None


def _written(arguments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    writes = json.loads(arguments.get("writes", "{}"))
    for path, text in writes.items():
        yield path, hashlib.sha256(base64.b64decode(text)).hexdigest()
    yield from json.loads(arguments.get("restores", "{}")).items()


def _next_start(picture: Picture) -> dict[str, Any]:
    told = next_start(picture, spark_version(picture).assumed)
    return {"action": told.action.value, "batch_id": told.batch_id, "reason": told.reason}


def _sink(query_id: str | None, ask_sink: AskSink | None) -> dict[str, Any] | None:
    if query_id is None or ask_sink is None:
        return None
    held = ask_sink(query_id)
    return {"answer": held.answer.value, "value": held.value, "basis": held.basis}


def _batches_in_words(then: Evidence, now: Evidence) -> str:
    if "batches" not in then or "batches" not in now:
        return "its logs are not those that the act left"
    one, two = then["batches"], now["batches"]
    for name in ("last_planned", "last_committed"):
        if one[name] != two[name]:
            word = name.replace("_", " ")
            return f"the {word} batch is {two[name]}, and was {one[name]}"
    return "offsets/ or commits/ have other entries than those that the act left"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True).encode()).hexdigest()
