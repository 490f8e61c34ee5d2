"""Reads one checkpoint: its whole picture, or what two listings and a small file tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from holdfast.checkpoint.files import read_checked_files
from holdfast.checkpoint.layout import (
    Layout,
    checked_name,
    file_log_folders,
    lay_out,
    wanted_log_ids,
)
from holdfast.checkpoint.picture import Damage, Picture, StoreKey
from holdfast.errors import CheckpointError, DecodeError, NotFoundError, StorageError
from holdfast.format.logs.commits import CommitEntry
from holdfast.format.logs.filelog import FileLog, SourceFile
from holdfast.format.logs.log import QueryMetadata, batch_id_of, decode_query
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.state.operators import OperatorMetadata
from holdfast.format.state.schema import StateSchema
from holdfast.storage.reading import Listing, Reader
from holdfast.wording import counted

SHOWN_BATCHES = 10
ENTRY_LIMIT_BYTES = 64 * 1024 * 1024
"""No Spark writes log entries near this size; a Kafka source of 100 000 partitions needs 2 MB."""
FILE_LOG_LIMIT_BYTES = 16 * 1024 * 1024
"""A compacted file log grows for ever; a larger one is left unread unless all is verified."""
_ATTEMPTS = 3

Entry = TypeVar("Entry")


def read_picture(
    reader: Reader, *, history: int = SHOWN_BATCHES, any_folder: bool = False
) -> Picture:
    """Read one consistent moment; of the logs the newest `history` batches and what precedes them.

    A checkpoint that a running query writes to is read again, up to three times, to find a quiet
    moment. After that the picture says that it moved. It is consistent all the same, because the
    listing sees what Spark writes last before what it writes first. `any_folder` accepts a folder
    that has content, but none of a checkpoint's; otherwise that raises HF2001.
    """
    for attempt in range(_ATTEMPTS):
        picture = _PictureAttempt(reader, history, any_folder).picture()
        if not picture.moved or attempt == _ATTEMPTS - 1:
            return picture
    raise AssertionError("the loop above returns")


@dataclass
class _PictureAttempt:
    """One attempt: the files asked for so far, and the damage met."""

    reader: Reader
    history: int
    any_folder: bool
    damages: list[Damage] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    initial_offsets: dict[str, bytes] = field(default_factory=dict)
    vanished: bool = False

    def picture(self) -> Picture:
        listing = self.reader.list()
        layout = self._without_passing(lay_out(listing.items))
        _raise_unlisted_logs(listing)
        if not self.any_folder:
            _refuse_foreign_folder(self.reader, layout)
        content = self._contents(layout, self._log_paths(layout), frozenset())
        offsets = _numbered(content, "offsets/", OffsetsEntry)
        file_logs = file_log_folders(layout, offsets)
        content |= self._contents(
            layout, self._source_and_state_paths(layout, offsets, file_logs), file_logs
        )
        return Picture(
            location=self.reader.location,
            layout=layout,
            query=_one(content, "metadata", QueryMetadata),
            offsets=offsets,
            commits=_numbered(content, "commits/", CommitEntry),
            source_logs=_source_logs(layout, content, file_logs),
            initial_offsets=self.initial_offsets,
            operators=_operators(layout, content),
            schemas=_schemas(layout, content),
            operator_files=_by_path(content, OperatorMetadata),
            schema_files=_by_path(content, StateSchema),
            damages=tuple(self.damages),
            unlisted=listing.failures,
            unread=tuple(self.unread),
            moved=self.vanished or _has_grown(self.reader, layout),
        )

    def _without_passing(self, layout: Layout) -> Layout:
        """Leave out checksums without a file that the next look finds gone, or with their file.

        Hadoop creates, renames and removes a file and its checksum one after the other.
        """
        folders = {path.rpartition("/")[0] for path in layout.orphan_checksums}
        try:
            now = {folder: self.reader.names(folder) for folder in folders}
        except StorageError:
            return layout
        passing = {path for path in layout.orphan_checksums if not _is_orphan(path, now)}
        if not passing:
            return layout
        self.vanished = True
        return lay_out(item for path, item in layout.items.items() if path not in passing)

    def _log_paths(self, layout: Layout) -> list[str]:
        planned = layout.offsets.ids[-(self.history + 1) :]
        committed = [one for one in layout.commits.ids if planned and one >= planned[0]]
        newest = layout.commits.ids[-1:]
        paths = [layout.offsets.files[one].path for one in planned]
        paths += [layout.commits.files[one].path for one in sorted({*committed, *newest})]
        return [*(["metadata"] if layout.has_file("metadata") else []), *paths]

    def _source_and_state_paths(
        self, layout: Layout, offsets: Mapping[int, OffsetsEntry], file_logs: frozenset[str]
    ) -> list[str]:
        paths: list[str] = []
        for name, source in layout.sources.items():
            is_log = name in file_logs
            log_ids = wanted_log_ids(source, offsets) if is_log else [0] if source.files else []
            for log_id in log_ids:
                item = source.files[log_id]
                if is_log and item.size > FILE_LOG_LIMIT_BYTES:
                    self.unread.append(item.path)
                else:
                    paths.append(item.path)
        for operator in layout.state.operators.values():
            paths += [path for path in (operator.metadata,) if path is not None]
            paths += operator.metadata_by_batch.values()
            for store in operator.stores.values():
                paths += [path for path in (store.partition_schema,) if path is not None]
                paths += list(store.schema_files.values())
        return paths

    def _contents(
        self, layout: Layout, paths: list[str], file_logs: frozenset[str]
    ) -> dict[str, object]:
        wanted = [path for path in paths if not self._too_large(layout, path)]
        content: dict[str, object] = {}
        for path, look in read_checked_files(self.reader, layout, wanted, file_logs).items():
            if isinstance(look, StorageError):
                self._take_failure(path, look)
                continue
            self.vanished |= look.moved
            folder = path.split("/")[1] if path.startswith("sources/") else ""
            if folder and folder not in file_logs:
                self.initial_offsets[folder] = look.data
            self.damages += look.damages
            if look.entry is not None:
                content[path] = look.entry
        return content

    def _too_large(self, layout: Layout, path: str) -> bool:
        size = layout.items[path].size
        if size <= ENTRY_LIMIT_BYTES:
            return False
        message = f"{size:,} bytes, where Spark writes a few thousand: it was not read"
        self.damages.append(Damage(path, DecodeError("HF2108", message)))
        return True

    def _take_failure(self, path: str, error: StorageError) -> None:
        if isinstance(error, NotFoundError):
            self.vanished = True
        else:
            self.damages.append(Damage(path, error))


def _is_orphan(path: str, names: Mapping[str, frozenset[str]]) -> bool:
    """Whether a checksum is there and its file is not."""
    folder, _, name = path.rpartition("/")
    checked = (checked_name(path) or "").rpartition("/")[2]
    return name in names[folder] and checked not in names[folder]


def _raise_unlisted_logs(listing: Listing) -> None:
    """Raise why the folder or one of its logs could not be listed: unseen is not empty."""
    for folder in ("", "offsets", "commits"):
        if folder in listing.failures:
            raise listing.failures[folder]


def _refuse_foreign_folder(reader: Reader, layout: Layout) -> None:
    """Refuse a folder that has content, but none of a checkpoint's."""
    if not layout.items or not layout.empty:
        return
    inside = checkpoints_inside(layout)
    hint = f"; checkpoints inside: {', '.join(inside[:5])}" if inside else ""
    raise CheckpointError(
        "HF2001",
        f"no metadata, offsets/ or commits/ among {counted(layout.file_count, 'file')}{hint}",
        at=reader.location,
    )


