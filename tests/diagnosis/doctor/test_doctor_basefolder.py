"""Base folders: checkpoints are found by names, cheaply."""

from __future__ import annotations

from holdfast.diagnosis.doctor.doctor import DEPTH, checkpoints_below, is_checkpoint
from holdfast.errors import StorageError
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


class Partly(MemoryReader):
    """A base folder in which one folder cannot be listed."""

    def __init__(self, files: dict[str, bytes], code: str) -> None:
        super().__init__(files)
        self._code = code

    def names(self, folder: str) -> frozenset[str]:
        """Refuse the one."""
        if folder == "closed":
            raise StorageError(self._code, "not for you", at=folder)
        return super().names(folder)


def test_a_folder_that_cannot_be_listed_does_not_hide_the_others() -> None:
    """It may be a checkpoint; a link that leads elsewhere is none of this base folder."""
    files = {f"orders/{path}": data for path, data in files_of("stateless").items()}
    files["closed/x"] = b""
    assert checkpoints_below(Partly(files, "HF7002")) == ["closed", "orders"]
    assert checkpoints_below(Partly(files, "HF7013")) == ["orders"]


def test_a_folder_of_something_else_is_no_base_folder_whatever_is_closed_in_it() -> None:
    """So that `doctor /etc` says that it is not a checkpoint."""
    for code in ("HF7002", "HF7013"):
        assert checkpoints_below(Partly({"hosts": b"", "closed/x": b""}, code)) == []


def test_hidden_folders_are_left_alone() -> None:
    """Records and backups lie there."""
    assert checkpoints_below(placed("orders", ".holdfast/orders/backups/1")) == ["orders"]
