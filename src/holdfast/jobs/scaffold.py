"""Writes a new project that runs as it is: all of its files, or none."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from holdfast.answers import Answer, OneLine
from holdfast.errors import ProjectError, UsageError
from holdfast.jobs.discovery import PROJECT_FILE
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import shown_path

SCHEMA_FILE = ".holdfast/holdfast.schema.json"
_EXAMPLE = Path(__file__).with_name("example")
_GITIGNORE = ".gitignore"
_NAME = "project: example\n"


@dataclass(frozen=True, repr=False)
class NewProject(OneLine):
    """What `init` wrote."""

    SHOWN: ClassVar = ("folder", "project", "files")
    COMMAND: ClassVar = "init"

    folder: str
    """Where the project is."""
    project: str | None
    """Its name, made from the directory's; null if only the schema was written."""
    files: tuple[str, ...]
    """What was written, relative to the directory."""
    kept: tuple[str, ...]
    """What was there before and is left as it is: a `.gitignore`."""


def write_project(folder: Path) -> Answer[NewProject]:
    """Write the example into a directory; if one of its files exists, nothing is written."""
    name = _name_for(folder)
    texts = _example(name)
    kept = (_GITIGNORE,) if _is_there(folder / _GITIGNORE) else ()
    wanted = {path: text for path, text in texts.items() if path not in kept}
    _refuse_existing(folder, [path for path in wanted if _is_there(folder / path)])
    _refuse_unwritable(folder)
    _create_all(folder, wanted)
    go = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    steps = (f"{go}holdfast run", "holdfast status")
    result = NewProject(shown_path(str(folder)), name, tuple(wanted), kept)
    return Answer("init", result.folder, result, next_steps=steps)


def write_schema(folder: Path) -> Answer[NewProject]:
    """Write the JSON Schema for editors alone, in place of an older one."""
    _refuse_unwritable(folder)
    writer = LocalWriter(str(folder))
    writer.replace(SCHEMA_FILE, (_schema().encode(),))
    writer.settle()
    result = NewProject(shown_path(str(folder)), None, (SCHEMA_FILE,), ())
    step = f"begin {PROJECT_FILE} with: # yaml-language-server: $schema={SCHEMA_FILE}"
    return Answer("init", result.folder, result, next_steps=(step,))


def _example(name: str) -> Mapping[str, str]:
    """Return every file of the example with its text."""
    texts = {
        file.relative_to(_EXAMPLE).as_posix(): file.read_text(encoding="utf-8")
        for file in _EXAMPLE.rglob("*")
        if file.is_file() and file.parent.name != "__pycache__"
    }
    texts[_GITIGNORE] = texts.pop("gitignore")
    texts[PROJECT_FILE] = texts[PROJECT_FILE].replace(_NAME, f"project: {name}\n")
    return dict(sorted({**texts, SCHEMA_FILE: _schema()}.items()))


def _schema() -> str:
    # pydantic takes long to import; only who writes the schema waits for it.
    from holdfast.jobs.projectfile.model import schema_text

    return schema_text()


def _name_for(folder: Path) -> str:
    """Make a project's name from the directory's."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    return name if re.match(r"[a-z]", name) else f"project-{name}".rstrip("-")


def _is_there(path: Path) -> bool:
    """Whether a path exists; below a directory that may not be entered, nothing can be made."""
    try:
        return path.exists()
    except PermissionError:
        return False


def _refuse_existing(folder: Path, there: list[str]) -> None:
    if _is_there(folder) and not folder.is_dir():
        raise ProjectError("HF1119", "this is a file, not a directory", at=shown_path(str(folder)))
    if there:
        message = f"already exists: {', '.join(there)}"
        raise ProjectError("HF1119", message, at=shown_path(str(folder)))


def _refuse_unwritable(folder: Path) -> None:
    """Raise HF1006 where the folder cannot be made, or nothing can be made in it."""
    at = shown_path(str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        message = f"the directory cannot be created: {reason}"
        raise UsageError("HF1006", message, at=at) from failure
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("HF1006", "this directory cannot be written", at=at)


def _create_all(folder: Path, texts: Mapping[str, str]) -> None:
    """Create every file; if that fails, the created ones are removed."""
    writer = LocalWriter(str(folder))
    made: list[str] = []
    try:
        for path, text in texts.items():
            if not writer.create(path, (text.encode(),)):
                _refuse_existing(folder, [path])
            made.append(path)
        writer.settle()
    except BaseException:
        for path in reversed(made):
            writer.remove(path)
            _remove_empty_folders(writer, path)
        raise


def _remove_empty_folders(writer: LocalWriter, path: str) -> None:
    while path := path.rpartition("/")[0]:
        writer.remove_folder(path)
