"""One run as bytes and back: without secrets, bounded, and readable by a later Holdfast."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from holdfast.records.documents import decode_document, document_of, encode_document
from holdfast.records.run import Run
from holdfast.redaction import redact, redact_value

KEPT_BATCHES = 100
"""How many of the newest batches a record lists."""
LONGEST_PLAN = 64 * 1024
LONGEST_MESSAGE = 16 * 1024


def encode_run(run: Run) -> bytes:
    """Give the bytes of a run's record."""
    return encode_document(_without_secrets(document_of(_bounded(run))))


def decode_run(content: bytes) -> Run:
    """Give the run that the bytes hold; raise UnreadableError where they hold none."""
    return decode_document(Run, content)


def _bounded(run: Run) -> Run:
    failure = run.failure
    if failure is not None:
        failure = replace(failure, message=failure.message[:LONGEST_MESSAGE])
    plan = replace(run.plan, text=run.plan.text[:LONGEST_PLAN])
    return replace(run, recent=run.recent[-KEPT_BATCHES:], failure=failure, plan=plan)


def _without_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """Redact everything but numbers, times, and the digests of files, which may bear any name."""
    plan, recent = document["plan"], document["recent"]
    once = _redacted_once(tuple(sorted(document["settings"].items())), plan["text"])
    several = {**document, "plan": {**plan, "code": {}, "text": ""}, "settings": {}, "recent": []}
    redacted = cast("dict[str, Any]", redact_value(several))
    redacted["plan"] |= {"code": plan["code"], "text": once[1]}
    return redacted | {"settings": once[0], "recent": recent}


@lru_cache(maxsize=32)
def _redacted_once(settings: tuple[tuple[str, str], ...], text: str) -> tuple[object, str]:
    """Redact what is long and stays the same during a run, not anew for every batch."""
    return redact_value(dict(settings)), redact(text)
