"""Which files a batch of a file source reads, and which of them are gone.

Spark lists the files of a recorded batch once more when it runs the batch again, and leaves out
without a word what is not there any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from holdfast.checkpoint.layout import folder_of, matching_position
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.logs import file_log_offset

NamesIn = Callable[[str], "frozenset[str] | None"]
"""Names what is directly in a folder, by its path or URL; None where it cannot be listed."""


@dataclass(frozen=True)
class FilesLookedFor:
    """What came of looking for files."""

    gone: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    """Folders that cannot be listed, so that nothing is known of the files in them."""


def files_of_batch(picture: Picture, batch_id: int) -> frozenset[str]:
    """Return the files that the file sources read in a batch, as their logs name them."""
    entry, before = picture.offsets.get(batch_id), picture.offsets.get(batch_id - 1)
    if entry is None:
        return frozenset()
    found: set[str] = set()
    for position in range(len(entry.sources)):
        end = file_log_offset(entry, position)
        if end is None:
            continue
        earlier = matching_position(before, entry, position)
        start = file_log_offset(before, earlier) if before and earlier is not None else None
        first = 0 if start is None else start + 1
        logs = picture.source_logs.get(folder_of(entry, position, picture.layout) or "", {})
        found |= {
            item.path for log in logs.values() for item in log.items
            if first <= item.log_offset <= end
        }  # fmt: skip
    return frozenset(found)


def look_for(paths: Iterable[str], names_in: NamesIn) -> FilesLookedFor:
    """Look which of these files are gone; each folder is listed once."""
    gone: list[str] = []
    unlisted: list[str] = []
    for folder, names in sorted(_by_folder(paths).items()):
        there = names_in(folder)
        if there is None:
            unlisted.append(folder)
        else:
            gone += (f"{folder}/{name}" for name in sorted(names) if name not in there)
    return FilesLookedFor(tuple(gone), tuple(unlisted))


def _by_folder(paths: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for folder, name in _split(paths):
        found.setdefault(folder, []).append(name)
    return found


def _split(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        folder, _, name = plain_path(path).rpartition("/")
        yield folder, name


def plain_path(path: str) -> str:
    """Return the path of a local file, the URL of any other, with nothing escaped."""
    plain = unquote(path) if "://" in path or path.startswith("file:") else path
    return f"/{plain.removeprefix('file:').lstrip('/')}" if plain.startswith("file:") else plain
