"""Digests of state rows: the same for Spark's rows and ours, if they are the same rows."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.corpus.loading import Sample

DIGESTS = Path(__file__).resolve().parent / "digests.json"

Told = dict[str, dict[str, dict[str, str]]]
"""Sample, store and batch to the digest of the rows, or to why Spark would not give them."""


def by_key(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group rows by what identifies them; order counts within a key alone."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        parts = (row["key"], row.get("user_map_key"), row.get("expiration_timestamp_ms"))
        found[json.dumps(parts, sort_keys=True)].append(row)
    return dict(found)


def digest(rows: list[dict[str, Any]]) -> str:
    """Tell the number of rows and the SHA-256 of what they say."""
    text = json.dumps(_plain(by_key(rows)), sort_keys=True, separators=(",", ":"))
    return f"{len(rows)} {hashlib.sha256(text.encode()).hexdigest()}"


def _plain(value: Any) -> Any:
    """Whether a whole number came as 5 or as 5.0 tells nothing."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def store_name(told: Mapping[str, Any]) -> str:
    """Name what Spark was asked for: operator, store, and variable."""
    variable = "timers" if told.get("readRegisteredTimers") else told.get("stateVarName")
    return "/".join(filter(None, (told["operatorId"], told["storeName"], variable)))


def older_batches(sample: Sample) -> list[int]:
    """Give the committed batches but the newest, whose rows are among the sample's facts."""
    names = [name.removeprefix("commits/") for name in sample.files() if "commits/" in name]
    return sorted(int(name) for name in names if name.isdecimal())[:-1]


def load_digests() -> Told:
    """Read what is committed."""
    told: Told = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    return told


def save_digests(told: Told) -> None:
    """Write what is to be committed, in an order that does not change."""
    text = json.dumps(dict(sorted(told.items())), indent=1)
    DIGESTS.write_text(text + "\n", encoding="utf-8")
