"""Appending to the epochs: one after the other, whoever comes late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.files.epochlog import EpochWatch, append_epochs, open_query
from holdfast.ledgers.files.format import Epochs, Fence, encode_epochs
from holdfast.ledgers.files.manifests import epochs_path, log_of
from tests.ledgers.files.test_manifests import QUERY, Place, identity, place, staged

__all__ = ["place"]


def test_generations_are_appended_once_and_old_documents_go(place: Place) -> None:
    output = place.output()
    log = log_of(output)
    for generation in (1, 1, 2, 5, 4, 6, 6):
        open_query(output, log, QUERY, generation)
    assert log.head() == Epochs(4, {QUERY: 6})
    assert log.epoch_numbers() == (3, 4)


def test_who_is_beaten_reads_again(place: Place) -> None:
    """Two drivers append at once: both are known afterwards."""
    output = place.output()
    log = log_of(output)
    beaten: list[Epochs] = []

    def change(head: Epochs) -> Epochs | None:
        if not beaten:
            beaten.append(open_query(output, log, "other", 3))
        return None if "q" in head.generations else head.opened("q", 1)

    assert append_epochs(output, log, change).generations == {"q": 1, "other": 3}


def test_a_document_created_late_under_a_removed_number_has_no_effect(place: Place) -> None:
    output = place.output()
    log = log_of(output)
    first = open_query(output, log, QUERY, 1)
    late = replace(first.fenced(Fence(2, 1, QUERY, 0, "late")), number=2)
    for generation in (2, 3, 4, 5):
        open_query(output, log, QUERY, generation)
    path = f"{output.manifests}/{epochs_path(2)}"
    assert output.writer.create(path, (encode_epochs(late),))
    assert log.head().fences == ()


def test_an_answer_that_is_lost_is_found(place: Place) -> None:
    """What was created counts, also where the storage said that something was there already."""
    output = place.output()
    log = log_of(output)

    class Forgetful:
        def __getattr__(self, name: str) -> object:
            return getattr(output.writer, name)

        def create(self, path: str, chunks: object) -> bool:
            output.writer.create(path, chunks)  # type: ignore[arg-type]
            return False

    forgetful = place.output(lambda _, __: Forgetful())  # type: ignore[arg-type,return-value]
    assert open_query(forgetful, log, QUERY, 7).number == 1


def test_others_that_never_stop_are_told(place: Place) -> None:
    with pytest.raises(SinkError, match="keep changing") as caught:
        append_epochs(place.output(), log_of(place.output()), lambda head: head)
    assert caught.value.code.number == "HF5009"


def test_a_late_driver_never_learns_the_new_epoch(place: Place) -> None:
    output = place.output()
    log = log_of(output)
    watch = EpochWatch(log, "here")
    watch.driver = identity(3, generation=1)
    manifest = staged(place, 3, "a")
    watch.refuse_void(manifest)
    append_epochs(
        output,
        log,
        lambda head: None if head.fences else head.fenced(Fence(1, 2, QUERY, 0, "t")),
    )
    for act in (watch.look, lambda: watch.refuse_void(manifest)):
        with pytest.raises(SinkError, match="generation 2; this driver has generation 1") as caught:
            act()
        assert caught.value.code.number == "HF5025"
    assert watch.epochs.epoch(QUERY, 3) == 0
