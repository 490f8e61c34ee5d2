"""Base folders: checkpoints are found by names, cheaply."""

from __future__ import annotations

from holdfast.diagnosis.doctor.doctor import DEPTH, checkpoints_below, is_checkpoint
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of, without


def placed(*folders: str) -> MemoryReader:
    """Put the same checkpoint into several folders."""
    files = files_of("stateless")
    return MemoryReader({f"{one}/{path}": data for one in folders for path, data in files.items()})


def test_checkpoints_are_found_at_any_depth_that_spark_uses() -> None:
    """Declarative pipelines have them deep; what is deeper still is not looked for."""
    deepest, too_deep = "/".join("abcd"[:DEPTH]), "/".join("vwxyz"[: DEPTH + 1])
    reader = placed("orders", "flows/daily/0", deepest, too_deep)
    assert checkpoints_below(reader) == [deepest, "flows/daily/0", "orders"]


def test_a_checkpoint_is_no_base_folder() -> None:
    """Neither a whole one, nor a damaged one, nor a folder of something else."""
    files = files_of("aggregation-hdfs-lz4")
    assert checkpoints_below(MemoryReader(files)) == []
    assert checkpoints_below(MemoryReader(without(files, "metadata"))) == []
    assert checkpoints_below(MemoryReader({"readme": b"", "data/part-0": b""})) == []


def test_names_that_a_job_may_have_are_no_parts() -> None:
    """A job called `state` in a base folder is a job."""
    assert checkpoints_below(placed("orders", "state")) == ["orders", "state"]
    assert not is_checkpoint(frozenset({"state", "orders"}))


def test_hidden_folders_are_left_alone() -> None:
    """Records and backups lie there."""
    assert checkpoints_below(placed("orders", ".holdfast/orders/backups/1")) == ["orders"]