def checkpoints_inside(layout: Layout) -> list[str]:
    """Name the folders below that look like checkpoints themselves.

    Hidden ones hold records and backups, which are no job's own checkpoint.
    """
    found = {path.rpartition("/offsets/")[0] for path in layout.items if "/offsets/" in path}
    return sorted(one for one in found if not f"/{one}".count("/."))


def _has_grown(reader: Reader, layout: Layout) -> bool:
    """Look whether the next batch appeared in the meantime: two small requests, no new listing."""
    for log in (layout.offsets, layout.commits):
        if log.newest is None:
            continue
        try:
            reader.read(f"{log.folder}/{log.newest + 1}", 0, 1)
        except StorageError:
            continue
        return True
    return False


def _one(content: Mapping[str, object], path: str, kind: type[Entry]) -> Entry | None:
    entry = content.get(path)
    return entry if isinstance(entry, kind) else None


def _by_path(content: Mapping[str, object], kind: type[Entry]) -> dict[str, Entry]:
    return {path: entry for path, entry in content.items() if isinstance(entry, kind)}


def _numbered(content: Mapping[str, object], prefix: str, kind: type[Entry]) -> dict[int, Entry]:
    return {
        int(path[len(prefix) :]): entry
        for path, entry in content.items()
        if path.startswith(prefix) and isinstance(entry, kind)
    }


