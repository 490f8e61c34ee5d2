"""`metadata`: the id that a query keeps for life."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.format.logs.log import decode_text
from holdfast.format.strictjson import Fields, encode_json

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True)
class QueryMetadata:
    """The query's id, as text: Spark accepts any."""

    id: str
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def well_formed(self) -> bool:
        """Whether the id has the form that Spark gives it (a UUID); another one was edited."""
        return _UUID.fullmatch(self.id) is not None


def decode_query(data: bytes) -> QueryMetadata:
    """Decode the bytes of `metadata`."""
    what = "query metadata"
    fields = Fields.of(decode_text(data, what), what=what, line=1)
    return QueryMetadata(fields.take_text("id"), fields.rest())


def encode_query(entry: QueryMetadata) -> bytes:
    """Encode the bytes of `metadata`."""
    return encode_json({"id": entry.id, **entry.extra}).encode("utf-8")
