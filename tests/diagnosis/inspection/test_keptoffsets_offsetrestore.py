"""Whether a kept copy may be put back: only as what the sink has, or where it has nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from holdfast.diagnosis.inspection.keptoffsets import (
    PutBack,
    PutBackJudgement,
    differing,
    judge_put_back,
)
from holdfast.ledgers.identity import OffsetRange, digest_of_offsets
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, CommittedOffsets, committed_with

FIVE, SIX, SEVEN = b"five", b"six", b"seven"
OTHER_SIX, OTHER_SEVEN = b"other six", b"other seven"
FILES = {5: FIVE, 6: SIX, 7: SEVEN}


def ranged(batch_id: int, previous: bytes, entry: bytes) -> CommittedOffsets:
    """Give a batch in the ledger with the digest of its range."""
    return committed_with(OffsetRange(batch_id, previous, entry).digest)


def old(entry: bytes) -> CommittedOffsets:
    """Give a batch in the ledger with a digest of the older kind."""
    return committed_with(digest_of_offsets(entry))


class Case(NamedTuple):
    """What is on disk and kept, what the ledger has, and what follows."""

    told: str
    copies: Mapping[int, bytes]
    ledger: Mapping[int, CommittedOffsets]
    put_back: PutBack
    batch: int | None = None
    files: Mapping[int, bytes] = FILES


AS_IT_IS = {6: ranged(6, FIVE, SIX)}
"""The ledger has batch 6 as the files say, and nothing of 7."""

CASES = (
    Case("7 differs and was not delivered", {7: OTHER_SEVEN}, AS_IT_IS, PutBack.ALLOWED),
    Case("7 was delivered as kept", {7: OTHER_SEVEN},
         {7: ranged(7, SIX, OTHER_SEVEN)}, PutBack.ALLOWED),
    Case("7 was delivered as kept, by an older release", {7: OTHER_SEVEN},
         {7: old(OTHER_SEVEN)}, PutBack.ALLOWED),
    Case("7 was delivered as it is now", {7: OTHER_SEVEN},
         {7: ranged(7, SIX, SEVEN)}, PutBack.SET_ASIDE, 7),
    Case("7 was delivered as it is now, by an older release", {7: OTHER_SEVEN},
         {7: old(SEVEN)}, PutBack.SET_ASIDE, 7),
    Case("7 was delivered with a third plan", {7: OTHER_SEVEN},
         {7: old(b"third")}, PutBack.FORBIDDEN, 7),
    Case("7 was delivered from another beginning", {7: OTHER_SEVEN},
         {7: ranged(7, OTHER_SIX, OTHER_SEVEN)}, PutBack.FORBIDDEN, 7),
    Case("the digest of 7 is of an unknown kind", {7: OTHER_SEVEN},
         {7: committed_with("range9:0")}, PutBack.FORBIDDEN, 7),
    Case("7 was delivered, its digest is not known", {7: OTHER_SEVEN},
         {7: committed_with(None)}, PutBack.UNKNOWN, 7),
    Case("the sink cannot be asked", {7: OTHER_SEVEN}, {7: UNKNOWN}, PutBack.UNKNOWN, 7),
    Case("the sink went on to 8", {7: OTHER_SEVEN}, {8: old(b"eight")}, PutBack.UNKNOWN, 8),
    Case("6 differs, 7 was not delivered", {6: OTHER_SIX},
         {6: ranged(6, FIVE, OTHER_SIX)}, PutBack.ALLOWED),
    Case("6 differs, 7 was delivered from the copy", {6: OTHER_SIX},
         {6: ranged(6, FIVE, OTHER_SIX), 7: ranged(7, OTHER_SIX, SEVEN)}, PutBack.ALLOWED),
    Case("6 differs, 7 was delivered from the file", {6: OTHER_SIX},
         {6: ranged(6, FIVE, SIX), 7: ranged(7, SIX, SEVEN)}, PutBack.SET_ASIDE, 6),
    Case("6 differs, 6 fits the copy and 7 the file", {6: OTHER_SIX},
         {6: ranged(6, FIVE, OTHER_SIX), 7: ranged(7, SIX, SEVEN)}, PutBack.FORBIDDEN, 7),
    Case("6 differs, an older release delivered 7, and 6 as kept", {6: OTHER_SIX},
         {6: old(OTHER_SIX), 7: old(SEVEN)}, PutBack.ALLOWED),
    Case("6 differs, an older release delivered 7, and 6 as it is now", {6: OTHER_SIX},
         {6: old(SIX), 7: old(SEVEN)}, PutBack.SET_ASIDE, 6),
    Case("6 differs, and 5 is not there to compare with", {6: OTHER_SIX},
         AS_IT_IS, PutBack.UNKNOWN, 6, {6: SIX, 7: SEVEN}),
    Case("both differ, both delivered as kept", {6: OTHER_SIX, 7: OTHER_SEVEN},
         {6: ranged(6, FIVE, OTHER_SIX), 7: ranged(7, OTHER_SIX, OTHER_SEVEN)}, PutBack.ALLOWED),
    Case("both differ, one delivered as it is now", {6: OTHER_SIX, 7: OTHER_SEVEN},
         {6: ranged(6, FIVE, OTHER_SIX), 7: ranged(7, SIX, SEVEN)}, PutBack.FORBIDDEN, 7),
    Case("7 is lost and was not delivered", {7: SEVEN}, AS_IT_IS, PutBack.ALLOWED,
         files={5: FIVE, 6: SIX}),
    Case("7 is lost and was delivered as kept", {7: SEVEN},
         {7: ranged(7, SIX, SEVEN)}, PutBack.ALLOWED, files={5: FIVE, 6: SIX}),
    Case("7 is lost and was delivered with different offsets", {7: SEVEN},
         {7: ranged(7, SIX, OTHER_SEVEN)}, PutBack.FORBIDDEN, 7, {5: FIVE, 6: SIX}),
    Case("7 is lost, 6 differs and was delivered as it is now", {6: OTHER_SIX, 7: SEVEN},
         AS_IT_IS, PutBack.FORBIDDEN, 6, {5: FIVE, 6: SIX}),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.told for case in CASES])
def test_a_copy_may_be_put_back_only_as_what_the_sink_has(case: Case) -> None:
    entries = differing(case.files, case.copies)
    for entry in entries:
        verdict = judge_put_back(
            entry, case.files, case.copies, lambda batch: case.ledger.get(batch, NOT_COMMITTED)
        )
        assert verdict == PutBackJudgement(case.put_back, entries, case.batch)


def test_the_first_batch_has_nothing_before_it() -> None:
    held = {0: ranged(0, b"", b"kept")}
    verdict = judge_put_back(0, {0: b"now"}, {0: b"kept"}, lambda one: held.get(one, NOT_COMMITTED))
    assert verdict == PutBackJudgement(PutBack.ALLOWED, (0,))


def test_entries_far_apart_are_judged_apart() -> None:
    """Copies that equal their files belong to no group."""
    copies = {3: b"other", 6: SIX, 7: OTHER_SEVEN}
    files = {**FILES, 3: b"three"}
    verdicts = [
        judge_put_back(entry, files, copies, lambda one: UNKNOWN if one < 5 else NOT_COMMITTED)
        for entry in differing(files, copies)
    ]
    assert verdicts == [
        PutBackJudgement(PutBack.UNKNOWN, (3,), 3),
        PutBackJudgement(PutBack.ALLOWED, (7,)),
    ]


def test_equal_copies_do_not_differ() -> None:
    assert differing(FILES, {6: SIX, 7: SEVEN}) == ()
