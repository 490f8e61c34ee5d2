"""Says where Holdfast keeps what belongs to a folder: beside it, never inside.

`<parent>/.holdfast/<name>/` follows from the canonical location alone, so that every spelling of
one place, and every project that uses it, meets the same memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from holdfast.errors import StorageError
from holdfast.storage.location import Location, canonical, shown_path

FOLDER = ".holdfast"


def beside(location: Location) -> Location:
    """Return the folder that belongs to a place; raise where nothing lies beside it."""
    if location.is_local:
        return _local(location)
    url = canonical(location)
    scheme, _, rest = url.partition("://")
    parent, slash, name = rest.rpartition("/")
    if not slash or not name or (scheme == "memory" and not parent.strip("/")):
        raise _nowhere(location)
    place = f"{scheme}://{parent}/{FOLDER}/{name}"
    head, _, _ = location.shown.rpartition("/")
    shown = f"{head}/{FOLDER}/{shown_path(name)}"
    return Location(place, location.scheme, place, shown)


def part_of(place: Location, part: str) -> Location:
    """Return a folder below a place, such as `backups`."""
    url = f"{place.url}/{part}"
    return Location(url, place.scheme, url, f"{place.shown}/{part}")


def _local(location: Location) -> Location:
    real = os.path.realpath(location.url)
    parent, name = os.path.split(real)
    if not name:
        raise _nowhere(location)
    path = f"{parent.rstrip('/')}/{FOLDER}/{name}"
    head, slash, last = location.shown.rpartition("/")
    if real == location.url and last == shown_path(name) and ":" not in head:
        return Location(path, "file", path, f"{head}{slash}{FOLDER}/{last}")
    return Location(path, "file", path, shown_path(path))


def _nowhere(location: Location) -> StorageError:
    return StorageError("HF4514", "there is nothing next to a root", at=location.shown)


MOUNTINFO = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_ROOT, _MOUNT_POINT = 3, 4
_PRIVATE = frozenset(("overlay", "aufs", "tmpfs", "rootfs", "ramfs"))
"""File systems that a container does not share with others."""
_SUBVOLUMES = frozenset(("btrfs",))
"""File systems that mount a part of themselves although the whole is shared."""


def mount_points(mountinfo: str) -> dict[str, bool]:
    """Return every mount point that the text names, and whether it may be a container's own.

    It may where the file system is one of containers, or where only a part of it is mounted: a
    volume that was made for one of them. Of two mounts at one point the later one counts.
    """
    found: dict[str, bool] = {}
    for line in mountinfo.split("\n"):
        fields, _, after = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) > _MOUNT_POINT:
            kind = after.split(" ")[0]
            is_part = parts[_ROOT] != "/" and kind not in _SUBVOLUMES
            found[_unescaped(parts[_MOUNT_POINT])] = kind in _PRIVATE or is_part
    return found


def mount_of(points: Iterable[str], path: str) -> str:
    """Return the mount point that a real path lies on, `/` where none is known."""
    around = (point for point in points if _is_within(path, point))
    return max(around, key=len, default="/")


def beside_is_elsewhere(mountinfo: str, folder: str, beside: str) -> bool:
    """Whether a folder is a mount of its own, and what is kept beside it is not shared with it.

    Who mounts the folder alone does not see what lies beside it; that both have the same device
    number says nothing, for bind mounts share it. A disk or a data set of its own below a shared
    one is fine: everybody who sees it sees the folder around it, too. Both are real paths.
    """
    points = mount_points(mountinfo)
    parent = folder.rpartition("/")[0] or "/"
    if mount_of(points, folder) != folder:
        return False
    around = mount_of(points, parent)
    return mount_of(points, beside) == around and points.get(around, False)


def mounted_alone(kept: Location, mountinfo: Path = MOUNTINFO) -> str | None:
    """Return the folder that `kept` lies beside, where a container mounts it without `kept`.

    None where both are shared, or nobody tells: only Linux does.
    """
    if not kept.is_local:
        return None
    try:
        reported = os.fsdecode(mountinfo.read_bytes())
    except OSError:
        return None
    around, name = os.path.split(kept.url)
    parent = os.path.dirname(around)  # noqa: PTH120 - a text, which is compared with texts
    folder = f"{parent.rstrip('/')}/{name}"
    return folder if beside_is_elsewhere(reported, folder, kept.url) else None


def _is_within(path: str, point: str) -> bool:
    return path == point or path.startswith(f"{point.rstrip('/')}/")


def _unescaped(text: str) -> str:
    """Undo the kernel's spelling of blanks, tabs, line ends and backslashes."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)
