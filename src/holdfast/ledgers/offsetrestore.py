"""Decides whether kept copies of offsets entries may be put back in place of what is there.

An entry takes part in two batches: it ends its own and begins the next. Putting a copy back is
safe where, of both, the sink has exactly these offsets or nothing at all: Spark then runs a batch
again that is skipped, or one that was never delivered. Everything else would make Spark run a
known batch id with other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from holdfast.ledgers.identity import OffsetRange
from holdfast.ledgers.sinkstate import CommittedOffsets

Held = Callable[[int], CommittedOffsets]
"""What the sink's ledger has of a batch."""


class PutBack(str, Enum):
    """What may be done with kept copies that differ from the files."""

    ALLOWED = "allowed"
    """The copies are the offsets that the sink has, or the sink has none of these batches."""
    SET_ASIDE = "set-aside"
    """The files are the offsets that the sink has: the copies are the strangers."""
    FORBIDDEN = "forbidden"
    """The sink has a batch with offsets that are not those of the copies."""
    UNKNOWN = "unknown"
    """What the sink has cannot be determined."""


@dataclass(frozen=True)
class PutBackJudgement:
    """What may be done with the copies of these entries, all of them or none."""

    put_back: PutBack
    entries: tuple[int, ...]
    """The entries that belong together: neighbours whose copies differ."""
    batch_id: int | None = None
    """The batch that decided, where copies may not be put back."""


def differing(files: Mapping[int, bytes], copies: Mapping[int, bytes]) -> tuple[int, ...]:
    """Return the entries whose file is missing or is not what was kept of it."""
    return tuple(sorted(one for one, copy in copies.items() if files.get(one) != copy))


def judge_put_back(
    entry: int, files: Mapping[int, bytes], copies: Mapping[int, bytes], held: Held
) -> PutBackJudgement:
    """Decide about the copy of an entry, together with the neighbours that differ as well.

    `files` and `copies` hold the bytes of entries as far as they are known.
    """
    entries = _neighbours(entry, set(differing(files, copies)))
    batches = sorted({one for number in entries for one in (number, number + 1)})
    answers = {batch: held(batch) for batch in batches}
    restored = _fitting(answers, {**files, **copies})
    worst = next(iter(sorted(set(restored.values()), key=_RANK.index)))
    decisive = next(batch for batch, fits in restored.items() if fits is worst)
    if worst is _Fits.YES:
        return PutBackJudgement(PutBack.ALLOWED, entries)
    if worst is _Fits.UNKNOWN:
        return PutBackJudgement(PutBack.UNKNOWN, entries, decisive)
    as_is = set(_fitting(answers, files).values())
    lost = any(number not in files for number in entries)
    put_back = PutBack.SET_ASIDE if as_is == {_Fits.YES} and not lost else PutBack.FORBIDDEN
    return PutBackJudgement(put_back, entries, decisive)


class _Fits(Enum):
    """Whether what the sink has of a batch fits to offsets."""

    NO = "no"
    UNKNOWN = "unknown"
    YES = "yes"


_RANK = (_Fits.NO, _Fits.UNKNOWN, _Fits.YES)
"""The worst first: one batch that does not fit decides."""


def _neighbours(entry: int, differ: set[int]) -> tuple[int, ...]:
    first = last = entry
    while first - 1 in differ:
        first -= 1
    while last + 1 in differ:
        last += 1
    return tuple(range(first, last + 1))


def _fitting(
    answers: Mapping[int, CommittedOffsets], entries: Mapping[int, bytes]
) -> dict[int, _Fits]:
    return {batch: _fits(batch, answer, entries) for batch, answer in answers.items()}


def _fits(batch_id: int, answer: CommittedOffsets, entries: Mapping[int, bytes]) -> _Fits:
    if answer.held is False:
        return _Fits.YES
    if answer.held is None or answer.digest is None:
        return _Fits.UNKNOWN
    previous = b"" if batch_id == 0 else entries.get(batch_id - 1)
    entry = entries.get(batch_id)
    if previous is None or entry is None:
        return _Fits.UNKNOWN
    identity = OffsetRange(batch_id, previous, entry).identity("", 0)
    return _Fits.YES if identity.has_offsets(answer.digest) else _Fits.NO
