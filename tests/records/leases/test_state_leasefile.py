"""The names of a lease's files."""

from __future__ import annotations

from holdfast.records.leases.state import beat_name, claim_name, generations


def test_generations_come_newest_first_and_other_names_do_not_count() -> None:
    names = [claim_name(3), beat_name(3), claim_name(12), beat_name(40)]
    others = ["notes.txt", "1", ".0000000099", "0000000099.tmp", "00000000990", "0000000050.beat~"]
    assert generations(names + others) == (40, 12, 3)
    assert generations([]) == ()
