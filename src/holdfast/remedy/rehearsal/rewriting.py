"""Makes copies independent of their originals: no path in them leads back, no record names them.

All of it happens inside the workspace. What is damaged stays as it is: the plan is about it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from holdfast.checkpoint.reading import read_picture
from holdfast.errors import CheckpointError, DecodeError
from holdfast.format.logs.filelog import SinkFile, decode_sink_log, encode_sink_log, log_id_of
from holdfast.ledgers.sinkstate import SinkState
from holdfast.ledgers.sparkfilesink import LOG_FOLDER
from holdfast.records.documents import UnreadableError
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import generations_of_runs, run_name
from holdfast.records.moments import moment_now
from holdfast.records.moves import Move, Moves
from holdfast.records.run import Run, decode_run, encode_run
from holdfast.remedy.preview import sides_of
from holdfast.remedy.repairs.places import relocated
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings

_PLAIN = StorageSettings()


def rewrite_checkpoint(copy: Location, original: Location) -> int:
    """Let the paths of state schemas lead to the copy; return how many files were changed."""
    reader = open_reader(copy, _PLAIN)
    try:
        changed = relocated(reader, read_picture(reader), copy, original)
    except CheckpointError:
        return 0
    for path, content in changed.items():
        for side in sides_of(path):
            (Path(copy.url) / side).unlink(missing_ok=True)
        (Path(copy.url) / path).write_bytes(content)
    return len(changed)


def rewrite_sink_log(copy: Location, original: Location) -> int:
    """Let the log of Spark's own file sink name the copied files."""
    folder = Path(copy.url) / LOG_FOLDER
    changed = 0
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if log_id_of(file.name) is None:
            continue
        content = file.read_bytes()
        try:
            log = decode_sink_log(content)
        except DecodeError:
            continue
        items = tuple(_moved(item, original, copy) for item in log.items)
        if items != log.items:
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
            file.write_bytes(encode_sink_log(replace(log, items=items)))
            changed += 1
    return changed


def _moved(item: SinkFile, original: Location, copy: Location) -> SinkFile:
    after = f"file://{quote(copy.url)}/"
    for spelled in _spellings(original):
        if item.path.startswith(f"{spelled}/"):
            return replace(item, path=after + item.path[len(spelled) + 1 :])
    return item


def _spellings(place: Location) -> tuple[str, ...]:
    """Return how Spark may have written the URI of a folder."""
    if not place.is_local:
        rest = place.url.partition("://")[2].rstrip("/")
        return tuple(f"{scheme}://{rest}" for scheme in (place.scheme, "s3a", "abfss"))
    paths = {place.url.rstrip("/"), canonical(place).removeprefix("file://").rstrip("/")}
    return tuple(
        f"{start}{quote(path)}" for path in sorted(paths) for start in ("file://", "file:")
    )


def note_copy(records: RecordsFolder, copy: Location, original: Location, act: str) -> None:
    """Let the records know that they were of the original, as after a move."""
    Moves(records).write(
        Move(
            generation=0,
            act=act,
            moved_from=canonical(original),
            moved_to=canonical(copy),
            at=moment_now(),
        )
    )


def name_scratch_sink(records: RecordsFolder, before: SinkState, now: SinkState) -> int:
    """Let the records of runs name the scratch sink where they name the original."""
    folder = Path(records.location.url) / "runs"
    names = [one.name for one in folder.iterdir()] if folder.is_dir() else []
    changed = 0
    for generation in generations_of_runs(names):
        file = folder / run_name(generation)
        try:
            run = decode_run(file.read_bytes())
        except UnreadableError:
            continue
        moved = _with_sink(run, before, now)
        if moved != run:
            file.write_bytes(encode_run(moved))
            changed += 1
    return changed


def _with_sink(run: Run, before: SinkState, now: SinkState) -> Run:
    sink = run.sink
    if sink is None or before.place is None or sink.place != before.place:
        return run
    incarnation = sink.incarnation
    if incarnation == before.incarnation:
        incarnation = now.incarnation
    return replace(run, sink=replace(sink, place=now.place, incarnation=incarnation))
