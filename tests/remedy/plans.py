"""Plans of file steps alone, and what the tests of the engine do with them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from holdfast import crashpoints
from holdfast.backup.access import Opener
from holdfast.errors import HoldfastError, StorageError
from holdfast.records.journal import JournalledAct
from holdfast.records.rewinds import Rewind, Rewinds
from holdfast.remedy.applying import Applying
from holdfast.remedy.plan import Draft, Effects, Plan, Remedy, Request, Step, plan_of
from holdfast.remedy.results import Applied
from holdfast.remedy.steps.checkpoint import change_files_arguments
from holdfast.spark.sinks.sink import JobSink
from holdfast.storage.opening import open_writer
from tests.backup.folders import QUERY_ID, Tree, aged, make_tree, records_of, small, tree_of
from tests.backup.writers import Moments

WRITTEN = b"v1\nwritten by the plan"
METADATA = f'{{"id":"{QUERY_ID}"}}'
FACTS = {"checkpoint": "0123", "newest act": "none", "sink": "empty"}


def some_plan(root: Path, *, looked_at: Mapping[str, str] = FACTS, note: str = "") -> Plan:
    """Return a plan with every kind of step that needs no sink; it removes, writes and renames."""
    place = str(root)
    removed = change_files_arguments({}, ("commits/0", "offsets/.1.crc"))
    written = change_files_arguments({"offsets/1": WRITTEN, "state/0/0/1.delta": b"new"})
    noted = {"through": "0", "query_id": QUERY_ID}
    steps = (
        _step("backup-checkpoint", place),
        _step("block-start", place),
        _step("change-files", place, removed),
        _step("change-files", place, written),
        _step("note-rewind", place, noted),
        _step("allow-start", place, {"metadata": METADATA}),
    )
    draft = Draft(steps, Effects(), (note,) if note else ())
    return plan_of(draft, Request(Remedy.REPAIR, place), place, None, looked_at)


def _step(act: str, target: str, arguments: Mapping[str, str] | None = None) -> Step:
    return Step(0, act, target, f"does {act}", reversible=True, arguments=arguments or {})


def planned_tree() -> Tree:
    """Return what the plan makes of the small checkpoint."""
    tree = {path: one for path, one in small().items() if path not in REMOVED}
    return tree | {
        "metadata": METADATA.encode(),
        "offsets/1": WRITTEN,
        "state/0/0/1.delta": b"new",
    }


REMOVED = ("commits/0", "offsets/.1.crc", ".metadata.crc")


def made(folder: Path) -> Path:
    """Make the small checkpoint that the plan is for."""
    return aged(make_tree(folder / "orders", small()))


def no_sink(_planned: object = None) -> AbstractContextManager[JobSink]:
    """Fail the test: the plan has no step on a sink."""
    raise AssertionError("no step of this plan needs a sink")


def applying(root: Path, opener: Opener = open_writer) -> Applying:
    """Open the checkpoint to apply plans to it."""
    return Applying(records_of(root, opener), no_sink)


def apply(root: Path, plan: Plan, opener: Opener = open_writer) -> Applied:
    """Apply a plan for which nothing has changed."""
    return applying(root, opener).apply(plan, lambda: plan)


def finish(root: Path, opener: Opener = open_writer) -> Applied:
    """Finish the act that was interrupted."""
    return applying(root, opener).finish()


def undo(root: Path, opener: Opener = open_writer, act: str | None = None) -> Applied:
    """Take back the newest act, after which nothing happened."""
    return applying(root, opener).undo(act, nothing_newer)


def nothing_newer(_: JournalledAct) -> None:
    """Say that nothing came after an act."""


def files_of(root: Path) -> Tree:
    """Return every file; folders that are empty are not looked at."""
    return {path: one for path, one in tree_of(root).items() if one is not None}


def assert_applied(root: Path) -> None:
    """The checkpoint is what the plan makes of it, and nothing is open."""
    assert files_of(root) == {k: v for k, v in planned_tree().items() if v is not None}
    assert [one.through for one in rewinds(root)] == [0]
    assert records_of(root).journal.unfinished() is None


def assert_untouched(root: Path) -> None:
    """The checkpoint is byte-identical to what it was, folders and records too."""
    assert tree_of(root) == _whole(small())
    assert rewinds(root) == []
    assert records_of(root).journal.unfinished() is None


def rewinds(root: Path) -> list[Rewind]:
    """Return what is noted next to the checkpoint about batches that were taken back."""
    return list(Rewinds(records_of(root).folder).all())


def _whole(tree: Tree) -> Tree:
    folders = {path.rpartition("/")[0] for path in tree if "/" in path}
    around = {
        "/".join(one.split("/")[: n + 1]) for one in folders for n in range(one.count("/") + 1)
    }
    return dict.fromkeys(around) | tree


def killed_at(point: str, act: Callable[[], object]) -> bool:
    """Run the act in a process that dies at a crash point; False where it never comes there."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            crashpoints._wanted, _, crashpoints._time = point.partition(":")
            crashpoints._reached.clear()
            act()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, f"the act failed on its way to {point}"
    return False


_STRUCK = 3


def broken_from(act: Callable[[Opener], object], fatal: int) -> bool:
    """Run the act in a process whose storage fails from a moment on; False where it ends before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            moments = Broken(fatal, _fail)
            try:
                act(moments.opener())
                status = 0
            except HoldfastError:
                status = _STRUCK
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFEXITED(status)
    assert os.WEXITSTATUS(status) in (0, _STRUCK), "something else than a HoldfastError escaped"
    return os.WEXITSTATUS(status) == _STRUCK


def _fail() -> None:
    raise StorageError("HF7015", "ordered")


class Broken(Moments):
    """Fails at the ordered moment and at each one after it."""

    def next(self) -> None:
        """Reach the next moment."""
        with self.lock:
            self.count += 1
            struck = self.count >= self.fatal
        if struck:
            self.strike()
