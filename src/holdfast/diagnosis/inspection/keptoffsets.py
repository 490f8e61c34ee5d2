"""Compares offsets entries with their kept copies, and decides if these may be put back.

An entry takes part in two batches: it ends its own and begins the next. Putting a copy back is
safe where, of both, the sink has exactly these offsets or nothing at all: Spark then runs a batch
again that is skipped, or one that was never delivered. Everything else would make Spark run a
known batch id with other rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, partial

from holdfast.checkpoint.picture import Picture, missing_between
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.log import batch_id_of
from holdfast.ledgers.identity import OffsetRange, is_of
from holdfast.ledgers.sinkstate import CommittedOffsets, OffsetsOf, unknown_offsets
from holdfast.records.offsetcopies import copy_path
from holdfast.storage.reading import Reader

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


MOST_ASKED = 20


@dataclass(frozen=True)
class KeptOffsets:
    """What was kept of entries, and what stands in the checkpoint in their place."""

    query_id: str | None = None
    folder: str = ""
    """The folder of the copies, as shown to people."""
    copies: Mapping[int, bytes] = field(default_factory=dict)
    present: Mapping[int, bytes] = field(default_factory=dict)
    """The entries that could be read, of those that a copy is kept of."""
    failures: Mapping[int, HoldfastError] = field(default_factory=dict)
    """Why a copy could not be had."""
    verdicts: Mapping[int, PutBackJudgement] = field(default_factory=dict)
    """What may be done with the copy of each entry that is missing or differs."""

    def path_of(self, batch_id: int) -> str:
        """Spell where the copy of an entry is."""
        digest = hashlib.sha256(self.copies[batch_id]).hexdigest()
        return f"{self.folder}/{copy_path(self.query_id or '', batch_id, digest)}"


NOTHING_KEPT = KeptOffsets()


def look_at_kept(
    recorded: Recorded,
    picture: Picture,
    reader: Reader,
    offsets_of: OffsetsOf = unknown_offsets,
) -> KeptOffsets:
    """Ask for the copies, and read the entries that they are compared with.

    `offsets_of` asks the sink; it is called only where an entry is not what was kept of it.
    """
    run = recorded.run_of(picture)
    query_id = picture.query.id if picture.query is not None else run.query_id if run else None
    # After a reset the copies are of the query before, and the next one has none yet.
    is_over = recorded.was_reset and picture.query is None
    if run is None or query_id is None or is_over:
        return NOTHING_KEPT
    copies: dict[int, bytes] = {}
    failures: dict[int, HoldfastError] = {}
    for batch_id in _asked(picture):
        try:
            copy = recorded.copy_of(query_id, batch_id)
        except HoldfastError as error:
            failures[batch_id] = error
        else:
            copies |= {} if copy is None else {batch_id: copy}
    planned_since = copies.keys() - picture.layout.offsets.files.keys()
    if planned_since:
        # A query that runs may have planned one while we looked.
        names = reader.names("offsets")
        copies = {one: copy for one, copy in copies.items()
                  if one not in planned_since or str(one) not in names}  # fmt: skip
    there = picture.layout.offsets.files.keys() & copies.keys()
    present = read_entries(reader, there)
    # An entry that is there and cannot be read may be right: nothing is said of its copy.
    copies = {one: copy for one, copy in copies.items() if one in present or one not in there}
    verdicts = judge_copies(reader, present, copies, partial(offsets_of, query_id))
    folder = f"{recorded.location}/offsets"
    return KeptOffsets(query_id, folder, copies, present, failures, verdicts)


def read_entries(reader: Reader, batch_ids: Iterable[int]) -> dict[int, bytes]:
    """Read offsets entries; what is missing or cannot be read is left out."""
    paths = {f"offsets/{one}": one for one in batch_ids if one >= 0}
    read = reader.read_many(paths)
    return {paths[path]: data for path, data in read.items() if isinstance(data, bytes)}


def judge_copies(
    reader: Reader, present: Mapping[int, bytes], copies: Mapping[int, bytes], held: Held
) -> dict[int, PutBackJudgement]:
    """Decide about the copy of each entry that is missing or differs; nothing is asked if none is.

    The entries around them are read as well: they take part in the batches that decide.
    """
    changed = differing(present, copies)
    around = {near for one in changed for near in (one - 1, one + 1)} - present.keys()
    files = {**present, **(read_entries(reader, around) if around else {})}
    asked = cache(held)
    return {one: judge_put_back(one, files, copies, asked) for one in changed}


def with_kept_copy(finding: Finding, kept: KeptOffsets) -> Finding:
    """Say in a finding about an offsets entry that a copy of it is kept."""
    folder, _, name = finding.place.file.partition("/")
    batch_id = batch_id_of(name) if folder == "offsets" else None
    reported = finding.severity.rank >= Severity.WARNING.rank
    verdict = kept.verdicts.get(-1 if batch_id is None else batch_id)
    if batch_id is None or not reported or verdict is None:
        return finding
    steps = advice(verdict, {one: kept.path_of(one) for one in verdict.entries})
    evidence = {
        **finding.evidence,
        "kept_copy": kept.path_of(batch_id),
        "put_back": verdict.put_back.value,
    }
    return replace(finding, evidence=evidence, next_steps=(*steps, *finding.next_steps))


def advice(verdict: PutBackJudgement, paths: Mapping[int, str]) -> tuple[str, ...]:
    """Say what may be done with kept copies; `paths` tells where the copy of each entry is."""
    kept = " and ".join(f"{paths[one]} back as offsets/{one}" for one in verdict.entries)
    batch = f"batch {verdict.batch_id}"
    if verdict.put_back is PutBack.ALLOWED:
        sums = " and ".join(f".{one}.crc" for one in verdict.entries)
        return (
            f"a byte-identical copy is kept: put {kept} while nothing runs, without the {sums} of "
            "the other bytes",
        )
    if verdict.put_back is PutBack.SET_ASIDE:
        copies = " and ".join(paths[one] for one in verdict.entries)
        return (
            f"do not put {kept}: the sink has {batch} with the offsets that the checkpoint has now",
            f"move {copies} elsewhere as evidence, then start again",
        )
    if verdict.put_back is PutBack.FORBIDDEN:
        return (
            f"do not put {kept}: the sink has {batch} with other offsets, and Spark would deliver "
            "it again with other rows",
            "holdfast backups TARGET   (restore the offsets that the sink has, if a backup has "
            "them)",
        )
    return (
        f"do not put {kept} yet: what the sink has of {batch} is unknown. The copy is right only "
        "if the sink has this batch with the same offsets, or not at all",
        "holdfast doctor TARGET asks the sink; name the output with --sink where no project "
        "declares it",
    )


def _asked(picture: Picture) -> list[int]:
    ids = picture.layout.offsets.ids
    newest = ids[-1] if ids else -1
    # A run keeps a copy before the sink writes: the newest entry itself may be what was lost.
    committed = picture.newest_commit_id
    likely = {newest + 1, newest, newest - 1, *([] if committed is None else [committed])}
    damaged = {
        batch_id
        for damage in picture.damages
        if damage.file.startswith("offsets/")
        and (batch_id := batch_id_of(damage.file.partition("/")[2])) is not None
    }
    wanted = sorted({*likely, *damaged, *missing_between(ids)}, reverse=True)
    return [one for one in wanted if one >= 0][:MOST_ASKED]


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
