"""Packs a checkpoint as one deterministic zip, and refuses what would name the machine."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EPOCH = (1980, 1, 1, 0, 0, 0)
OUTPUT_LOGS = ("_spark_metadata", "_delta_log")
FOLDER_MODE, FILE_MODE = (0o40755 << 16) | 0x10, 0o100644 << 16
FORBIDDEN = (b"/opt/", b"/work/", b"/root", b"/home/")


class LeakError(Exception):
    """A packed file would tell something about the machine that made it."""


def pack(checkpoint: Path, output: Path, archive: Path, facts: dict[str, Any], host: str) -> int:
    """Writes the archive and its facts file; returns the archive's size in bytes."""
    entries = dict(entries_below(checkpoint, "checkpoint"))
    for log in OUTPUT_LOGS:
        entries.update(entries_below(output / log, f"output/{log}"))
    text = render(facts)
    refuse_leaks({**entries, "facts": text.encode()}, host)
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(zip_bytes(entries))
    archive.with_suffix(".json").write_text(text, encoding="utf-8")
    return archive.stat().st_size


def render(facts: dict[str, Any]) -> str:
    """Returns the facts as JSON with one line per item: small, and readable in a diff."""
    return "{\n" + ",\n".join(f"{quote(k)}: {render_value(v)}" for k, v in facts.items()) + "\n}\n"


def render_value(value: Any) -> str:
    """Returns a value on one line, or a list with one line per item."""
    if not isinstance(value, list) or not value:
        return quote(value)
    return "[\n" + ",\n".join(f" {quote(item)}" for item in value) + "\n]"


def quote(value: Any) -> str:
    """Returns one JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)


def entries_below(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yields every file below a folder, and every empty folder as a name that ends with `/`."""
    if not folder.is_dir():
        return
    for path in (folder, *folder.rglob("*")):
        name = "/".join((prefix, *path.relative_to(folder).parts))
        if path.is_file():
            yield name, path.read_bytes()
        elif not any(path.iterdir()):
            yield f"{name}/", b""


def zip_bytes(entries: dict[str, bytes]) -> bytes:
    """Returns the same zip for the same entries, whatever the clock says."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries):
            information = zipfile.ZipInfo(name, EPOCH)
            information.compress_type = zipfile.ZIP_DEFLATED
            information.external_attr = FOLDER_MODE if name.endswith("/") else FILE_MODE
            archive.writestr(information, entries[name])
    return buffer.getvalue()


def refuse_leaks(entries: dict[str, bytes], host: str) -> None:
    """Raises when a file, also one inside a zip, names the machine or its folders."""
    named = re.compile(rb"(?<![A-Za-z0-9])" + re.escape(host.encode()) + rb"(?![A-Za-z0-9])")
    for name, content in unzipped(entries):
        found = [word.decode() for word in FORBIDDEN if word in content]
        # A short host name would be found by chance in compressed bytes.
        if host != "localhost" and is_text(content) and named.search(content):
            found.append(host)
        if host != "localhost" and b"host.identity" + host.encode() in content:
            found.append(f"RocksDB's host identity {host}")
        if found:
            raise LeakError(f"{name} holds {', '.join(found)}")


def unzipped(entries: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields every entry, those inside zips too."""
    for name, content in entries.items():
        yield name, content
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as inner:
                for member in inner.namelist():
                    yield f"{name}!{member}", inner.read(member)


def is_text(content: bytes) -> bool:
    """Says whether the bytes are UTF-8 text."""
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
