"""Cases 1 to 15 and 90: broken logs in the checkpoint."""

from __future__ import annotations

from tests.fieldcases.play.playing import play
from tests.fieldcases.play.queries import totals
from tests.fieldcases.play.stage import Stage, named

ATTEMPT = "01234567-89ab-cdef-0123-456789abcdef"


@play(1, 90, how="an entry before the newest of offsets/ was lost")
def offsets_gap(stage: Stage) -> None:
    stage.play()
    stage.remove("commits/3", "offsets/2")
    stage.plan_of("HF2204")


@play(2, how="an entry of the file source's log was lost; a backup has it")
def source_log_entry_lost(stage: Stage) -> None:
    stage.play()
    stage.back_up()
    stage.remove("sources/0/3")
    stage.plan_of("HF2216")


@play(3, how="the newest offsets entry is empty, its batch is in the sink and was not committed")
def newest_offsets_empty(stage: Stage) -> None:
    stage.play()
    stage.remove("commits/3")
    stage.overwrite("offsets/3", b"")
    stage.plan_of("HF2101")


@play(4, how="the newest commit is empty after a crash")
def newest_commit_empty(stage: Stage) -> None:
    stage.play()
    stage.overwrite("commits/3", b"")
    stage.plan_of("HF2101")


@play(5, 90, how="the newest offsets entry was lost, and its commit stayed")
def newest_offsets_lost(stage: Stage) -> None:
    stage.play()
    stage.remove("offsets/3")
    stage.plan_of("HF2203")


@play(6, how="the JSON of the newest offsets entry is cut")
def offsets_cut(stage: Stage) -> None:
    stage.play()
    stage.overwrite("offsets/3", stage.path("offsets/3").read_bytes()[:-9])
    stage.plan_of("HF2105")


@play(7, how="a killed writer left a temporary file of an entry in offsets/")
def temporary_left(stage: Stage) -> None:
    stage.play()
    stage.overwrite(f"offsets/.3.{ATTEMPT}.tmp", b"v1")
    stage.plan_of("HF2227")
    assert not list(stage.path("offsets").glob("*.tmp"))


@play(11, how="killed tasks left temporary state files")
def temporary_state_left(stage: Stage) -> None:
    totals(stage)
    stage.overwrite(f"state/0/0/.3.delta.{ATTEMPT}.tmp", b"torn")
    stage.plan_of("HF2227")
    assert not list(stage.path("state/0/0").glob("*.tmp"))


@play(13, how="an offsets entry says that a newer Spark wrote it")
def offsets_of_another_version(stage: Stage) -> None:
    stage.play()
    entry = stage.path("offsets/3").read_bytes()
    stage.overwrite("offsets/3", entry.replace(b"v1", b"v9", 1))
    stage.plan_of("HF2103")


@play(15, how="metadata is missing; the next start would make a new query id")
def metadata_missing(stage: Stage) -> None:
    stage.play()
    stage.remove("metadata")
    stage.plan_of("HF2201")


@play(20, how="the path contains an application id")
def path_of_one_application(stage: Stage) -> None:
    _moved(stage, "./checkpoints/application_1767225600000_0001", "HF2301")


@play(21, how="the checkpoint is in a directory of temporary files")
def temporary_path(stage: Stage) -> None:
    _moved(stage, "./temporary-0b1f2c3d-0000-4000-8000-000000000001", "HF2302")


def _moved(stage: Stage, former: str, code: str) -> None:
    stage.root = former
    stage.play()
    stage.apply(named(stage.ask(), code, "holdfast plan move"), PATH="./lasting/orders")
    stage.root = "./lasting"
    stage.declare()
