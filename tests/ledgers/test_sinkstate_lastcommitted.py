"""Three answers, never two: a batch, nothing, unknown."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import StorageError
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.ledgers.reading import SinkMemory, ask_sink, untold
from holdfast.ledgers.sinkstate import LastCommitted, OwnLedger, SinkAnswer
from holdfast.storage.local import LocalReader


def test_the_three_answers() -> None:
    """Whoever says nothing about it did not answer."""
    assert LastCommitted.batch(0, "read").answer is SinkAnswer.BATCH
    assert LastCommitted.nothing("read").answer is SinkAnswer.NOTHING
    assert LastCommitted.unknown("not read").answer is SinkAnswer.UNKNOWN
    assert LastCommitted(None, "somehow").answer is SinkAnswer.UNKNOWN
    assert LastCommitted(3, "somehow").answer is SinkAnswer.BATCH


def test_a_ledger_of_ours_answers() -> None:
    """For a query that has an id; without one it is not the ledger that does not know."""
    ledger = OwnLedger("files", "there", "the manifests", {"q": 4})
    answers = [ledger.last_committed(one).answer for one in ("q", "r", None)]
    assert answers == [SinkAnswer.BATCH, SinkAnswer.NOTHING, SinkAnswer.UNKNOWN]


def test_a_delta_log_answers_only_where_it_was_read_whole() -> None:
    """A part of it may hold what was not found."""
    whole, part = (DeltaLedger("there", 7, {"q": 4}, complete) for complete in (True, False))
    assert whole.last_committed("r").answer is SinkAnswer.NOTHING
    assert part.last_committed("r").answer is SinkAnswer.UNKNOWN
    assert part.last_committed("q").answer is SinkAnswer.BATCH
    assert whole.last_committed(None).answer is SinkAnswer.UNKNOWN


def test_a_folder_without_a_log_holds_nothing(tmp_path: Path) -> None:
    """One that can't be read is unknown, and so is what is no folder."""
    asked = ask_sink("there", lambda name: LocalReader(str(tmp_path / name)))
    assert asked.last_committed("q").answer is SinkAnswer.NOTHING
    denied = SinkMemory("there", failure=StorageError("HF7002", "access was denied"))
    assert denied.last_committed("q").answer is SinkAnswer.UNKNOWN
    assert untold("there", "a console").last_committed("q").answer is SinkAnswer.UNKNOWN
