"""Which files a batch of a file source reads, and which of them are gone.

Spark lists the files of a recorded batch once more when it runs the batch again, and leaves out
without a word what is not there any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import unquote

from holdfast.checkpoint.layout import folder_of, matching_position
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.logs import file_log_offset
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings

NamesIn = Callable[[str], "frozenset[str] | None"]
"""Names what is directly in a folder, by its path or URL; None where it cannot be listed."""


@dataclass(frozen=True)
class FilesLookedFor:
    """What came of looking for files."""

    gone: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    """Folders that cannot be listed, so that nothing is known of the files in them."""


NOTHING_LOOKED_FOR = FilesLookedFor()


def names_with(
    settings: StorageSettings, *, only: Collection[str] = (), timeout: float | None = None
) -> NamesIn:
    """Return what lists folders with these settings, which are right for the `only` schemes.

    A folder of another scheme, and one that cannot be listed, is not known: Spark may reach it.
    """

    def names_in(folder: str) -> frozenset[str] | None:
        try:
            place = parse_location(folder)
            if only and not place.is_local and place.scheme not in only:
                return None
            return open_reader(place, settings, timeout=timeout).names("")
        except HoldfastError:
            return None

    return names_in


IGNORE_MISSING = "spark.sql.files.ignoreMissingFiles"
_OPTION = "ignoremissingfiles"
_SHOWN = 20


def may_be_missing(settings: Mapping[str, str], options: Iterable[Mapping[str, str]]) -> bool:
    """Return whether Spark's settings, or options of a source, say that files may be missing."""
    if settings.get(IGNORE_MISSING, "").lower() == "true":
        return True
    given = (item for one in options for item in one.items())
    return any(name.lower() == _OPTION and value.lower() == "true" for name, value in given)


def lost_files(batch_id: int, looked: FilesLookedFor) -> Finding | None:
    """Return the finding that a batch which runs again needs files that are gone, if any are."""
    if not looked.gone:
        return None
    more = f" and {len(looked.gone) - 1} more" if len(looked.gone) > 1 else ""
    message = f"batch {batch_id}, which runs again, needs {looked.gone[0]}{more}: gone"
    evidence = {"files": list(looked.gone[:_SHOWN]), "count": len(looked.gone)}
    return Finding("HF3034", Severity.FATAL, message, Place(f"offsets/{batch_id}"), evidence)


def files_of_batch(picture: Picture, batch_id: int) -> frozenset[str]:
    """Return the files that the file sources read in a batch, as their logs name them."""
    return frozenset().union(*(read.files for read in _read_in(picture, batch_id)))


@dataclass(frozen=True)
class _ReadFiles:
    """What one file source reads in a batch."""

    files: frozenset[str]
    logged: frozenset[str]
    """Every file that its log knows."""


def _read_in(picture: Picture, batch_id: int) -> Iterator[_ReadFiles]:
    entry, before = picture.offsets.get(batch_id), picture.offsets.get(batch_id - 1)
    for position in range(len(entry.sources) if entry is not None else 0):
        assert entry is not None
        end = file_log_offset(entry, position)
        if end is None:
            continue
        earlier = matching_position(before, entry, position)
        start = file_log_offset(before, earlier) if before and earlier is not None else None
        first = 0 if start is None else start + 1
        logs = picture.source_logs.get(folder_of(entry, position, picture.layout) or "", {})
        items = [item for log in logs.values() for item in log.items]
        read = frozenset(item.path for item in items if first <= item.log_offset <= end)
        yield _ReadFiles(read, frozenset(item.path for item in items))


def look_for_pending(picture: Picture, names_in: NamesIn, *, here: bool) -> FilesLookedFor:
    """Look for the files of the batch that runs again.

    Without `here` the checkpoint may be a copy from another machine: local files are looked for
    where the folder that all files of their source have in common is there.
    """
    if picture.pending is None:
        return NOTHING_LOOKED_FOR
    wanted: set[str] = set()
    for read in _read_in(picture, picture.pending):
        if read.files and (here or _is_here(read.logged, names_in)):
            wanted |= read.files
    return look_for(wanted, names_in)


def _is_here(paths: Collection[str], names_in: NamesIn) -> bool:
    folders = [folder.split("/") for folder in _by_folder(paths)]
    root = "/".join(one[0] for one in takewhile(_is_one, zip(*folders, strict=False)))
    if not root.startswith("/"):
        return True
    parent, _, name = root.rpartition("/")
    return name in (names_in(parent or "/") or ())


def _is_one(parts: tuple[str, ...]) -> bool:
    return len(set(parts)) == 1


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
