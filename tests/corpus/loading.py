"""Reads the corpus for tests: every packed checkpoint with the facts that Spark told about it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ARCHIVES = Path(__file__).resolve().parent / "checkpoints"
CHECKPOINT = "checkpoint/"
OUTPUT = "output/"


@dataclass(frozen=True)
class Sample:
    """One checkpoint: the shape's name, the Spark version that wrote it, its archive."""

    name: str
    spark: str
    archive: Path

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What Spark said while and after it wrote the checkpoint."""
        text = self.archive.with_suffix(".json").read_text(encoding="utf-8")
        facts: dict[str, Any] = json.loads(text)
        return facts

    def files(self) -> dict[str, bytes]:
        """Returns the checkpoint's files by their path below the checkpoint's root."""
        return self._below(CHECKPOINT)

    def output_files(self) -> dict[str, bytes]:
        """Returns the file sink's log by path below the output folder; empty for other sinks."""
        return self._below(OUTPUT)

    def extract(self, folder: Path) -> Path:
        """Unpacks the sample into `folder` and returns the checkpoint's root."""
        with zipfile.ZipFile(self.archive) as packed:
            packed.extractall(folder)
        return folder / CHECKPOINT.rstrip("/")

    def _below(self, prefix: str) -> dict[str, bytes]:
        return {
            name.removeprefix(prefix): data
            for name, data in _unpacked(self.archive).items()
            if name.startswith(prefix)
        }

    def __str__(self) -> str:
        return f"{self.name}@{self.spark}"


def corpus() -> list[Sample]:
    """Returns every sample, sorted by Spark version and name."""
    return list(_corpus())


@cache
def _corpus() -> tuple[Sample, ...]:
    archives = sorted(ARCHIVES.glob("*/*.zip"))
    return tuple(sample(path.stem, path.parent.name) for path in archives)


@cache
def sample(name: str, spark: str) -> Sample:
    """Returns one sample by its shape's name and Spark version."""
    return Sample(name, spark, ARCHIVES / spark / f"{name}.zip")


@cache
def _unpacked(archive: Path) -> dict[str, bytes]:
    """Returns the files of an archive, read once: all archives together are a few megabytes."""
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
