"""Gathers the evidence of samples in memory, with their sink's log where there is one."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.answers import Answer
from holdfast.diagnosis.evidence.collecting import collect_evidence
from holdfast.diagnosis.inspection.evidence import Evidence
from holdfast.jobs.target import DeclaredSink
from holdfast.ledgers.reading import SinkPlace
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

Files = Mapping[str, bytes]


def sink_of(files: Files, *, given: bool = True) -> SinkPlace:
    """Give an output folder in memory."""

    def open_below(folder: str) -> Reader:
        prefix = f"{folder}/"
        below = {path[len(prefix) :]: data for path, data in files.items() if prefix in path}
        return MemoryReader(below, f"out/{folder}")

    return SinkPlace("out", open_below, given)


def gathered(
    files: Files, output: Files | None = None, declared: DeclaredSink | None = None
) -> Answer[Evidence]:
    """Gather the evidence of files in memory."""
    sink = sink_of(output, given=declared is None) if output is not None else None
    return collect_evidence(MemoryReader(files), sink=sink, declared=declared)


def declared(output_mode: str = "append", kind: str = "delta") -> DeclaredSink:
    """Give what a project file might say."""
    return DeclaredSink(kind, "./lake/gold", "./lake/gold", output_mode, "holdfast.yaml line 7")
