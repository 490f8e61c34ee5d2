"""Logs of a checkpoint that are cut, gone, emptied or of another time."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import (
    again,
    copied,
    copied_again,
    counted,
    remove,
)


@provokes("batch-does-not-exist")
def offsets_gap(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/offsets/1")
    copied_again(spark, folder)


@provokes("offsets-gone-commits-kept", since="4.2")
def offsets_gone(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    for path in (folder / "checkpoint/offsets").iterdir():
        path.unlink()
    copied_again(spark, folder)


@provokes("offsets-entry-empty")
def offsets_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_text("")
    copied_again(spark, folder)


@provokes("commit-entry-empty")
def commit_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/2").write_text("")
    copied_again(spark, folder)


@provokes("log-version-line")
def version_line(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_text("one\n{}\n")
    copied_again(spark, folder)


@provokes("log-version-too-new")
def version_9(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("v1", "v9", 1))
    copied_again(spark, folder)


@provokes("offsets-entry-not-json")
def offsets_cut(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text()[:40])
    copied_again(spark, folder)


@provokes("offsets-entry-not-json")
def offsets_mapping(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("logOffset", "lagOffset"))
    copied_again(spark, folder)


@provokes("log-entry-not-text")
def offsets_garbage(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/2").write_bytes(bytes(range(128, 255)))
    copied_again(spark, folder)


@provokes("offsets-entry-without-settings")
def offsets_without_metadata(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    path = folder / "checkpoint/offsets/2"
    first, _, *rest = path.read_text().split("\n")
    path.write_text("\n".join([first, "null", *rest]))
    copied_again(spark, folder)


@provokes("commit-entry-null")
def commit_null(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/2").write_text("v1\nnull")
    copied_again(spark, folder)


@provokes("log-entry-file-missing")
def padded_name(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/offsets/007").write_text("v1\n")
    copied_again(spark, folder)


@provokes("false-concurrent-update")
def offset_lost(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/offsets/2")
    copied_again(spark, folder)


@provokes("false-concurrent-queries")
def crc_left(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/commits/.3.crc").write_bytes(b"crc\0")
    copied_again(spark, folder)


@provokes("metadata-file-missing", since="4.2")
def metadata_missing(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    remove(folder / "checkpoint/metadata")
    copied_again(spark, folder)


@provokes("metadata-file-unreadable")
def metadata_empty(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/metadata").write_text("")
    (folder / "checkpoint/.metadata.crc").unlink(missing_ok=True)
    copied_again(spark, folder)


@provokes("metadata-file-unreadable")
def metadata_no_uuid(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    (folder / "checkpoint/metadata").write_text('{"id":"orders"}')
    (folder / "checkpoint/.metadata.crc").unlink(missing_ok=True)
    copied_again(spark, folder)


@provokes("logs-lost-but-not-empty", since="4.1")
def logs_removed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for name in ("offsets", "commits"):
        shutil.rmtree(folder / "checkpoint" / name)
    again(spark, folder)
