"""Cases 9 and 40 to 50: the state store."""

from __future__ import annotations

import shutil
from typing import Any

from tests.fieldcases.play.logs import ATTEMPT
from tests.fieldcases.play.playing import play
from tests.fieldcases.play.queries import ROCKS, totals
from tests.fieldcases.play.stage import Stage


def backed_up(stage: Stage, **job: Any) -> None:
    """Let an aggregation deliver some batches, and back it up."""
    totals(stage, **job)
    stage.back_up()


@play(9, how="the newest state file was never renamed; a backup has it")
def state_file_not_renamed(stage: Stage) -> None:
    backed_up(stage)
    newest = stage.path("state/0/0/4.delta")
    newest.rename(newest.with_name(f".4.delta.{ATTEMPT}.tmp"))
    newest.with_name(".4.delta.crc").unlink(missing_ok=True)
    stage.plan_of("HF2221")


@play(40, how="the oldest delta file is missing; a backup has it")
def oldest_delta_missing(stage: Stage) -> None:
    backed_up(stage)
    stage.remove("state/0/0/1.delta")
    stage.plan_of("HF2221")


@play(40, how="the oldest delta file is missing, and there is no backup")
def oldest_delta_missing_for_good(stage: Stage) -> None:
    totals(stage)
    stage.remove("state/0/0/1.delta")
    stage.plan_of("HF2221")


@play(41, how="a delta file is empty; a backup has it")
def oldest_delta_empty(stage: Stage) -> None:
    backed_up(stage)
    stage.overwrite("state/0/0/2.delta", b"")
    stage.plan_of("HF2221")


@play(44, how="RocksDB: a table has another size than its snapshot says; a backup has it")
def rocksdb_table_cut(stage: Stage) -> None:
    backed_up(stage, conf=ROCKS)
    table = _tables(stage)[-1]
    stage.overwrite(table, stage.path(table).read_bytes()[:-9])
    stage.plan_of("HF2314")


@play(45, how="RocksDB: a table that snapshots need was deleted; a backup has it")
def rocksdb_table_removed(stage: Stage) -> None:
    backed_up(stage, conf=ROCKS)
    stage.remove(_tables(stage)[-1])
    stage.plan_of("HF2314")


@play(46, how="RocksDB: a table that no snapshot needs was left behind")
def rocksdb_table_left_over(stage: Stage) -> None:
    totals(stage, conf=ROCKS)
    table = stage.path(_tables(stage)[0])
    left = table.with_name(f"000099-{ATTEMPT}.sst")
    shutil.copy2(table, left)
    stage.plan_of("HF2315")
    assert not left.exists()


@play(47, how="RocksDB: the newest snapshot (.zip) is cut; a backup has it")
def rocksdb_zip_cut(stage: Stage) -> None:
    backed_up(stage, conf=ROCKS)
    file = stage.newest("state/0/0/*.zip")
    stage.overwrite(file, stage.path(file).read_bytes()[:-9])
    stage.plan_of("HF2314")


@play(50, how="a clean-up removed the whole state/; a backup has it")
def state_removed(stage: Stage) -> None:
    backed_up(stage)
    shutil.rmtree(stage.path("state"))
    stage.plan_of("HF2221")


def _tables(stage: Stage) -> list[str]:
    found = sorted(stage.checkpoint.glob("state/0/*/SSTs/*.sst"))
    return [one.relative_to(stage.checkpoint).as_posix() for one in found]
