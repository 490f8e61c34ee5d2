"""Asking an output folder: it never raises, and lists no data files."""

from __future__ import annotations

from holdfast.errors import StorageError
from holdfast.ledgers.reading import SinkMemory, ask_sink
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.corpus.loading import sample


def ask(files: dict[str, bytes]) -> SinkMemory:
    """Ask an output folder in memory."""

    def open_below(folder: str) -> Reader:
        start = f"{folder}/"
        inside = {path.removeprefix(start): data for path, data in files.items()
                  if path.startswith(start)}  # fmt: skip
        return MemoryReader(inside)

    return ask_sink("/out", open_below)


def test_the_kind_is_told_by_the_log() -> None:
    """Delta, Spark's file sink, or none."""
    assert ask(sample("delta", "4.2.0").output_files()).kind == "delta"
    assert ask(sample("stateless", "4.3.0").output_files()).kind == "files"
    none = ask({"part-0.parquet": b""})
    assert (none.kind, none.last_committed("x").value) == ("none", None)
    assert "no log of batches" in none.last_committed("x").basis


def test_a_failure_is_part_of_the_answer() -> None:
    """A sink that can't be read never stops the reader of a checkpoint."""

    def refuse(_folder: str) -> Reader:
        raise StorageError("HF7002", "access was denied")

    memory = ask_sink("/out", refuse)
    assert memory.failure is not None
    assert "access was denied" in memory.last_committed("x").basis
