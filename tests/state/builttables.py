"""Builds RocksDB snapshots as Spark lays them out, larger than those of the corpus."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from rocksdict import Options, Rdict

ZIP = "state/0/0/1.zip"


def built(entries: Mapping[bytes, bytes], folder: Path, **metadata: object) -> dict[str, bytes]:
    """Give the files of a checkpoint whose only snapshot holds the entries."""
    database = Rdict(str(folder / "database"), Options(raw_mode=True))
    for key, value in entries.items():
        database[key] = value
    database.flush()
    database.close()
    files: dict[str, bytes] = {}
    tables: list[dict[str, object]] = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((folder / "database").iterdir()):
            if path.suffix == ".sst":
                stored, data = f"{path.stem}-0000.sst", path.read_bytes()
                files[f"state/0/0/SSTs/{stored}"] = data
                tables.append(
                    {"localFileName": path.name, "dfsSstFileName": stored, "sizeBytes": len(data)}
                )
            elif path.name.startswith(("CURRENT", "MANIFEST")):
                packed.write(path, path.name)
        told = {"sstFiles": tables, "numKeys": len(entries), **metadata}
        packed.writestr("metadata", f"v1\n{json.dumps(told)}")
    return {**files, ZIP: content.getvalue()}
