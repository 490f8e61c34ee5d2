"""Which files the next start reads."""

from __future__ import annotations

from holdfast.checkpoint.picture import Picture
from holdfast.format.logs.filelog import effective_interval, needed_ids


def needed_paths(picture: Picture) -> frozenset[str]:
    """Name the log and schema files that Spark opens at the next start (state files apart)."""
    layout = picture.layout
    paths = {"metadata"}
    newest, committed = layout.offsets.newest, layout.commits.newest
    if newest is not None:
        paths |= {f"offsets/{newest}", f"offsets/{newest - 1}"}
    if committed is not None:
        paths.add(f"commits/{committed}")
    for name in picture.source_logs:
        source = layout.sources[name]
        if source.files:
            interval = effective_interval(source.compact_ids)
            wanted = needed_ids(max(source.files), interval)
            paths |= {item.path for one, item in source.files.items() if one in wanted}
    for name, source in layout.sources.items():
        if name not in picture.source_logs and 0 in source.files:
            paths.add(source.files[0].path)
    for operator in layout.state.operators.values():
        for store in operator.stores.values():
            paths |= {path for path in (store.partition_schema,) if path is not None}
            paths |= set(store.schema_files.values())
    return frozenset(paths)
