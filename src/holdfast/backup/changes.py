"""What a restore writes and removes, in the order in which a kill does the least harm. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.backup.judging import side_files
from holdfast.backup.present import Present
from holdfast.backup.purging import newest_id
from holdfast.backup.snapshot import CopiedFile, Root


@dataclass(frozen=True)
class Changes:
    """Files to write and to remove, folders to make and to remove, each in its order."""

    writes: tuple[CopiedFile, ...]
    removes: tuple[str, ...]
    made_folders: tuple[str, ...]
    removed_folders: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether everything is as it should be already."""
        return not (self.writes or self.removes or self.made_folders or self.removed_folders)

    def without(self, paths: Collection[str]) -> Changes:
        """Return the same changes, but for these files and the folders around them."""
        around = {folder for path in paths for folder in ("", *parents_of(path))}
        return Changes(
            writes=tuple(file for file in self.writes if file.path not in paths),
            removes=tuple(path for path in self.removes if path not in paths),
            made_folders=self.made_folders,
            removed_folders=tuple(one for one in self.removed_folders if one not in around),
        )


def plan_whole(root: Root, present: Present) -> Changes:
    """Make the place byte-identical to the backup."""
    writes = [file for file in root.files if _differs(file, present)]
    return Changes(
        writes=in_safe_order(writes, root.by_path),
        removes=tuple(sorted(present.names - root.by_path.keys())),
        made_folders=outer_first((*_root_of(present), *(set(root.folders) - present.folders))),
        removed_folders=_inner_first(present.folders - set(root.folders)),
    )


def plan_files(root: Root, present: Present, chosen: Iterable[str]) -> Changes:
    """Put single files back, together with their checksums; a checksum left over is removed."""
    wanted: dict[str, CopiedFile] = {}
    stale: set[str] = set()
    for path in chosen:
        wanted[path] = root.by_path[path]
        for side in side_files(path):
            if side in root.by_path:
                wanted[side] = root.by_path[side]
            elif side in present.names:
                stale.add(side)
    writes = [file for file in wanted.values() if _differs(file, present)]
    changed = {file.path for file in writes}
    folders = {around for path in wanted for around in parents_of(path)} - present.folders
    return Changes(
        writes=in_safe_order(writes, root.by_path),
        removes=tuple(sorted(one for one in stale if any(one in side_files(p) for p in changed))),
        made_folders=outer_first((*_root_of(present), *folders)),
        removed_folders=(),
    )


def plan_undo(changes: Changes, before: Root | None, *, existed: bool) -> Changes:
    """Give the changes that bring back what was there before."""
    then: Mapping[str, CopiedFile] = before.by_path if before is not None else {}
    touched = [*(file.path for file in changes.writes), *changes.removes]
    new = [path for path in changes.made_folders if path or not existed]
    return Changes(
        writes=in_safe_order([then[path] for path in touched if path in then], then),
        removes=tuple(path for path in touched if path not in then),
        made_folders=outer_first(changes.removed_folders),
        removed_folders=_inner_first(new),
    )


def in_safe_order(files: Iterable[CopiedFile], final: Iterable[str]) -> tuple[CopiedFile, ...]:
    """Order writes: the newest offsets entry first, the one before it last.

    While the newest entry is there and the one before it is not, every Spark refuses to start
    ("batch N doesn't exist"): a half written checkpoint can't be taken for a young one.
    """
    newest = newest_id(final, "offsets")
    first = f"offsets/{newest}"
    last = f"offsets/{newest - 1}" if newest else ""

    def rank(file: CopiedFile) -> tuple[int, str]:
        if file.path == first:
            return 0, ""
        return (2 if file.path == last else 1), file.path

    return tuple(sorted(files, key=rank))


def encode_changes(changes: Changes) -> dict[str, Any]:
    """Give what the journal keeps."""
    return asdict(changes)


def decode_changes(document: Mapping[str, Any]) -> Changes:
    """Read what the journal kept."""
    return Changes(
        writes=tuple(
            CopiedFile(one["path"], one["size"], one["sha256"]) for one in document["writes"]
        ),
        removes=tuple(document["removes"]),
        made_folders=tuple(document["made_folders"]),
        removed_folders=tuple(document["removed_folders"]),
    )


def _differs(file: CopiedFile, present: Present) -> bool:
    now = present.files.get(file.path)
    return now is None or now.sha256 != file.sha256


def _root_of(present: Present) -> tuple[str, ...]:
    return () if present.exists else ("",)


def parents_of(path: str) -> list[str]:
    """Give the folders around a file, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def outer_first(folders: Iterable[str]) -> tuple[str, ...]:
    """Order folders so that each comes after the one around it."""
    return tuple(sorted(set(folders), key=lambda one: (one.count("/"), one)))


def _inner_first(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(folders), key=lambda one: (-one.count("/"), one == "", one)))
