"""Turns `--starting-offsets` into the options that each source understands."""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.errors import PlanError
from holdfast.jobs.options import starting_options
from holdfast.jobs.ready import ReadyJob, ReadySource
from holdfast.wording import nearest

EARLIEST, LATEST = "earliest", "latest"
_DELTA = ("startingVersion", "startingTimestamp")
HELP = "pass another value: holdfast plan reset --help shows what each option takes"
Starting = dict[str, dict[str, str | None]]


def starting_of(job: ReadyJob, given: str | None) -> Starting:
    """Return by source the options that take the place of the declared ones; None removes one.

    Raise PlanError (HF4643) where a source begins nowhere else than at its beginning.
    """
    if given is None:
        return {}
    return {source.name: _options(source, given) for source in job.sources}


def _options(source: ReadySource, given: str) -> dict[str, str | None]:
    form = source.format.lower()
    if form not in ("kafka", "delta"):
        raise _unfit(source, f"a {source.format} source has no starting offsets")
    if given not in (EARLIEST, LATEST):
        _object(source, given)
    removed: dict[str, str | None] = dict.fromkeys(
        key for key in source.options if key.lower() in starting_options(source.options)
    )
    return removed | (_of_kafka(source, given) if form == "kafka" else _of_delta(source, given))


def _of_kafka(source: ReadySource, given: str) -> dict[str, str | None]:
    if given in (EARLIEST, LATEST):
        return {"startingOffsets": given}
    topics = _object(source, given)
    fits = topics and all(
        isinstance(parts, dict) and all(type(one) is int for one in parts.values())
        for parts in topics.values()
    )
    if not fits:
        form = '{"TOPIC": {"0": 23, "1": -2}}'
        raise _unfit(source, f"offsets of a kafka source have the form {form}")
    return {"startingOffsets": json.dumps(topics, sort_keys=True)}


def _of_delta(source: ReadySource, given: str) -> dict[str, str | None]:
    if given == EARLIEST:
        return {}
    if given == LATEST:
        return {"startingVersion": LATEST}
    wanted = _object(source, given)
    ((name, value),) = wanted.items() if len(wanted) == 1 else ((None, None),)
    if name not in _DELTA or type(value) not in (int, str):
        form = '{"startingVersion": 5} or {"startingTimestamp": "2026-01-31"}'
        raise _unfit(source, f"a delta source takes {form}")
    return {name: str(value)}


def _object(source: ReadySource, given: str) -> Mapping[str, object]:
    try:
        document = json.loads(given)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        near = nearest(given, (EARLIEST, LATEST)) if given.isalpha() else None
        hint = f"; did you mean {near}?" if near else ""
        message = f"starting offsets are earliest, latest or a JSON object, not {given}{hint}"
        raise _unfit(source, message)
    return document


def _unfit(source: ReadySource, message: str) -> PlanError:
    return PlanError("HF4643", message, at=source.at, next_steps=(HELP,))
