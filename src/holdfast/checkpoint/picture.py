"""The frozen picture of one checkpoint: what was listed and read, and which ids are missing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from holdfast.checkpoint.layout import Layout
from holdfast.errors import DecodeError, HoldfastError, StorageError
from holdfast.findings import Place
from holdfast.format.logs.commits import CommitEntry
from holdfast.format.logs.filelog import FileLog, SourceFile
from holdfast.format.logs.log import QueryMetadata
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.state.operators import OperatorMetadata
from holdfast.format.state.schema import StateSchema

StoreKey = tuple[int, str]
"""Operator id and store name."""


_CHANGED = "HF2111"
_STATE = re.compile(r"state/.*/[^./][^/]*\.(?:delta|snapshot|zip|changelog|sst)")
"""Spark compares these with their checksum when it loads them; a log it reads as it is."""


def passed_over(committed: int | None, planned: int | None) -> int | None:
    """Return the newest batch that Spark will not run again, also where its commit is missing.

    A start runs the newest planned batch again and none before it: what was lost of `commits` below
    that is never looked at.
    """
    if not planned or (committed is not None and planned <= committed):
        return committed
    return planned - 1 if committed is None else max(committed, planned - 1)


@dataclass(frozen=True)
class Damage:
    """One file, or one folder, that could not be read or is not as Spark wrote it."""

    file: str
    error: HoldfastError

    @property
    def place(self) -> Place:
        """Where exactly, as far as it is known."""
        if isinstance(self.error, DecodeError):
            return Place(self.file, self.error.line, self.error.byte)
        return Place(self.file)

    @property
    def overlooked(self) -> bool:
        """Spark does not notice this damage: it reads on, with whatever the bytes now say."""
        return self.readable and not (self.error.code == _CHANGED and _STATE.fullmatch(self.file))

    @property
    def is_unseen(self) -> bool:
        """The file could not be read, so that its content is unknown; no other kind of file is."""
        return isinstance(self.error, StorageError) and self.error.code != "HF7013"

    @property
    def readable(self) -> bool:
        """The content can be decoded all the same."""
        return isinstance(self.error, DecodeError) and self.error.overlooked


@dataclass(frozen=True)
class Picture:
    """One checkpoint at one moment. The entries are those that were asked for, not all."""

    location: str
    layout: Layout
    query: QueryMetadata | None
    offsets: Mapping[int, OffsetsEntry]
    commits: Mapping[int, CommitEntry]
    source_logs: Mapping[str, Mapping[int, FileLog[SourceFile]]]
    initial_offsets: Mapping[str, bytes]
    operators: Mapping[int, OperatorMetadata]
    schemas: Mapping[StoreKey, StateSchema]
    operator_files: Mapping[str, OperatorMetadata] = field(default_factory=dict)
    """Every operator metadata that was read, by its path; `operators` has the newest ones."""
    schema_files: Mapping[str, StateSchema] = field(default_factory=dict)
    """Every state schema that was read, by its path; `schemas` has the newest ones."""
    damages: tuple[Damage, ...] = ()
    unlisted: Mapping[str, StorageError] | None = None
    """Folders that could not be listed, with why; never `offsets` or `commits`."""
    unread: tuple[str, ...] = ()
    """Files left alone because they are large and only tell amounts."""
    moved: bool = False
    """Something wrote to the checkpoint while it was read."""
    starting_spark: str | None = None
    """The release that the next start is judged with; None for those that may have written it."""

    @property
    def newest_offsets_id(self) -> int | None:
        """The newest planned batch."""
        return self.layout.offsets.newest

    @property
    def newest_commit_id(self) -> int | None:
        """The newest committed batch."""
        return self.layout.commits.newest

    @property
    def newest_offsets(self) -> OffsetsEntry | None:
        """The entry of the newest planned batch, None when there is none or it is damaged."""
        newest = self.newest_offsets_id
        return None if newest is None else self.offsets.get(newest)

    @property
    def newest_commit(self) -> CommitEntry | None:
        """The entry of the newest commit, None when there is none or it is damaged."""
        newest = self.newest_commit_id
        return None if newest is None else self.commits.get(newest)

    @property
    def pending(self) -> int | None:
        """The batch that was planned but not committed: what the next start would run again."""
        planned, committed = self.newest_offsets_id, self.newest_commit_id
        if planned is None or (committed is not None and committed >= planned):
            return None
        return planned

    @property
    def passed_over(self) -> int | None:
        """The newest batch that Spark will not run again."""
        return passed_over(self.newest_commit_id, self.newest_offsets_id)

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that the newest offsets entry pins."""
        entry = self.newest_offsets
        return entry.metadata.settings if entry is not None and entry.metadata is not None else {}

    @property
    def access_failure(self) -> StorageError | None:
        """Why a part of the checkpoint could not be listed or read; None where all of it was."""
        for error in (self.unlisted or {}).values():
            return error
        for damage in self.damages:
            if damage.is_unseen and isinstance(damage.error, StorageError):
                return damage.error
        return None

    def is_unlisted(self, folder: str) -> bool:
        """Whether a folder, or one below it, could not be listed: its content is unknown."""
        unlisted = self.unlisted or {}
        return any(one == folder or one.startswith(f"{folder}/") for one in unlisted)

    def refused(self, file: str) -> Damage | None:
        """Return the damage for which Spark refuses a file, None where it would read it."""
        return self._refused_files.get(file)

    @cached_property
    def _refused_files(self) -> Mapping[str, Damage]:
        noticed = [damage for damage in self.damages if not damage.overlooked]
        return {damage.file: damage for damage in reversed(noticed)}

    def with_damages(self, damages: tuple[Damage, ...]) -> Picture:
        """The same picture with more damage known."""
        return replace(self, damages=(*self.damages, *damages))


def skips_like_async(picture: Picture) -> bool:
    """Return whether both logs skip the same ids; a lost offsets file leaves its commit behind."""
    return both_skip(picture.layout.offsets.ids, picture.layout.commits.files)


def both_skip(ids: tuple[int, ...], commits: Collection[int]) -> bool:
    """Return whether both logs, given by their sorted ids, skip the same ids."""
    skipped = missing_between(ids)
    if not skipped:
        return False
    committed = set(commits)
    settled = tuple(one for one in ids if one in committed)
    return (
        bool(missing_between(settled))
        and not committed & set(skipped)
        and committed >= set(ids[:-1])
    )


def entry_before(picture: Picture, batch_id: int) -> OffsetsEntry | None:
    """Return the entry in which a batch begins; None where it is missing, or was not read."""
    ids = picture.layout.offsets.ids
    position = bisect_left(ids, batch_id)
    earlier = ids[position - 1] if position else None
    if earlier is None or (earlier != batch_id - 1 and not skips_like_async(picture)):
        return None
    return picture.offsets.get(earlier)


def missing_between(ids: tuple[int, ...]) -> list[int]:
    """Return the ids that are missing between the first and the last, at most 10 000 of them."""
    missing: list[int] = []
    if not ids or ids[-1] - ids[0] == len(ids) - 1:
        return missing
    for before, after in pairwise(ids):
        if len(missing) >= 10_000:
            break
        missing += range(before + 1, min(after, before + 10_001))
    return missing
