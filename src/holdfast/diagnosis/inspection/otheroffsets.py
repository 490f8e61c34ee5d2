"""Compares the newest batch of a sink with the offsets that the checkpoint has for it."""

from __future__ import annotations

from holdfast.diagnosis.inspection.keptoffsets import read_entries
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.heldoffsets import OffsetsOf
from holdfast.ledgers.identity import is_of
from holdfast.storage.reading import Reader


def other_offsets(
    checkpoint: Reader, query_id: str | None, newest: int | None, offsets_of: OffsetsOf
) -> Finding | None:
    """Return HF3027 where the sink holds its newest batch with other offsets than the checkpoint.

    A digest that is missing, of an unknown kind or of an entry that is gone is no difference.
    """
    if query_id is None or newest is None:
        return None
    entries = read_entries(checkpoint, (newest - 1, newest))
    if newest not in entries:
        return None
    stored = offsets_of(query_id, newest).digest
    if stored is None or is_of(stored, newest, entries) is not False:
        return None
    message = f"the sink holds batch {newest} with other offsets than the checkpoint has for it"
    evidence = {"batch": newest, "sink_digest": stored}
    return Finding("HF3027", Severity.FATAL, message, Place(f"offsets/{newest}"), evidence)
