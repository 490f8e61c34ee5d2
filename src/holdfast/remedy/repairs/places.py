"""Repair of recorded paths: state schemas that are recorded at another place than they are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.errors import DecodeError, PlanError
from holdfast.format.state.operators import decode_operator
from holdfast.remedy.repairs.repair import Damaged, Fix
from holdfast.storage.location import Location, canonical
from holdfast.storage.reading import Reader

ELSEWHERE = frozenset(("HF2225",))


def recorded_paths(damaged: Damaged) -> Iterator[Fix]:
    """Write the paths of state schemas as they are here, where every one of these files is here."""
    if not damaged.of(ELSEWHERE):
        return
    location = damaged.facts.checkpoint
    writes = relocated(damaged.reader, damaged.picture, location)
    names = damaged.picture.layout
    for content in writes.values():
        for path in _paths(content):
            inside = _below(path)
            if inside is None or not names.has_file(inside):
                message = f"{path} is recorded as a state schema, and is not in the checkpoint"
                raise PlanError("HF4601", message, at=damaged.facts.location)
    if writes:
        yield Fix("write the paths of state schemas as they are here", writes)


def relocated(
    reader: Reader, picture: Picture, place: Location, before: Location | None = None
) -> dict[str, bytes]:
    """Return the files that name absolute paths in the checkpoint, as they are at a place.

    With `before` only paths in that place are changed: what is recorded wrongly stays so.
    """
    root = _as_spark_writes(place)
    changed: dict[str, bytes] = {}
    for operator in picture.layout.state.operators.values():
        for path in operator.metadata_by_batch.values():
            content = reader.read(path)
            moved = _rewritten(content, root, before)
            if moved != content:
                changed[path] = moved
    return changed


def _rewritten(content: bytes, root: str, only: Location | None) -> bytes:
    """Replace the roots of recorded paths; every other byte stays."""
    for path in _paths(content):
        inside = _below(path)
        if inside is not None and (only is None or _lies_in(path, only)):
            before, after = (json.dumps(one, ensure_ascii=False) for one in
                             (path, f"{root}/{inside}"))  # fmt: skip
            content = content.replace(before.encode(), after.encode())
    return content


def _lies_in(path: str, place: Location) -> bool:
    """Whether a recorded path is in a place, however its scheme and its slashes are spelled."""
    own = {_bare(place.url), _bare(canonical(place))}
    root = _bare(path[: path.rfind("/state/")])
    return root in own


def _bare(path: str) -> str:
    scheme, colon, rest = path.partition(":")
    return (rest if colon and "/" not in scheme else path).strip("/")


def _paths(content: bytes) -> tuple[str, ...]:
    try:
        stores = decode_operator(content).stores
    except DecodeError:
        return ()  # damaged metadata is another finding
    return tuple(path for store in stores for path in store.schema_paths)


def _below(path: str) -> str | None:
    """Cut a recorded absolute path down to its part below the checkpoint."""
    found = path.rfind("/state/")
    return None if found < 0 else path[found + 1 :]


def _as_spark_writes(place: Location) -> str:
    if place.is_local:
        return f"file:{place.url.rstrip('/')}"
    scheme, _, rest = place.url.partition("://")
    return f"{'s3a' if scheme == 's3' else scheme}://{rest.rstrip('/')}"
