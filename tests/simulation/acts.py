"""What people do to a stream beside its drivers: back up, restore, take back, look, expire."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from holdfast.backup import commands
from holdfast.backup.access import open_records, open_store, reopened
from holdfast.backup.restoring import RestoreOptions, restore_backup
from holdfast.backup.settling import settle_restore
from holdfast.backup.store import Retention, find_snapshot
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.diagnosis.doctor.doctor import Examinee, examine, examined_subject
from holdfast.diagnosis.inspection.result import inspection_of
from holdfast.diagnosis.inspection.runs.recorded import recall
from holdfast.diagnosis.inspection.sources import BrokerSeen, Span
from holdfast.errors import CheckpointError, HoldfastError
from holdfast.findings import Finding, Severity
from holdfast.ledgers.files import manifests
from holdfast.ledgers.files.held import HeldFiles
from holdfast.ledgers.reading import SinkPlace
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.leases.taking import Lease, take_lease
from holdfast.records.processes import this_holder
from holdfast.remedy.applying import Applying
from holdfast.remedy.facts import Facts
from holdfast.remedy.outputs import look_at_job_output, refuse_other_output
from holdfast.remedy.plan import Plan, Remedy, Request
from holdfast.remedy.remedies import make_plan
from holdfast.storage.beside import beside, part_of
from holdfast.storage.options import StorageSettings
from tests.simulation.driving import Setting
from tests.simulation.spark import offsets_entry
from tests.simulation.views import SimulatedReader, SimulatedWriter
from tests.simulation.world import Actor, World

_PLAIN = StorageSettings()


def back_up(setting: Setting, world: World, _actor: Actor, *, keep_last: int | None = None) -> Any:
    """Back the checkpoint up, and let go of backups that are not kept."""
    records = open_records(setting.checkpoint, _PLAIN)
    now_ms = int(world.wall(world.current) * 1000)
    return commands.back_up(records, now_ms=now_ms, retention=Retention(keep_last=keep_last))


def restore(setting: Setting, world: World, _actor: Actor, *, files: tuple[str, ...] = ()) -> Any:
    """Restore the newest backup, as somebody does who is sure that nothing runs."""
    records = open_records(setting.checkpoint, _PLAIN)
    snapshot = find_snapshot(records.store, "newest")
    wish = RestoreOptions(snapshot, records.store, records, False, files, even_if_running=True)
    now_ms = int(world.wall(world.current) * 1000)
    return restore_backup(wish, now_ms=now_ms, confirm=None)


def finish_restore(setting: Setting, world: World, _actor: Actor) -> Any:
    """Finish a restore that was killed, if one was; take it back where a late driver forbids it."""
    records = open_records(setting.checkpoint, _PLAIN)

    def settle(*, finish: bool) -> Any:
        return settle_restore(
            records, finish=finish, open_store=lambda url: open_store(reopened(url), _PLAIN)
        )

    try:
        return settle(finish=True)
    except CheckpointError as error:
        if error.code.number != "HF4524":
            raise
        return settle(finish=False)


def take_back_last(setting: Setting, world: World, actor: Actor) -> None:
    """Take the newest batch back from the sink and from the checkpoint: it has to run again.

    The commits entry goes first: killed in between, the next start runs the batch again, and
    either skips it or writes it.
    """
    lease = _leased(setting, world, actor)
    try:
        _with_last_taken_back(setting, world, lease)
    finally:
        lease.release()


def _with_last_taken_back(setting: Setting, world: World, lease: Lease) -> None:
    place = setting.checkpoint.url
    reader, writer = SimulatedReader(world, place), SimulatedWriter(world, place)
    committed = [int(name) for name in reader.names("commits") if name.isdigit()]
    planned = [int(name) for name in reader.names("offsets") if name.isdigit()]
    if not committed or max(committed) != max(planned):
        return
    lease.confirm()
    query_id = str(json.loads(reader.read("metadata"))["id"])
    writer.remove(f"commits/{max(committed)}")
    writer.settle()
    lease.confirm()
    sink = setting.file_sink()
    sink.rewind(query_id, max(committed) - 1, generation=lease.generation)
    world.notes["rewound"] = True


def reset(setting: Setting, world: World, actor: Actor) -> None:
    """Empty the sink and the checkpoint: the job begins again as another query."""
    lease = _leased(setting, world, actor)
    try:
        lease.confirm()
        world.notes["reset"] = "begun"
        setting.file_sink().clear(generation=lease.generation)
        place = setting.checkpoint.url
        reader, writer = SimulatedReader(world, place), SimulatedWriter(world, place)
        for log in ("commits", "offsets"):
            for name in sorted(reader.names(log)):
                lease.confirm()
                writer.remove(f"{log}/{name}")
        writer.remove("metadata")
        writer.settle()
        world.notes["reset"] = "done"
    finally:
        lease.release()


def finish_reset(setting: Setting, world: World, actor: Actor) -> None:
    """Begin a reset again that was not done, as the person does who wanted it."""
    if world.notes.get("reset") == "begun":
        reset(setting, world, actor)


def look_plainly(setting: Setting, world: World, _actor: Actor, *, looks: int = 2) -> None:
    """List the output folder and read what is there, as any reader does."""
    reader = SimulatedReader(world, setting.output.url)
    for _ in range(looks):
        rows: Counter[bytes] = Counter()
        for name in sorted(reader.names("")):
            if name.startswith((".", "_")):
                continue
            for content in reader.read_many([name]).values():
                if isinstance(content, bytes):
                    rows.update(content.split())
        for row, count in sorted(rows.items()):
            if count > 1:
                world.violate(f"a plain reader saw row {row.decode()} {count} times")


def look_through_manifests(
    setting: Setting, world: World, _actor: Actor, *, looks: int = 2
) -> None:
    """List whole batches by the shipped reader: each batch with all of its files, or not."""
    for _ in range(looks):
        output = setting.file_output()
        log = manifests.ManifestLog(output.reader_of(output.manifests))
        for query_id in sorted(log.queries()):
            for manifest in manifests._published(output, log, query_id):
                _judge_published(setting, world, manifest)


def _judge_published(setting: Setting, world: World, manifest: Any) -> None:
    """Compare what the reader was given with the tree as it is at this very moment."""
    expired = world.notes.get("expired", ())
    missing = [
        file.path
        for file in manifest.files
        if f"{setting.output.url}/{file.path}" not in world.tree.files and file.path not in expired
    ]
    if missing and not world.notes.get("reset") and not world.notes.get("rewound"):
        world.violate(f"a reader of manifests was given a part of batch {manifest.batch_id}")


def edit_offsets(setting: Setting, world: World, _actor: Actor) -> None:
    """Replace the entry before the newest one by one that ends a row earlier."""
    place = setting.checkpoint.url
    reader, writer = SimulatedReader(world, place), SimulatedWriter(world, place)
    newest = max((int(name) for name in reader.names("offsets") if name.isdigit()), default=0)
    if newest == 0 or str(newest) in reader.names("commits"):
        return
    before = json.loads(reader.read(f"offsets/{newest - 1}").splitlines()[-1])
    end = int(before["numbers"]["0"]) - 1
    writer.replace(f"offsets/{newest - 1}", (offsets_entry(end),))
    writer.settle()


def expire(setting: Setting, world: World, _actor: Actor) -> None:
    """Remove the oldest published files, as the retention of a user's own does."""
    place = setting.output.url
    reader, writer = SimulatedReader(world, place), SimulatedWriter(world, place)
    expired: set[str] = world.notes.setdefault("expired", set())
    names = [one for one in sorted(reader.names("")) if not one.startswith((".", "_"))]
    for name in names[:2]:
        expired.add(name)
        content = world.tree.files[f"{place}/{name}"].content
        world.notes.setdefault("expired_rows", set()).update(map(int, content.split()))
        writer.remove(name)