def _source_logs(
    layout: Layout, content: Mapping[str, object], file_logs: Iterable[str]
) -> dict[str, dict[int, FileLog[SourceFile]]]:
    return {
        name: {
            log_id: entry
            for log_id, item in layout.sources[name].files.items()
            if isinstance(entry := content.get(item.path), FileLog)
        }
        for name in file_logs
    }


def _operators(layout: Layout, content: Mapping[str, object]) -> dict[int, OperatorMetadata]:
    """Take each operator's newest metadata: version 2 before version 1, the newest batch first."""
    found: dict[int, OperatorMetadata] = {}
    for operator in layout.state.operators.values():
        newest = max(operator.metadata_by_batch, default=None)
        paths = [operator.metadata_by_batch[newest]] if newest is not None else []
        for path in (*paths, operator.metadata):
            entry = content.get(path) if path is not None else None
            if isinstance(entry, OperatorMetadata):
                found[operator.id] = entry
                break
    return found


def _schemas(layout: Layout, content: Mapping[str, object]) -> dict[StoreKey, StateSchema]:
    """Take each store's newest schema."""
    found: dict[StoreKey, StateSchema] = {}
    for operator in layout.state.operators.values():
        for store in operator.stores.values():
            names = sorted(store.schema_files, key=lambda name: int(name.partition("_")[0]))
            paths = [store.schema_files[names[-1]]] if names else [store.partition_schema]
            entry = content.get(paths[0]) if paths[0] is not None else None
            if isinstance(entry, StateSchema):
                found[operator.id, store.name] = entry
    return found


@dataclass(frozen=True)
class Overview:
    """The newest batches by the names of their files; no entry was read."""

    exists: bool
    """Something of a checkpoint is there."""
    query_id: str | None
    last_planned: int | None
    last_committed: int | None
    damage: DecodeError | None = None
    """Why `metadata` tells no id, where it is there."""
    offset_ids: tuple[int, ...] = ()
    """Every id in `offsets/`, sorted, up to the batch after the newest commit.

    A running query adds later ones between the two listings."""
    commit_ids: frozenset[int] = frozenset()

    @property
    def pending(self) -> int | None:
        """The batch that was planned but not committed."""
        if self.last_planned is None or self.last_planned <= (
            self.last_committed if self.last_committed is not None else -1
        ):
            return None
        return self.last_planned


def read_overview(reader: Reader) -> Overview:
    """Look at the names in both logs and at the query's id; raise StorageError."""
    # Commits first: what Spark writes last is looked at before what it writes first.
    commits = _ids(reader.names("commits"))
    offsets = _ids(reader.names("offsets"))
    newest = max(commits, default=-1)
    seen = Overview(
        exists=bool(offsets or commits),
        query_id=None,
        last_planned=max(offsets, default=None),
        last_committed=max(commits, default=None),
        offset_ids=tuple(sorted(one for one in offsets if one <= newest + 1)),
        commit_ids=commits,
    )
    try:
        metadata = reader.read("metadata")
    except NotFoundError:
        return seen
    try:
        return replace(seen, exists=True, query_id=decode_query(metadata).id)
    except DecodeError as damage:
        return replace(seen, exists=True, damage=damage)


def _ids(names: frozenset[str]) -> frozenset[int]:
    ids = (batch_id_of(name) for name in names)
    return frozenset(one for one in ids if one is not None)
