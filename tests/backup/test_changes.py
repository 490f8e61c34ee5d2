"""The order of writes: a half written checkpoint is refused by Spark, not taken for a young one."""

from __future__ import annotations

from holdfast.backup.changes import in_safe_order
from holdfast.backup.snapshot import CopiedFile
from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.recovery.outcome import Action
from tests.checkpoint.pictures import files_of, picture_of


def test_no_prefix_of_a_whole_restore_plans_a_batch() -> None:
    files = files_of("stateless-restarted")
    copied = [CopiedFile(path, len(data), "") for path, data in files.items()]
    ordered = [file.path for file in in_safe_order(copied, files)]
    assert sorted(ordered) == sorted(files)
    for count in range(1, len(ordered)):
        picture = picture_of({path: files[path] for path in ordered[:count]})
        assert next_start(picture, "3.5").action in (Action.FAIL, Action.RERUN), ordered[:count]
