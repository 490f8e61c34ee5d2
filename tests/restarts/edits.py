"""Edits a checkpoint held in memory as paths and bytes; every edit returns a new copy.

Paths are relative to the checkpoint's root. A key that ends in "/" is a directory without files,
"./" is the root itself. The files of a file sink have keys that begin with "../output/".
"""

import json
from collections.abc import Callable
from typing import Any

Files = dict[str, bytes]
Edit = Callable[[Files], Files]


def numbers(files: Files, folder: str) -> list[int]:
    """The ids of the files directly in a folder whose name is a number, ascending."""
    names = [path[len(folder) + 1 :] for path in files if path.startswith(folder + "/")]
    return sorted(int(name) for name in names if name.isdecimal())


def newest(files: Files, folder: str, back: int = 0) -> str:
    """The path of the newest numbered file of a folder, or of the one `back` places before it."""
    return f"{folder}/{numbers(files, folder)[-1 - back]}"


def side_files(path: str) -> tuple[str, str]:
    """Hadoop's checksum file and Spark's own checksum file of a path."""
    folder, _, name = path.rpartition("/")
    prefix = folder + "/" if folder else ""
    return f"{prefix}.{name}.crc", f"{path}.crc"


def without(files: Files, *paths: str) -> Files:
    """The files without these paths and without the checksum files beside them."""
    gone = set(paths)
    for path in paths:
        own_checksum = side_files(path)[1]
        gone.update((*side_files(path), *side_files(own_checksum)))
    return {path: content for path, content in files.items() if path not in gone}


def without_folder(files: Files, *folders: str) -> Files:
    """The files without everything under these folders."""
    prefixes = tuple(folder + "/" for folder in folders)
    return {path: content for path, content in files.items() if not path.startswith(prefixes)}


def replaced(files: Files, path: str, content: bytes) -> Files:
    """The files with new content at a path, whose checksum files are dropped."""
    return {**without(files, path), path: content}


def with_stale_checksum(files: Files, path: str, content: bytes) -> Files:
    """The files with new content at a path, whose checksum files still tell of the old content."""
    return {**files, path: content}


def line(files: Files, path: str, number: int) -> bytes:
    """One line of a file; the version line is line 0."""
    return files[path].split(b"\n")[number]


def with_line(files: Files, path: str, number: int, text: bytes) -> Files:
    """The files with one line of one file replaced."""
    lines = files[path].split(b"\n")
    lines[number] = text
    return replaced(files, path, b"\n".join(lines))


def with_lines(files: Files, path: str, change: Callable[[list[bytes]], list[bytes]]) -> Files:
    """The files with the lines of one file changed by a function."""
    return replaced(files, path, b"\n".join(change(files[path].split(b"\n"))))


def with_json(files: Files, path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Files:
    """The files with the JSON in the second line of one log entry changed by a function."""
    changed = change(json.loads(line(files, path, 1)))
    return with_line(files, path, 1, json.dumps(changed, separators=(",", ":")).encode())
