"""Real RocksDB stores of the corpus: their zips, and what a store holds at its newest version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from holdfast.checkpoint.reading import read_picture
from holdfast.format.buffers import DELETE, MERGE, PUT, Changes, Spans
from holdfast.format.rocksdb.keys import family_prefix
from holdfast.format.state.changes import read_changelog
from holdfast.state.layouts import StoreLayout, layouts_of
from holdfast.state.loading.rocksdb import open_tables, read_snapshot
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import Sample, corpus

_FILE = re.compile(
    r"(state/(\d+)/(\d+)/(?:([^/]+)/)?)(\d+)(?:_[0-9a-f-]+)?\.(zip|changelog)", re.ASCII
)


@dataclass(frozen=True)
class Partition:
    """One partition of one store: its entries at the newest version, as RocksDB would hold them."""

    operator: int
    number: int
    store: str
    entries: dict[bytes, bytes]
    families: dict[str, int]
    delimiter: bytes

    def of(self, layout: StoreLayout) -> Changes:
        """Give the entries of one column family, or all where there are none."""
        number = self.families.get(layout.family or "")
        prefix = b"" if layout.family is None or number is None else family_prefix(number)
        absent = layout.family is not None and number is None
        keys = [] if absent else sorted(key for key in self.entries if key.startswith(prefix))
        values = [self.entries[key] for key in keys]
        kinds = Spans.of([bytes([PUT])] * len(keys)).data
        return Changes(kinds, Spans.of(keys), Spans.of(values))


def zips_of(sample: Sample) -> list[str]:
    """Name the RocksDB snapshots of a sample."""
    return sorted(
        path for path in sample.files() if path.startswith("state/") and path.endswith(".zip")
    )


@cache
def samples_with_tables() -> tuple[Sample, ...]:
    """Give every sample that holds a RocksDB snapshot."""
    return tuple(sample for sample in corpus() if zips_of(sample))


def real_partitions(sample: Sample) -> Iterator[Partition]:
    """Read the newest committed version of every partition that has a snapshot."""
    files = sample.files()
    commits = [path.removeprefix("commits/") for path in files if path.startswith("commits/")]
    newest = max(int(name) for name in commits if name.isdigit()) + 1
    found: dict[str, dict[str, dict[int, str]]] = {}
    for path in files:
        if named := _FILE.fullmatch(path):
            versions = found.setdefault(named[1], {}).setdefault(named[6], {})
            assert int(named[5]) not in versions
            versions[int(named[5])] = path
    for folder, kinds in sorted(found.items()):
        base = max((one for one in kinds.get("zip", {}) if one <= newest), default=None)
        if base is not None and (base == newest or kinds.get("changelog")):
            changelogs = kinds.get("changelog", {})
            later = [changelogs[version] for version in range(base + 1, newest + 1)]
            yield _partition(sample, folder, kinds["zip"][base], later)


def real_layouts(sample: Sample, operator: int) -> tuple[StoreLayout, ...]:
    """Describe the stores of an operator."""
    picture = read_picture(MemoryReader(sample.files()))
    return layouts_of(picture, operator, max(picture.commits))


def _partition(sample: Sample, folder: str, base: str, later: list[str]) -> Partition:
    files = sample.files()
    reader = MemoryReader(files)
    snapshot = read_snapshot(reader, base)
    entries: dict[bytes, bytes] = {}
    with open_tables(reader, base, snapshot) as tables:
        for chunk in tables.entries():
            for index in range(len(chunk)):
                entries[chunk.keys.at(index)] = chunk.values.at(index)
    for path in later:
        for chunk in read_changelog(files[path]).changes:
            _replay(entries, chunk, snapshot.delimiter)
    named = _FILE.fullmatch(base)
    assert named is not None
    families = {family.name: family.id for family in snapshot.column_families}
    store = named[4] or "default"
    return Partition(int(named[2]), int(named[3]), store, entries, families, snapshot.delimiter)


def _replay(entries: dict[bytes, bytes], changes: Changes, delimiter: bytes) -> None:
    for index, kind in enumerate(changes.kinds.tolist()):
        key, value = changes.keys.at(index), changes.values.at(index)
        if kind == DELETE:
            entries.pop(key, None)
        elif kind == MERGE and key in entries:
            entries[key] += delimiter + value
        else:
            assert kind in (PUT, MERGE)
            entries[key] = value
