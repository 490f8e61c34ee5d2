"""Repair of single files: put back from a backup that is proved to hold the same batches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.backup.checksums import mismatched_copies
from holdfast.backup.snapshot import CopiedFile, Snapshot
from holdfast.checkpoint.files import checksum_damage, decoder_of
from holdfast.checkpoint.layout import checked_name, checksum_name
from holdfast.diagnosis.inspection.keptoffsets import PutBack, judge_copies, read_entries
from holdfast.errors import DecodeError, NotFoundError, PlanError
from holdfast.findings import Finding
from holdfast.format.logs.log import batch_id_of
from holdfast.ledgers.sinkstate import UNKNOWN
from holdfast.remedy.preview import sides_of
from holdfast.remedy.repairs.repair import DAMAGED_ENTRY, Damaged, Fix

MISSING = frozenset(
    ("HF2203", "HF2204", "HF2208", "HF2216", "HF2221", "HF2226", "HF2238", "HF2239", "HF2240")
)
CHANGED = frozenset(
    ("HF2114", "HF2115", "HF2214", "HF2215", "HF2217", "HF2218", "HF2232", "HF2233", "HF2236",
     "HF2241", "HF2242", "HF2245", "HF2314", "HF2316", "HF2317", "HF2318", "HF2701", "HF2702",
     "HF2703", "HF2704", "HF2705", "HF2706", "HF2707", "HF2708")
)  # fmt: skip
_SOURCE_LOG = "HF2216"
RESTORABLE = DAMAGED_ENTRY | MISSING | CHANGED
_VERSION = re.compile(r"(\d+)(_[0-9a-fA-F-]{36})?\.(?:delta|snapshot|zip|changelog)")
_LOG_OFFSET = re.compile(rb'"logOffset":\s*(\d+)')


def backed_up_files(damaged: Damaged) -> Iterator[Fix]:
    """Put missing and damaged files back whose bytes a backup proves."""
    done: set[str] = set()
    for finding in damaged.of(RESTORABLE):
        for path in _wanted(damaged, finding):
            fix = None if path in done else _from_newest(damaged, path)
            if fix is not None:
                done |= fix.paths
                yield fix


def _wanted(damaged: Damaged, finding: Finding) -> Iterator[str]:
    """Yield the files that a finding is about, as far as a backup has them."""
    place = finding.place.file
    if place == "metadata":
        return  # an id is written back where the sink agrees, and only then
    if finding.code == _SOURCE_LOG:
        # It may be found at the offsets that point to an entry which is not there.
        place = place if place.startswith("sources/") else "sources"
    for snapshot in damaged.snapshots:
        files = snapshot.checkpoint.by_path
        if place in files:
            yield place
            return
    below = f"{place}/"
    if damaged.picture.layout.has_file(place):
        return
    present = damaged.picture.layout.items
    for snapshot in damaged.snapshots[:1]:
        for path in snapshot.checkpoint.by_path:
            if path.startswith(below) and path not in present and checked_name(path) is None:
                yield path


def _from_newest(damaged: Damaged, path: str) -> Fix | None:
    """Return the fix from the newest backup that has other bytes and can be trusted."""
    now = _now(damaged, path)
    doubt: PlanError | None = None
    for snapshot in damaged.snapshots:
        file = snapshot.checkpoint.by_path.get(path)
        content = None if file is None else _content(damaged, snapshot, file)
        if content is None or content == now:
            continue
        if not _is_proved(damaged, snapshot, path, content):
            message = f"backup {snapshot.id} has {path}; that it is the same is not proved"
            at = f"{damaged.facts.location}/{path}"
            doubt = doubt or PlanError("HF4603", message, at=at)
            continue
        return _fix(damaged, snapshot, path, content)
    if doubt is not None:
        raise doubt
    return None


def _fix(damaged: Damaged, snapshot: Snapshot, path: str, content: bytes) -> Fix:
    writes, files = {path: content}, snapshot.checkpoint.by_path
    removes = []
    for side in sides_of(path):
        if side in files:
            writes[side] = b"".join(damaged.facts.records.store.whole_chunks(files[side]))
        elif damaged.picture.layout.has_file(side):
            removes.append(side)
    detail = f"put {path} back, byte-identical, from backup {snapshot.id}"
    return Fix(detail, writes, tuple(removes), snapshot.id)


def _now(damaged: Damaged, path: str) -> bytes | None:
    try:
        return damaged.reader.read(path)
    except NotFoundError:
        return None


def _content(damaged: Damaged, snapshot: Snapshot, file: CopiedFile) -> bytes | None:
    """Return the bytes of a copy; None for one that is damaged itself."""
    store, by_path = damaged.facts.records.store, snapshot.checkpoint.by_path
    if mismatched_copies(store, by_path, (file.path,)):
        return None
    content = b"".join(store.whole_chunks(file))
    decode = decoder_of(file.path, damaged.picture.source_logs)
    try:
        if decode is not None:
            decode(content)
    except DecodeError:
        return None
    return content


def _is_proved(damaged: Damaged, snapshot: Snapshot, path: str, content: bytes) -> bool:
    """Whether these are the bytes that were here, and not those of another attempt."""
    query, other = damaged.picture.query, snapshot.query_id
    if query is not None and other is not None and query.id != other:
        return False
    if _matches_checksum(damaged, path, content):
        return True
    folder, _, rest = path.partition("/")
    batch = batch_id_of(rest)
    if folder == "offsets" and batch is not None:
        return _offsets_proved(damaged, snapshot, batch, content)
    if folder == "commits" and batch is not None:
        return _is_same(damaged, snapshot, batch)
    if folder == "sources":
        return _source_proved(damaged, snapshot, rest)
    if folder == "state":
        return _state_proved(damaged, snapshot, path)
    return False


def _matches_checksum(damaged: Damaged, path: str, content: bytes) -> bool:
    """Whether the checksum that stayed beside the file is of these bytes."""
    side = checksum_name(path)
    if not damaged.picture.layout.has_file(side):
        return False
    return not checksum_damage(path, (content,), damaged.reader.read(side))


def _is_same(damaged: Damaged, snapshot: Snapshot, batch: int) -> bool:
    """Whether the offsets of a batch are the same in the backup, to the millisecond of planning."""
    file = snapshot.checkpoint.by_path.get(f"offsets/{batch}")
    now = _now(damaged, f"offsets/{batch}")
    if file is None or now is None:
        return False
    return b"".join(damaged.facts.records.store.whole_chunks(file)) == now


def _newest_same(damaged: Damaged, snapshot: Snapshot) -> int | None:
    """Return the newest batch whose offsets are the same in the backup."""
    ids = sorted(damaged.picture.layout.offsets.files, reverse=True)
    return next((one for one in ids if _is_same(damaged, snapshot, one)), None)


def _offsets_proved(damaged: Damaged, snapshot: Snapshot, batch: int, content: bytes) -> bool:
    """A later entry that is the same shows it, or the sink, which has these offsets or none."""
    newest = _newest_same(damaged, snapshot)
    if newest is not None and newest > batch:
        return True
    sink, query_id = damaged.facts.subject.sink, snapshot.query_id
    if sink is None or query_id is None:
        return False
    ids = damaged.picture.layout.offsets.files
    near = [one for one in (batch - 1, batch, batch + 1) if one in ids]
    present = read_entries(damaged.reader, near)
    held = sink.offsets_of
    verdicts = judge_copies(
        damaged.reader,
        present,
        {batch: content},
        lambda one: held(query_id, one) if sink.failure is None else UNKNOWN,
    )
    verdict = verdicts.get(batch)
    return verdict is not None and verdict.put_back is PutBack.ALLOWED


def _source_proved(damaged: Damaged, snapshot: Snapshot, rest: str) -> bool:
    """An entry of a file source's log was read by a batch whose offsets are the same."""
    name = rest.rpartition("/")[2].removesuffix(".compact")
    newest = _newest_same(damaged, snapshot)
    if newest is None or not name.isdecimal():
        return False
    reached = [int(one) for one in _LOG_OFFSET.findall(damaged.reader.read(f"offsets/{newest}"))]
    return bool(reached) and int(name) <= min(reached)


def _state_proved(damaged: Damaged, snapshot: Snapshot, path: str) -> bool:
    """State with an id is its own proof; other state was committed before a batch that is same."""
    found = _VERSION.fullmatch(path.rpartition("/")[2])
    if found is None or found[2]:
        return True
    newest, batch = _newest_same(damaged, snapshot), int(found[1]) - 1
    committed = snapshot.last_committed
    return newest is not None and newest >= batch and committed is not None and committed >= batch
