"""Moves a checkpoint's files between a folder, a zip and memory without changing a byte."""

import zipfile
from pathlib import Path

from tests.restarts.edits import Files

_OUTPUT = "../output/"
_DATE = (2026, 1, 1, 0, 0, 0)


def read_folder(checkpoint: Path, output: Path) -> Files:
    """The files of a checkpoint, its empty directories, and the sink's log beside it."""
    files = _under(checkpoint, "")
    files.update(_under(output / "_spark_metadata", f"{_OUTPUT}_spark_metadata/"))
    return files


def write_folder(files: Files, checkpoint: Path, output: Path) -> None:
    """Writes files below two folders that do not exist yet."""
    for path, content in files.items():
        place = output / path[len(_OUTPUT) :] if path.startswith(_OUTPUT) else checkpoint / path
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def read_zip(path: Path) -> Files:
    """The files of a packed base checkpoint."""
    with zipfile.ZipFile(path) as packed:
        return {_to_key(name): packed.read(name) for name in packed.namelist()}


def write_zip(files: Files, path: Path) -> None:
    """Packs files so that the same files always give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        for key in sorted(files):
            entry = zipfile.ZipInfo(_to_name(key), _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, files[key], compresslevel=9)


def _under(root: Path, prefix: str) -> Files:
    files: Files = {}
    for place in sorted(root.rglob("*")):
        key = prefix + place.relative_to(root).as_posix()
        if place.is_file():
            files[key] = place.read_bytes()
        elif not any(place.iterdir()):
            files[key + "/"] = b""
    return files


def _to_name(key: str) -> str:
    return key[len("../") :] if key.startswith(_OUTPUT) else f"checkpoint/{key}"


def _to_key(name: str) -> str:
    return name[len("checkpoint/") :] if name.startswith("checkpoint/") else f"../{name}"