def apply_plan(
    setting: Setting,
    world: World,
    _actor: Actor,
    *,
    remedy: Remedy,
    options: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Plan a remedy and apply it, as somebody does who is sure that nothing runs."""
    request = Request(remedy, setting.checkpoint.url, options)
    plan = _planned(setting, world, request)
    touched = {Remedy.REPLAY: "rewound", Remedy.RESET: "reset"}.get(remedy)
    if touched is not None:
        world.notes[touched] = True
    return _applying(setting, world).apply(plan, lambda: _planned(setting, world, request))


def finish_plan(setting: Setting, world: World, _actor: Actor) -> Any:
    """Finish a plan that was killed, if one was; undo it where a late driver forbids it."""
    applying = _applying(setting, world)
    try:
        return applying.finish()
    except HoldfastError as error:
        if error.code.number != "HF4640":
            raise
        return applying.undo(None, lambda _: None)


def undo_plan(setting: Setting, world: World, _actor: Actor) -> Any:
    """Undo a plan that was killed, if one was; finish it where rows are gone already."""
    applying = _applying(setting, world)
    if applying.records.journal.unfinished() is None:
        return None
    try:
        return applying.undo(None, lambda _: None)
    except HoldfastError as error:
        if error.code.number != "HF4609":
            raise
        return applying.finish()


def _planned(setting: Setting, world: World, request: Request) -> Plan:
    subject, findings = examined_subject(_examinee(setting, world))
    inspection = inspection_of(
        subject.picture,
        formats={},
        shown=SHOWN_BATCHES,
        spark=None,
        verified=False,
        run=subject.recorded.run_of(subject.picture),
    )
    everything = {("numbers", 0): Span(0, world.notes["source"].total)}
    broker = BrokerSeen("simulated", frozenset({"numbers"}), everything)
    subject = replace(subject, sources=replace(subject.sources, brokers=(broker,)))
    job, records = setting.job(), open_records(setting.checkpoint, _PLAIN)
    facts = Facts(subject, inspection, findings, records, job, setting.checkpoint)
    if request.remedy is Remedy.RESET:
        facts = replace(facts, output=look_at_job_output(job, subject.sight))
    return make_plan(facts, request)


def _applying(setting: Setting, world: World) -> Applying:
    sink = _examinee(setting, world).sink
    assert sink is not None

    @contextmanager
    def opened(planned: Mapping[str, str] | None = None) -> Iterator[HeldFiles]:
        refuse_other_output(planned or {}, setting.job().sink, setting.checkpoint.url)
        yield HeldFiles(setting.file_output(), "json")

    return Applying(
        records=open_records(setting.checkpoint, _PLAIN),
        open_sink=opened,
        even_if_running=True,
        ask_sink=lambda query_id: sink.ask().last_committed(query_id),
    )


def doctor(setting: Setting, world: World, _actor: Actor) -> tuple[Finding, ...]:
    """Examine the checkpoint with its sink; return what is an error or worse."""
    answer = examine([_examinee(setting, world)], verified=True)
    return tuple(one for one in answer.findings if one.severity.rank >= Severity.ERROR.rank)


def _examinee(setting: Setting, world: World) -> Examinee:
    beside_output = beside(setting.output)

    def open_below(part: str) -> SimulatedReader:
        url = f"{setting.output.url}/{part}" if part else setting.output.url
        return SimulatedReader(world, url)

    sink = SinkPlace(
        setting.output.shown,
        open_below=open_below,
        open_beside=lambda part: SimulatedReader(world, part_of(beside_output, part).url),
    )
    return Examinee(
        "job",
        SimulatedReader(world, setting.checkpoint.url),
        setting.checkpoint.url,
        setting.semantics.scheme,
        sink=sink,
        recall=lambda: recall(_records(setting), runs=10, lease=True),
    )


def _records(setting: Setting) -> RecordsFolder:
    return records_of(setting.checkpoint, _PLAIN)


def _leased(setting: Setting, world: World, actor: Actor) -> Lease:
    lease = take_lease(
        _records(setting),
        job="job",
        holder=this_holder(None),
        clock=lambda: world.clock(actor),
        sleep=world.sleep,
    )
    lease.start_beating()
    return lease
