"""What versions before the epochs left while they took batches of a file sink back.

One that was not finished is finished by a fence in its place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from holdfast.errors import SinkError

INTENT = "taking-back.json"
"""Its name in the folder of the manifests."""


@dataclass(frozen=True)
class Intent:
    """Batches that go: those of one query after `batch_id`, or of every query."""

    query_id: str | None
    """None: everything."""
    batch_id: int


def encode_intent(intent: Intent) -> bytes:
    """Give the bytes of the intent."""
    return json.dumps(asdict(intent), sort_keys=True).encode("ascii") + b"\n"


def decode_intent(content: bytes, at: str) -> Intent:
    """Give the intent that the bytes hold; raise SinkError where they hold none."""
    try:
        document = json.loads(content.decode("utf-8"))
        query_id, batch_id = document["query_id"], document["batch_id"]
        if not isinstance(query_id, str | None) or type(batch_id) is not int:
            raise TypeError("no intent")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = "what is being taken back can't be read"
        raise SinkError("HF5023", message, at=at) from error
    return Intent(query_id, batch_id)
