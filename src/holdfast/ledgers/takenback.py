"""What is being taken back from a file sink: written before the first file goes, removed last."""

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

    def takes(self, query_id: str, batch_id: int) -> bool:
        """Tell whether a batch is taken back."""
        return self.query_id is None or (query_id == self.query_id and batch_id > self.batch_id)

    def left(self, query_id: str, newest: int) -> int:
        """Give the newest batch of a query that stays; -1 where none does."""
        if self.query_id is None:
            return -1
        return min(newest, self.batch_id) if query_id == self.query_id else newest


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
