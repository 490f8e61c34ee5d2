"""Rules on file sources: offsets point into a log that is whole and holds each file once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fuzz.decoded import MOST_IDS, Broken, Decoded, Rule, broken


def file_offsets_fit(found: Decoded) -> Iterator[Broken]:
    """A file source's offset never goes back and points into the source's own log."""
    for batch, before, after in found.steps:
        for name, now in _file_offsets(after).items():
            earlier = _file_offsets(before).get(name)
            if earlier is not None and now < earlier:
                yield broken("offsets go forward", f"offsets/{batch}", f"offsets/{batch - 1}")
    planned = found.ids("offsets")
    newest = found.offsets.get(planned[-1]) if planned else None
    if newest is None or newest[0] != 1 or _names_sources(newest):
        return
    lines = newest[2]
    for name, offset in _file_offsets(newest).items():
        first = next(at for at, line in enumerate(lines) if line == lines[int(name)])
        folder = name if _log_ids(found, name) else str(first)
        ids = _log_ids(found, folder)
        if not ids or offset > max(ids):
            places = (f"sources/{name}", f"sources/{name}/{offset}", "sources")
            yield broken("an offset lies in its log", f"offsets/{planned[-1]}", *places)


def _names_sources(entry: Any) -> bool:
    """Spark 4.2 keeps named sources in logs of version 1 too, where lines bear no names."""
    settings = (entry[1] or {}).get("conf", {})
    key = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
    return bool(settings.get(key) == "true")


def _file_offsets(entry: Any) -> dict[str, int]:
    sources = entry[2] if isinstance(entry[2], dict) else dict(enumerate(entry[2]))
    return {
        str(name): offset[0]["logOffset"]
        for name, offset in sources.items()
        if offset and isinstance(offset[0], dict) and isinstance(offset[0].get("logOffset"), int)
    }


def _log_ids(found: Decoded, name: str) -> dict[int, str]:
    prefix = f"sources/{name}/"
    return {
        int(path[len(prefix) :].removesuffix(".compact")): path
        for path, kind in found.kinds.items()
        if path.startswith(prefix) and kind == "source log" and path in found.files
    }


def _log_names(found: Decoded) -> set[str]:
    return {
        path.split("/")[1]
        for path, kind in found.kinds.items()
        if kind == "source log" and path in found.files
    }


def source_log_whole(found: Decoded) -> Iterator[Broken]:
    """From the last compact entry on, a file source's log has every id."""
    for name in _log_names(found):
        ids = _log_ids(found, name)
        compact = [one for one, path in ids.items() if path.endswith(".compact")]
        first = max(compact, default=0)
        for one in range(first, min(max(ids), first + MOST_IDS)):
            if one not in ids:
                yield broken("a source log is whole", f"sources/{name}/{one}", f"sources/{name}")


def source_log_entries(found: Decoded) -> Iterator[Broken]:
    """An entry holds its own files; a compact one holds every id up to its own."""
    for name in _log_names(found):
        for log_id, path in _log_ids(found, name).items():
            items = found.content.get(path)
            if not isinstance(items, list):
                continue
            numbers = {item["batchId"] for item in items}
            wanted = (
                {*range(min(log_id, MOST_IDS)), log_id} if path.endswith(".compact") else {log_id}
            )
            if numbers != wanted:
                yield broken("an entry holds its own files", path)


def compacted(found: Decoded) -> Iterator[Broken]:
    """Files of kept entries stand in the compact entry that follows them."""
    for name in _log_names(found):
        ids = _log_ids(found, name)
        for compact_id, path in ids.items():
            content = found.content.get(path)
            if not path.endswith(".compact") or not isinstance(content, list):
                continue
            held = {str(item) for item in content}
            for log_id, other in ids.items():
                items = found.content.get(other)
                is_earlier = log_id < compact_id and isinstance(items, list)
                if is_earlier and not {str(item) for item in items or ()} <= held:
                    yield broken("a compact entry repeats", path, other)


SOURCE_RULES: tuple[Rule, ...] = (
    file_offsets_fit,
    source_log_whole,
    source_log_entries,
    compacted,
)
