"""What Delta's own sink notes of a batch beside its data: the output mode and the Spark release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.format.strictjson import decode_object
from holdfast.storage.reading import Reader

LOOKED_AT = 20
"""How many of the newest versions are looked at: other writers may have come after the query."""

_VERSION = re.compile(r"[0-9]{20}\.json")
_ENGINE = re.compile(r"Apache-Spark/([0-9]+(?:\.[0-9]+)*)")


@dataclass(frozen=True)
class DeltaCommit:
    """The newest version of a table that a query's own sink wrote."""

    version: str
    """The file below the log's folder."""
    output_mode: str | None
    spark: str | None
    """The full version of the Spark that wrote it."""


def newest_commit_of(reader: Reader, query_id: str) -> DeltaCommit | None:
    """Find the newest version that this query wrote; None where none of the newest is its own."""
    try:
        names = sorted(name for name in reader.names("") if _VERSION.fullmatch(name))
    except NotFoundError:
        return None
    newest = names[-LOOKED_AT:]
    read = reader.read_many(newest)
    for name in reversed(newest):
        data = read[name]
        found = None if isinstance(data, StorageError) else _commit(name, data, query_id)
        if found is not None:
            return found
    return None


def _commit(name: str, data: bytes, query_id: str) -> DeltaCommit | None:
    for line in data.decode("utf-8", "replace").splitlines():
        if not line.startswith('{"commitInfo"'):
            continue
        try:
            info = decode_object(line, what="an action of a Delta log").get("commitInfo")
        except DecodeError:
            # The ledger tells of a log that can't be read; here one note less is known.
            return None
        return _noted(name, info, query_id) if isinstance(info, dict) else None
    return None


def _noted(name: str, info: Mapping[str, object], query_id: str) -> DeltaCommit | None:
    parameters = info.get("operationParameters")
    if not isinstance(parameters, dict) or parameters.get("queryId") != query_id:
        return None
    engine = _ENGINE.match(str(info.get("engineInfo", "")))
    mode = parameters.get("outputMode")
    spark = engine[1] if engine else None
    return DeltaCommit(name, mode.lower() if isinstance(mode, str) else None, spark)
